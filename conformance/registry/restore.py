"""A lock that was written on one machine restores the same skills on another."""

from __future__ import annotations

import shutil
from pathlib import Path

from checks import Checks
from machine import LOCK, MANIFEST, Machine, installed, locked
from namespace import Namespace
from sources import KINDS, Sources

SKILLS = 200


def run(checks: Checks, binary: Path, folder: Path) -> None:
    with Sources(folder / "servers", checks.amount(SKILLS // len(KINDS), least=4)) as sources:
        first = sources.machine(folder / "machine-1", binary)
        project = first.project()
        sources.put_folder(project)
        kinds = [kind for kind in KINDS if add(checks, sources, first, project, kind)]
        expected = {name: found for kind in kinds for name, found in sources.digests(kind).items()}
        checks.figure("skills", len(expected))
        checks.figure("kinds of sources", len(kinds))
        digests = {name: skill["digest"] for name, skill in locked(project).items()}
        checks.check("The lock has the digest of each skill as its author wrote it", digests == expected, differences(expected, digests))
        try:
            with Namespace(sources.ports()) as other:
                checks.figure("other network namespace", True)
                compare(checks, sources, sources.machine(folder / "machine-2", binary, other.enter), project, expected)
        except OSError as error:
            checks.leave_out("another network namespace", error)
            compare(checks, sources, sources.machine(folder / "machine-2", binary), project, expected)


def add(checks: Checks, sources: Sources, machine: Machine, project: Path, kind: str) -> bool:
    """Add all skills of one source in a terminal."""
    done = machine.type(project, "add", sources.address(kind), "--all")
    expected = sources.digests(kind)
    found = {name: value for name, value in installed(project).items() if name in expected}
    return checks.check(
        f"`add` in a terminal installs all skills of a source ({kind})", done.code == 0 and found == expected, done
    )


def compare(checks: Checks, sources: Sources, machine: Machine, original: Path, expected: dict[str, str]) -> None:
    """Restore on another machine, in four ways, and compare each digest."""
    project = checkout(sources, machine, original, "fetched")
    done = machine.run(project, "install", "--frozen")
    checks.check("`install --frozen` on another machine exits 0", done.code == 0, done)
    found = installed(project)
    checks.check("Every skill has the same digest on another machine", found == expected, differences(expected, found))
    checks.figure("seconds of the first restore", round(done.seconds, 2))
    checks.check("The lock is the same afterwards", (project / LOCK).read_bytes() == (original / LOCK).read_bytes())
    done = machine.run(project, "verify")
    checks.check("`verify` exits 0 there", done.code == 0, done)

    from_store = checkout(sources, machine, original, "from-store")
    done = machine.run(from_store, "install", "--frozen", "--offline")
    checks.check("A second project is restored from the store without a network", (done.code, installed(from_store)) == (0, expected), done)

    done = machine.run(project, "vendor")
    checks.check("`vendor` copies the skills into the project", done.code == 0, done)
    third = sources.machine(machine.folder.parent / "machine-3", machine.binary, machine.within)
    vendored = checkout(sources, third, original, "vendored")
    shutil.copytree(project / ".skillfold", vendored / ".skillfold")
    done = third.run(vendored, "install", "--frozen", "--offline")
    checks.check("A third machine restores them from the vendor folder offline", (done.code, installed(vendored)) == (0, expected), done)
    done = third.run(vendored, "verify")
    checks.check("`verify` exits 0 there too", done.code == 0, done)


def checkout(sources: Sources, machine: Machine, original: Path, name: str) -> Path:
    """Return a new project with what is under version control: the manifest, the lock and the local source."""
    project = machine.project(name)
    for file in (MANIFEST, LOCK):
        shutil.copy(original / file, project)
    sources.put_folder(project)
    return project


def differences(expected: dict[str, str], found: dict[str, str]) -> str:
    names = sorted(expected.keys() | found.keys())
    wrong = [name for name in names if expected.get(name) != found.get(name)]
    return f"{len(wrong)} of {len(expected)} differ, such as {wrong[:5]}"
