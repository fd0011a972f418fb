"""The lock files of `npx skills` where a project has them: a part of `in_clients.py`.

Our entries are those that `npx skills` itself writes, it restores from them, and everything else in the file stays as it is.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from machine import Machine, digest, installed

if TYPE_CHECKING:
    from checks import Checks
    from in_clients import Ground

FILE, GLOBAL_FILE = "skills-lock.json", ".skill-lock.json"
OURS, THEIRS = "skill-0000", "skill-0001"


def as_text(value: dict) -> str:
    """Return JSON as `npx skills` writes it."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def npx_add(ground: Ground, machine: Machine, name: str, version: str, *words: str) -> None:
    source = f"{ground.url(ground.skills)}#{version}"
    ground.programs.run(machine, machine.project(), "skills", "add", source, "-s", name, "-a", "codex", "-y", *words)


def entry_of_theirs(ground: Ground, version: str) -> dict:
    """Return the entry that `npx skills` writes for our skill, on a machine of its own."""
    machine = ground.machine()
    npx_add(ground, machine, OURS, version)
    return json.loads((machine.project() / FILE).read_text())["skills"][OURS]


def begun(ground: Ground, *words: str) -> tuple[Machine, Path]:
    """Return a machine on which `npx skills` installed a skill and wrote its lock, with a field that nobody knows."""
    machine = ground.machine()
    project = machine.project()
    npx_add(ground, machine, THEIRS, "v1.0.0", *words)
    path = project / FILE
    if path.exists():
        lock = json.loads(path.read_text())
        lock["skills"][THEIRS]["note"] = {"by": "Änna", "numbers": [1, 2.50]}
        lock["later"] = ["unknown", None]
        path.write_text(as_text(lock) + "\n")
    return machine, project


def add(ground: Ground, machine: Machine, project: Path, *words: str) -> object:
    return machine.type(project, "add", f"{ground.url(ground.skills)}@v1.0.0", "--skill", OURS, *words)


def written(checks: Checks, ground: Ground) -> None:
    machine, project = begun(ground)
    path = project / FILE
    before = path.read_text()
    done = add(ground, machine, project)
    after = json.loads(path.read_text())
    ours = after["skills"].pop(OURS, None)
    checks.check("`add` writes an entry into the skills-lock.json that is there", ours is not None, f"{done}\n{path.read_text()}")
    checks.check("All else of skills-lock.json is the same, byte for byte", as_text(after) + "\n" == before, path.read_text())
    expected = entry_of_theirs(ground, "v1.0.0")
    checks.check("Our entry is the one that `npx skills` writes", as_text(ours or {}) == as_text(expected), f"{ours}\n{expected}")
    restored(checks, ground, project)
    changed(checks, machine, project, before)


def restored(checks: Checks, ground: Ground, original: Path) -> None:
    machine = ground.machine()
    project = machine.project()
    shutil.copy(original / FILE, project)
    done = ground.programs.run(machine, project, "skills", "experimental_install")
    expected = {name: digest(ground.author(ground.skills, name, "v1.0.0")) for name in (OURS, THEIRS)}
    checks.check("`npx skills experimental_install` restores ours and theirs", installed(project) == expected, done)


def changed(checks: Checks, machine: Machine, project: Path, before: str) -> None:
    """`install` changes nothing, and `remove` takes our entry away."""
    path = project / FILE
    written = path.read_bytes()
    done = machine.run(project, "install", "--frozen")
    checks.check("`install --frozen` leaves skills-lock.json as it is", done.code == 0 and path.read_bytes() == written, done)
    done = machine.type(project, "remove", OURS)
    after = path.read_text()
    checks.check("`remove` removes our entry and nothing else", done.code == 0 and after == before, f"{done}\n{after}")


def updated(checks: Checks, ground: Ground) -> None:
    """An update that is approved is in skills-lock.json too, as `npx skills` would have written it."""
    machine, project = begun(ground)
    done = machine.type(project, "add", f"{ground.url(ground.skills)}@^1.0", "--skill", OURS)
    manifest = project / "skills.toml"
    manifest.write_text(manifest.read_text().replace("^1.0", "v2.0.0"))
    done = machine.type(project, "update")
    proposals = machine.run(project, "proposals", "--json")
    reviewed = [machine.type(project, "approve", one["name"]) for one in json.loads(proposals.out)["proposals"]]
    entry = json.loads((project / FILE).read_text())["skills"].get(OURS, {})
    expected = entry_of_theirs(ground, "v2.0.0")
    fits = installed(project).get(OURS) == digest(ground.author(ground.skills, OURS, "v2.0.0")) and entry == expected
    checks.check("An approved update is in skills-lock.json", fits, f"{done}\n{[*map(str, reviewed)]}\n{entry}\n{expected}")


def absent(checks: Checks, ground: Ground) -> None:
    machine = ground.machine()
    add(ground, machine, machine.project())
    checks.check("No skills-lock.json is written where there is none", not (machine.project() / FILE).exists())


def broken(checks: Checks, ground: Ground) -> None:
    """A lock that cannot be read is an error before anything is changed."""
    texts = {"not JSON": '{"version": 1, "skills": {', "a newer version": '{"version": 9, "skills": {}}\n', "empty": ""}
    for what, text in texts.items():
        machine = ground.machine()
        project = machine.project()
        (project / FILE).write_text(text)
        done = add(ground, machine, project)
        kept = (project / FILE).read_text() == text and FILE in done.said and "hint: " in done.said
        same = done.code not in (0, None) and not installed(project) and not (project / "skills.lock").exists()
        checks.check(f"A skills-lock.json that cannot be read is an error, and stays ({what})", kept and same, done)


def global_lock(checks: Checks, ground: Ground) -> None:
    """The same for the user's lock, which has more fields."""
    machine, project = begun(ground, "-g")
    found = [path for path in machine.folder.rglob(GLOBAL_FILE) if path.is_file()]
    if not checks.check("`npx skills add -g` writes its lock for the user", len(found) == 1, found):
        return
    lock = json.loads(found[0].read_text())
    lock["skills"][THEIRS]["note"] = "mine"
    lock["dismissed"] = {"findSkillsPrompt": True}
    found[0].write_text(as_text(lock))
    done = add(ground, machine, project, "--user")
    after = json.loads(found[0].read_text())
    ours = after["skills"].pop(OURS, {})
    checks.check("`add --user` writes an entry into the user's lock that is there", bool(ours), f"{done}\n{found[0].read_text()}")
    checks.check("All else of the user's lock is the same, byte for byte", as_text(after) == as_text(lock), found[0].read_text())
    listed = ground.programs.run(machine, project, "skills", "list", "-g", "--json")
    names = [skill["name"] for skill in json.loads(listed.out)] if listed.code == 0 else []
    checks.check("`npx skills list -g` lists ours and theirs", names == [OURS, THEIRS], listed)
    theirs = lock["skills"][THEIRS]
    fits = ours.keys() == theirs.keys() - {"note"} and ours.get("sourceUrl") == theirs["sourceUrl"]
    checks.check("Our entry for the user has the same fields as theirs", fits, f"{ours}\n{theirs}")


CHECKS = (written, updated, absent, broken, global_lock)
