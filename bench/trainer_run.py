"""Runs a lerobot-train, ours or Python's, once: how long, how much memory, and what its log says of each step."""

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEP_LINE = re.compile(rb"\bstep:\d+[KMBTQ]? smpl:[^\r\n]*")
# The log's labels and the names that metrics.jsonl gives the same numbers.
LABELS = {"loss": "loss", "grdn": "grad_norm", "data_s": "dataloading_s", "prep_s": "preprocessing_s",
          "updt_s": "update_s", "step_s": "step_s"}
TAIL_LINES = 25


class BenchError(Exception):
    """What a user can cure; its text is the whole message."""


@dataclasses.dataclass
class Run:
    wall_s: float  # from exec to exit
    first_update_s: float  # from exec to the first step's log line
    peak_mib: float  # of the process, or of it and its workers together
    cpu_s: float  # user and system time of the process and its workers
    steps: list  # one dict of numbers a step, the names those of metrics.jsonl

    @property
    def start_s(self):
        """From exec to the begin of the first step."""
        return self.first_update_s - self.steps[0]["step_s"]

    def after_warmup(self, key, warmup):
        return [step[key] for step in self.steps[warmup:] if key in step]


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
    log, first_update_s = b"", None
    try:
        while chunk := os.read(process.stdout.fileno(), 1 << 16):
            log += chunk
            if first_update_s is None and STEP_LINE.search(log):
                first_update_s = time.perf_counter() - begin
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
    return Run(wall_s, first_update_s, max(usage.ru_maxrss / 1024, sampler.peak_mib), usage.ru_utime + usage.ru_stime,
               steps)


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def tail(log):
    lines = log.decode(errors="replace").replace("\r", "\n").splitlines()
    return "\n".join(f"  | {line}" for line in lines[-TAIL_LINES:])


def argument_parser(description, steps):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter,
                                     epilog="Flags after -- are given to lerobot-train as they are.")
    parser.add_argument("--ours", type=pathlib.Path, default=ROOT / "build/release/stage/bin/lerobot-train",
                        help="our lerobot-train")
    parser.add_argument("--dataset", type=pathlib.Path, default=ROOT / "tests/data/datasets/pusht_sim",
                        help="root folder of a LeRobotDataset")
    parser.add_argument("--policy", default="act", help="policy type")
    parser.add_argument("--steps", type=positive, default=steps, help="updates of a run")
    parser.add_argument("--warmup", type=int, default=3, help="first steps that do not count")
    parser.add_argument("--batch-size", type=positive, default=8)
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


def trainer_flags(options):
    """What both trainers are given. Flags after -- come last, so they win."""
    return [f"--dataset.repo_id=local/{options.dataset.name}", f"--dataset.root={options.dataset.resolve()}",
            f"--policy.type={options.policy}", "--policy.pretrained_backbone_weights=null", "--policy.device=cpu",
            "--policy.push_to_hub=false", f"--batch_size={options.batch_size}", f"--num_workers={options.num_workers}",
            f"--steps={options.steps}", "--save_checkpoint=false", "--env_eval_freq=0", *options.extra]


def work_directory():
    return pathlib.Path(tempfile.mkdtemp(prefix="lerobot-bench-"))


def our_version():
    project = re.search(r"project\([^)]*VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return {"lerobot-native": project[1] if project else None, "commit": commit.stdout.strip() or None}


def machine():
    """What the numbers depend on, and nothing that names the machine."""
    cpuinfo = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = re.search(r"^MemTotal:\s+(\d+) kB", pathlib.Path("/proc/meminfo").read_text(), re.MULTILINE)
    return {"cpu": cpuinfo[1] if cpuinfo else platform.machine(), "cores": len(os.sched_getaffinity(0)),
            "memory_gib": round(int(memory[1]) / 2**20, 1), "os": platform.freedesktop_os_release()["PRETTY_NAME"],
            "kernel": platform.release(),
            "environment": {k: v for k, v in os.environ.items() if re.match("(OMP|MKL|GOMP|KMP)_", k)}}


def machine_line(facts):
    return f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gib']} GiB, {facts['os']}"


def warn_if_busy(facts):
    load = os.getloadavg()[0]
    if load > 0.25 * facts["cores"]:
        print(f"warning: other work is running here (load {load:.1f}): the numbers will be noisy. "
              "Run again on an idle machine.", file=sys.stderr)


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")
    print(f"\nAll numbers: {os.path.relpath(path)}")


def median(values):
    return statistics.median(values) if values else None
