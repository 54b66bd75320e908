"""Our lerobot-train against Python LeRobot's: alternating pairs of runs, one table of ratios ours/peer. See README.md."""

import argparse
import pathlib
import shutil
import sys

import common
import floor
import pairs
import trainer_run

NAMES = ("ours", "peer")
KEYS = [row.key for row in pairs.TRAINER_ROWS]
# The first losses of the two differ only by rounding and dropout masks; more means they did not do the same work.
FIRST_LOSS_TOLERANCE = 0.25


def main():
    parser = trainer_run.argument_parser(__doc__, steps=20)
    parser.add_argument("--pairs", type=trainer_run.positive, default=10, help="runs of each")
    common.add_peer(parser)
    parser.add_argument("--target", type=target, action="append", default=[], metavar="ROW=RATIO",
                        help=f"the most that ours/peer should be; the table says if it is missed. Rows: {' '.join(KEYS)}")
    parser.add_argument("--floor", type=pathlib.Path, default=floor.DEFAULT, help="the program update_floor")
    options = trainer_run.parse_arguments(parser)
    facts = common.compare_with_peer(options)
    if facts is None:
        return common.SKIPPED
    versions = common.versions_of_both(options)
    work = common.work_directory()
    flags = trainer_run.trainer_flags(options)
    least = floor.Floor(options.floor, flags, options.timeout)
    least.measure()
    runs = pairs.run_trainers({"ours": [options.ours, *flags], "peer": [options.peer / "bin/lerobot-train", *flags]},
                              work, options)
    least.measure()
    shutil.rmtree(work)
    summary = pairs.summarize(runs, NAMES, NAMES, pairs.TRAINER_ROWS)
    add_floor(summary, least.best)
    add_targets(summary, dict(options.target))
    title = pairs.title_of(options.policy, options)
    heading = [title, common.machine_line(facts), common.versions_line(versions)]
    pairs.print_table(heading, NAMES, NAMES, summary, columns(options))
    least.print_parts()
    compare_losses(runs)
    path = options.json or common.ROOT / f"build/bench/compare_{options.dataset.name}.json"
    common.write_json(path, {"title": title, "machine": facts, "versions": versions, "summary": summary,
                             "floor": least.best, "pairs": pairs.as_json(runs)})
    return 0


def target(text):
    key, equals, ratio = text.partition("=")
    if not equals or key not in KEYS:
        raise argparse.ArgumentTypeError(f"{text!r} is not ROW=RATIO, the row one of {', '.join(KEYS)}")
    try:
        return key, float(ratio)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: {ratio!r} is not a number") from None


def add_floor(summary, least):
    for row in summary:
        row["floor"] = least["total_s"] if least and row["key"] == "update" else None
        row["over_floor"] = row["ours"] / row["floor"] if row["floor"] else None


def add_targets(summary, targets):
    """`missed_by`: how much the ratio is above its target; 0 when it is met."""
    for row in summary:
        row["target"] = targets.get(row["key"])
        known = row["target"] is not None and row["ratio"] is not None
        row["missed_by"] = max(0.0, row["ratio"] - row["target"]) if known else None


def columns(options):
    shown = [("floor", lambda row: common.number(row["floor"])),
             ("ours/floor", lambda row: common.number(row["over_floor"], 2))]
    return [*shown, ("target", target_text)] if options.target else shown


def target_text(row):
    if row["missed_by"] is None:
        return "-"
    return f"{row['target']:.2f} " + (f"missed by {row['missed_by']:.3f}" if row["missed_by"] else "met")


def compare_losses(runs):
    ours, peer = (runs[0][name].steps[0]["loss"] for name in NAMES)
    pairs.print_losses(runs, NAMES)
    if abs(ours - peer) > FIRST_LOSS_TOLERANCE * abs(peer):
        print("warning: the first losses differ: the two did not do the same work. Check the flags.", file=sys.stderr)


if __name__ == "__main__":
    common.run_main("compare", main)
