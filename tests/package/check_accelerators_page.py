"""docs/accelerators.md tells the truth, and its translations tell the same.

usage: check_accelerators_page.py PROJECT LEROBOT_TRAIN LEROBOT_ACCEL

- The pages have the same headings (levels in order), code blocks, table rows and quoted messages, and in each section the
  same names in code.
- Each flag that they name is one of the programs', or of docker/README.md.
- Each message that they quote (first column of the tables in the last section) is made of texts of the sources; `<...>`
  stands for what a program fills in.
"""
import pathlib
import re
import subprocess
import sys

PAGES = ["accelerators.md", "accelerators.ko.md", "accelerators.ru.md"]
SOURCES = ["host", "plugins", "plugin-api/sdk"]
FLAG = re.compile(r"(?<![\w-])--[a-z][\w.-]*")
CODE = re.compile(r"`([^`]+)`")
MOST_PARTS = 6
# Of C++: a comment, a literal, or anything else that stands between two literals.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?P<raw>.*?)\)"|"(?P<text>(?:\\.|[^"\\\n])*)"'
                   r"|'(?:\\.|[^'\\\n])+'|(?P<other>\S)", re.DOTALL)


class Page:
    """What has to be equal in all languages. Sections are compared by their place, since headings are translated."""

    def __init__(self, text):
        levels = [len(match[1]) for match in re.finditer(r"^(#+) ", text, re.MULTILINE)]
        last = max(index for index, level in enumerate(levels) if level == 2)  # the section of the messages
        self.headings, self.blocks, self.rows, self.messages, self.names = levels, [], [], [], [set()]
        in_table = False
        for line in text.splitlines():
            if line.startswith("    "):
                self.blocks.append(line.strip())
                continue
            if re.match(r"#+ ", line):
                self.names.append(set())
            self.names[-1].update(CODE.findall(line))
            if line.startswith("|"):
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                self.rows.append((len(self.names) - 1, len(cells)))
                if in_table and len(self.names) > last + 1 and CODE.fullmatch(cells[0]):
                    self.messages.append(cells[0].strip("`"))
            in_table = line.startswith("|")


def differences(name, page, original):
    for what in ("headings", "blocks", "rows", "messages"):
        found, needed = getattr(page, what), getattr(original, what)
        if found != needed:
            unequal = [i for i, (own, other) in enumerate(zip(found, needed)) if own != other]
            at = unequal[0] if unequal else min(len(found), len(needed))
            yield f"{name}: {what}, number {at + 1}: {found[at:at + 1]}, in {PAGES[0]} {needed[at:at + 1]}"
    for section, (found, needed) in enumerate(zip(page.names, original.names)):
        for code in sorted(found ^ needed):
            yield f"{name}: section {section}: `{code}` is in {'this page' if code in found else PAGES[0]} only"


def known_flags(project, train, accel):
    helps = [[train, "--policy.type=act", "--optimizer.type=adamw", "--help"], [accel, "--help"]]
    texts = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for command in helps]
    texts.append((project / "docker/README.md").read_text())
    return {flag.rstrip(".") for text in texts for flag in FLAG.findall(text)}


def unknown_flags(name, text, known):
    for flag in sorted({flag.rstrip(".") for flag in FLAG.findall(text)} - known):
        if not any(other.startswith(flag + ".") for other in known):  # a whole section
            yield f"{name}: {flag} is no flag of lerobot-train, lerobot-accel or docker/README.md"


def literals(text):
    """The texts of a C++ file's string literals, adjacent ones joined."""
    joined, parts = [], None
    for match in TOKEN.finditer(text):
        if match["raw"] is not None or match["text"] is not None:
            part = match["raw"] if match["raw"] is not None else re.sub(r'\\(.)', r"\1", match["text"])
            parts = (parts or "") + part
        elif match["other"] and parts is not None:
            joined.append(parts)
            parts = None
    return joined


def fragments(project):
    """What stands between two placeholders of a format string, or makes up a whole literal."""
    found = set()
    for folder in SOURCES:
        for file in sorted((project / folder).rglob("*")):
            if file.suffix in (".cpp", ".h"):
                for literal in literals(file.read_text()):
                    found.update(re.split(r"\{[^{}]*\}", literal))
    return found - {""}


def is_made_of(text, parts, most=MOST_PARTS, first=True):
    """Whether text is a part of one text of the sources, or an end of one, whole ones and a beginning of one."""
    if any(part.startswith(text) or (first and text in part) for part in parts):
        return True
    if most == 1:
        return False
    for size in range(len(text) - 1, 0, -1):
        begin = text[:size]
        if begin in parts or (first and size > 5 and any(part.endswith(begin) for part in parts)):
            if is_made_of(text[size:], parts, most - 1, False):
                return True
    return False


def untrue_messages(messages, parts):
    for message in messages:
        fixed = [piece for piece in re.split(r"<[^<>]*>", message) if piece]
        if sum(map(len, fixed)) < 12:
            yield f"message {message!r} says nothing that could be looked up"
        for piece in fixed:
            if not is_made_of(piece, parts):
                yield f"message {message!r}: no source says {piece!r}"


def self_test(parts):
    """The check itself: what it must not let pass."""
    text = "# A\n\n## M\n\n| m | c |\n| - | - |\n| `the loss is <v> today` | `--tf32` |\n\n    run --tf23\n"
    other = text.replace("today", "tomorrow").replace("`--tf32`", "x")
    if len(list(differences("x", Page(other), Page(text)))) != 4:
        yield "this check no longer sees that two pages differ"
    if len(list(unknown_flags("x", text, {"--tf32"}))) != 1:
        yield "this check no longer sees a wrong flag"
    if len(list(untrue_messages(Page(text).messages, parts))) != 1:
        yield "this check no longer sees a wrong message"


def main(project, train, accel):
    project = pathlib.Path(project)
    texts = {name: (project / "docs" / name).read_text() for name in PAGES}
    pages = {name: Page(text) for name, text in texts.items()}
    known, parts = known_flags(project, train, accel), fragments(project)
    problems = list(self_test(parts))
    for name in PAGES:
        problems += differences(name, pages[name], pages[PAGES[0]])
        problems += unknown_flags(name, texts[name], known)
    problems += untrue_messages(pages[PAGES[0]].messages, parts)
    if len(pages[PAGES[0]].messages) < 40:
        problems.append(f"only {len(pages[PAGES[0]].messages)} messages were found in {PAGES[0]}")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main(*sys.argv[1:])
