"""Two trainers, or two settings of one, in alternating pairs of runs: medians of each and ratios within the pairs."""

import dataclasses
import statistics
import sys

from trainer_run import median, run_trainer

# What a table shows of a run: name, unit, number. The mean of the data wait, since workers deliver in bursts.
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


def run_pairs(commands, work, options):
    """Runs the two commands ({name: words}) in turn. Which goes first changes from pair to pair, so that a drift of the
    machine cancels."""
    pairs = []
    for index in range(options.pairs):
        pair = {}
        for name in reversed(commands) if index % 2 == 1 else commands:
            pair[name] = run_trainer(f"{name}-{index + 1}", commands[name], work, options)
            update_s = median(pair[name].after_warmup("update_s", options.warmup))
            print(f"[{index + 1}/{options.pairs}] {name}: {update_s:.3f} s an update, {pair[name].wall_s:.1f} s in all",
                  file=sys.stderr, flush=True)
        pairs.append(pair)
    return pairs


def summarize(pairs, names, warmup, rows=ROWS):
    """Each row's medians over the runs, and the median and extremes of the pairs' own ratios second/first."""
    first, second = names
    table = []
    for label, unit, number in rows:
        values = {name: [number(pair[name], warmup) for pair in pairs] for name in names}
        ratios = [b / a for a, b in zip(values[first], values[second]) if a > 0]
        medians = {name: median(values[name]) for name in names}
        table.append({"name": label, "unit": unit, **medians, "ratio": median(ratios), "ratio_min": min(ratios, default=None), "ratio_max": max(ratios, default=None)})
    return table


def print_table(title, machine, names, table):
    ratio_name = f"{names[1]}/{names[0]}"
    widths = [26, 4, *(max(8, len(name)) for name in names), max(9, len(ratio_name)), 13]
    print(f"{title}\n{machine}\n")
    print_cells(widths, ["", "unit", *names, ratio_name, "spread"])
    print("| " + " | ".join("-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(widths)) + " |")
    for row in table:
        digits = 0 if row["unit"] == "MiB" else 3
        ratio, spread = "-", "-"
        if row["ratio"] is not None:
            ratio, spread = f"{row['ratio']:.2f}", f"{row['ratio_min']:.2f}..{row['ratio_max']:.2f}"
        print_cells(widths, [row["name"], row["unit"], *(f"{row[name]:.{digits}f}" for name in names), ratio, spread])


def print_cells(widths, cells):
    padded = [f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(cells, widths))]
    print("| " + " | ".join(padded) + " |")


def title_of(what, options):
    return (f"{what} on {options.dataset.name}, batch {options.batch_size}, {options.num_workers} workers, "
            f"{options.steps} steps ({options.warmup} of them warm-up), {options.pairs} pairs"
            + "".join(f" {flag}" for flag in options.extra))


def print_losses(pairs, names):
    texts = [f"{name} {pairs[0][name].steps[0]['loss']:.3f} {pairs[0][name].steps[-1]['loss']:.3f}" for name in names]
    print("\nloss, first and last step: " + ", ".join(texts))


def as_json(pairs):
    return [{name: dataclasses.asdict(run) for name, run in pair.items()} for pair in pairs]
