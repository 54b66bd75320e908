"""Our lerobot-train against Python LeRobot's: alternating pairs of runs, one table, ratios only. See README.md."""

import os
import pathlib
import shutil
import subprocess
import sys

import pairs
import trainer_run
from trainer_run import BenchError

SKIPPED = 77
NAMES = ("ours", "peer")
# The first losses of the two differ only by rounding and dropout masks; more means they did not do the same work.
FIRST_LOSS_TOLERANCE = 0.05


def main():
    parser = trainer_run.argument_parser(__doc__, steps=20)
    parser.add_argument("--pairs", type=trainer_run.positive, default=10, help="runs of each")
    parser.add_argument("--peer", type=pathlib.Path, default=os.environ.get("LEROBOT_PEER_VENV"),
                        help="virtual environment with Python LeRobot (or set LEROBOT_PEER_VENV)")
    options = trainer_run.parse_arguments(parser)
    if not options.peer or not os.access(options.peer / "bin/lerobot-train", os.X_OK):
        where = f"at {options.peer}" if options.peer else "given"
        print(f"SKIPPED: no Python LeRobot {where}. Make one with scripts/peer-venv DIR, then pass --peer DIR.")
        return SKIPPED
    facts = trainer_run.machine()
    trainer_run.warn_if_busy(facts)
    work = trainer_run.work_directory()
    flags = trainer_run.trainer_flags(options)
    commands = {"ours": [options.ours, *flags], "peer": [options.peer / "bin/lerobot-train", *flags]}
    runs = pairs.run_pairs(commands, work, options)
    shutil.rmtree(work)
    summary = pairs.summarize(runs, NAMES, options.warmup)
    title = pairs.title_of(options.policy, options)
    pairs.print_table(title, trainer_run.machine_line(facts), NAMES, summary)
    compare_losses(runs)
    path = options.json or trainer_run.ROOT / f"build/bench/compare_{options.dataset.name}.json"
    trainer_run.write_json(path, {
        "title": title, "machine": facts,
        "versions": {"ours": trainer_run.our_version(), "peer": peer_version(options.peer)},
        "summary": summary, "pairs": pairs.as_json(runs)})
    return 0


def compare_losses(runs):
    ours, peer = (runs[0][name].steps[0]["loss"] for name in NAMES)
    pairs.print_losses(runs, NAMES)
    if abs(ours - peer) > FIRST_LOSS_TOLERANCE * abs(peer):
        print("warning: the first losses differ: the two did not do the same work. Check the flags.", file=sys.stderr)


def peer_version(venv):
    """The versions in the peer's environment of what decides its speed."""
    code = ("import importlib.metadata as m, platform\nprint('python', platform.python_version())\n"
            "for n in ('lerobot', 'torch', 'torchcodec', 'av', 'accelerate', 'numpy'):\n"
            "    try: print(n, m.version(n))\n    except m.PackageNotFoundError: pass")
    out = subprocess.run([venv / "bin/python", "-c", code], capture_output=True, text=True, check=True).stdout
    return dict(line.split(maxsplit=1) for line in out.splitlines())


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"bench/compare: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
