"""What may become of each file: a row for each row of docs/formats.md, and for each kind of file that has no number."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from build import LOCK, RC1

PAGE = Path(__file__).resolve().parents[2] / "docs/formats.md"
NEW = "0.1.0"

STATE, DATA, CACHE, CONFIG = ".local/state/skillfold", ".local/share/skillfold", ".cache/skillfold", ".config/skillfold"

# Changed only by a command that reads its number, and then it keeps every line that it had.
NUMBERED = "numbered"
# The number is in the name: no other program changes it.
NAMED = "named"
# Only appended.
APPENDED = "appended"
# The name is the digest of what is in it.
CONTENT = "content"
# Can be made again.
CACHED = "cached"
# Changed only by commands that say so.
FREE = "free"
# Empty.
EMPTY = "empty"


@dataclass
class Row:
    name: str
    places: tuple[str, ...]
    rule: str
    # The numbers that each program reads, for those with another one than the newest.
    numbers: dict[str, set[int]] = field(default_factory=dict)
    newest: int = 1

    def known(self, program: str) -> set[int]:
        return self.numbers.get(program, {self.newest})


ROWS = [
    Row("state `trusted.toml`", (f"{STATE}/trusted.toml",), NUMBERED),
    Row("state `trusted_skills.toml`", (f"{STATE}/trusted_skills.toml",), NUMBERED),
    Row("state `allowed.toml`", (f"{STATE}/allowed.toml",), NUMBERED, {RC1: {1}}, 2),
    Row("data `audit.jsonl`", (f"{DATA}/audit.jsonl",), APPENDED, {RC1: {1}}, 2),
    Row("data `proposals/*.md`", (f"{DATA}/proposals/*.md",), NUMBERED, {RC1: {1}, LOCK: {1}, NEW: {1, 2}}, 2),
    Row("data `contents/`", (f"{DATA}/contents/*/*", f"{DATA}/objects/*/*"), CONTENT),
    Row("data `passphrase.json`", (f"{DATA}/passphrase.json",), NUMBERED, {RC1: {1}}, 2),
    Row("state `setup.toml`", (f"{STATE}/setup.toml",), NUMBERED, {RC1: {1}, LOCK: {1}, NEW: {1, 2}}, 2),
    Row("settings `config.toml`, and `.skillfold/config.toml` of a project", (f"{CONFIG}/config.toml", "*/.skillfold/config.toml"), FREE),
    Row("`skills.toml` of a project or beside the settings", ("*/skills.toml",), NUMBERED),
    Row("`skills.lock` beside it", ("*/skills.lock",), NUMBERED),
    Row("`policy.toml` of the machine, the user or a project", (f"{CONFIG}/policy.toml", "*/.skillfold/policy.toml"), NUMBERED),
    Row("the file of the setting `server_tokens`", ("tokens.toml",), NUMBERED, {RC1: set(), LOCK: set()}),
    Row("state `conversations/conversation-2-*.json`", (f"{STATE}/conversations/conversation-*.json",), NAMED, {RC1: {1}, LOCK: {1}}, 2),
    Row("state `conversations/learned-1.json`", (f"{STATE}/conversations/learned-*.json",), NAMED),
    Row("the file of `prompt --session`, and what `Session` writes", ("*/session.json",), NUMBERED),
    Row(
        "state `hook.jsonl` and `hook.old.jsonl`, and the file of `--trace`",
        (f"{STATE}/hook.jsonl", f"{STATE}/hook.old.jsonl", "*/trace.jsonl"), APPENDED,
    ),
    Row("state `network.jsonl` and `network.old.jsonl`", (f"{STATE}/network.jsonl", f"{STATE}/network.old.jsonl"), APPENDED),
    Row("data `installing/*.json`", (f"{DATA}/installing/*.json",), NUMBERED),
    Row("cache `seen/*`", (f"{CACHE}/seen/*",), APPENDED),
    Row("cache `metadata/2-*.skills`, `vectors/2-*.skills`", (f"{CACHE}/metadata/*", f"{CACHE}/vectors/*"), CACHED),
    Row("cache `search/3-3-*/`", (f"{CACHE}/search/*",), CACHED),
    Row("cache `outdated-1.json`", (f"{CACHE}/outdated*.json",), CACHED),
    Row("data `locks/*`", (f"{DATA}/locks/*",), CACHED),
    Row("Packages of scripts", (f"{DATA}/packages/*",), FREE),
    Row("Copies of repositories", (f"{CACHE}/git/*",), CACHED),
    Row("Configurations of clients", (".claude.json", ".claude/*.json", ".codex/*", ".gemini/*"), FREE),
    Row("`restore.txt`", (f"{STATE}/restore.txt",), FREE),
    Row("Reports and charts", ("*/report.html", "*/chart.svg"), FREE),
    Row("Skills", ("*/SKILL.md", "*/scripts/*", "*/toolsets/*", "*/evals/*"), FREE),
    Row(
        "Locks",
        (f"{STATE}/lock", f"{STATE}/conversations/lock", f"{STATE}/conversations/learned.lock", f"{DATA}/lock", f"{DATA}/packages/lock",
         f"{CACHE}/index.lock", f"{CACHE}/git/*.lock", f"{CACHE}/search/*/writer.lock"), EMPTY,
    ),
]

# What the user has that no program writes.
USERS = ("*/.git/*", "*/README.md", "sources/*", "drafts/*", "granted/*", "aside/*")


def page_rows() -> list[str]:
    """Return the names of the page's rows: the first cells of its tables, and what its list starts with."""
    text = PAGE.read_text()
    tables = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ") and not line.startswith("| file")]
    points = re.findall(r"(?m)^- \*\*(.+?)\*\*", text)
    return tables + points


def row_of(path: str) -> Row | None:
    """Return the row of a file. Locks are in folders of other rows."""
    rows = [row for row in ROWS if any(fnmatch(path, place) for place in row.places)]
    return next((row for row in rows if row.rule == EMPTY), rows[0] if rows else None)


def is_users(path: str) -> bool:
    return any(fnmatch(path, place) for place in USERS)


def number(row: Row, path: str, content: bytes) -> int | None:
    """Return the number of a file's format."""
    if row.rule == NAMED:
        found = re.search(r"-(\d+)[-.]", path.rsplit("/", 1)[-1])
    else:
        found = re.search(rb'"?format"?\s*[:=]\s*"?(\d+)', content)
    return int(found[1]) if found else None


def fault(row: Row, program: str, path: str, before: bytes | None, after: bytes | None) -> str | None:
    """Return what is wrong with a change that a program made, whatever it was asked to do."""
    if before is None or row.rule in (CACHED, FREE):
        return None
    if row.rule == EMPTY:
        return "the lock is not empty" if after else None
    if row.rule == CONTENT and after is not None:
        return "a content changed"
    if row.rule == APPENDED and not (after or b"").startswith(before):
        return "it was not only appended"
    of = number(row, path, before)
    if of is not None and row.newest and of not in row.known(program) and row.rule in (NUMBERED, NAMED, APPENDED):
        if path.endswith(("hook.jsonl", "network.jsonl", "trace.jsonl")):
            return None
        return f"it has format {of}, which {program} does not know"
    return None
