"""The scripts of bench/ on small programs whose numbers are known: do the tables say them?"""

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
    --help) exit ;;
    --steps=*) steps=${{flag#*=}} ;;
    --output_dir=*) output=${{flag#*=}} ;;
  esac
done
mkdir -p "$output"
for ((i = 1; i <= steps; ++i)); do
  updt={update}; ((i == 1)) && updt=9.000
  printf '\rTraining: 1/9 [?step/s]INFO 2026-01-01 00:00:00 ot_train.py:769 step:%d smpl:%d ep:0 epch:0.01 ' $i $i >&2
  for flag; do [[ $flag == --accelerator.mixed_precision=bf16 ]] && ((i > 1)) && updt=0.080; done
  for flag; do [[ $flag == --num_workers={slow_workers} ]] && ((i > 1)) && updt=0.500; done
  printf 'loss:{loss} grdn:1.000 lr:1.0e-05 data_s:0.010 prep_s:0.001 updt_s:%s step_s:%s smp/s:4\n' $updt $updt >&2
  {metrics}
done
exec >&- 2>&-
sleep {exit_s}
exit {status}
"""
# Prints one number the first time, another the second.
FLOOR = r"""#!/bin/bash
echo "$*" >> "{calls}"
total=0.080; (($(wc -l < "{calls}") == 2)) && total=0.050
part='{{"seconds": 0.01, "gflop": 1.0, "gflop_per_s": 100.0}}'
echo "{{\"total_s\": $total, \"products\": $part, \"convolutions\": $part, \"optimizer_s\": 0, \"norm_s\": 0, \"threads\": 2}}"
"""
# data_probe, and the peer's Python where it runs peer_probe.py; keeps what it was asked.
PROBE = r"""#!/bin/bash
case $1 in
  -c) exec {python} "$@" ;;
  */scaled_dataset.py) mkdir -p "$3"; exit ;;
  */peer_probe.py) shift ;;
esac
case $1 in
  video) echo '{{"codec": "av1", "width": 96, "height": 96, "duration": 12.0}}' ;;
  decode) cat > "{folder}/{name}.requests"; echo '{{"cpu_s": {cpu_s}, "frames": 100, "brightness": {brightness}, "decoder": "{name}"}}' ;;
  open) echo '{{"seconds": {cpu_s}, "growth_mib": 8, "frames": {frames}}}' ;;
