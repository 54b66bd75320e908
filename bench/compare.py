"""Our lerobot-train against Python LeRobot's: alternating pairs of runs, one table, ratios only. See README.md."""

import dataclasses
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import trainer_run
from trainer_run import BenchError, median, run_trainer

SKIPPED = 77
# The first losses of the two differ only by rounding and dropout masks; more means they did not do the same work.
FIRST_LOSS_TOLERANCE = 0.05

# What the table shows of a run: name, unit, number. The mean of the data wait, since workers deliver in bursts.
ROWS = [
    ("update, median", "s", lambda run, warmup: median(run.after_warmup("update_s", warmup))),
    ("data wait, mean", "s", lambda run, warmup: statistics.fmean(run.after_warmup("dataloading_s", warmup))),
    ("step, median", "s", lambda run, warmup: median(run.after_warmup("step_s", warmup))),
    ("start to first step", "s", lambda run, warmup: run.start_s),
    ("start to first update done", "s", lambda run, warmup: run.first_update_s),
    ("whole run", "s", lambda run, warmup: run.wall_s),
    ("CPU time, whole run", "s", lambda run, warmup: run.cpu_s),
    ("peak memory", "MiB", lambda run, warmup: run.peak_mib),
]


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
    pairs = run_pairs(options, work)
    shutil.rmtree(work)
    summary = summarize(pairs, options.warmup)
    title = (f"{options.policy} on {options.dataset.name}, batch {options.batch_size}, {options.num_workers} workers, "
             f"{options.steps} steps ({options.warmup} of them warm-up), {options.pairs} pairs"
             + "".join(f" {flag}" for flag in options.extra))
    print_table(title, trainer_run.machine_line(facts), summary)
    compare_losses(pairs)
    path = options.json or trainer_run.ROOT / f"build/bench/compare_{options.dataset.name}.json"
    trainer_run.write_json(path, {
        "title": title, "machine": facts,
        "versions": {"ours": trainer_run.our_version(), "peer": peer_version(options.peer)},
        "summary": summary, "pairs": [{name: dataclasses.asdict(run) for name, run in pair.items()} for pair in pairs]})
    return 0


def run_pairs(options, work):
    """Runs the two in turn. Which goes first changes from pair to pair, so that a drift of the machine cancels."""
    flags = trainer_run.trainer_flags(options)
    programs = {"ours": options.ours, "peer": options.peer / "bin/lerobot-train"}
    pairs = []
    for index in range(options.pairs):
        pair = {}
        for name in sorted(programs, reverse=index % 2 == 1):
            pair[name] = run_trainer(f"{name}-{index + 1}", [programs[name], *flags], work, options)
            update_s = median(pair[name].after_warmup("update_s", options.warmup))
            print(f"[{index + 1}/{options.pairs}] {name}: {update_s:.3f} s an update, {pair[name].wall_s:.1f} s in all",
                  file=sys.stderr, flush=True)
        pairs.append(pair)
    return pairs


def summarize(pairs, warmup):
    """Each row's medians over the runs, and the median and extremes of the pairs' own ratios peer/ours."""
    rows = []
    for label, unit, number in ROWS:
        ours, peer = ([number(pair[name], warmup) for pair in pairs] for name in ("ours", "peer"))
        ratios = [p / o for o, p in zip(ours, peer) if o > 0]
        rows.append({"name": label, "unit": unit, "ours": median(ours), "peer": median(peer), "ratio": median(ratios),
                     "ratio_min": min(ratios, default=None), "ratio_max": max(ratios, default=None)})
    return rows


def print_table(title, machine, rows):
    print(f"{title}\n{machine}\n")
    print(f"| {'':<26} | {'unit':>4} | {'ours':>8} | {'peer':>8} | {'peer/ours':>9} | {'spread':>13} |")
    print(f"| {'-' * 26} | {'-' * 3}: | {'-' * 7}: | {'-' * 7}: | {'-' * 8}: | {'-' * 12}: |")
    for row in rows:
        digits = 0 if row["unit"] == "MiB" else 3
        ratio, spread = "-", "-"
        if row["ratio"] is not None:
            ratio, spread = f"{row['ratio']:.2f}", f"{row['ratio_min']:.2f}..{row['ratio_max']:.2f}"
        print(f"| {row['name']:<26} | {row['unit']:>4} | {row['ours']:>8.{digits}f} | {row['peer']:>8.{digits}f} "
              f"| {ratio:>9} | {spread:>13} |")


def compare_losses(pairs):
    ours, peer = (pairs[0][name].steps for name in ("ours", "peer"))
    print(f"\nloss, first and last step: ours {ours[0]['loss']:.3f} {ours[-1]['loss']:.3f}, "
          f"peer {peer[0]['loss']:.3f} {peer[-1]['loss']:.3f}")
    if abs(ours[0]["loss"] - peer[0]["loss"]) > FIRST_LOSS_TOLERANCE * abs(peer[0]["loss"]):
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
