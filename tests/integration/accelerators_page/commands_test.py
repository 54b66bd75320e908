"""The commands of docs/accelerators.md, each run as it stands there: does it do what the page says?

Here without a GPU: what needs one must say so. `...` becomes a small policy on a small dataset, two updates.
usage: commands_test.py PROJECT STAGE SIMACCEL_PLUGINS [unittest's arguments]
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

PROJECT, STAGE, SIMACCEL = map(pathlib.Path, sys.argv[1:4])
SMALL = ["--policy.type=act", "--policy.dim_model=64", "--policy.n_heads=4", "--policy.dim_feedforward=128", "--policy.chunk_size=10",
         "--policy.n_action_steps=10", "--policy.pretrained_backbone_weights=null", "--policy.push_to_hub=false",
         "--batch_size=2", "--num_workers=0", "--num_threads=1",
         f"--dataset.root={PROJECT / 'tests/data/datasets/pusht_keypoints'}", "--log_freq=1", "--save_checkpoint=false"]
FP16 = "--accelerator.mixed_precision=fp16"
SCALER = "--accelerator.grad_scaler.init_scale=1024 --accelerator.grad_scaler.growth_interval=2000"
ON_CPU = "Device: cpu ("
NO_FP16 = (3, "fp16 needs an accelerator. Use bf16 or no.")

# Each command of the page after its program's name: exit code and what it says, where there is no accelerator.
EXPECTED = {
    "list": (0, "cpu"),
    "list --verbose": (0, "probed in"),
    "explain": (0, "Choice: "),
    "available cuda": (1, "cuda: "),
    "... --policy.device=cpu": (0, ON_CPU),
    "... --policy.device=cuda": (5, "--policy.device=cuda: "),
    "... --policy.device=cuda:1": (5, "--policy.device=cuda:1: "),
    "... --policy.device=mps": (5, "--policy.device=mps: mps: unavailable: "),
    "... --plugin=rocm": (5, "--plugin=rocm: "),
    "... --policy.type=act --accelerator.mixed_precision=bf16": (0, "precision: bf16 autocast, no gradient scaler"),
    f"... --policy.type=act {FP16}": NO_FP16,
    "... --policy.type=act --accelerator.mixed_precision=no": (0, "precision: float32, no gradient scaler"),
    f"... --policy.type=act {FP16} {SCALER}": NO_FP16,
    "--resume=true --config_path=outputs/act --accelerator.mixed_precision=bf16": (0, "precision: bf16 autocast"),
    f"... --policy.path=outputs/act/checkpoints/last/pretrained_model {FP16}": NO_FP16,
    "... --tf32=true": (0, "no TF32 on this device"),
    "... --tf32=false": (0, "no TF32 on this device"),
    "... --tf32=null": (0, "no TF32 on this device"),
    "... --ema.enable=true": (0, "EMA: decay 0 to 0.9999"),
    "... --ema.enable=true --ema.decay=0.999": (0, "EMA: decay 0.999 of every update"),
}
# Those that need an accelerator, on the simulated one.
ON_SIMACCEL = {
    "... --policy.type=act --accelerator.mixed_precision=bf16": "precision: bf16 autocast, no gradient scaler",
    f"... --policy.type=act {FP16}": "precision: fp16 autocast, gradient scaler at 65536",
    f"... --policy.type=act {FP16} {SCALER}": "precision: fp16 autocast, gradient scaler at 1024",
    f"... --policy.path=outputs/act/checkpoints/last/pretrained_model {FP16}": "precision: fp16 autocast",
}


def page_commands():
    lines = (PROJECT / "docs/accelerators.md").read_text().splitlines()
    blocks = [line.strip() for line in lines if line.startswith("    ")]
    return [block.split(" ", 1) for block in blocks if not block.startswith("step:")]


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        first = cls.run_program("lerobot-train", "... --output_dir=outputs/act --save_checkpoint=true")
        assert first.returncode == 0, first.stdout

    @classmethod
    def run_program(cls, program, arguments, *more):
        """As typed in a folder that has a run in outputs/act; accelerators of the machine are left alone."""
        words = shlex.split(arguments)
        if words[0] == "...":
            starts = any(word.startswith("--policy.path=") for word in words)
            small = [flag for flag in SMALL if not (starts and flag.startswith("--policy."))]
            words = [*small, "--steps=2", f"--output_dir={tempfile.mkdtemp(dir=cls.folder)}", *words[1:]]
        elif words[0] == "--resume=true":
            words += ["--steps=3", "--save_checkpoint=false", "--num_threads=1"]
        hidden = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "ZE_AFFINITY_MASK": ""}
        environment = {**os.environ, **hidden, "LEROBOT_ACCEL_PLUGINS": str(STAGE / "lib/lerobot/accel.d")}
        return subprocess.run([STAGE / "bin" / program, *words, *more], cwd=cls.folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)

    def test_each_does_what_it_says_or_says_why_this_machine_cannot(self):
        seen = set()
        for program, arguments in page_commands():
            if program == "docker":
                continue  # no engine in a test: tests/package/check_docker.py reads the image files
            with self.subTest(f"{program} {arguments}"):
                self.assertIn(arguments, EXPECTED, "a command of the page without an expectation here")
                seen.add(arguments)
                code, said = EXPECTED[arguments]
                done = self.run_program(program, arguments)
                self.assertEqual(done.returncode, code, done.stdout)
                self.assertIn(said, done.stdout)
                if "error:" in done.stdout:
                    self.assertEqual(len(done.stdout[done.stdout.index("error:"):].splitlines()), 1, done.stdout)
        self.assertEqual(seen, set(EXPECTED), "an expectation without its command on the page")

    def test_mixed_precision_is_effective_on_an_accelerator(self):
        for arguments, said in ON_SIMACCEL.items():
            with self.subTest(arguments):
                self.assertIn(arguments, EXPECTED)
                done = self.run_program("lerobot-train", arguments, f"--plugins={SIMACCEL}", "--policy.device=simaccel")
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertIn(said, done.stdout)
                self.assertRegex(done.stdout, r"step:2 .* mem_gb:")
                self.assertEqual("scale:" in done.stdout, FP16 in arguments)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
