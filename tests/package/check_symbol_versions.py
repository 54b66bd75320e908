"""The newest symbols of the C and C++ libraries that shipped files may need: check_symbol_versions.py PROJECT STAGE.

docs/building.md names the oldest system; its versions are the limits. A file built on something newer would end there with
"version GLIBCXX_... not found".
"""

import pathlib
import re
import subprocess
import sys

LIMIT = re.compile(r"(GLIBC|GLIBCXX|CXXABI)_(\d+(?:\.\d+)+)")


def version(text):
    return tuple(map(int, text.split(".")))


def needed(file):
    """{family: newest version} of what an ELF file needs from other libraries."""
    listing = subprocess.run(["readelf", "--version-info", "--wide", file], capture_output=True, text=True, check=True).stdout
    newest = {}
    for family, number in LIMIT.findall(listing.partition("Version needs section")[2]):
        newest[family] = max(newest.get(family, "0"), number, key=version)
    return newest


def main(project, stage):
    page = (pathlib.Path(project) / "docs/building.md").read_text()
    limits = dict(LIMIT.findall(page.partition("## The oldest system")[2].partition("\n## ")[0]))
    if set(limits) != {"GLIBC", "GLIBCXX", "CXXABI"}:
        sys.exit(f"docs/building.md, 'The oldest system': found {limits}, needed GLIBC, GLIBCXX and CXXABI with a version")
    found = []
    files = [f for f in sorted(pathlib.Path(stage).rglob("*")) if f.is_file() and f.open("rb").read(4) == b"\x7fELF"]
    for file in files:
        for family, number in needed(file).items():
            if version(number) > version(limits[family]):
                found.append(f"{file}: needs {family}_{number}, the oldest system has {family}_{limits[family]}")
    if not files:
        found = [f"{stage}: no programs"]
    print("\n".join(found) or f"{len(files)} files need at most {limits}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
