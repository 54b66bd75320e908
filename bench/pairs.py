"""Two or more programs that take turns, and what each costs: medians over the runs and ratios within each turn."""

import dataclasses
import statistics
import sys
import typing

from common import median, number, print_cells
from trainer_run import run_trainer


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of a table: what --target calls it, what the table calls it, and its number in a run."""
    key: str
    name: str
    unit: str
    number: typing.Callable


# Of a trainer's run. The mean of the data wait, since workers deliver in bursts.
TRAINER_ROWS = [
    Row("update", "update, median", "s", lambda run: median(run.after_warmup("update_s"))),
    Row("data", "data wait, mean", "s", lambda run: statistics.fmean(run.after_warmup("dataloading_s"))),
    Row("step", "step, median", "s", lambda run: median(run.after_warmup("step_s"))),
    Row("start", "start to first step", "s", lambda run: run.start_s),
    Row("first_update", "start to first update done", "s", lambda run: run.first_update_s),
    Row("exit", "last line to exit", "s", lambda run: run.exit_s),
    Row("run", "whole run", "s", lambda run: run.wall_s),
    Row("cpu", "CPU time, whole run", "s", lambda run: run.cpu_s),
    Row("memory", "peak memory", "MiB", lambda run: run.peak_mib),
]


def take_turns(names, rounds, run_one):
    """[{name: run_one(name, round)}] for each round. Every other round goes backwards, so that a drift of the machine
    cancels."""
    turns = []
    for index in range(rounds):
        order = reversed(names) if index % 2 == 1 else names
        turns.append({name: run_one(name, index + 1) for name in order})
    return turns


def run_trainers(commands, work, options):
    """Runs the commands ({name: words}) in turns, --pairs times."""
    def run_one(name, index):
        run = run_trainer(f"{name}-{index}", commands[name], work, options)
        print(f"[{index}/{options.pairs}] {name}: {median(run.after_warmup('update_s')):.3f} s an update, "
              f"{run.wall_s:.1f} s in all", file=sys.stderr, flush=True)
        return run
    return take_turns(list(commands), options.pairs, run_one)


def summarize(turns, names, ratio, rows):
    """Each row's medians over the runs, and the median and extremes of the turns' own ratios. `ratio`: the names of its
    upper and lower side."""
    table = []
    for row in rows:
        values = {name: [row.number(turn[name]) for turn in turns] for name in names}
        upper, lower = (values[name] for name in ratio)
        ratios = [a / b for a, b in zip(upper, lower) if a is not None and b is not None and b > 0]
        table.append({"key": row.key, "name": row.name, "unit": row.unit,
                      **{name: median([v for v in values[name] if v is not None]) for name in names},
                      "ratio": median(ratios), "ratio_min": min(ratios, default=None),
                      "ratio_max": max(ratios, default=None)})
    return table


def print_table(heading, names, ratio, table, more=()):
    """`more`: further columns, (title, text of a row)."""
    print("\n".join(heading) + "\n")
    cells = []
    for row in table:
        spread = "-" if row["ratio"] is None else f"{row['ratio_min']:.2f}..{row['ratio_max']:.2f}"
        digits = 0 if row["unit"] == "MiB" else 1 if row["unit"] == "us" else 3
        cells.append([row["name"], row["unit"], *(number(row[name], digits) for name in names), number(row["ratio"], 2),
                      spread, *(text(row) for _, text in more)])
    print_cells(["", "unit", *names, "/".join(ratio), "spread", *(title for title, _ in more)], cells)


def title_of(what, options):
    return (f"{what} on {options.dataset.name}, batch {options.batch_size}, {options.num_workers} workers, "
            f"{options.steps} steps ({options.warmup} of them warm-up), {options.pairs} pairs"
            + "".join(f" {flag}" for flag in options.extra))


def print_losses(turns, names):
    texts = [f"{name} {turns[0][name].steps[0]['loss']:.3f} {turns[0][name].steps[-1]['loss']:.3f}" for name in names]
    print("\nloss, first and last step: " + ", ".join(texts))


def as_json(turns):
    return [{name: dataclasses.asdict(run) if dataclasses.is_dataclass(run) else run for name, run in turn.items()}
            for turn in turns]
