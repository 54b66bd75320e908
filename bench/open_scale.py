"""How long datasets of 1000 to 1000000 frames take to open, and what they keep in memory. See README.md."""

import argparse
import pathlib
import shutil
import subprocess

import common
import pairs
import probes
from trainer_run import positive

NAMES = ("ours", "peer")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, default=common.ROOT / "tests/data/datasets/pusht_keypoints",
                        help="the dataset whose episodes are repeated; one with videos opens them, but few frames")
    parser.add_argument("--frames", type=positive, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--rounds", type=positive, default=3, help="openings of each side")
    parser.add_argument("--json", type=pathlib.Path, help="where the numbers go (default: build/bench)")
    common.add_peer(parser)
    probes.add_probe(parser)
    options = parser.parse_args()
    facts = common.compare_with_peer(options)
    if facts is None:
        return common.SKIPPED
    work = common.work_directory()
    summary, turns = [], {}
    for frames in options.frames:
        turns[frames] = measure(options, work, frames)
        summary += summarize(frames, turns[frames])
    shutil.rmtree(work)
    versions = common.versions_of_both(options)
    title = f"{options.source.name} repeated, opened with its first sample, {options.rounds} rounds"
    pairs.print_table([title, common.machine_line(facts), common.versions_line(versions)], NAMES, NAMES, summary)
    path = options.json or common.ROOT / f"build/bench/open_{options.source.name}.json"
    common.write_json(path, {"title": title, "machine": facts, "versions": versions, "summary": summary,
                             "rounds": turns})
    return 0


def measure(options, work, frames):
    """The first opening, in which the peer converts the dataset for its cache, then the others in turns."""
    root, commands = work / str(frames), probes.commands(options)
    subprocess.run([options.peer / "bin/python", common.ROOT / "bench/scaled_dataset.py", options.source, root,
                    str(frames)], check=True)

    def run_one(name, _):
        found = probes.run_probe([*commands[name], "open", root], environment={"HF_HOME": str(work / "cache")})
        if found["frames"] != frames:
            raise common.BenchError(f"{name} opened {found['frames']} frames of {frames}")
        return found

    first = {name: run_one(name, 0) for name in NAMES}
    again = pairs.take_turns(NAMES, options.rounds, run_one)
    shutil.rmtree(root)
    shutil.rmtree(work / "cache", ignore_errors=True)
    return {"first": first, "again": again}


def summarize(frames, turns):
    seconds, memory = (lambda run: run["seconds"]), (lambda run: run["growth_mib"])
    rows = [pairs.Row("open", f"{frames} frames, open", "s", seconds),
            pairs.Row("growth", f"{frames} frames, memory growth", "MiB", memory)]
    first = [pairs.Row("first", f"{frames} frames, first open", "s", seconds)]
    return [*pairs.summarize([turns["first"]], NAMES, NAMES, first), *pairs.summarize(turns["again"], NAMES, NAMES, rows)]


if __name__ == "__main__":
    common.run_main("open_scale", main)
