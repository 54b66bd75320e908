"""Where a training step's time goes: from the trainer's own clocks, and by symbol from perf. See README.md."""

import shutil
import statistics
import subprocess

import common
import trainer_run
from trainer_run import run_trainer

# The clocks of a step, and those inside an update, that metrics.jsonl holds with --log_level=debug.
STEP_PARTS = [("data wait", "dataloading_s"), ("preparation", "preprocessing_s"), ("update", "update_s")]
UPDATE_PARTS = [("forward", "forward_s"), ("backward", "backward_s"), ("optimizer", "optimizer_s")]
SYMBOLS = 25
LINE_WIDTH = 120


def main():
    parser = trainer_run.argument_parser(__doc__, steps=20)
    parser.add_argument("--no-perf", action="store_true", help="leave perf out")
    options = trainer_run.parse_arguments(parser)
    facts = common.machine()
    common.warn_if_busy(facts)
    work = common.work_directory()
    command = [options.ours, *trainer_run.trainer_flags(options)]
    run = run_trainer("profile", [*command, "--log_level=debug"], work, options)
    title = (f"{options.policy} on {options.dataset.name}, batch {options.batch_size}, {options.num_workers} workers, "
             f"steps {options.warmup + 1} to {len(run.steps)}")
    print(f"{title}\n{common.machine_line(facts)}\n")
    split = step_split(run)
    print_split(split)
    symbols = [] if options.no_perf else top_symbols(command, work, options, run.first_update_s)
    shutil.rmtree(work)
    path = options.json or common.ROOT / f"build/bench/profile_{options.dataset.name}.json"
    common.write_json(path, {"title": title, "machine": facts, "versions": {"ours": common.our_version()},
                                  "split": split, "symbols": symbols})
    return 0


def step_split(run):
    """Mean seconds of each part; what no clock covers is a part of its own."""
    def mean(key):
        values = run.after_warmup(key)
        return statistics.fmean(values) if values else None

    rows = [{"part": "step", "depth": 0, "seconds": mean("step_s")}]
    inside = [{"part": part, "depth": 2, "seconds": mean(key)} for part, key in UPDATE_PARTS if mean(key) is not None]
    for part, key in STEP_PARTS:
        if mean(key) is not None:
            rows.append({"part": part, "depth": 1, "seconds": mean(key)})
    if inside:
        inside.append({"part": "rest of the update", "depth": 2,
                       "seconds": mean("update_s") - sum(row["seconds"] for row in inside)})
    covered = sum(row["seconds"] for row in rows[1:])
    return [*rows, *inside, {"part": "rest of the step", "depth": 1, "seconds": rows[0]["seconds"] - covered}]


def print_split(rows):
    whole = rows[0]["seconds"]
    print(f"| {'part':<26} | {'s':>8} | {'share':>6} |\n| {'-' * 26} | {'-' * 7}: | {'-' * 5}: |")
    for row in rows:
        print(f"| {'  ' * row['depth'] + row['part']:<26} | {row['seconds']:>8.4f} | {row['seconds'] / whole:>6.1%} |")


def top_symbols(command, work, options, delay_s):
    """The functions with the most samples after the first update, from a run of its own under perf."""
    if not shutil.which("perf"):
        print("\nno symbols: perf is not installed (Debian package linux-perf)")
        return []
    record = ["perf", "record", "--quiet", "--freq=199", f"--output={work / 'perf.data'}"]
    probe = subprocess.run([*record, "--", "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        reason = next(iter(probe.stderr.split("\n")), "")
        print(f"\nno symbols: perf cannot record here: {reason} See kernel.perf_event_paranoid.")
        return []
    run_trainer("perf", [*record, f"--delay={int(delay_s * 1000)}", "--", *command], work, options)
    report = subprocess.run(["perf", "report", f"--input={work / 'perf.data'}", "--stdio", "--sort=dso,symbol",
                             "--field-separator=;"], capture_output=True, text=True, check=True).stdout
    symbols = merged(report)[:SYMBOLS]
    print("\nsamples by function, after the first update:")
    for symbol in symbols:
        print(f"{symbol['percent']:>6.2f} %  {symbol['library']:<24} {symbol['function']}"[:LINE_WIDTH])
    return symbols


def merged(report):
    """The report's lines, most samples first; what a library does not name is one entry of it."""
    percents = {}
    for line in report.splitlines():
        if line.startswith("#") or line.count(";") < 2:
            continue
        percent, library, symbol = (field.strip() for field in line.split(";")[:3])
        function = symbol[4:]  # after "[.] " or "[k] "
        key = (library, "(no name)" if function.startswith("0x") else function)
        percents[key] = percents.get(key, 0.0) + float(percent.rstrip("%"))
    ordered = sorted(percents.items(), key=lambda item: -item[1])
    return [{"percent": round(percent, 2), "library": library, "function": function}
            for (library, function), percent in ordered]


if __name__ == "__main__":
    common.run_main("profile", main)
