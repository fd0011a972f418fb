"""What the command costs: CPU time with all processes that it starts, in the same run as what it is compared with.

Each figure is the median of several rounds. `--release` holds them to the limits, and `--baseline` names an older command whose
start others may not exceed.
"""

from __future__ import annotations

import gzip
import json
import shutil
import statistics
from collections.abc import Callable
from pathlib import Path

import repositories
from checks import Checks
from foreign import Foreign, foreign
from machine import LOCK, MANIFEST, Done, Machine, installed
from servers import Authority, GitHttp

SKILLS, GROUP = 1000, 100
# Limits: an `add` of what is in the cache, how many times less than `npx skills`, a start compared with the baseline, and the
# bytes of the packed command.
ADD_SECONDS, TIMES_LESS, START_RATIO, PACKED_BYTES = 0.05, 20, 1.05, 20_000_000


def run(checks: Checks, binary: Path, folder: Path) -> None:
    (folder / "repositories").mkdir()
    add_cached(checks, binary, folder)
    restore(checks, binary, folder)
    start(checks, binary, folder)
    size(checks, binary)


def hold(checks: Checks, what: str, is_so: bool, seen: object) -> None:
    """Check a limit; without `--release` the figure is all that there is."""
    if checks.is_release:
        checks.check(what, is_so, seen)


def median(rounds: int, once: Callable[[int], Done]) -> tuple[float, list[Done]]:
    """Return the median of the CPU seconds of several rounds, and all rounds."""
    done = [once(number) for number in range(rounds)]
    return statistics.median(one.cpu for one in done), done


def add_cached(checks: Checks, binary: Path, folder: Path) -> None:
    """Add a skill whose repository is in the cache, to a new project each time, in a terminal.

    A tag is looked up each time, and over https git takes more for that than all the rest, so its question alone is measured too.
    """
    repository = repositories.skills_repository(folder / "repositories/cached.git", 10)
    with Authority() as authority, GitHttp(folder / "repositories", authority=authority) as http:
        sources = {
            "from a file": f"file://{repository.path}@v1.0.0",
            "from https": f"{http.secure_url('cached')}@v1.0.0",
            "from https, by commit": f"{http.secure_url('cached')}@{repository.tags['v1.0.0']}",
        }
        machine = Machine(folder / "cached", binary, **authority.environment())
        figures = {}
        for what, source in sources.items():
            machine.type(machine.project("first"), "add", source, "--skill", "skill-0000")
            machine.type(machine.project("first"), "remove", "skill-0000")

            def once(number: int, what: str = what, source: str = source) -> Done:
                return machine.type(machine.project(f"{what} {number}"), "add", source, "--skill", "skill-0000")

            figures[what], rounds = median(checks.amount(40, least=5), once)
            added = all(done.code == 0 for done in rounds)
            checks.check(f"`add` of a cached skill works ({what})", added, next((done for done in rounds if done.code != 0), ""))
            checks.figure(f"CPU ms of `add` of a cached skill, {what}", round(1000 * figures[what], 1))
        git = Machine(folder / "cached", Path(shutil.which("git") or "git"), **authority.environment())
        question = ("ls-remote", "--quiet", "--symref", http.secure_url("cached"))
        asked, _ = median(checks.amount(40, least=5), lambda _: git.run(git.project("first"), *question))
        checks.figure("CPU ms of `git ls-remote` over https alone", round(1000 * asked, 1))
    figures["from https, without git's question"] = figures.pop("from https") - asked
    for what, seconds in figures.items():
        hold(checks, f"`add` of a cached skill takes at most {ADD_SECONDS * 1000:.0f} ms ({what})", seconds <= ADD_SECONDS, seconds)


