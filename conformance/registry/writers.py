"""Eight processes add, update, approve, remove, roll back, install and verify for 60 s, in one project and for one user.

Each has two skills of its own, one in the project and one of the user's, and knows what became of them; others are shared. Meanwhile
the manifest and the lock can be read at any time, and each installed skill is a complete version that its author wrote. In the end
nothing that succeeded is lost, what is installed fits the lock, and the log is whole.
"""

from __future__ import annotations

import collections
import json
import os
import random
import re
import threading
import time
import tomllib
from pathlib import Path

import repositories
from checks import Checks
from machine import LOCK, MANIFEST, SKILLS, Done, Machine, digest, files_in
from repositories import Tree

PROCESSES, SECONDS, VERSIONS = 8, 60, 4
SHARED = ("shared-0", "shared-1", "shared-2")
# The digest that is installed, and the one that is locked; nothing if it is not there.
State = tuple[str | None, str | None]
ABSENT: State = (None, None)


def files_of(name: str, version: int) -> Tree:
    """Return a version of a skill; each file has the version in it, so that a mixture shows."""
    about = repositories.skill(name, f"Does {name}. Use it for {name}", f"Version {version}.")
    return {"SKILL.md": about, **{f"references/{letter}.md": b"%d\n" % version * 500 for letter in "abc"}, f"only-{version}.md": b"x\n"}


class Place:
    """The project, or the user: where skills, the manifest and the lock are."""

    def __init__(self, machine: Machine, option: tuple[str, ...]) -> None:
        self.option = option
        self.skills = (machine.home if option else machine.project()) / SKILLS
        self.files = machine.settings / "skillfold" if option else machine.project()
        self.prefix = "mine" if option else "own"

    def entries(self, file: str) -> dict[str, dict]:
        """Return the entries of the manifest or the lock by name."""
        path = self.files / file
        if not path.exists():
            return {}
        read = tomllib.loads(path.read_text())
        return read.get("skills", {}) if file == MANIFEST else {skill["name"]: skill for skill in read.get("skill", [])}

    def state(self, name: str) -> State:
        folder = self.skills / name
        is_there = digest(files_in(folder)) if folder.exists() else None
        return is_there, self.entries(LOCK).get(name, {}).get("digest")


class World:
    """A machine with a project, the sources, and what was found wrong."""

    def __init__(self, folder: Path, binary: Path, seconds: float) -> None:
        self.machine = Machine(folder / "machine", binary)
        self.project = self.machine.project()
        (self.machine.settings / "skillfold").mkdir()
        # Only trusted skills have a history that is shown.
        (self.machine.settings / "skillfold/config.toml").write_text("trust_project = true\n")
        self.places = (Place(self.machine, ()), Place(self.machine, ("--user",)))
        self.drafts = folder / "drafts"
        self.repository = f"file://{folder}/shared.git"
        versions = {
            f"v1.{version}.0": {f"skills/{name}/{path}": content for name in SHARED for path, content in files_of(name, version).items()}
            for version in range(VERSIONS)
        }
        repositories.build(folder / "shared.git", versions)
        names = [*SHARED, *(f"{place.prefix}-{number}" for place in self.places for number in range(PROCESSES))]
        self.known = {name: {digest(files_of(name, version)) for version in range(VERSIONS)} for name in names}
        self.wrong: dict[str, list[str]] = collections.defaultdict(list)
        self.end = time.monotonic() + seconds


