#!/usr/bin/env python3
"""Lists the files of a diff and how much of each changed.

Reads a unified or combined diff from standard input, as `git diff`, `diff -u`, `hg diff` and `svn diff` print it. Needs
no repository and runs nothing. Ends with 1 if the input is no diff, and with 2 if a part of it could not be read.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass

HUNK = re.compile(r"^(@@+) ((?:-\d+(?:,\d+)? )+)\+\d+(?:,(\d+))? \1(?: |$)")
TEST = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testdata|fixtures)/|(^|/)(test_|conftest)|[._-](test|spec|tests)\.\w+$", re.I
)
GENERATED = re.compile(
    r"(^|/)(vendor|node_modules|dist|third_party|__snapshots__|snapshots)/"
    r"|(^|/)(package-lock\.json|npm-shrinkwrap\.json|go\.sum|pnpm-lock\.yaml|bun\.lockb?)$"
    r"|\.(lock|lockb|snap|map)$|\.min\.(js|css)$|(_pb2(_grpc)?\.py|\.pb\.go|\.g\.dart|\.designer\.cs)$",
    re.I,
)
DOCS = re.compile(r"(^|/)docs?/|\.(md|rst|adoc|txt)$", re.I)
MAX_PROBLEMS = 20
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", '"': '"', "\\": "\\"}


@dataclass
class Change:
    """What a diff does to one file."""

    path: str
    added: int = 0
    removed: int = 0
    status: str = "changed"
    kind: str = "code"
    old_path: str | None = None


class Reader:
    """Reads a diff. Lines of a hunk are counted by its header, so that a removed line `-- x` is no file name."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.problems: list[str] = []
        self.current: Change | None = None
        self.old_name = ""
        self.old: list[int] = []
        self.new = 0
        self.hunk_line = 0
        self.has_hunk = False

    def read(self, lines: Iterable[str]) -> None:
        number = 0
        for number, line in enumerate(lines, 1):
            text = line.rstrip("\n").rstrip("\r")
            if self.new > 0 or any(self.old):
                if self.count(text):
                    continue
                self.problems.append(f"line {number}: the hunk of line {self.hunk_line} ends early")
                self.old, self.new = [], 0
            self.header(text, number)
        if self.new > 0 or any(self.old):
            self.problems.append(f"line {number}: the diff ends inside the hunk of line {self.hunk_line}")
        for change in self.changes:
            change.kind = kind_of(change.path)

    def count(self, text: str) -> bool:
        """Count a line of a hunk. Return whether it was one."""
        if text.startswith("\\"):  # "\ No newline at end of file"
            return True
        width = len(self.old)
        # Some tools cut the space of an empty line.
        signs = text[:width] if text.strip() else " " * width
        if len(signs) < width or set(signs) - set(" +-"):
            return False
        removed = "-" in signs
        for parent, sign in enumerate(signs):
            if sign == ("-" if removed else " "):
                self.old[parent] = max(0, self.old[parent] - 1)
        self.new -= 0 if removed else 1
        if self.current is not None:
            self.current.added += "+" in signs
            self.current.removed += removed
        return True

    def header(self, text: str, number: int) -> None:
        if text.startswith(("diff --git ", "diff --cc ", "diff --combined ")):
            self.begin(names_of(text))
        elif text.startswith("Index: "):
            self.begin(text[len("Index: ") :])
        elif text.startswith("--- "):
            self.old_name = file_name(text[4:])
        elif text.startswith("+++ "):
            self.names(self.old_name, file_name(text[4:]))
        elif match := HUNK.match(text):
            self.hunk(match, number)
        elif self.current is not None and not self.has_hunk:
            self.note(text)

    def begin(self, path: str) -> None:
        self.current = Change(path)
        self.changes.append(self.current)
        self.has_hunk = False

    def names(self, old: str, new: str) -> None:
        """Take the names of the lines `---` and `+++`, which are certain where those of `diff --git` are not."""
        path = old if new == "/dev/null" else new
        if self.current is None or self.has_hunk:
            self.begin(path)
        assert self.current is not None
        self.current.path = path
        if old == "/dev/null":
            self.current.status = "new"
        elif new == "/dev/null":
            self.current.status = "deleted"

    def hunk(self, match: re.Match[str], number: int) -> None:
        if self.current is None:
            self.problems.append(f"line {number}: a hunk without a file name")
            self.begin("(unknown)")
        ranges = match[2].split()
        self.old = [int(one.partition(",")[2] or 1) for one in ranges]
        self.new = int(match[3] or 1)
        self.hunk_line = number
        self.has_hunk = True

    def note(self, text: str) -> None:
        """Read a line between the name of a file and its first hunk."""
        change = self.current
        assert change is not None
        if text.startswith("new file mode"):
            change.status = "new"
        elif text.startswith("deleted file mode"):
            change.status = "deleted"
        elif text.startswith(("rename from ", "copy from ")):
            change.status = "renamed" if text.startswith("rename") else "copied"
            change.old_path = unquote(text.partition(" from ")[2])
        elif text.startswith(("rename to ", "copy to ")):
            change.path = unquote(text.partition(" to ")[2])
        elif text.startswith(("Binary files ", "GIT binary patch", "Cannot display: ")):
            change.status = "binary" if change.status == "changed" else f"{change.status} binary"
        elif text.startswith("new mode") and change.status == "changed":
            change.status = "mode"


