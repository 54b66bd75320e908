"""bench/compare, bench/precision and bench/profile on small trainers whose numbers are known: do the tables say them?"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Logs what a trainer logs: a slow first step, then steps of the given update time. `calls` tells who ran with what.
TRAINER = r"""#!/bin/bash
echo "{name} $*" >> "{calls}"
for flag; do
  case $flag in
    --steps=*) steps=${{flag#*=}} ;;
    --output_dir=*) output=${{flag#*=}} ;;
  esac
done
mkdir -p "$output"
for ((i = 1; i <= steps; ++i)); do
  updt={update}; ((i == 1)) && updt=9.000
  printf '\rTraining: 1/9 [?step/s]INFO 2026-01-01 00:00:00 ot_train.py:769 step:%d smpl:%d ep:0 epch:0.01 ' $i $i >&2
  for flag; do [[ $flag == --accelerator.mixed_precision=bf16 ]] && ((i > 1)) && updt=0.080; done
  printf 'loss:{loss} grdn:1.000 lr:1.0e-05 data_s:0.010 prep_s:0.001 updt_s:%s step_s:%s smp/s:4\n' $updt $updt >&2
  {metrics}
done
exit {status}
"""
METRICS = ('echo \'{"loss":50.0,"dataloading_s":0.01,"preprocessing_s":0.0,"update_s":0.10004,"forward_s":0.03,'
           '"backward_s":0.05,"optimizer_s":0.02,"step_s":0.2}\' >> "$output/metrics.jsonl"')


class BenchScripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = self.folder / "calls"
        self.json = self.folder / "result.json"
        (self.folder / "peer/bin").mkdir(parents=True)
        (self.folder / "peer/bin/python").symlink_to(sys.executable)
        self.ours = self.trainer("ours", self.folder / "ours", update="0.100")
        self.trainer("peer", self.folder / "peer/bin/lerobot-train", update="0.250")

    def trainer(self, name, path, update, loss="50.000", metrics=":", status=0):
        path.write_text(TRAINER.format(name=name, calls=self.calls, update=update, loss=loss, metrics=metrics,
                                       status=status))
        path.chmod(0o755)
        return path

    def bench(self, script, *flags):
        command = [ROOT / "bench" / script, "--ours", self.ours, "--steps=4", "--warmup=1", "--json", self.json]
        return subprocess.run([*command, *flags], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "TMPDIR": str(self.folder)})

    def compare(self, *flags):
        return self.bench("compare", "--peer", self.folder / "peer", *flags)

    def row(self, name):
        return next(row for row in json.loads(self.json.read_text())["summary"] if row["name"] == name)

    def test_the_ratio_is_that_of_the_logged_updates_after_warm_up(self):
        result = self.compare("--pairs=2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"update, median\s+\|\s+s \|\s+0.100 \|\s+0.250 \|\s+2.50 \|\s+2.50..2.50")
        self.assertEqual(self.row("update, median")["ratio"], 2.5)

    def test_both_get_the_same_flags_and_take_turns_in_going_first(self):
        self.assertEqual(self.compare("--pairs=2", "--", "--seed=7").returncode, 0)
        calls = [line.split() for line in self.calls.read_text().splitlines()]
        self.assertEqual([call[0] for call in calls], ["ours", "peer", "peer", "ours"])
        flags = {tuple(flag for flag in call[1:] if not flag.startswith("--output_dir=")) for call in calls}
        self.assertEqual(len(flags), 1)
        self.assertIn("--seed=7", flags.pop())

    def test_unrounded_metrics_are_used_where_there_are_some(self):
        self.trainer("ours", self.ours, update="0.100", metrics=METRICS)
        self.assertEqual(self.compare("--pairs=1").returncode, 0)
        self.assertEqual(self.row("update, median")["ours"], 0.10004)

    def test_different_first_losses_are_told(self):
        self.trainer("ours", self.ours, update="0.100", loss="70.000")
        self.assertIn("did not do the same work", self.compare("--pairs=1").stderr)

    def test_a_missing_peer_is_a_visible_skip(self):
        result = self.bench("compare", "--peer", self.folder / "nothing")
        self.assertEqual(result.returncode, 77)
        self.assertRegex(result.stdout, "SKIPPED: no Python LeRobot at .*scripts/peer-venv")

    def test_a_failing_run_shows_the_end_of_its_log(self):
        self.trainer("peer", self.folder / "peer/bin/lerobot-train", update="0.250", status=3)
        result = self.compare("--pairs=1")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"(?s)peer-1 ended with 3: .*step:4 smpl:4")
        self.assertFalse(self.json.exists())

    def test_a_run_that_hangs_is_stopped(self):
        self.ours.write_text("#!/bin/bash\necho waiting\nsleep 50 & wait\n")
        result = self.compare("--pairs=1", "--timeout=1")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"(?s)ours-1 took longer than --timeout 1 s.*waiting")

    def test_precision_compares_bf16_with_float32_of_the_same_trainer(self):
        result = self.bench("precision", "--pairs=2", "--", "--seed=7")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\| +float32 \| +bf16 \| bf16/float32 \|")
        self.assertRegex(result.stdout, r"update, median\s+\|\s+s \|\s+0.100 \|\s+0.080 \|\s+0.80 \|\s+0.80..0.80")
        self.assertEqual(self.row("update, median")["bf16"], 0.08)
        calls = [call.split() for call in self.calls.read_text().splitlines()]
        bf16 = ["--accelerator.mixed_precision=bf16" in call for call in calls]
        self.assertEqual(bf16, [False, True, True, False])
        self.assertTrue(all("--seed=7" in call for call in calls))

    def test_precision_takes_any_two_settings_by_name(self):
        variants = ("--variant=on=--ema.enable=true --ema.decay=0.9", "--variant", "off=")
        result = self.bench("precision", "--pairs=1", *variants)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\| +on \| +off \| +off/on \|")
        used = json.loads(self.json.read_text())["variants"]
        self.assertEqual(used, {"on": ["--ema.enable=true", "--ema.decay=0.9"], "off": []})
        on, off = self.calls.read_text().splitlines()
        self.assertIn(" --ema.enable=true --ema.decay=0.9 ", on)
        self.assertNotIn("ema", off)
        for wrong in (["a="], ["a=", "a=--x"], ["a b=", "c="], ["a", "c="]):
            flags = [f"--variant={text}" for text in wrong]
            self.assertEqual(self.bench("precision", *flags).returncode, 2, wrong)

    def test_the_profile_splits_the_step_and_its_update(self):
        self.trainer("ours", self.ours, update="0.100", metrics=METRICS)
        result = self.bench("profile", "--no-perf")
        self.assertEqual(result.returncode, 0, result.stderr)
        shares = {row["part"]: row["seconds"] for row in json.loads(self.json.read_text())["split"]}
        self.assertAlmostEqual(shares["backward"], 0.05)
        self.assertAlmostEqual(shares["rest of the update"], 0.00004)
        self.assertAlmostEqual(shares["rest of the step"], 0.2 - 0.01 - 0.10004)


if __name__ == "__main__":
    unittest.main()
