"""Takes out of the pinned wheels what the build and the CPU runtime need: unpack_wheels.py WHEELS DESTINATION.

torch/   include/ and lib/{libtorch_cpu,libc10,libgomp,libcudart,libcupti}, nothing else of the 530 MB wheel
arrow/   include/ and lib/{libarrow,libparquet,libarrow_compute} with the names a linker looks for
"""

import os
import pathlib
import sys
import zipfile

RULES = {
    "torch-": [("torch/include/", "torch/include/"), *((f"torch/lib/{f}", f"torch/lib/{f}") for f in ("libtorch_cpu.so", "libc10.so", "libgomp.so.1"))],
    "nvidia_cuda_runtime-": [("nvidia/cu13/lib/libcudart.so.13", "torch/lib/libcudart.so.13")],
    "nvidia_cuda_cupti-": [("nvidia/cu13/lib/libcupti.so.13", "torch/lib/libcupti.so.13")],
    "pyarrow-": [("pyarrow/include/", "arrow/include/"), *((f"pyarrow/{f}.so.2600", f"arrow/lib/{f}.so.2600") for f in ("libarrow", "libparquet", "libarrow_compute"))],
}


def unpack(wheel, rules, destination):
    with zipfile.ZipFile(wheel) as archive:
        for source, target in rules:
            names = [n for n in archive.namelist() if not n.endswith("/") and (n == source or (source.endswith("/") and n.startswith(source)))]
            if not names:
                sys.exit(f"{wheel.name} holds no {source}: does the pin in cmake/wheels.txt match this script?")
            for name in names:
                path = destination / (target + name[len(source) :])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(name))
                if ".so" in path.name:
                    path.chmod(0o755)


def main():
    wheels, destination = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for prefix, rules in RULES.items():
        found = sorted(wheels.glob(prefix + "*.whl"))
        if len(found) != 1:
            sys.exit(f"{wheels}: expected one {prefix}*.whl, found {len(found)}")
        unpack(found[0], rules, destination)
    for library in (destination / "arrow/lib").glob("*.so.*"):
        os.symlink(library.name, library.with_name(library.name.split(".so")[0] + ".so"))


if __name__ == "__main__":
    main()