def names_of(text: str) -> str:
    """Return the new name of a line `diff --git a/x b/x`. One with spaces may be wrong; later lines correct it."""
    _, option, rest = text.split(" ", 2)
    if option != "--git":
        return unquote(rest)
    if rest.endswith('"'):
        return file_name(rest[rest.rfind(' "') + 1 :])
    # Without a rename both names are the same.
    middle = len(rest) // 2
    if rest[middle : middle + 1] == " " and rest[:middle].partition("/")[2] == rest[middle + 1 :].partition("/")[2]:
        return rest[middle + 1 :].partition("/")[2]
    return file_name(rest.rpartition(" b/")[2] if " b/" in rest else rest.rpartition(" ")[2])


def file_name(text: str) -> str:
    """Return the path of a line `---` or `+++` without its time and without `a/` or `b/`."""
    name = unquote(text) if text.startswith('"') else text.partition("\t")[0]
    return name[2:] if name[:2] in ("a/", "b/", "i/", "w/", "c/", "o/") else name


def unquote(text: str) -> str:
    """Undo the quoting of git: names with odd characters are in quotes, with octal bytes."""
    text = text.partition("\t")[0]
    if not (len(text) > 1 and text[0] == text[-1] == '"'):
        return text

    def bytes_of(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] in "0123":
            return chr(int(escape, 8))
        return ESCAPES.get(escape, escape)

    raw = re.sub(r"\\([0-3][0-7]{2}|.)", bytes_of, text[1:-1].encode().decode("latin-1"))
    return raw.encode("latin-1").decode(errors="replace")


def kind_of(path: str) -> str:
    for kind, pattern in (("generated", GENERATED), ("test", TEST), ("docs", DOCS)):
        if pattern.search(path):
            return kind
    return "code"


def printable(path: str) -> str:
    """Return a path without control characters, which could rewrite a terminal."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in path)


def table(changes: list[Change]) -> str:
    lines = []
    for change in changes:
        origin = f" (from {printable(change.old_path)})" if change.old_path else ""
        notes = "" if change.status == "changed" else f"  [{change.status}{origin}]"
        counts = f"{f'+{change.added}':>7} {f'-{change.removed}':>7}"
        lines.append(f"{counts}  {change.kind:<9}  {printable(change.path)}{notes}")
    for kind in ("code", "test", "docs", "generated"):
        group = [change for change in changes if change.kind == kind]
        if group:
            lines.append(f"{kind}: {total(group)}")
    lines.append(f"all: {total(changes)}")
    return "\n".join(lines)


def total(changes: list[Change]) -> str:
    files = "1 file" if len(changes) == 1 else f"{len(changes)} files"
    return f"{files}, {sum(one.added for one in changes)} added, {sum(one.removed for one in changes)} removed"


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Lists the files of a diff, which is read from standard input, and how much of each changed.",
        epilog="example: git diff main... | python3 scripts/diff_stat.py",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if sys.stdin.isatty():
        parser.error("there is no diff on standard input; pipe one in, as in the example of --help")
    reader = Reader()
    # Split at line feeds only: other separators may stand inside a line of a file.
    reader.read(line.decode("utf-8", errors="replace") for line in sys.stdin.buffer)
    if not reader.changes:
        print("The input is no diff: it has no line that names a changed file", file=sys.stderr)
        return 1
    changes = sorted(reader.changes, key=lambda one: (-(one.added + one.removed), one.path))
    if options.json:
        report = {"files": [asdict(one) for one in changes], "problems": reader.problems[:MAX_PROBLEMS]}
        print(json.dumps(report, indent=2))
    else:
        print(table(changes))
    for problem in reader.problems[:MAX_PROBLEMS]:
        print(f"Not counted in full: {problem}", file=sys.stderr)
    if len(reader.problems) > MAX_PROBLEMS:
        print(f"Not counted in full: {len(reader.problems) - MAX_PROBLEMS} more places", file=sys.stderr)
    return 2 if reader.problems else 0


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)
