"""Archives that attack (`attack_archives.py`) are added in a terminal by a person who answers yes to everything.

What must be refused is refused as a whole and explained, and nothing of it is installed. What may be installed, such as a skill with
an odd name of a file, is plain and inside. Sound archives are installed, so the refusals mean something.
"""

from __future__ import annotations

import collections
import os
from pathlib import Path

# These fill the list.
import attack_tars  # noqa: F401
import attack_zips  # noqa: F401
import containment
from attack_archives import ACCEPTED, ARCHIVES, OUTSIDE, REFUSED, TEMPORARY, Archive
from checks import Checks
from hostile_sources import note, record, report
from machine import MANIFEST, SKILLS, Done, Machine
from servers import Files

# What attacks with a fixed name would create.
ESCAPES = (OUTSIDE, b"/etc/skillfold-escape", TEMPORARY + b"/skillfold-escape", b"/srv/escape")


def run(checks: Checks, binary: Path, folder: Path) -> None:
    names = [archive.name for archive in ARCHIVES]
    checks.none("Each archive is there once", [name for name, count in collections.Counter(names).items() if count > 1])
    wrong: dict[str, list[str]] = collections.defaultdict(list)
    outcomes: collections.Counter[str] = collections.Counter()
    most: dict[str, tuple[float, str]] = {}
    sound = [archive for archive in ARCHIVES if archive.expected == ACCEPTED]
    hostile = [archive for archive in ARCHIVES if archive.expected != ACCEPTED]
    (folder / "files").mkdir()
    with Files(folder / "files") as files:
        for archive in [*checks.some(hostile, least=30), *checks.some(sound, least=4)]:
            path = folder / "files" / archive.name
            path.write_bytes(archive.content())
            machine = Machine(folder / "machine", binary)
            done = attack(machine, files.url(archive.name), archive, wrong)
            outcomes[f"{archive.expected}: {'added' if done.code == 0 else 'refused'}"] += 1
            record(most, done, archive.name)
            machine.remove()
            path.unlink()
    report(checks, wrong)
    checks.none("What must be refused is refused, and nothing of it is installed", wrong["accepted"])
    checks.none("A sound archive is installed", wrong["refused"])
    checks.figure("archives", sum(outcomes.values()))
    checks.figure("outcomes", dict(sorted(outcomes.items())))
    checks.figure("accepted", len(wrong["accepted"]))
    for name, (value, where) in most.items():
        checks.figure(f"most {name}", f"{value:.1f} ({where})")


def attack(machine: Machine, address: str, archive: Archive, wrong: dict[str, list[str]]) -> Done:
    """Add an archive, and note what is wrong."""
    project = machine.project()
    before = containment.contents(machine)
    done = machine.type(project, "add", address, "--all", measure=True, seconds=90)
    what = f"{archive.name} ({archive.wrong})"
    note(wrong, machine, project, before, done, what)
    for path in filter(os.path.lexists, ESCAPES):
        wrong["outside"].append(f"{what}: {os.fsdecode(path)}")
        os.unlink(path)
    is_there = [name for name in (MANIFEST, SKILLS) if (project / name).exists()]
    if archive.expected == REFUSED and (done.code == 0 or is_there):
        wrong["accepted"].append(f"{what}: exit {done.code}, there: {', '.join(is_there)}")
    if archive.expected == ACCEPTED and done.code != 0:
        wrong["refused"].append(f"{what}: {done}")
    return done
