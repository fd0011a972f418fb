"""A user edits installed skills, and their author changes them too, through 200 updates, each approved in a terminal.

Lines are changed at random places, files are added, removed, renamed and made binary on both sides, often the same ones. No line that
the user wrote is lost: it is in the skill, or in the version before that `rollback` gives. No line that is new in an update is lost
either: it is in the skill, or beside the user's file.
"""

from __future__ import annotations

import collections
import json
import random
import re
import shutil
from pathlib import Path

import repositories
from checks import Checks
from machine import SKILLS, Done, Machine, digest, files_in, installed, locked
from repositories import Tree

# A few updates have nothing new, where the user has made the same change.
ROUNDS, SKILL_COUNT = 52, 4
TOKEN = re.compile(rb"(?:user|author)-\d+-")


class Writers:
    """The author and the user: each thing that one of them writes has a number of its own."""

    def __init__(self) -> None:
        self.random = random.Random(35)
        self.count = 0

    def token(self, who: str) -> bytes:
        self.count += 1
        return f"{who}-{self.count}-".encode()

    def change(self, files: Tree, who: str) -> set[bytes]:
        """Change a skill's files in a few ways, and return what was written."""
        written = set()
        for _ in range(self.random.randint(1, 4)):
            token = self.token(who)
            names = [name for name in sorted(files) if name != "SKILL.md"]
            way = self.random.choice(("line", "line", "line", "insert", "insert", "add", "remove", "rename", "binary"))
            if way in ("remove", "rename") and len(names) > 3:
                name = self.random.choice(names)
                content = files.pop(name)
                if way == "rename":
                    files[f"references/{token.decode()}renamed.md"] = content
                continue
            if way == "add":
                files[f"references/{self.random.choice('abcdef')}.md"] = lines(token, 8)
            elif way == "binary":
                files[f"assets/{self.random.choice('xyz')}.bin"] = b"\0\x89" + token + self.random.randbytes(40).replace(b"-", b"")
            else:
                name = self.random.choice(["SKILL.md", "SKILL.md", *(name for name in names if not name.endswith(".bin"))])
                files[name] = self.edit(name, files[name], token, way)
            written.add(token)
        return written

    def edit(self, name: str, content: bytes, token: bytes, way: str) -> bytes:
        """Change or insert a line; the start of SKILL.md stays, since it is what makes it a skill."""
        rows = content.splitlines(keepends=True)
        at = self.random.randrange(5 if name == "SKILL.md" else 0, len(rows) + 1)
        new = token + b" " + str(self.random.random()).encode() + b"\n"
        if at and not rows[at - 1].endswith(b"\n"):
            rows[at - 1] += b"\n"
        rows[at : at + (way == "line")] = [new]
        return b"".join(rows)


def lines(token: bytes, count: int) -> bytes:
    return b"".join(b"%s line %d\n" % (token, number) for number in range(count))


def tokens(files: Tree) -> set[bytes]:
    return set(TOKEN.findall(b"\n".join([*files.values(), *(path.encode() for path in files)])))


def write(folder: Path, files: Tree) -> None:
    """Make a folder have these files and no others."""
    for path in files_in(folder).keys() - files.keys():
        (folder / path).unlink()
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


