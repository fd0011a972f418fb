"""Every call that writes fails once: the process is killed at it (`kill -9`), or the disk is full (ENOSPC), or broken (EIO).

Tried with adding, updating, approving, removing, rolling back and installing. Right afterwards, each skill is a complete old or new
version, the manifest and the lock can be read, and other skills are as before. The next command finishes or undoes what was begun:
skill, lock and manifest fit together. Then the same command succeeds, and the log is whole.
"""

from __future__ import annotations

import collections
import dataclasses
import re
import shutil
from pathlib import Path

import repositories
from checks import Checks
from machine import SKILLS, Done, Machine, digest, installed, locked, wanted
from repositories import Tree

FAULTS = ("signal=KILL", "error=ENOSPC", "error=EIO")
CALLS = (
    "?mkdir,?mkdirat,?rename,?renameat,?renameat2,?unlink,?unlinkat,?rmdir,?link,?linkat,?symlink,?symlinkat,?open,openat,?openat2,"
    "write,pwrite64,writev,?ftruncate,?fallocate,?copy_file_range,?sendfile,fsync,fdatasync,fchmod,?fchmodat"
)
SKILL, OTHER = "pdf", "other"


def tree(version: int) -> Tree:
    files: Tree = {}
    for name in (SKILL, OTHER):
        files[f"skills/{name}/SKILL.md"] = repositories.skill(name, f"Does {name}. Use it in tests", f"Version {version if name == SKILL else 1}.")
        files[f"skills/{name}/references/guide.md"] = b"A guide.\n"
    files[f"skills/{SKILL}/references/version-{version}.md"] = b"New in this version.\n"
    return files


def digest_of(name: str, version: int) -> str:
    folder = f"skills/{name}/"
    return digest({path.removeprefix(folder): content for path, content in tree(version).items() if path.startswith(folder)})


FIRST, SECOND = digest_of(SKILL, 1), digest_of(SKILL, 2)
# The digest that is installed, and the one that is locked.
State = tuple[str | None, str | None]


@dataclasses.dataclass
class Operation:
    """A command, the machine on which it is tried, and what it changes."""

    words: tuple[str, ...]
    template: Path
    old: State
    new: State


class Ground:
    """A fresh machine for each try, always at the same path."""

    def __init__(self, folder: Path, binary: Path) -> None:
        self.folder, self.binary = folder, binary
        self.calls = folder / "calls"
        self.source = f"file://{folder}/skills.git"
        self.operations: dict[str, Operation] = {}
        self.prepare()

    def prepare(self) -> None:
        """Make a machine step by step, and keep it before each operation."""
        repositories.build(self.folder / "skills.git", {"v1.0.0": tree(1)})
        self.machine = Machine(self.folder / "machine", self.binary)
        self.project = self.machine.project()
        # Only trusted skills have a history that is shown.
        (self.machine.settings / "skillfold").mkdir()
        (self.machine.settings / "skillfold/config.toml").write_text("trust_project = true\n")
        self.done(self.machine.type(self.project, "add", self.source, "--skill", OTHER))
        self.keep("add", ("add", self.source, "--skill", SKILL), (None, None), (FIRST, FIRST))
        self.keep("remove", ("remove", SKILL), (FIRST, FIRST), (None, None))
        shutil.rmtree(self.folder / "skills.git")
        repositories.build(self.folder / "skills.git", {"v1.0.0": tree(1), "v2.0.0": tree(2)})
        self.operations["add"].words = ("add", f"{self.source}@v1.0.0", "--skill", SKILL)
        self.keep("update", ("update", SKILL), (FIRST, FIRST), (FIRST, FIRST))
        proposal = next((self.machine.store / "proposals").glob(f"{SKILL}-*.md")).name
        self.keep("approve", ("approve", proposal), (FIRST, FIRST), (SECOND, SECOND))
        self.keep("rollback", ("rollback", SKILL, FIRST), (SECOND, SECOND), (FIRST, SECOND))
        self.done(self.machine.type(self.project, "rollback", SKILL, SECOND))
        shutil.rmtree(self.project / SKILLS / SKILL)
        self.keep("install", ("install", "--frozen"), (None, SECOND), (SECOND, SECOND))

    def keep(self, name: str, words: tuple[str, ...], old: State, new: State) -> None:
        """Keep the machine as it is before an operation, and go on behind it; `remove` is not carried out."""
        template = self.folder / "templates" / name
        shutil.copytree(self.machine.folder, template, symlinks=True)
        self.operations[name] = Operation(words, template, old, new)
        if name != "remove":
            self.done(self.machine.type(self.project, *words))
            assert self.state() == new, (name, self.state())

    def done(self, done: Done) -> None:
        assert done.code == 0, str(done)

    def reset(self, operation: Operation) -> None:
        self.machine.remove()
        shutil.copytree(operation.template, self.machine.folder, symlinks=True)

    def state(self) -> State:
        return installed(self.project).get(SKILL), locked(self.project).get(SKILL, {}).get("digest")

    def traced(self, operation: Operation, *options: str) -> Done:
        before = ("strace", "-y", "-o", str(self.calls), "-e", f"trace={CALLS}", *options)
        return self.machine.type(self.project, *operation.words, before=before)

    def points(self, operation: Operation) -> list[tuple[str, int]]:
        """Return the calls that change the disk: each by its name, and its number among the calls of that name."""
        self.reset(operation)
        self.done(self.traced(operation))
        counts: collections.Counter[str] = collections.Counter()
        points = []
        for line in self.calls.read_text(errors="replace").splitlines():
            if not (call := re.match(r"(\w+)\(", line)):
                continue
            counts[call[1]] += 1
            only_reads = call[1].startswith("open") and not re.search("O_CREAT|O_WRONLY|O_RDWR", line)
            if not only_reads and str(self.machine.folder) in line:
                points.append((call[1], counts[call[1]]))
        return points


