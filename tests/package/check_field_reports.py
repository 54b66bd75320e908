"""docs/field-reports.md: one row for each report, and each test that it names is there: check_field_reports.py PROJECT.

Tests are named as gtest and CTest know them: Suite.Name. Without a test a row says "does not apply" or "waits for".
"""

import pathlib
import re
import sys

NUMBERS = [f"F{n:02}" for n in range(1, 83)]
TEST = re.compile(r"`(\w+\.\w+)`")
GTEST = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)")
CTEST = re.compile(r"\bNAME\s+(\w+\.\w+)")


def known_tests(tests):
    names = set()
    for file in tests.rglob("*"):
        if file.suffix == ".cpp":
            names |= {".".join(match) for match in GTEST.findall(file.read_text())}
        elif file.name == "CMakeLists.txt" or file.suffix == ".cmake":
            names |= set(CTEST.findall(file.read_text()))
    return names


def main(project):
    root = pathlib.Path(project)
    known = known_tests(root / "tests")
    rows = re.findall(r"^\| (F\d+) \|(.*)\|$", (root / "docs/field-reports.md").read_text(), re.MULTILINE)
    found = []
    if [number for number, _ in rows] != NUMBERS:
        wrong = sorted(set(NUMBERS).symmetric_difference(number for number, _ in rows)) or ["their order"]
        found.append(f"needed one row for each of F01 to F82 in order; wrong: {', '.join(wrong)}")
    for number, row in rows:
        tests = TEST.findall(row)
        found += [f"{number}: there is no test {test}" for test in tests if test not in known]
        if not tests and not re.search(r"does not apply|waits for", row, re.IGNORECASE):
            found.append(f"{number}: names no test, and neither what it waits for nor why it does not apply")
    print("\n".join(found) or f"{len(rows)} rows, each held by a test or explained")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