class Ground:
    """A repository that its author changes, and a project with its skills."""

    def __init__(self, folder: Path, binary: Path) -> None:
        self.repository = folder / "skills.git"
        self.machine = Machine(folder / "machine", binary)
        (self.machine.settings / "skillfold").mkdir()
        # Only trusted skills have a history that is shown.
        (self.machine.settings / "skillfold/config.toml").write_text("trust_project = true\n")
        self.project = self.machine.project()
        names = [f"task-{number}" for number in range(SKILL_COUNT)]
        self.upstream: dict[str, Tree] = {
            name: {
                "SKILL.md": repositories.skill(name, f"Does {name}. Use it for {name}", "".join(f"Step {number}.\n" for number in range(30))),
                **{f"references/{letter}.md": lines(letter.encode(), 20) for letter in "abc"},
                "assets/x.bin": b"\0\1\2",
            }
            for name in names
        }
        self.versions: dict[str, Tree] = {}

    def publish(self) -> None:
        """Publish what the author wrote, as the next version."""
        tree = {f"skills/{name}/{path}": content for name, files in self.upstream.items() for path, content in files.items()}
        self.versions = dict([*self.versions.items(), (f"v1.{len(self.versions)}.0", tree)])
        shutil.rmtree(self.repository, ignore_errors=True)
        repositories.build(self.repository, self.versions)

    def folder(self, name: str) -> Path:
        return self.project / SKILLS / name

    def update(self) -> tuple[dict[str, dict], Done]:
        """Update all skills, and return the proposals by skill."""
        done = self.machine.run(self.project, "update", "--json")
        listed = json.loads(done.out)["proposed"] if done.out else []
        return {proposal["name"]: proposal for proposal in listed}, done


def run(checks: Checks, binary: Path, folder: Path) -> None:
    ground, writers = Ground(folder, binary), Writers()
    ground.publish()
    done = ground.machine.type(ground.project, "add", f"file://{ground.repository}", "--all")
    if not checks.check("The skills are installed", done.code == 0 and len(installed(ground.project)) == SKILL_COUNT, done):
        return
    wrong: dict[str, list[str]] = collections.defaultdict(list)
    counts: collections.Counter[str] = collections.Counter()
    for number in range(checks.amount(ROUNDS, least=4)):
        fresh = {name: writers.change(files, "author") for name, files in ground.upstream.items()}
        ground.publish()
        for name in ground.upstream:
            if writers.random.random() < 0.8:
                edit(ground, writers, name, counts)
        one_round(ground, writers, fresh, number, wrong, counts)
    for what, sentence in SENTENCES.items():
        checks.none(sentence, wrong[what])
    for what in ("updates", "conflicts", "edits", "lines of the user", "rolled back", "edited while it waited"):
        checks.figure(what, counts[what])
    checks.figure("lost", len(wrong["lost"]))
    done = ground.machine.run(ground.project, "audit", "verify")
    checks.check("The log is whole", done.code == 0, done)
    keep(checks, ground, writers, counts)


def keep(checks: Checks, ground: Ground, writers: Writers, counts: collections.Counter[str]) -> None:
    """Install: what the user changed stays, whether an update has merged it or not."""
    for what in ("merged by an update", "new"):
        before = installed(ground.project)
        done = ground.machine.run(ground.project, "install", "--frozen")
        is_kept = done.code == 1 and "edited here" in done.said and installed(ground.project) == before
        checks.check(f"`install` does not replace a skill with edits ({what})", is_kept, done)
        for name in ground.upstream:
            edit(ground, writers, name, counts)


SENTENCES = {
    "failed": "Every update is proposed, and approved in a terminal",
    "lock": "The lock has the author's version afterwards, also where the user has made the same change",
    "lost": "No line of the user is lost: it is in the skill, or in the version before",
    "gone": "No line of the user is in the version before only",
    "author": "No new line of the author is lost: it is in the skill, or beside the user's file",
    "back": "A file that the user removed stays removed, if its author has not changed it",
    "unsaid": "Each conflict is said, and each that is said has a file beside",
    "version": "`rollback` gives the version before the update, byte for byte",
}


def edit(ground: Ground, writers: Writers, name: str, counts: collections.Counter[str]) -> None:
    """Edit an installed skill, as its user."""
    files = files_in(ground.folder(name))
    beside = [path for path in files if ".upstream" in path]
    # A user who has looked at the author's file removes it.
    for path in beside if writers.random.random() < 0.3 else ():
        del files[path]
    counts["lines of the user"] += len(writers.change(files, "user"))
    counts["edits"] += 1
    write(ground.folder(name), files)


