"""What the benchmarks share: the machine, versions, the peer's environment, medians, tables, JSON. See README.md."""

import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77


class BenchError(Exception):
    """What a user can cure; its text is the whole message."""


def run_main(name, main):
    """Ends the process with main's exit code, errors as one message."""
    try:
        sys.exit(main())
    except (BenchError, subprocess.CalledProcessError) as error:
        sys.exit(f"bench/{name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def machine():
    """What the numbers depend on, and nothing that names the machine."""
    cpuinfo = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = re.search(r"^MemTotal:\s+(\d+) kB", pathlib.Path("/proc/meminfo").read_text(), re.MULTILINE)
    return {"cpu": cpuinfo[1] if cpuinfo else platform.machine(), "cores": len(os.sched_getaffinity(0)),
            "memory_gib": round(int(memory[1]) / 2**20, 1), "os": platform.freedesktop_os_release()["PRETTY_NAME"],
            "kernel": platform.release(), "load": os.getloadavg()[0],
            "environment": {k: v for k, v in os.environ.items() if re.match("(OMP|MKL|GOMP|KMP)_", k)}}


def machine_line(facts):
    return f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gib']} GiB, {facts['os']}"


def warn_if_busy(facts):
    if facts["load"] > 0.25 * facts["cores"]:
        print(f"warning: other work is running here (load {facts['load']:.1f}): the numbers will be noisy. "
              "Run again on an idle machine.", file=sys.stderr)


def our_version():
    project = re.search(r"project\([^)]*VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return {"lerobot-native": project[1] if project else None, "commit": commit.stdout.strip() or None}


def peer_version(venv):
    """The versions in the peer's environment of what decides its speed."""
    code = ("import importlib.metadata as m, platform\nprint('python', platform.python_version())\n"
            "for n in ('lerobot', 'torch', 'torchcodec', 'av', 'accelerate', 'numpy'):\n"
            "    try: print(n, m.version(n))\n    except m.PackageNotFoundError: pass")
    out = subprocess.run([venv / "bin/python", "-c", code], capture_output=True, text=True, check=True).stdout
    return dict(line.split(maxsplit=1) for line in out.splitlines())


def versions_of_both(options):
    return {"ours": our_version(), "peer": peer_version(options.peer)}


def versions_line(versions):
    return "; ".join(f"{name}: " + ", ".join(f"{part} {version}" for part, version in parts.items())
                     for name, parts in versions.items())


def add_peer(parser):
    parser.add_argument("--peer", type=pathlib.Path, default=os.environ.get("LEROBOT_PEER_VENV"),
                        help="virtual environment with Python LeRobot (or set LEROBOT_PEER_VENV)")


def compare_with_peer(options):
    """The facts of the machine, with a warning when it is busy; None where there is no peer, having said what to do."""
    if options.peer and os.access(options.peer / "bin/lerobot-train", os.X_OK):
        facts = machine()
        warn_if_busy(facts)
        return facts
    where = f"at {options.peer}" if options.peer else "given"
    print(f"SKIPPED: no Python LeRobot {where}. Make one with scripts/peer-venv DIR, then pass --peer DIR.")
    return None


def work_directory():
    return pathlib.Path(tempfile.mkdtemp(prefix="lerobot-bench-"))


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")
    print(f"\nAll numbers: {os.path.relpath(path)}")


def median(values):
    return statistics.median(values) if values else None


def print_cells(header, rows):
    """A table in Markdown: the first column to the left, the others to the right."""
    widths = [max(3, *(len(row[i]) for row in [header, *rows])) for i in range(len(header))]
    rule = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    for cells in [header, rule, *rows]:
        print("| " + " | ".join(f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}"
                                for i, (cell, w) in enumerate(zip(cells, widths))) + " |")


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}f}"
