"""What adding a hostile source may leave behind: nothing outside the places of the product, and nothing but plain files in skills."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from machine import LOCK, MANIFEST, SKILLS, Done, Machine

MAX_SECONDS = 30
MAX_KIB = 600 << 10
# The permissions of files and folders in installed skills.
MODES = {0o644, 0o755, 0o664, 0o775}
# Words of which a refusal has to have some: what the rule is about.
RULES = re.compile(
    r"link|repository inside|path|name|case|traversal|not a file|at most|64 MiB|10,000|too large|large|many|levels|"
    r"entries|damaged|no skills|"
    r"no skill|has no object|several skills|twice|UTF-8|frontmatter|Invalid|digest|archive|Could not fetch|nested|limit|size",
    re.IGNORECASE,
)


def contents(machine: Machine) -> dict[str, tuple[int, int, int]]:
    """Return what is on a machine outside the folders of the product, with its kind, size and time."""
    ours = {machine.store, machine.cache / "skillfold", machine.settings / "skillfold", machine.state / "skillfold"}
    found = {}
    for parent, folders, files in os.walk(machine.folder):
        folders[:] = [name for name in folders if Path(parent, name) not in ours]
        for name in [*folders, *files]:
            path = Path(parent, name)
            info = path.lstat()
            is_folder = stat.S_ISDIR(info.st_mode)
            found[str(path)] = (info.st_mode, 0 if is_folder else info.st_size, 0 if is_folder else info.st_mtime_ns)
    return found


def escapes(machine: Machine, project: Path, before: dict[str, tuple[int, int, int]]) -> list[str]:
    """Return what was written where nothing may be."""
    skills = str(project / SKILLS)
    allowed = {str(project / name) for name in (MANIFEST, LOCK, ".agents", SKILLS)}
    after = contents(machine)
    changed = [path for path in after.keys() | before.keys() if after.get(path) != before.get(path)]
    return [f"written outside: {path}" for path in changed if path not in allowed and not path.startswith(f"{skills}/")]


def odd_files(project: Path) -> list[str]:
    """Return what is in the installed skills and is no plain file or folder, or has a name that no skill may have."""
    wrong = []
    for parent, folders, files in os.walk(project / SKILLS):
        for name in [*folders, *files]:
            path = Path(parent, name)
            info = path.lstat()
            kind = stat.S_IFMT(info.st_mode)
            if kind not in (stat.S_IFREG, stat.S_IFDIR):
                wrong.append(f"not a plain file: {path}")
            elif stat.S_IMODE(info.st_mode) not in MODES:
                wrong.append(f"mode {stat.S_IMODE(info.st_mode):o}: {path}")
            elif kind == stat.S_IFREG and info.st_nlink > 1:
                wrong.append(f"a file with two names: {path}")
            if name.casefold() in (".git", "git~1") or any(ord(letter) < 32 for letter in name):
                wrong.append(f"a name: {path!r}")
    return wrong


def unbounded(done: Done) -> list[str]:
    """Return which limit a command broke."""
    wrong = []
    if done.code is None or done.seconds > MAX_SECONDS:
        wrong.append(f"took {done.seconds:.0f} s")
    if done.own_kib > MAX_KIB:
        wrong.append(f"took {done.own_kib >> 10} MiB itself")
    if done.code is not None and (done.code < 0 or done.code == 101 or "panicked" in done.said):
        wrong.append(f"ended badly: {done}")
    return wrong


def unexplained(done: Done) -> list[str]:
    """Return whether a refusal does not say why."""
    if done.code in (0, None):
        return []
    # The address of a source can have any word in it.
    said = re.sub(r"https?://[^`\s]*", "", done.said)
    error = re.search(r"^.*(error|refused|Not installed)[^:]*: .*\n?(hint: .*)?", said, re.MULTILINE)
    if error and "hint: " in said and RULES.search(error[0]):
        return []
    return [f"does not say why: {done}"]


def controls(done: Done) -> list[str]:
    """Return what reached the terminal of an author's control characters; our own clear a line."""
    text = re.sub(r"\x1b\[(K|2K|\?25[lh]|[0-9;]*m)", "", done.out)
    found = re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x9b\u202a-\u202e\u2066-\u2069]", text)
    return [f"controls the terminal: {text[max(0, found.start() - 60) : found.end() + 60]!r}"] if found else []