def run(checks: Checks, binary: Path, folder: Path) -> None:
    if shutil.which("strace") is None:
        checks.leave_out("faults", "`strace` is not installed")
        return
    ground = Ground(folder, binary)
    points = {name: ground.points(operation) for name, operation in ground.operations.items()}
    tries = [(name, *point, fault) for name, found in points.items() for point in found for fault in FAULTS]
    wrong: dict[str, list[str]] = collections.defaultdict(list)
    outcomes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    chosen = checks.some(tries, least=40)
    for name, call, number, fault in chosen:
        outcomes[name][attempt(ground, ground.operations[name], call, number, fault, wrong)] += 1
    for what in SENTENCES:
        checks.none(SENTENCES[what], wrong[what])
    checks.figure("write points", {name: len(found) for name, found in points.items()})
    checks.figure("tries", len(chosen))
    checks.figure("outcomes", {name: dict(sorted(found.items())) for name, found in outcomes.items()})
    checks.check("The faults were made", sum(found["not reached"] for found in outcomes.values()) * 20 <= len(chosen), outcomes)


SENTENCES = {
    "torn": "After a fault, a skill is a complete old or new version, and the lock and the manifest can be read",
    "lost": "After a fault, other skills are as they were",
    "badly": "A fault of the disk is an error that is explained, and no crash",
    "next": "The next command succeeds",
    "unfinished": "The next command has finished or undone what was begun",
    "verify": "`verify` finds what is installed as it is locked",
    "again": "The same command succeeds afterwards",
    "log": "The log is whole",
}


def attempt(ground: Ground, operation: Operation, call: str, number: int, fault: str, wrong: dict[str, list[str]]) -> str:
    """Make one fault, and look what it left. Return what became of the command."""
    ground.reset(operation)
    machine, project = ground.machine, ground.project
    done = ground.traced(operation, "-e", f"inject={call}:{fault}:when={number}")
    log = ground.calls.read_text(errors="replace")
    what = f"{operation.words[0]}, {fault} at {call} {number}"

    def note(kind: str, seen: object) -> None:
        line = next((line for line in reversed(log.splitlines()) if "INJECTED" in line), log.splitlines()[-2])
        wrong[kind].append(f"{what} ({line[:160]}): {seen}")

    if "INJECTED" not in log and "killed by SIGKILL" not in log:
        return "not reached"
    is_killed = fault == "signal=KILL"
    if not is_killed and (done.code in (None, 101) or done.code < 0 or (done.code and "hint: " not in done.said)):
        note("badly", done)
    try:
        state = ground.state()
        wanted(project)
    except ValueError as error:
        note("torn", error)
        return "torn"
    if state[0] not in (operation.old[0], operation.new[0]) or state[1] not in (operation.old[1], operation.new[1]):
        note("torn", state)
    is_other = installed(project).get(OTHER) == digest_of(OTHER, 1) == locked(project).get(OTHER, {}).get("digest")
    if not is_other:
        note("lost", installed(project))
    # It changes nothing itself.
    after = machine.run(project, "update", "--dry-run")
    if after.code != 0:
        note("next", after)
    state = ground.state()
    is_new = state == operation.new
    if not is_new and (state != operation.old or done.code == 0) or wanted(project).keys() != locked(project).keys():
        note("unfinished", f"exit {done.code}, then {state}, wanted {sorted(wanted(project))}")
    verified = machine.run(project, "verify")
    if (verified.code == 0) != (state[0] == state[1]):
        note("verify", verified)
    if not is_new or operation.old == operation.new:
        again = machine.type(project, *operation.words)
        if again.code != 0 or ground.state() != operation.new:
            note("again", f"{ground.state()}, {again}")
    whole = machine.run(project, "audit", "verify")
    if whole.code != 0:
        note("log", whole)
    return "killed" if is_killed else "done in spite of it" if done.code == 0 else "failed"
