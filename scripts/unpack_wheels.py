"""Takes out of the pinned wheels what the build and the CPU runtime need: unpack_wheels.py WHEELS DESTINATION.

torch/   include/ and lib/{libtorch_cpu,libc10,libgomp,libcudart,libcupti}, nothing else of a wheel of 500 MB and more
arrow/   include/ and lib/{libarrow,libparquet,libarrow_compute} with the names a linker looks for
"""

import fnmatch
import os
import pathlib
import sys
import zipfile

# Beginning of a wheel's name: what is taken, as a pattern over its files, and the directory it goes to. A pattern that
# ends with / stands for a whole directory.
RULES = {
    "torch-": [("torch/include/", "torch/include"), *((f"torch/lib/{f}", "torch/lib") for f in ("libtorch_cpu.so", "libc10.so", "libgomp*.so*"))],
    "nvidia_cuda_runtime": [("nvidia/*/lib/libcudart.so.*", "torch/lib")],
    "nvidia_cuda_cupti": [("nvidia/*/lib/libcupti.so.*", "torch/lib")],
    "pyarrow-": [("pyarrow/include/", "arrow/include"), *((f"pyarrow/{f}.so.*", "arrow/lib") for f in ("libarrow", "libparquet", "libarrow_compute"))],
}


def select(names, pattern):
    """Pairs of a file in the wheel and its path below the target directory."""
    if pattern.endswith("/"):
        return [(n, n[len(pattern) :]) for n in names if n.startswith(pattern) and not n.endswith("/")]
    return [(n, n.rsplit("/", 1)[-1]) for n in names if fnmatch.fnmatchcase(n, pattern)]


def unpack(wheel, rules, destination):
    with zipfile.ZipFile(wheel) as archive:
        for pattern, target in rules:
            found = select(archive.namelist(), pattern)
            if not found:
                sys.exit(f"{wheel.name} holds no {pattern}: does its pin match this script?")
            for name, relative in found:
                path = destination / target / relative
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(name))
                if ".so" in path.name:
                    path.chmod(0o755)


def main():
    wheels, destination = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for wheel in sorted(wheels.glob("*.whl")):
        rules = next((rules for prefix, rules in RULES.items() if wheel.name.startswith(prefix)), None)
        if rules is None:
            sys.exit(f"{wheel.name}: this script does not know what to take out of it")
        unpack(wheel, rules, destination)
    for library in (destination / "arrow/lib").glob("*.so.*"):
        os.symlink(library.name, library.with_name(library.name.split(".so")[0] + ".so"))


if __name__ == "__main__":
    main()