def restore(checks: Checks, binary: Path, folder: Path) -> None:
    """Restore many skills from a lock, ours without a network and theirs from a local repository."""
    programs = foreign(checks, folder)
    count = checks.amount(SKILLS, least=30)
    rounds = checks.amount(3, least=2)
    repository = repositories.skills_repository(folder / "repositories/many.git", count)
    source = f"file://{repository.path}"
    machine = Machine(folder / "many", binary)
    original = machine.project("original")
    names = list(repository.skills("v2.0.0"))
    # No more proposals than these can wait at a time.
    for start in range(0, count, GROUP):
        done = machine.type(original, "add", source, *(f"--skill={name}" for name in names[start : start + GROUP]), seconds=600)
    if not checks.check(f"{count} skills are added", len(installed(original)) == count, done):
        return

    def ours(number: int) -> Done:
        project = machine.project(f"ours {number}")
        for file in (MANIFEST, LOCK):
            shutil.copy(original / file, project)
        return machine.run(project, "install", "--frozen", "--offline", seconds=600)

    own, runs = median(rounds, ours)
    same = all(installed(machine.project(f"ours {number}")) == installed(original) for number in range(rounds))
    checks.check(f"{count} skills are restored offline", same and all(done.code == 0 for done in runs), runs[0])
    checks.figure(f"CPU s of `install --frozen --offline` of {count} skills", round(own, 3))
    if programs is None:
        return
    their_lock = lock_of(programs, machine, source, repository)

    def theirs(number: int) -> Done:
        project = machine.project(f"theirs {number}")
        (project / "skills-lock.json").write_text(their_lock)
        return programs.run(machine, project, "skills", "experimental_install")

    # Once: it takes many minutes, and the figure is far from the limit.
    other, runs = median(1, theirs)
    same = installed(machine.project("theirs 0")) == installed(original)
    checks.check(f"`npx skills` restores the same {count} skills", same, runs[0])
    checks.figure(f"CPU s of `npx skills experimental_install` of {count} skills", round(other, 3))
    checks.figure("times less", round(other / own, 1))
    hold(checks, f"{count} skills are restored for {TIMES_LESS} times less", other / own >= TIMES_LESS, other / own)


def lock_of(programs: Foreign, machine: Machine, source: str, repository: repositories.Repository) -> str:
    """Return the lock that `npx skills` writes when it installs all."""
    project = machine.project("their original")
    # It takes no version of a file address.
    programs.run(machine, project, "skills", "add", source, "-s", "*", "-a", "codex", "-y")
    text = (project / "skills-lock.json").read_text()
    if json.loads(text)["skills"].keys() != repository.skills("v2.0.0").keys():
        raise RuntimeError("`npx skills add` did not install all")
    return text


def start(checks: Checks, binary: Path, folder: Path) -> None:
    """Start other commands, in turn with an older one."""
    binaries = {"new": binary}
    if checks.baseline:
        binaries["old"] = Path(shutil.copy2(checks.baseline.resolve(), folder / "baseline"))
    machines = {name: Machine(folder / f"start-{name}", path) for name, path in binaries.items()}
    for machine in machines.values():
        for number in range(20):
            path = machine.home / f".agents/skills/skill-{number:02}/SKILL.md"
            path.parent.mkdir(parents=True)
            path.write_bytes(repositories.skill(path.parent.name, f"Does task {number}. Use it when a user asks for task {number}"))
    for words in (["--version"], ["list"], ["prompt", "do task 3"]):
        seconds: dict[str, list[float]] = {name: [] for name in machines}
        for _ in range(checks.amount(300, least=15)):
            for name, machine in machines.items():
                seconds[name].append(machine.run(machine.project(), *words).cpu)
        medians = {name: statistics.median(values) for name, values in seconds.items()}
        shown = " ".join(["skillfold", *words])
        checks.figure(f"CPU ms of `{shown}`", {name: round(1000 * value, 2) for name, value in medians.items()})
        if "old" in medians:
            hold(checks, f"`{shown}` starts as fast as before, within 5 %", medians["new"] <= START_RATIO * medians["old"], medians)


def size(checks: Checks, binary: Path) -> None:
    """Pack the command as it is published."""
    content = binary.read_bytes()
    checks.figure("MB of the command", round(len(content) / 1e6, 1))
    if checks.is_release:
        # As `packaging/archive.sh`.
        packed = len(gzip.compress(content))
        checks.figure("MB of the packed command", round(packed / 1e6, 1))
        checks.check(f"The packed command has less than {PACKED_BYTES / 1e6:.0f} MB", packed < PACKED_BYTES, packed)