def one_round(
    ground: Ground, writers: Writers, fresh: dict[str, set[bytes]], number: int, wrong: dict[str, list[str]],
    counts: collections.Counter[str],
) -> None:  # fmt: skip
    """Update all skills, approve each, and look what became of the lines."""
    before = {name: files_in(ground.folder(name)) for name in ground.upstream}
    proposals, done = ground.update()
    if done.code != 0:
        wrong["failed"].append(f"round {number}: {done}")
    for name, proposal in proposals.items():
        what = f"round {number}, {name}"
        if writers.random.random() < 0.1:
            edit(ground, writers, name, counts)
            counts["edited while it waited"] += 1
            before[name] = files_in(ground.folder(name))
        approved = ground.machine.type(ground.project, "approve", proposal["proposal"])
        if approved.code != 0:
            wrong["failed"].append(f"{what}: {approved}")
            continue
        conflicts = proposal.get("conflicts", [])
        counts["updates"] += 1
        counts["conflicts"] += len(conflicts)
        compare(ground, name, before[name], fresh[name], what, wrong)
        # What was merged with an edit that came later is shown with the question.
        unsaid = [path for path in said_wrongly(ground, name, before[name], conflicts) if path not in approved.out]
        if unsaid:
            wrong["unsaid"].append(f"{what}: {unsaid}, said {conflicts}")
        if writers.random.random() < 0.1:
            roll_back(ground, name, before[name], what, wrong)
            counts["rolled back"] += 1
    for name, skill in locked(ground.project).items():
        if skill["digest"] != digest(ground.upstream[name]):
            wrong["lock"].append(f"round {number}, {name}: {done.said.splitlines()[-1]}")


def said_wrongly(ground: Ground, name: str, before: Tree, conflicts: list[str]) -> list[str]:
    """Return the conflicts without the author's file beside, and the files beside without a conflict."""
    after = files_in(ground.folder(name))
    new = {path for path in after if ".upstream" in path and after[path] != before.get(path)}
    missing = [path for path in conflicts if path in ground.upstream[name] and not any(it.startswith(f"{path}.upstream") for it in after)]
    return missing + [path for path in new if not any(path.startswith(f"{it}.upstream") for it in conflicts)]


def compare(ground: Ground, name: str, before: Tree, fresh: set[bytes], what: str, wrong: dict[str, list[str]]) -> None:
    """Look for lines that are not there any more."""
    after = files_in(ground.folder(name))
    if gone := {token for token in tokens(before) if token.startswith(b"user")} - tokens(after):
        wrong["gone"].append(f"{what}: {sorted(gone)}")
        if missing := gone - tokens(previous(ground, name)):
            wrong["lost"].append(f"{what}: {sorted(missing)}")
    if missing := (fresh & tokens(ground.upstream[name])) - tokens(after):
        wrong["author"].append(f"{what}: {sorted(missing)}")
    former = list(ground.versions.values())[-2]
    is_same = {path: former.get(f"skills/{name}/{path}") == ground.upstream[name].get(path) for path in after}
    if returned := {path for path in after.keys() - before.keys() if is_same[path] and ".upstream" not in path}:
        wrong["back"].append(f"{what}: {sorted(returned)}")


def previous(ground: Ground, name: str) -> Tree:
    """Return the version before, which `rollback` gives, and go back again."""
    after = digest(files_in(ground.folder(name)))
    ground.machine.type(ground.project, "rollback", name)
    files = files_in(ground.folder(name))
    ground.machine.type(ground.project, "rollback", name, after)
    return files


def roll_back(ground: Ground, name: str, before: Tree, what: str, wrong: dict[str, list[str]]) -> None:
    found = previous(ground, name)
    if found != before:
        wrong["version"].append(f"{what}: {sorted(found.keys() ^ before.keys())}, {[path for path in found if found[path] != before.get(path)]}")
