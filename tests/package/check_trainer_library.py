"""The trainer library exports one function, takes libtorch by name and not from a path, and links no vendor: FILE."""

import re
import subprocess
import sys


def main():
    library = sys.argv[1]
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    exported = sorted(line.split()[-1] for line in symbols.splitlines())
    dynamic = subprocess.run(["readelf", "-dW", library], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"NEEDED.*\[(.+)\]", dynamic)
    paths = re.findall(r"(?:RPATH|RUNPATH).*\[(.+)\]", dynamic)
    problems = []
    if exported != ["lerobot_trainer_run"]:
        problems.append(f"exports {exported}, lerobot_trainer_run alone is expected")
    if not {"libtorch_cpu.so", "libc10.so"} <= set(needed):
        problems.append(f"needs {needed}, libtorch_cpu.so and libc10.so are expected among them")
    for name in needed:
        if re.match(r"libtorch\.so|libtorch_(cuda|hip|xpu)|libc10_|libcuda|libamdhip|libze_|libgomp|libmkl", name):
            problems.append(f"needs {name}: only the device-neutral parts of torch may be linked")
    if paths != ["$ORIGIN/../../deps"]:
        problems.append(f"has the run path {paths}: torch must come from the plugin, by name")
    print("\n".join(f"{library}: {p}" for p in problems) or f"{library}: in order")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
