"""What each installer verifies: every tool meets the same changes, and docs/what-installers-verify.md says what becomes of them.

The table of the page is the expectation; a cell that is not so fails, and the line says what was seen.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import repositories
from checks import Checks
from foreign import CLIENT_OF, PACKAGES, Foreign, foreign
from machine import LOCK, MANIFEST, SKILLS, Done, Machine
from repositories import Tree
from servers import Authority, Files, GitHttp
from sources import tar

PAGE = Path(__file__).resolve().parents[2] / "docs/what-installers-verify.md"
OLD = "One.\n\nTwo.\n\nThree.\n"
NEW, EDITED = OLD.replace("Three", "Drei"), OLD.replace("One", "Eins")
MERGED = NEW.replace("One", "Eins")
GUIDE = "references/guide.md"


def tree(version: str, guide: str) -> Tree:
    """Return the files of a marketplace with one plugin of one skill, which all tools can install."""
    plugin = {"name": "forms", "version": version, "description": "Fills in forms"}
    market = {"name": "market", "owner": {"name": "Anna Example"}, "plugins": [{**plugin, "source": "./forms"}]}
    return {
        ".claude-plugin/marketplace.json": repositories.as_json(market),
        "forms/.claude-plugin/plugin.json": repositories.as_json(plugin),
        "forms/skills/pdf/SKILL.md": repositories.skill("pdf", "Fills in forms. Use it when a user asks for a form"),
        f"forms/skills/pdf/{GUIDE}": guide.encode(),
    }


FIRST, SECOND = tree("1.0.0", OLD), tree("1.1.0", NEW)


class Case:
    """One tool before one change: a repository of its own, the machine that installed from it, and another."""

    # The file by which the tool restores; empty if it has none.
    lock = ""

    def __init__(self, folder: Path, binary: Path, programs: Foreign, http: GitHttp, files: Files, trusted: dict[str, str]) -> None:
        self.programs, self.files = programs, files
        self.repository = http.root / f"{folder.name}.git"
        self.url = http.secure_url(folder.name)
        self.archive = files.root / f"{folder.name}.tar.gz"
        self.machine, self.other = (Machine(folder / name, binary, **trusted) for name in ("first", "second"))
        self.project = self.machine.project()
        repositories.build(self.repository, {"v1.0.0": FIRST})

    def publish_second(self) -> None:
        shutil.rmtree(self.repository)
        repositories.build(self.repository, {"v1.0.0": FIRST, "v1.1.0": SECOND})

    def replace_tag(self) -> None:
        shutil.rmtree(self.repository)
        repositories.build(self.repository, {"v1.0.0": SECOND})

    def move_tag(self) -> None:
        self.publish_second()
        subprocess.run(["git", "-C", self.repository, "tag", "-f", "v1.0.0", "main"], check=True, capture_output=True)

    def run(self, program: str, *words: object) -> Done:
        return self.programs.run(self.machine, self.project, program, *words)

    def go_elsewhere(self) -> None:
        """Go to another machine, with the project as it is under version control."""
        project = self.other.project()
        for name in (MANIFEST, self.lock):
            with contextlib.suppress(FileNotFoundError, IsADirectoryError):
                shutil.copy(self.project / name, project)
        self.machine, self.project = self.other, project

    def install(self, version: str) -> Done:
        raise NotImplementedError

    def install_archive(self) -> Done | None:
        """Install from an archive; nothing if the tool installs none."""
        return None

    def restore(self, version: str) -> Done:
        """Restore from the lock; a tool without one installs again."""
        return self.install(version)

    def update(self) -> Done:
        raise NotImplementedError

    def approve(self) -> None:
        """Approve what waits."""

    def look(self) -> Done:
        """Look whether installed files are as they were installed."""
        raise NotImplementedError

    def guide(self) -> Path | None:
        """Return the installed file."""
        found = self.project / SKILLS / "pdf" / GUIDE
        return found if found.exists() else None

    def text(self) -> str | None:
        found = self.guide()
        return found.read_text() if found else None


class NpxSkills(Case):
    lock = "skills-lock.json"

    def install(self, version: str) -> Done:
        return self.run("skills", "add", self.url + (f"#{version}" if version else ""), "-a", "codex", "-y")

    def install_archive(self) -> Done:
        return self.run("skills", "add", self.files.secure_url(self.archive.name), "-a", "codex", "-y")

    def restore(self, version: str) -> Done:
        return self.run("skills", "experimental_install")

    def update(self) -> Done:
        return self.run("skills", "update", "-p", "-y")

    def look(self) -> Done:
        return self.run("skills", "list")


class ClaudeCode(Case):
    def install(self, version: str) -> Done:
        self.run("claude", "plugin", "marketplace", "add", self.url + (f"#{version}" if version else ""))
        return self.run("claude", "plugin", "install", "forms@market")

    def update(self) -> Done:
        self.run("claude", "plugin", "marketplace", "update", "market")
        return self.run("claude", "plugin", "update", "forms@market")

    def look(self) -> Done:
        return self.run("claude", "plugin", "list")

    def guide(self) -> Path | None:
        listed = json.loads(self.run("claude", "plugin", "list", "--json").out or "[]")
        return Path(listed[0]["installPath"]) / "skills/pdf" / GUIDE if listed else None


class Codex(Case):
    def install(self, version: str) -> Done:
        self.run("codex", "plugin", "marketplace", "add", self.url, *(["--ref", version] if version else []))
        return self.run("codex", "plugin", "add", "forms@market")

    def update(self) -> Done:
        return self.run("codex", "plugin", "marketplace", "upgrade", "market")

    def look(self) -> Done:
        return self.run("codex", "plugin", "list")

    def guide(self) -> Path | None:
        found = sorted(self.machine.home.glob(f".codex/plugins/cache/market/forms/*/skills/pdf/{GUIDE}"))
        return found[-1] if found else None


class NpxPlugins(ClaudeCode):
    def install(self, version: str) -> Done:
        return self.run("plugins", "add", self.url, "-t", "claude-code", "-y")

    def update(self) -> Done:
        return self.install("")


class Skillfold(Case):
    lock = LOCK

    def ours(self, *words: object) -> Done:
        return self.machine.run(self.project, *words)

    def install(self, version: str) -> Done:
        return self.machine.type(self.project, "add", self.url + (f"@{version}" if version else ""), "--all")

    def install_archive(self) -> Done:
        return self.machine.type(self.project, "add", self.files.secure_url(self.archive.name), "--all")

    def restore(self, version: str) -> Done:
        return self.ours("install", "--frozen")

    def update(self) -> Done:
        return self.ours("update")

    def approve(self) -> None:
        for proposal in json.loads(self.ours("proposals", "--json").out)["proposals"]:
            self.machine.type(self.project, "approve", proposal["name"])

    def look(self) -> Done:
        return self.ours("verify")


def version_of(package: str) -> str:
    return package.rpartition("@")[2]


# By the heads of the page's columns.
TOOLS: dict[str, type[Case]] = {
    f"`npx skills` {version_of(PACKAGES['skills'])}": NpxSkills,
    f"Claude Code {version_of(CLIENT_OF['claude-code'].package)}": ClaudeCode,
    f"Codex {version_of(CLIENT_OF['codex'].package)}": Codex,
    f"`npx plugins` {version_of(PACKAGES['plugins'])}": NpxPlugins,
    "Skillfold": Skillfold,
}
# A tool that has no lock, or installs no archives.
NONE = "—"


def begin(case: Case, version: str = "") -> None:
    done = case.install(version)
    if case.text() != OLD:
        raise RuntimeError(f"not installed: {done}")


def restored(case: Case, done: Done) -> str:
    """Say what a tool installed."""
    found = case.text()
    if found is None:
        return "refused" if done.code else "nothing installed, exit code 0"
    return {OLD: "locked files", NEW: "new files"}.get(found, f"something else: {found!r}")


def elsewhere(publish: Callable[[Case], None], version: str) -> Callable[[Case], str]:
    """Return what becomes of a source that changes before another machine restores."""

    def row(case: Case) -> str:
        begin(case, version)
        publish(case)
        case.go_elsewhere()
        return restored(case, case.restore(version))

    return row


def archive_changed(case: Case) -> str:
    case.archive.write_bytes(tar(FIRST, "forms-1.0.0/"))
    done = case.install_archive()
    if done is None:
        return NONE
    if case.text() != OLD:
        raise RuntimeError(f"not installed: {done}")
    if not (case.project / case.lock).exists():
        return "not in the lock"
    case.archive.write_bytes(tar(SECOND, "forms-1.0.0/"))
    case.go_elsewhere()
    return restored(case, case.restore(""))


def with_lock(change: Callable[[str], str], then: Callable[[Case], str]) -> Callable[[Case], str]:
    """Return what becomes of a lock that is changed before another machine uses it."""

    def row(case: Case) -> str:
        if not case.lock:
            return NONE
        begin(case)
        case.go_elsewhere()
        lock = case.project / case.lock
        lock.write_text(change(lock.read_text()))
        return then(case)

    return row


def wrong_hash(lock: str) -> str:
    return re.sub(r"[0-9a-f]{64}", "0" * 64, lock)


def half(lock: str) -> str:
    return lock[: len(lock) // 2]


def restore(case: Case) -> str:
    return restored(case, case.restore(""))


def restore_wrong(case: Case) -> str:
    return restore(case).replace("locked files", "installed anyway")


def add_more(case: Case) -> str:
    before = (case.project / case.lock).read_text()
    case.install("")
    return "refused" if (case.project / case.lock).read_text() == before else "lock emptied"


def edited_restore(case: Case) -> str:
    begin(case)
    case.guide().write_text(EDITED)
    case.restore("")
    return {EDITED: "edit kept", OLD: "edit lost"}.get(case.text() or "", f"something else: {case.text()!r}")


def edited_update(case: Case) -> str:
    begin(case)
    case.guide().write_text(EDITED)
    case.publish_second()
    case.update()
    case.approve()
    outcomes = {EDITED: "edit kept, no update", NEW: "edit lost", MERGED: "both merged"}
    return outcomes.get(case.text() or "", f"something else: {case.text()!r}")


def update_asks(case: Case) -> str:
    begin(case)
    case.publish_second()
    done = case.update()
    if case.text() == NEW:
        return "replaced at once"
    case.approve()
    return "waits for approval" if case.text() == NEW else f"something else: {done}"


def noticed(case: Case) -> str:
    begin(case)
    case.guide().write_text(EDITED)
    return "yes" if case.look().code else "no"


# By the first cells of the page's rows.
ROWS: dict[str, Callable[[Case], str]] = {
    "The branch has new commits; a restore elsewhere": elsewhere(Case.publish_second, ""),
    "The tag was moved; a restore elsewhere": elsewhere(Case.move_tag, "v1.0.0"),
    "The tag was moved, and the old commit is gone; a restore elsewhere": elsewhere(Case.replace_tag, "v1.0.0"),
    "The archive was replaced; a restore elsewhere": archive_changed,
    "The lock has a wrong hash; a restore": with_lock(wrong_hash, restore_wrong),
    "The lock is damaged; a restore": with_lock(half, restore),
    "The lock is damaged; a skill is added": with_lock(half, add_more),
    "A file was edited; the same version is installed again": edited_restore,
    "A file was edited; an update": edited_update,
    "An update": update_asks,
    "A file was edited; does a command notice?": noticed,
}


def run(checks: Checks, binary: Path, folder: Path) -> None:
    programs = foreign(checks, folder)
    if programs is None:
        return
    for name in ("repositories", "files"):
        (folder / name).mkdir()
    with Authority() as authority, GitHttp(folder / "repositories", authority=authority) as http:
        with Files(folder / "files", authority=authority) as files, concurrent.futures.ThreadPoolExecutor(3) as threads:

            def judge(tool: str, row: str) -> str:
                name = f"{list(ROWS).index(row)}-{TOOLS[tool].__name__}"
                trusted = {name: authority.environment()[name] for name in ("GIT_SSL_CAINFO", "SSL_CERT_FILE")}
                case = TOOLS[tool](folder / name, binary, programs, http, files, trusted)
                try:
                    return ROWS[row](case)
                finally:
                    shutil.rmtree(folder / name, ignore_errors=True)

            waiting = {(row, tool): threads.submit(judge, tool, row) for row in ROWS for tool in TOOLS}
            seen = {cell: outcome(future) for cell, future in waiting.items()}
    table = read_table(PAGE.read_text())
    differing = [str(cell) for cell in table.keys() ^ seen.keys()]
    checks.none("The page has each row and each tool with its version, and no other", differing)
    for (row, tool), expected in table.items():
        found = seen.get((row, tool))
        checks.check(f"{row}: {tool}: {expected}", found == expected, f"seen: {found}")


def outcome(future: concurrent.futures.Future[str]) -> str:
    try:
        return future.result()
    except Exception as error:  # noqa: BLE001
        return f"failed: {error!r}"


def read_table(page: str) -> dict[tuple[str, str], str]:
    """Return the cells of the first table of a page by row and column."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]
    (_, *tools), _, *rows = lines
    return {(row, tool): cell for row, *cells in rows for tool, cell in zip(tools, cells)}
