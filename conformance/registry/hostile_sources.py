"""Repositories that attack (`hostile.py`) are added in a terminal by a person who answers yes, all of it, and then the sound skill.

Nothing is written outside the places of the product, nothing runs, what is installed is plain, what is refused is explained, and
`skillfold` itself stays below 30 s and 600 MiB. What git takes is recorded beside it.
"""

from __future__ import annotations

import collections
import shutil
from pathlib import Path

import containment
from checks import Checks
from hostile import HOSTILE, Hostile
from machine import MANIFEST, Done, Machine, files_in, installed
from servers import GitHttp

GOOD = "good"


def run(checks: Checks, binary: Path, folder: Path) -> None:
    mark = folder / "mark"
    wrong: dict[str, list[str]] = collections.defaultdict(list)
    outcomes: collections.Counter[str] = collections.Counter()
    most: dict[str, tuple[float, str]] = {}
    (folder / "repositories").mkdir()
    with GitHttp(folder / "repositories") as http:
        for hostile in checks.some(HOSTILE, least=20):
            path = hostile.build(folder / "repositories", mark)
            for words in (("--all",), ("--skill", GOOD)):
                machine = Machine(folder / "machine", binary)
                done = attack(machine, http.url(hostile.name), words, wrong, hostile)
                kind = "all" if words == ("--all",) else GOOD
                outcomes[f"{kind}: {'added' if done.code == 0 else 'refused'}"] += 1
                record(most, done, f"{hostile.name} {kind}")
                machine.remove()
            if mark.exists():
                wrong["run"].append(hostile.name)
                mark.unlink()
            shutil.rmtree(path)
    report(checks, wrong)
    checks.figure("repositories", sum(outcomes.values()) // 2)
    checks.figure("outcomes", dict(sorted(outcomes.items())))
    for name, (value, where) in most.items():
        checks.figure(f"most {name}", f"{value:.1f} ({where})")


def attack(machine: Machine, address: str, words: tuple[str, ...], wrong: dict[str, list[str]], hostile: Hostile) -> Done:
    """Add a source, and note what is wrong."""
    project = machine.project()
    before = containment.contents(machine)
    done = machine.type(project, "add", address, *words, measure=True, seconds=90)
    note(wrong, machine, project, before, done, f"{hostile.name} ({hostile.wrong}), {' '.join(words)}")
    return done


def note(
    wrong: dict[str, list[str]], machine: Machine, project: Path, before: dict[str, tuple[int, int, int]], done: Done, what: str
) -> None:
    """Note what a hostile source brought about."""
    found = {
        "outside": containment.escapes(machine, project, before),
        "odd": containment.odd_files(project),
        "limits": containment.unbounded(done),
        "unexplained": containment.unexplained(done),
        "controls": containment.controls(done),
        "torn": torn(machine, project, done),
    }
    for kind, lines in found.items():
        wrong[kind] += [f"{what}: {line}" for line in lines[:3]]


def torn(machine: Machine, project: Path, done: Done) -> list[str]:
    """Return what does not fit together afterwards: what is installed, and the lock."""
    if not (project / MANIFEST).exists():
        return [f"installed and not wanted: {name}" for name in installed(project)][:1]
    after = machine.run(project, "verify")
    if after.code != 0:
        return [f"`verify` after exit {done.code}: {after}"]
    if done.code == 0 and not all("SKILL.md" in files_in(project / ".agents/skills" / name) for name in installed(project)):
        return ["a skill without SKILL.md"]
    return []


def record(most: dict[str, tuple[float, str]], done: Done, where: str) -> None:
    values = {"seconds": done.seconds, "MiB of skillfold": done.own_kib / 1024, "MiB of git": done.child_kib / 1024}
    for name, value in values.items():
        most[name] = max(most.get(name, (0.0, "")), (value, where))


def report(checks: Checks, wrong: dict[str, list[str]]) -> None:
    """Print the checks that all hostile sources share."""
    checks.none("No hostile source runs anything", wrong["run"])
    checks.none("Nothing is written outside the places of the product", wrong["outside"])
    checks.none("Installed skills have plain files and folders only", wrong["odd"])
    checks.none("`skillfold` stays below 30 s and 600 MiB, and does not crash", wrong["limits"])
    checks.none("What is refused is explained", wrong["unexplained"])
    checks.none("No control character of an author reaches the terminal", wrong["controls"])
    checks.none("What is installed fits the lock afterwards", wrong["torn"])
