"""One byte is changed somewhere between the author and the installed skill: it is noticed, or the skill is still the author's.

The places: the mirror (objects of the repository, the archive), the copy of the repository in the cache, the contents in the store,
the vendor folder, the lock and the manifest, and the installed files. A change is accepted if a skill has other bytes than its author
wrote, and both `install --frozen` and `verify` exit with 0.
"""

from __future__ import annotations

import collections
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from checks import Checks
from machine import LOCK, MANIFEST, SKILLS, Machine, installed
from sources import Sources

TRIES = 1000
SKILLS_PER_SOURCE = 3
KINDS = ("https", "tar", "folder")


class Ground:
    """A machine on which all was installed, and what may be changed."""

    def __init__(self, sources: Sources, folder: Path, binary: Path) -> None:
        self.sources, self.folder, self.binary = sources, folder, binary
        self.machine = sources.machine(folder / "first", binary)
        self.project = self.machine.project()
        sources.put_folder(self.project)
        self.kinds = [kind for kind in KINDS if self.machine.type(self.project, "add", sources.address(kind), "--all").code == 0]
        self.original = {name: found for kind in self.kinds for name, found in sources.digests(kind).items()}
        # Not as another machine has it: what is in the store there was fetched and not written here.
        self.full = sources.machine(folder / "full", binary)
        done = self.full.run(self.checkout(self.full), "install", "--frozen")
        self.vendored = self.checkout(self.full, "vendored")
        self.full.run(self.vendored, "vendor")
        self.is_ready = done.code == 0 and installed(self.full.project()) == self.original
        self.number = 0

    def checkout(self, machine: Machine, name: str = "app") -> Path:
        project = machine.project(name)
        for file in (MANIFEST, LOCK):
            shutil.copy(self.project / file, project)
        self.sources.put_folder(project)
        return project

    def other(self, *kept: str) -> tuple[Machine, Path]:
        """Return a new machine that has the store or the cache of the full one, and a project to install into."""
        self.number += 1
        folder = self.folder / f"try-{self.number}"
        for name in kept:
            shutil.copytree(self.full.folder / name, folder / name)
        machine = self.sources.machine(folder, self.binary)
        return machine, self.checkout(machine)


def run(checks: Checks, binary: Path, folder: Path) -> None:
    with Sources(folder / "servers", SKILLS_PER_SOURCE) as sources:
        ground = Ground(sources, folder, binary)
        if not checks.check("Without a change, all is restored", ground.is_ready):
            return
        checks.figure("kinds of sources", ", ".join(ground.kinds))
        total: collections.Counter[str] = collections.Counter()
        each = checks.amount(TRIES, least=len(PLACES)) // len(PLACES)
        for place, change in PLACES.items():
            if place == "the archive" and "tar" not in ground.kinds:
                checks.leave_out("changes of the archive", "archives cannot be added")
                continue
            outcomes: collections.Counter[str] = collections.Counter()
            wrong: list[str] = []
            for number in range(max(each, 1)):
                outcome, what = change(ground, random.Random(f"{place} {number}"))
                outcomes[outcome] += 1
                if outcome in WRONG:
                    wrong.append(f"{outcome}: {what}")
            total += outcomes
            checks.none(f"No changed byte of {place} is accepted ({sum(outcomes.values())} tries)", wrong)
            checks.figure(place, dict(sorted(outcomes.items())))
        checks.figure("tries", sum(total.values()))
        checks.figure("accepted", total["accepted"])


WRONG = ("accepted", "crashed", "hung")


def flip(rng: random.Random, file: Path) -> str:
    """Change one byte of a file, and return where."""
    content = bytearray(file.read_bytes())
    at = rng.randrange(len(content))
    content[at] ^= rng.randrange(1, 256)
    mode = file.stat().st_mode
    file.chmod(0o644)
    file.write_bytes(content)
    file.chmod(mode & 0o777)
    return f"{file.name} at {at}"


