"""The list of repositories that attack, and how one is put on it. The files `attack_*.py` fill it, and `hostile.py` has it whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import repositories
from objects import Entry, Id, Objects

GOOD = repositories.skill("good", "Does nothing wrong. Use it to see that the others do no harm to it")
BAD = repositories.skill("bad", "Comes with what is wrong. Use it in tests")
RUN = b"#!/bin/sh\ntouch @MARK@\n"


@dataclasses.dataclass(frozen=True)
class Hostile:
    """A repository that attacks."""

    # Unique, and the name of its folder.
    name: str
    # What the attack is about: names, links, refs and so on.
    group: str
    wrong: str
    write: Callable[[Objects], None]
    # Takes more than 64 MiB of memory or disk, or never ends, for a client without limits.
    is_large: bool = False

    def build(self, root: Path, mark: Path) -> Path:
        """Build it below a folder, and return its path. An attack that succeeds creates the file `mark`."""
        objects = Objects(root / f"{self.name}.git", mark)
        self.write(objects)
        if self.name in NOT_SENT:
            objects.sent = objects.pack()
        objects.save()
        return objects.path


HOSTILE: list[Hostile] = []
# Git does not even send these, so they come with their pack.
NOT_SENT = {
    "file-empty", "folder-empty", "mode-10064x", "mode-empty", "mode-minus-100644", "mode-folder-is-file",
    "mode-file-is-folder", "mode-link-is-folder", "tree-zero-id", "tag-kind", "size-depth-10000",
}  # fmt: skip


def add(group: str, name: str, wrong: str, *, is_large: bool = False):  # noqa: ANN201
    """Put the function that writes a repository on the list."""

    def listed(write: Callable[[Objects], None]) -> None:
        HOSTILE.append(Hostile(f"{group}-{name}", group, wrong, write, is_large))

    return listed


def tree_of(bad: dict | list | Entry | Id | bytes, more: dict | None = None) -> dict:
    """Return the files of a repository, in which `skills/bad` is this."""
    return {"skills": {"good": {"SKILL.md": GOOD}, "bad": bad}, **(more or {})}


def add_tree(group: str, name: str, wrong: str, tree: dict | list, *, is_large: bool = False) -> None:
    """Add a repository of one commit with these files."""
    add(group, name, wrong, is_large=is_large)(lambda objects: objects.release(objects.commit(objects.tree(tree))))


def add_bad(group: str, name: str, wrong: str, more: dict | list) -> None:
    """Add a repository whose skill `bad` has these files too."""
    bad = [*more, ("SKILL.md", BAD)] if isinstance(more, list) else {"SKILL.md": BAD, **more}
    add_tree(group, name, wrong, tree_of(bad))


def add_root(group: str, name: str, wrong: str, more: dict) -> None:
    """Add a repository with these files beside its skills."""
    add_tree(group, name, wrong, tree_of({"SKILL.md": BAD}, more))


def add_sent(group: str, name: str, wrong: str, *, is_large: bool = False):  # noqa: ANN201
    """Like `add`, for what git would not send: the function returns the pack, or nothing for all objects."""

    def listed(write: Callable[[Objects], bytes | None]) -> None:
        def with_pack(objects: Objects) -> None:
            pack = write(objects)
            objects.sent = objects.pack() if pack is None else pack

        add(group, name, wrong, is_large=is_large)(with_pack)

    return listed
