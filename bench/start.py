"""From the command to the first update, and the end of a run; --help and the list of accelerators. See README.md."""

import shutil
import subprocess
import time

import common
import pairs
import trainer_run

NAMES = ("ours", "peer")
RUN_ROWS = [row for row in pairs.TRAINER_ROWS if row.key in ("start", "first_update", "exit")]
HELP = pairs.Row("help", "--help", "s", lambda run: run["help_s"])
LIST = pairs.Row("list", "lerobot-accel list", "s", lambda run: run["list_s"])


def main():
    parser = trainer_run.argument_parser(__doc__, steps=2, warmup=1)
    parser.add_argument("--pairs", type=trainer_run.positive, default=5, help="runs of each")
    common.add_peer(parser)
    options = trainer_run.parse_arguments(parser)
    facts = common.compare_with_peer(options)
    if facts is None:
        return common.SKIPPED
    work = common.work_directory()
    flags = trainer_run.trainer_flags(options)
    programs = {"ours": options.ours, "peer": options.peer / "bin/lerobot-train"}
    runs = pairs.run_trainers({name: [program, *flags] for name, program in programs.items()}, work, options)
    shutil.rmtree(work)
    short = pairs.take_turns(NAMES, options.pairs, lambda name, _: short_commands(programs[name], name == "ours"))
    summary = [*pairs.summarize(runs, NAMES, NAMES, RUN_ROWS), *pairs.summarize(short, NAMES, NAMES, [HELP, LIST])]
    versions = common.versions_of_both(options)
    title = pairs.title_of(options.policy, options)
    pairs.print_table([title, common.machine_line(facts), common.versions_line(versions)], NAMES, NAMES, summary)
    path = options.json or common.ROOT / f"build/bench/start_{options.dataset.name}.json"
    common.write_json(path, {"title": title, "machine": facts, "versions": versions, "summary": summary,
                             "pairs": pairs.as_json(runs), "short": short})
    return 0


def short_commands(trainer, is_ours):
    """Only ours lists accelerators."""
    return {"help_s": seconds_of(trainer, "--help"),
            "list_s": seconds_of(trainer.parent / "lerobot-accel", "list") if is_ours else None}


def seconds_of(*command):
    begin = time.perf_counter()
    result = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if result.returncode != 0:
        raise common.BenchError(f"{' '.join(map(str, command))} ended with {result.returncode}: {result.stderr[-500:]}")
    return seconds


if __name__ == "__main__":
    common.run_main("start", main)
