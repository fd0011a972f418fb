"""A user's home with the program in it, and what every command did to each file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rows import CACHED, EMPTY, NUMBERED, fault, is_users, row_of
from terminal import Terminal, World

PROGRAM = ".local/bin/skillfold"
# What any command may write.
ALWAYS = (CACHED, EMPTY)


# Puts a program in its place.
Put = Callable[[Path, Path], None]


def by_rename(program: Path, place: Path) -> None:
    """Put a program in its place as an update does: at once, under the old one's name."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(".skillfold-new")
    shutil.copy2(program, beside)
    beside.rename(place)


class Findings:
    """What was seen, by row of the page and by direction."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.failed: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.checks = self.commands = 0

    def check(self, row: str, direction: str, what: str, is_so: bool, seen: object = "") -> None:
        self.checks += 1
        if is_so:
            self.seen[row, direction].append(what)
        else:
            self.failed[row, direction].append(what)
            shown = str(seen)
            shown = shown if len(shown) < 3000 else f"{shown[:1500]}\n…\n{shown[-1500:]}"
            print(f"not so ({direction}), {row}: {what}\n{shown}\n", flush=True)


class Home(World):
    """A home, an older program and a newer one that take turns in it."""

    def __init__(self, name: str, findings: Findings, put: Put = by_rename) -> None:
        self.root = Path(tempfile.gettempdir()) / f"skillfold-upgrade-{name}"
        self.home = self.root / "home"
        self.bin = self.home / ".local/bin"
        shutil.rmtree(self.root, ignore_errors=True)
        self.home.mkdir(parents=True)
        self.findings, self.put = findings, put
        self.program = self.direction = ""
        self.files: dict[str, bytes] = {}

    def begin(self, program: str, file: Path, direction: str) -> None:
        """Put a program in its place. `direction` names the column of what is seen from now on."""
        self.update(program, file)
        self.direction = direction

    def update(self, program: str, file: Path) -> None:
        """Put a program in its place."""
        self.put(file, self.home / PROGRAM)
        self.program = program
        self.files = self.tree()

    def tree(self) -> dict[str, bytes]:
        """Return each file's content, but the program's. A link has its target."""
        files = {}
        for folder, _, names in os.walk(self.home):
            for name in names:
                path = Path(folder, name)
                try:
                    content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
                except FileNotFoundError:
                    # A program that works in the background has renamed it.
                    continue
                files[str(path.relative_to(self.home))] = content
        files.pop(PROGRAM, None)
        return files

    def check(self, row: str, what: str, is_so: bool, seen: object = "") -> None:
        self.findings.check(row, self.direction, what, is_so, seen)

    def judge(self, command: str, writes: tuple[str, ...] | None, removes: tuple[str, ...]) -> None:
        """Judge what a command changed: `writes` are the starts of the names of the rows that it may write, `None` for all."""
        after = self.tree()
        for path in sorted(self.files.keys() | after.keys()):
            before, now = self.files.get(path), after.get(path)
            if before == now or is_users(path):
                continue
            row = row_of(path)
            if row is None:
                self.findings.check("a file that no row names", self.direction, path, False, command)
                continue
            why = fault(row, self.program, path, before, now)
            names = row.name.replace("`", "")
            may = row.rule in ALWAYS or writes is None or any(part in names for part in writes)
            may_lose = row.rule in ALWAYS or any(part in names for part in removes)
            if why is None and not may:
                why = "the command has no business there"
            if why is None and not may_lose and before is not None:
                lost = lines(before) - lines(now or b"") if row.rule == NUMBERED else set()
                why = f"it lost {lost}" if lost else "it is gone" if now is None else None
            if why:
                self.findings.check(row.name, self.direction, f"{path}: {why}", False, f"{command}\n{text(before)}\n---\n{text(now)}")
        self.files = after
        self.findings.commands += 1

    def do(
        self, *words: str, folder: str = "", writes: tuple[str, ...] | None = (), removes: tuple[str, ...] = (), stdin: str = "",
        ends: int | None = 0, program: str = "skillfold",
    ) -> str:
        """Run a command without a terminal, judge what it changed, and return all that it printed."""
        run = subprocess.run(
            [program, *words], cwd=self.home / folder, env=self.environment(), input=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )
        command = " ".join((program, *words))
        self.judge(command, writes, removes)
        if ends is not None and run.returncode != ends:
            self.check(f"`{words[0]}` ends as it should", f"`{command}` ended with {run.returncode}, not {ends}", False, run.stdout)
        return run.stdout

    def data(self, *words: str, **options: object) -> dict:
        """Run a command and return its JSON."""
        printed = self.do(*words, "--json", **options)
        try:
            return json.loads(printed[printed.index("{"): printed.rindex("}") + 1])
        except ValueError:
            self.check(f"`{words[0]}` prints JSON", " ".join(words), False, printed)
            return {}

    def answer(
        self, command: str, *answers: tuple[str, str], folder: str = "", writes: tuple[str, ...] | None = (), removes: tuple[str, ...] = (),
        ends: int | None = 0,
    ) -> str:
        """Run a command at a terminal, type an answer at each question, judge what it changed, and return the screen."""
        terminal = Terminal(self, 200, 200, "NO_COLOR=1")
        try:
            terminal.type(f"clear; cd '{self.home / folder}'; {command}; echo \"ended $?.\"", "Enter")
            for question, typed in answers:
                end = time.monotonic() + 60
                while question not in (screen := terminal.screen()) and not re.search(r"ended \d+\.", screen) and time.monotonic() < end:
                    time.sleep(0.05)
                if question not in screen:
                    break
                terminal.type(typed, "Enter")
            end = time.monotonic() + 60
            while not (ended := re.search(r"(?m)^ended (\d+)\.", screen := terminal.screen())) and time.monotonic() < end:
                time.sleep(0.05)
        finally:
            terminal.close()
        self.judge(command, writes, removes)
        if ended is None or ends is not None and int(ended[1]) != ends:
            self.check("a question is answered", f"`{command}` ended with {ended and ended[1]}, not {ends}", False, screen)
        return screen

    def move_aside(self, path: str) -> None:
        """Do what a message says: the file is kept under another name."""
        (self.home / "aside").mkdir(exist_ok=True)
        (self.home / path).rename(self.home / "aside" / f"{len(list((self.home / 'aside').iterdir()))}-{Path(path).name}")
        self.files = self.tree()

    def has(self, path: str) -> str:
        """Return the text of a file, or nothing."""
        return self.files.get(path, b"").decode()


class Copy:
    """A copy of a home under the same path, to try what it could not take back: `with Copy(home):`."""

    def __init__(self, home: Home) -> None:
        self.home, self.aside, self.program = home, home.root / "aside", home.program

    def __enter__(self) -> None:
        # The original keeps its files' numbers, which allowances know.
        self.home.home.rename(self.aside)
        shutil.copytree(self.aside, self.home.home, symlinks=True)

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.home.home)
        self.aside.rename(self.home.home)
        self.home.program = self.program
        self.home.files = self.home.tree()


def lines(content: bytes) -> set[str]:
    return set(content.decode(errors="replace").splitlines())


def text(content: bytes | None) -> str:
    return "(none)" if content is None else content.decode(errors="replace")
