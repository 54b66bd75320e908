"""The floor of one update, as update_floor measures it."""

import json
import subprocess
import sys

from common import ROOT

DEFAULT = ROOT / "build/release/bench/update_floor"
HOW_TO_BUILD = "cmake --preset release -DLEROBOT_BUILD_BENCH=ON && cmake --build build/release --target update_floor"


class Floor:
    """The least of what several calls of measure() found: other work on the machine only adds to it."""

    def __init__(self, program, flags, timeout):
        self.command, self.timeout, self.best = [program, *flags], timeout, None
        if not program.exists():
            print(f"note: no floor: {program} is not built ({HOW_TO_BUILD})", file=sys.stderr)
            self.command = None

    def measure(self):
        if not self.command:
            return
        try:
            result = subprocess.run(self.command, capture_output=True, text=True, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            return self.give_up(f"it took longer than {self.timeout} s")
        if result.returncode != 0:
            return self.give_up((result.stderr.strip().splitlines() or ["it failed"])[-1])
        found = json.loads(result.stdout)
        if self.best is None or found["total_s"] < self.best["total_s"]:
            self.best = found

    def give_up(self, reason):
        print(f"warning: no floor: {reason}", file=sys.stderr)
        self.command = None

    def print_parts(self):
        if not self.best:
            return
        products, convolutions = self.best["products"], self.best["convolutions"]
        print(f"\nfloor of an update, {self.best['threads']} threads: "
              + ", ".join(f"{name} {part['seconds']:.3f} s ({part['gflop']:.1f} GFLOP at {part['gflop_per_s']:.0f}/s)"
                          for name, part in (("products", products), ("convolutions", convolutions)))
              + f", optimizer {self.best['optimizer_s']:.3f} s, norm {self.best['norm_s']:.3f} s")
