"""Ours in each cell of cores x data workers against the peer's best cell on as many cores. See README.md."""

import os
import shutil
import statistics

import common
import pairs
import trainer_run

WORKERS = (0, 1, 2, 4)
SIDES = ("ours", "peer")


def main():
    parser = trainer_run.argument_parser(__doc__, steps=12, workers=False)
    parser.add_argument("--pairs", type=trainer_run.positive, default=3, help="runs of each cell")
    common.add_peer(parser)
    options = trainer_run.parse_arguments(parser)
    facts = common.compare_with_peer(options)
    if facts is None:
        return common.SKIPPED
    work = common.work_directory()
    groups = []
    for cores in core_sets():
        runs = pairs.run_trainers(commands(options, cores), work, options)
        groups.append({"cores": len(cores), **summarize(runs), "runs": pairs.as_json(runs)})
    shutil.rmtree(work)
    versions = common.versions_of_both(options)
    title = (f"{options.policy} on {options.dataset.name}, batch {options.batch_size}, seconds of a step (mean after "
             f"{options.warmup} of {options.steps} steps, median of {options.pairs} runs)")
    print_groups([title, common.machine_line(facts), common.versions_line(versions)], groups)
    path = options.json or common.ROOT / f"build/bench/matrix_{options.dataset.name}.json"
    common.write_json(path, {"title": title, "machine": facts, "versions": versions, "groups": groups})
    return 0


def core_sets():
    """One core, and all that this process may use."""
    cores = sorted(os.sched_getaffinity(0))
    return [cores[:1], cores] if len(cores) > 1 else [cores]


def commands(options, cores):
    programs = {"ours": options.ours, "peer": options.peer / "bin/lerobot-train"}
    pin = ["taskset", "--cpu-list", ",".join(map(str, cores))]
    return {cell(side, workers): [*pin, programs[side], *trainer_run.trainer_flags(options, workers)]
            for workers in WORKERS for side in SIDES}


def cell(side, workers):
    return f"{side}-{workers}"


def summarize(runs):
    """The mean of the step: with workers its median would leave out the steps that wait."""
    def step_s(side, workers):
        return common.median([statistics.fmean(turn[cell(side, workers)].after_warmup("step_s")) for turn in runs])

    seconds = {side: [step_s(side, workers) for workers in WORKERS] for side in SIDES}
    best = min(seconds["peer"])
    return {"workers": WORKERS, **seconds, "peer_best": best, "peer_best_workers": WORKERS[seconds["peer"].index(best)],
            "ratios": [value / best for value in seconds["ours"]]}


def print_groups(heading, groups):
    print("\n".join(heading) + "\n")
    rows = []
    for group in groups:
        for workers, ours, peer, ratio in zip(WORKERS, group["ours"], group["peer"], group["ratios"]):
            mark = " best" if workers == group["peer_best_workers"] else ""
            rows.append([str(group["cores"]), str(workers), common.number(ours), common.number(peer) + mark,
                         common.number(ratio, 2)])
    common.print_cells(["cores", "workers", "ours", "peer", "ours/peer's best"], rows)
    slower = [f"{group['cores']} cores, {workers} workers" for group in groups
              for workers, ratio in zip(WORKERS, group["ratios"]) if ratio > 1]
    print("\nslower than the peer's best: " + ("; ".join(slower) or "no cell"))


if __name__ == "__main__":
    common.run_main("matrix", main)
