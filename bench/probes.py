"""Runs data_probe and peer_probe.py: the same work on both sides, each in a process of its own."""

import json
import os
import pathlib
import subprocess

from common import ROOT, BenchError

HOW_TO_BUILD = "cmake --preset release -DLEROBOT_BUILD_BENCH=ON && cmake --build build/release --target data_probe"


def add_probe(parser):
    parser.add_argument("--probe", type=pathlib.Path, default=ROOT / "build/release/bench/data_probe",
                        help="our program data_probe")


def commands(options):
    """{side: first words of its command}"""
    if not os.access(options.probe, os.X_OK):
        raise BenchError(f"--probe: no program at {options.probe}. Build it: {HOW_TO_BUILD}")
    return {"ours": [options.probe], "peer": [options.peer / "bin/python", ROOT / "bench/peer_probe.py"]}


def run_probe(command, stdin="", environment=None):
    """The probe's numbers. Raises BenchError with the end of its messages."""
    result = subprocess.run(list(map(str, command)), input=stdin, capture_output=True, text=True,
                            env={**os.environ, "HF_HUB_OFFLINE": "1", **(environment or {})})
    if result.returncode != 0:
        messages = "\n".join(f"  | {line}" for line in result.stderr.splitlines()[-10:])
        raise BenchError(f"{' '.join(map(str, command))} ended with {result.returncode}\n{messages}")
    return json.loads(result.stdout.splitlines()[-1])


def one_core():
    """Words that keep a program on one core."""
    return ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))]
