"""Runs a lerobot-train, ours or Python's, once: how long, how much memory, and what its log says of each step."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from common import ROOT, BenchError

STEP_LINE = re.compile(rb"\bstep:\d+[KMBTQ]? smpl:[^\r\n]*")
# The log's labels and the names that metrics.jsonl gives the same numbers.
LABELS = {"loss": "loss", "grdn": "grad_norm", "data_s": "dataloading_s", "prep_s": "preprocessing_s",
          "updt_s": "update_s", "step_s": "step_s"}
TAIL_LINES = 25


@dataclasses.dataclass
class Run:
    wall_s: float  # from exec to exit
    first_update_s: float  # from exec to the first step's log line
    exit_s: float  # from the last output to exit
    peak_mib: float  # of the process, or of it and its workers together
    cpu_s: float  # user and system time of the process and its workers
    steps: list  # one dict of numbers a step, the names those of metrics.jsonl
    warmup: int  # so many first steps do not count

    @property
    def start_s(self):
        """From exec to the begin of the first step."""
        return self.first_update_s - self.steps[0]["step_s"]

    def after_warmup(self, key):
        return [step[key] for step in self.steps[self.warmup:] if key in step]


class MemorySampler(threading.Thread):
    """Follows the memory of a process and its descendants, so that the workers of a data loader count.

    Pages that processes share count once (PSS). A process without children is left to the kernel's own high-water mark.
    """

    PERIOD_S = 0.5

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak_mib, self.done = pid, 0.0, threading.Event()

    def run(self):
        while not self.done.wait(self.PERIOD_S):
            family = self.descendants(self.pid)
            if family:
                self.peak_mib = max(self.peak_mib, sum(map(self.pss_mib, [self.pid, *family])))

    def descendants(self, pid):
        found = []
        for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                found += [int(child) for child in children.read_text().split()]
            except OSError:  # the thread has ended
                continue
        return found + [grandchild for child in found for grandchild in self.descendants(child)]

    @staticmethod
    def pss_mib(pid):
        try:
            text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:  # the process has ended
            return 0.0
        match = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
        return int(match[1]) / 1024 if match else 0.0


def log_steps(log):
    """The numbers of each step line of a log; `step_s` is added up where a release of LeRobot does not print it."""
    steps = []
    for line in STEP_LINE.findall(log):
        step = {}
        for field in line.decode(errors="replace").split():
            label, _, value = field.partition(":")
            if label in LABELS:
                step[LABELS[label]] = float(value)
        step.setdefault("step_s", step.get("dataloading_s", 0.0) + step.get("update_s", 0.0))
        steps.append(step)
    return steps


def metrics_steps(path):
    """The same from metrics.jsonl, unrounded; nothing where the trainer wrote none."""
    if not path.exists():
        return []
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return [{key: value for key, value in record.items() if isinstance(value, (int, float))}
            for record in records if "update_s" in record]


def run_trainer(name, command, work, options):
    """Runs the command with --output_dir and --log_freq=1. Raises BenchError with the log's tail when it fails."""
    output, log_path = work / name, work / f"{name}.log"
    command = [*map(str, command), "--log_freq=1", f"--output_dir={output}"]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    timed_out = threading.Event()
    timer = threading.Timer(options.timeout, lambda: (timed_out.set(), kill_group(process.pid)))
    timer.daemon = True
    sampler = MemorySampler(process.pid)
    timer.start()
    sampler.start()
    log, first_update_s, last_output_s = b"", None, 0.0
    try:
        while chunk := os.read(process.stdout.fileno(), 1 << 16):
            log += chunk
            last_output_s = time.perf_counter() - begin
            if first_update_s is None and STEP_LINE.search(log):
                first_update_s = last_output_s
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        kill_group(process.pid)
        raise
    finally:
        timer.cancel()
        sampler.done.set()
        process.stdout.close()
        log_path.write_bytes(log)
    wall_s = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    sampler.join()
    steps = metrics_steps(output / "metrics.jsonl") or log_steps(log)
    problem = None
    if timed_out.is_set():
        problem = f"took longer than --timeout {options.timeout} s"
    elif process.returncode != 0:
        problem = f"ended with {process.returncode}"
    elif len(steps) <= options.warmup:
        problem = f"logged {len(steps)} steps, needed more than the {options.warmup} of --warmup"
    if problem:
        raise BenchError(f"{name} {problem}: {' '.join(command)}\n{tail(log)}\nWhole log: {log_path}")
    shutil.rmtree(output, ignore_errors=True)
    return Run(wall_s, first_update_s, wall_s - last_output_s, max(usage.ru_maxrss / 1024, sampler.peak_mib),
               usage.ru_utime + usage.ru_stime, steps, options.warmup)


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def tail(log):
    lines = log.decode(errors="replace").replace("\r", "\n").splitlines()
    return "\n".join(f"  | {line}" for line in lines[-TAIL_LINES:])


def argument_parser(description, steps, warmup=3, workers=True):
    """The flags of a benchmark that trains; `workers`: whether the number of data workers is one of them."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter,
                                     epilog="Flags after -- are given to lerobot-train as they are.")
    parser.add_argument("--ours", type=pathlib.Path, default=ROOT / "build/release/stage/bin/lerobot-train",
                        help="our lerobot-train")
    parser.add_argument("--dataset", type=pathlib.Path, default=ROOT / "tests/data/datasets/pusht_sim",
                        help="root folder of a LeRobotDataset")
    parser.add_argument("--policy", default="act", help="policy type")
    parser.add_argument("--steps", type=positive, default=steps, help="updates of a run")
    parser.add_argument("--warmup", type=int, default=warmup, help="first steps that do not count")
    parser.add_argument("--batch-size", type=positive, default=8)
    if workers:
        parser.add_argument("--num-workers", type=int, default=0, help="of the data loader")
    parser.add_argument("--timeout", type=positive, default=900, help="seconds after which a run is stopped")
    parser.add_argument("--json", type=pathlib.Path, help="where the numbers go (default: build/bench)")
    return parser


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def parse_arguments(parser):
    arguments = sys.argv[1:]
    extra = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, extra = arguments[:cut], arguments[cut + 1:]
    options = parser.parse_args(arguments)
    options.extra = extra
    if not 0 <= options.warmup < options.steps:
        parser.error(f"--warmup {options.warmup} leaves none of {options.steps} steps. Make it smaller than --steps.")
    if not os.access(options.ours, os.X_OK):
        parser.error(f"--ours: no program at {options.ours}. Build it with cmake --workflow --preset release.")
    if not (options.dataset / "meta/info.json").exists():
        parser.error(f"--dataset: no meta/info.json in {options.dataset}. Name the root folder of a LeRobotDataset.")
    return options


def trainer_flags(options, workers=None):
    """What both trainers are given. Flags after -- come last, so they win."""
    workers = options.num_workers if workers is None else workers
    return [f"--dataset.repo_id=local/{options.dataset.name}", f"--dataset.root={options.dataset.resolve()}",
            f"--policy.type={options.policy}", "--policy.pretrained_backbone_weights=null", "--policy.device=cpu",
            "--policy.push_to_hub=false", f"--batch_size={options.batch_size}", f"--num_workers={workers}",
            f"--steps={options.steps}", "--save_checkpoint=false", "--env_eval_freq=0", *options.extra]
