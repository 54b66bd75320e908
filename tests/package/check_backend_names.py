"""The host knows backends by name in one table only: no other string literal of host/ may hold such a name.

usage: check_backend_names.py PROJECT
"""
import pathlib
import re
import sys

TABLE = "host/accel/backends.h"
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?P<raw>.*?)\)"|"(?P<text>(?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\]|\\.)\'', re.S)


def literals(source):
    for match in TOKEN.finditer(source):
        text = match["raw"] if match["raw"] is not None else match["text"]
        if text is not None:
            yield source.count("\n", 0, match.start()) + 1, text


def main(project):
    root = pathlib.Path(project)
    table = (root / TABLE).read_text()
    names = re.findall(r'\{"([a-z0-9_]+)", "', table)
    if len(names) < 4:
        sys.exit(f"{TABLE}: found only the backends {names}; this check no longer understands the table")
    word = re.compile(r"(?<![A-Za-z0-9])(" + "|".join(names) + r")(?![A-Za-z0-9])")
    found = []
    for path in sorted(root.glob("host/**/*")):
        relative = path.relative_to(root).as_posix()
        if path.suffix not in (".cpp", ".h") or relative == TABLE:
            continue
        found += [f"{relative}:{line}: {text!r}" for line, text in literals(path.read_text()) if word.search(text)]
    for line in found:
        print(line)
    if found:
        sys.exit(f"{len(found)} strings name a backend; only {TABLE} may")


main(sys.argv[1])