class Worker(threading.Thread):
    """Runs commands, one after the other, and remembers the state of its own skills."""

    def __init__(self, world: World, number: int) -> None:
        super().__init__()
        self.world, self.number = world, number
        self.random = random.Random(number)
        self.outcomes: collections.Counter[str] = collections.Counter()
        self.states: dict[Place, State] = dict.fromkeys(world.places, ABSENT)
        # What was installed, one after the other, since the skill was last added.
        self.versions: dict[Place, list[str]] = {place: [] for place in world.places}

    def run(self) -> None:
        while time.monotonic() < self.world.end:
            place = self.random.choice(self.world.places)
            if self.random.random() < 0.3:
                self.disturb(place)
            else:
                self.change(place)

    def command(self, place: Place, *words: str) -> Done:
        option = () if words[0] in ("approve", "rollback") else place.option
        run = self.world.machine.run if words[0] in ("update", "install", "verify") else self.world.machine.type
        done = run(self.world.project, *words, *option)
        self.outcomes[f"{words[0]}: {'done' if done.code == 0 else reason(done)}"] += 1
        is_told = "hint: " in done.said or words[0] in ("verify", "install")
        if done.code is None or done.code < 0 or done.code == 101 or (done.code and not is_told):
            self.world.wrong["badly"].append(f"{' '.join(words)}: {done}")
        return done

    def disturb(self, place: Place) -> None:
        """Run something that concerns all skills, or one that all share."""
        name = self.random.choice(SHARED)
        source = f"{self.world.repository}@v1.{self.random.randrange(VERSIONS)}.0"
        words = (("install", "--frozen"), ("verify",), ("remove", name), ("add", source, "--skill", name), ("add", source, "--skill", name))
        self.command(place, *self.random.choice(words))

    def change(self, place: Place) -> None:
        """Change the skill of this process in a place, and look whether it is so."""
        name, state = f"{place.prefix}-{self.number}", self.states[place]
        draft = self.world.drafts / name
        if state == ABSENT:
            new = self.write(name)
            self.versions[place] = []
            self.settle(place, name, self.command(place, "add", str(draft)), (new, new))
        elif state[0] != state[1]:
            # A skill that was rolled back differs from its lock, which counts as an edit.
            self.settle(place, name, self.command(place, "rollback", name, state[1]), (state[1], state[1]))
        elif (way := self.random.choice(("update", "update", "update", "remove", "roll back"))) == "remove":
            self.settle(place, name, self.command(place, "remove", name), ABSENT)
        elif way == "roll back":
            target = self.random.choice(self.versions[place])
            if target != state[0]:
                self.settle(place, name, self.command(place, "rollback", name, target), (target, state[1]))
        else:
            new = self.write(name)
            done = self.command(place, "update", name, "--json")
            proposed = json.loads(done.out)["proposed"] if done.out else []
            if done.code == 0 and bool(proposed) != (new != state[0]):
                self.world.wrong["lost"].append(f"`update {name}` proposes {len(proposed)}: {done}")
            for proposal in proposed:
                self.settle(place, name, self.command(place, "approve", proposal["proposal"]), (new, new))

    def write(self, name: str) -> str:
        """Write a version of an own skill as its author, and return its digest."""
        files = files_of(name, self.random.randrange(VERSIONS))
        folder = self.world.drafts / name
        for path in files_in(folder):
            (folder / path).unlink()
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        return digest(files)

    def settle(self, place: Place, name: str, done: Done, new: State) -> None:
        """Remember the state of an own skill after a command, and look whether it is one that may be."""
        old, found = self.states[place], place.state(name)
        allowed = {new} if done.code == 0 else {old, new}
        if new[0] != new[1]:
            # The installation of another process may restore what is locked.
            allowed.add((new[1], new[1]))
        if found not in allowed:
            self.world.wrong["lost"].append(f"{name} is {found}, not one of {allowed}: {done}")
        if found[0] and found[0] != old[0]:
            self.versions[place].append(found[0])
        self.states[place] = found


def reason(done: Done) -> str:
    """Return why a command failed, without the names in it."""
    error = re.search(r"^(?:\S*error|Not installed): (.*)", done.said, re.MULTILINE)
    return re.sub("`[^`]*`", "…", error[1]) if error else f"exit {done.code}"