esac
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
        self.floor = self.folder / "floor"
        self.python = self.folder / "peer/bin/python"
        self.python.symlink_to(sys.executable)
        self.ours = self.trainer("ours", self.folder / "ours", update="0.100")
        self.trainer("peer", self.folder / "peer/bin/lerobot-train", update="0.250")

    def trainer(self, name, path, update, loss="50.000", metrics=":", status=0, slow_workers="none", exit_s=0):
        return self.program(path, TRAINER.format(name=name, calls=self.calls, update=update, loss=loss,
                                                 metrics=metrics, status=status, slow_workers=slow_workers,
                                                 exit_s=exit_s))

    def program(self, path, text):
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def probes(self, ours_s=0.1, peer_s=0.4, peer_brightness=100, peer_frames=1000):
        def text(name, cpu_s, brightness, frames):
            return PROBE.format(python=sys.executable, folder=self.folder, name=name, cpu_s=cpu_s,
                                brightness=brightness, frames=frames)
        self.program(self.python, text("peer", peer_s, peer_brightness, peer_frames))
        return ["--probe", self.program(self.folder / "probe", text("ours", ours_s, 100, 1000))]

    def bench(self, script, *flags):
        return self.script(script, "--ours", self.ours, "--steps=4", "--warmup=1", *flags)

    def script(self, script, *flags):
        return subprocess.run([ROOT / "bench" / script, "--json", self.json, *flags], capture_output=True, text=True,
                              timeout=60, env={**os.environ, "TMPDIR": str(self.folder)})

    def compare(self, *flags):
        return self.bench("compare", "--peer", self.folder / "peer", "--floor", self.floor, *flags)

    def row(self, name):
        return next(row for row in json.loads(self.json.read_text())["summary"] if row["name"] == name)

    def test_the_ratio_is_that_of_the_logged_updates_after_warm_up(self):
        result = self.compare("--pairs=2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\| +ours \| +peer \| ours/peer \|")
        self.assertRegex(result.stdout, r"update, median\s+\|\s+s \|\s+0.100 \|\s+0.250 \|\s+0.40 \|\s+0.40..0.40")
        self.assertEqual(self.row("update, median")["ratio"], 0.4)

    def test_the_floor_is_the_least_measured_and_taken_with_the_flags_of_the_trainers(self):
        calls = self.folder / "floor_calls"
        self.program(self.floor, FLOOR.format(calls=calls))
        result = self.compare("--pairs=1", "--", "--seed=7")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"update, median .* 0.050 \|\s+2.00 \|")
        self.assertRegex(result.stdout, r"step, median .* - \|\s+- \|")
        self.assertIn("products 0.010 s (1.0 GFLOP at 100/s)", result.stdout)
        before, after = calls.read_text().splitlines()
        self.assertEqual(before, after)
        self.assertIn(f"ours {before} ", self.calls.read_text())

    def test_without_a_floor_the_table_has_none_and_the_reason_is_told(self):
        result = self.compare("--pairs=1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"update, median .* - \|\s+- \|")
        self.assertIn("floor is not built", result.stderr)
        self.program(self.floor, "#!/bin/bash\necho no float32 >&2\nexit 1\n")
        result = self.compare("--pairs=1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("no floor: no float32", result.stderr)

    def test_targets_are_met_or_missed_by_so_much_and_never_fail_the_run(self):
        result = self.compare("--pairs=1", "--target=update=0.35", "--target=step=0.4")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"update, median .* 0.35 missed by 0.050 \|")
        self.assertRegex(result.stdout, r"step, median .* 0.40 met \|")
        self.assertRegex(result.stdout, r"peak memory .* - \|")
        self.assertAlmostEqual(self.row("update, median")["missed_by"], 0.05)
        for wrong in ("updates=0.5", "update", "update=fast"):
            self.assertEqual(self.compare("--pairs=1", f"--target={wrong}").returncode, 2, wrong)

    def test_the_matrix_holds_each_cell_of_ours_against_the_peers_best(self):
        self.trainer("ours", self.ours, update="0.300", slow_workers=1)
        self.trainer("peer", self.folder / "peer/bin/lerobot-train", update="0.400", slow_workers=4)
        result = self.bench("matrix", "--peer", self.folder / "peer", "--pairs=1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\| 1 .*\| +0 \| +0.300 \| +0.400 best \| +0.75 \|")
        self.assertRegex(result.stdout, r"\| 1 .*\| +1 \| +0.500 \| +0.400 \| +1.25 \|")
        self.assertRegex(result.stdout, r"slower than the peer's best: 1 cores, 1 workers")
        peer = json.loads(self.json.read_text())["groups"][0]["peer"]
        self.assertEqual([round(seconds, 6) for seconds in peer], [0.4, 0.4, 0.4, 0.5])

    def test_start_has_the_end_of_the_run_and_what_only_we_can_do(self):
        self.trainer("ours", self.ours, update="0.100", exit_s=0.5)
        self.program(self.folder / "lerobot-accel", "#!/bin/bash\n[[ $1 == list ]] && sleep 0.1\n")
        result = self.bench("start", "--peer", self.folder / "peer", "--pairs=2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreaterEqual(self.row("last line to exit")["ours"], 0.5)
        self.assertLess(self.row("last line to exit")["peer"], 0.5)
        self.assertGreaterEqual(self.row("lerobot-accel list")["ours"], 0.1)
        self.assertIsNone(self.row("lerobot-accel list")["ratio"])
        self.assertGreater(self.row("--help")["ratio"], 0)
        helped = [call for call in self.calls.read_text().splitlines() if call.endswith("--help")]
        self.assertEqual(helped, ["ours --help", "peer --help", "peer --help", "ours --help"])

    def test_decode_asks_both_for_the_same_frames(self):
        probes, dataset = self.probes(), ROOT / "tests/data/datasets/pusht_sim"
        result = self.script("decode", "--peer", self.folder / "peer", "--rounds=1", "--frames=32", *probes, dataset)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"pusht_sim \(av1, 96x96\), runs of 16\s+\|\s+us \|\s+1000.0 \|\s+4000.0 \|\s+0.25 \|")
        ours, peer = ((self.folder / f"{name}.requests").read_text() for name in ("ours", "peer"))
        self.assertEqual(ours, peer)
        self.assertEqual([len(line.split()) for line in ours.splitlines()], [16, 16])
        self.assertLess(max(map(float, ours.split())), 12.0)
        self.assertNotIn("did not decode the same", result.stderr)
        probes = self.probes(peer_brightness=90)
        result = self.script("decode", "--peer", self.folder / "peer", "--rounds=1", "--frames=32", *probes, dataset)
        self.assertIn("did not decode the same", result.stderr)

    def test_open_scale_tells_the_first_opening_from_the_later_ones_and_counts_the_frames(self):
        result = self.script("open_scale", "--peer", self.folder / "peer", "--frames", "1000", *self.probes())
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("first open", "open"):
            self.assertEqual(self.row(f"1000 frames, {name}")["ratio"], 0.25)
        self.assertEqual(self.row("1000 frames, memory growth")["ours"], 8)
        result = self.script("open_scale", "--peer", self.folder / "peer", "--frames", "1000",
                             *self.probes(peer_frames=999))
        self.assertEqual(result.returncode, 1)
        self.assertIn("peer opened 999 frames of 1000", result.stderr)

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