def choose(rng: random.Random, folder: Path, *names: str) -> Path:
    """Choose a file that is not empty, below a folder."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink() and path.stat().st_size]
    if names:
        found = [path for path in found if any(name in path.as_posix() for name in names)]
    return rng.choice(found)


def judge(ground: Ground, machine: Machine, project: Path, what: str) -> tuple[str, str]:
    """Install and verify, and return what became of it."""
    first = machine.run(project, "install", "--frozen", seconds=60)
    second = machine.run(project, "verify", seconds=60)
    found = installed(project)
    if None in (first.code, second.code):
        return "hung", what
    for done in (first, second):
        if done.code == 101 or done.code < 0 or "panicked" in done.said:
            return "crashed", f"{what}\n{done}"
    same = all(ground.original.get(name) == value for name, value in found.items())
    if first.code == 0 and second.code == 0:
        if not same:
            return "accepted", f"{what}\n{first}"
        return ("restored" if found == ground.original else "fewer skills"), what
    return ("refused" if same else "refused, with other bytes"), what


def ended(machine: Machine, judged: tuple[str, str]) -> tuple[str, str]:
    machine.remove()
    return judged


def in_repository(ground: Ground, rng: random.Random) -> tuple[str, str]:
    return restoring(ground, choose(rng, ground.sources.root / "repositories/https.git", "objects", "packed-refs", "HEAD", "refs/"), rng)


def in_archive(ground: Ground, rng: random.Random) -> tuple[str, str]:
    return restoring(ground, ground.sources.root / "files/skills.tar.gz", rng)


def restoring(ground: Ground, file: Path, rng: random.Random) -> tuple[str, str]:
    """Change a file of a server for one installation on a new machine."""
    content, mode = file.read_bytes(), file.stat().st_mode
    machine, project = ground.other()
    try:
        return ended(machine, judge(ground, machine, project, flip(rng, file)))
    finally:
        file.chmod(0o644)
        file.write_bytes(content)
        file.chmod(mode & 0o777)


def in_cache(ground: Ground, rng: random.Random) -> tuple[str, str]:
    machine, project = ground.other("cache")
    what = flip(rng, choose(rng, machine.cache / "skillfold/git", "objects", "HEAD", "shallow", "packed-refs"))
    return ended(machine, judge(ground, machine, project, what))


def in_cache_settings(ground: Ground, rng: random.Random) -> tuple[str, str]:
    machine, project = ground.other("cache")
    what = flip(rng, choose(rng, machine.cache / "skillfold/git", "config"))
    return ended(machine, judge(ground, machine, project, what))


def in_store(ground: Ground, rng: random.Random) -> tuple[str, str]:
    machine, project = ground.other("data")
    what = flip(rng, choose(rng, machine.store / "contents"))
    return ended(machine, judge(ground, machine, project, what))


def in_vendor(ground: Ground, rng: random.Random) -> tuple[str, str]:
    machine, project = ground.other()
    shutil.copytree(ground.vendored / ".skillfold", project / ".skillfold")
    what = flip(rng, choose(rng, project / ".skillfold/vendor"))
    return ended(machine, judge(ground, machine, project, what))


def in_lock(ground: Ground, rng: random.Random) -> tuple[str, str]:
    machine, project = ground.other("cache", "data")
    return ended(machine, judge(ground, machine, project, flip(rng, project / LOCK)))


def in_manifest(ground: Ground, rng: random.Random) -> tuple[str, str]:
    machine, project = ground.other("cache", "data")
    return ended(machine, judge(ground, machine, project, flip(rng, project / MANIFEST)))


def in_skill(ground: Ground, rng: random.Random) -> tuple[str, str]:
    machine, project = ground.other("data")
    shutil.copytree(ground.full.project() / SKILLS, project / SKILLS)
    what = flip(rng, choose(rng, project / SKILLS))
    # The person's edit stays, and is named.
    return ended(machine, judge(ground, machine, project, what))


Change = Callable[[Ground, random.Random], tuple[str, str]]
PLACES: dict[str, Change] = {
    "the repository": in_repository,
    "the archive": in_archive,
    "the cached copy": in_cache,
    "the settings of the cached copy": in_cache_settings,
    "the store": in_store,
    "the vendor folder": in_vendor,
    "the lock": in_lock,
    "the manifest": in_manifest,
    "an installed skill": in_skill,
}