class Watcher(threading.Thread):
    """Looks at everything all the time."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world, self.looks = world, 0

    def run(self) -> None:
        while time.monotonic() < self.world.end:
            for place in self.world.places:
                for file in (MANIFEST, LOCK):
                    try:
                        place.entries(file)
                    except ValueError as error:
                        self.world.wrong["unreadable"].append(f"{file}: {error}")
                for name, known in self.world.known.items():
                    if (found := whole(place.skills / name)) is not None and digest(found) not in known:
                        self.world.wrong["torn"].append(f"{name}: { {path: content[-20:] for path, content in found.items()} }")
            self.looks += 1


def whole(folder: Path) -> Tree | None:
    """Return the files of a skill that is not replaced while it is read."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    try:
        files = {}
        for parent, _, names, inside in os.fwalk(".", dir_fd=opened):
            for name in names:
                with open(name, "rb", opener=lambda path, flags, inside=inside: os.open(path, flags, dir_fd=inside)) as file:
                    files[os.path.normpath(f"{parent}/{name}")] = file.read()
        is_same = os.stat(folder).st_ino == os.fstat(opened).st_ino
        return files if is_same else None
    except FileNotFoundError:
        # It is being removed; a skill with a missing file is found the next time.
        return None
    finally:
        os.close(opened)


def run(checks: Checks, binary: Path, folder: Path) -> None:
    world = World(folder, binary, max(5, SECONDS * checks.part))
    workers = [Worker(world, number) for number in range(PROCESSES)]
    watcher = Watcher(world)
    for thread in (*workers, watcher):
        thread.start()
    for thread in (*workers, watcher):
        thread.join()
    compare(world, workers)
    for what, sentence in SENTENCES.items():
        checks.none(sentence, world.wrong[what])
    outcomes = sum((worker.outcomes for worker in workers), collections.Counter())
    checks.figure("commands", sum(outcomes.values()))
    checks.figure("outcomes", dict(sorted(outcomes.items())))
    checks.figure("looks", watcher.looks)
    done = sum(count for what, count in outcomes.items() if what.endswith("done"))
    checks.check("Most commands succeed", 2 * done > sum(outcomes.values()), outcomes)
    for place in world.places:
        whose = "the user" if place.option else "the project"
        finish(checks, world, place, whose)
    done = world.machine.run(world.project, "audit", "verify")
    checks.check("The log is whole", done.code == 0, done)


SENTENCES = {
    "badly": "Each command succeeds, or says why not; none crashes or hangs",
    "unreadable": "The manifest and the lock can be read at any time",
    "torn": "Each installed skill is a complete version at any time",
    "lost": "What succeeded is there, and nothing else has changed",
    "history": "The history has all versions of each process, in their order",
}


def compare(world: World, workers: list[Worker]) -> None:
    """Compare what is there with what the processes remember."""
    for place in world.places:
        wanted, locked = place.entries(MANIFEST), place.entries(LOCK)
        there = {path.name for path in place.skills.iterdir()} if place.skills.exists() else set()
        if not wanted.keys() == locked.keys() == there:
            world.wrong["lost"].append(f"wanted {sorted(wanted)}, locked {sorted(locked)}, there {sorted(there)}")
        for name in SHARED:
            if len(set(place.state(name))) > 1:
                world.wrong["lost"].append(f"{name}: {place.state(name)}")
        for worker in workers:
            name, state = f"{place.prefix}-{worker.number}", worker.states[place]
            if place.state(name) not in (state, (state[1], state[1])):
                world.wrong["lost"].append(f"{name} is {place.state(name)}, not {state}")
            if state != ABSENT:
                compare_history(world, name, worker.versions[place])


def compare_history(world: World, name: str, versions: list[str]) -> None:
    done = world.machine.run(world.project, "history", name, "--json")
    recorded = iter([version.get("digest") for version in json.loads(done.out)["versions"]])
    # Each is searched behind the one before.
    if not all(version in recorded for version in versions):
        world.wrong["history"].append(f"{name}: not {versions} in {done}")


def finish(checks: Checks, world: World, place: Place, whose: str) -> None:
    """Restore what was rolled back last, and verify."""
    done = world.machine.run(world.project, "install", "--frozen", "--discard-edits", *place.option)
    checks.check(f"`install` restores the lock ({whose})", done.code == 0, done)
    done = world.machine.run(world.project, "verify", *place.option)
    checks.check(f"`verify` finds everything as locked ({whose})", done.code == 0, done)
