"""How the layer uses the engine: only with the folders that the caller names, and none of the person's settings."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from skillfold import Skills, SkillsWarning

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_DEPTH = 5
"""Folders from a root down to a skill, its own included."""

# A folder without a project, so that no project's settings are read.
_NOWHERE = os.path.abspath(os.sep)  # noqa: PTH100
_SETTINGS: dict[str, str | bool | list[str]] = {"default_roots": False, "hidden": "search", "enable": ["*"]}
_FRONTMATTER = b"---\nname: skill\ndescription: skill\n---\n"
_SKILL = "skill"


def open_folders(folders: Iterable[Path], **settings: int) -> Skills:
    """Discover the skills in some folders; one that does not exist has none."""
    roots = [str(folder) for folder in folders]
    return _discover(roots=roots, settings={**_SETTINGS, **settings}, lenient=True)


def open_file(content: bytes) -> Skills:
    """Read one `SKILL.md` from memory. The result has one skill, or one refused folder."""
    bundled = {f"{_SKILL}/SKILL.md": content}
    return _discover(bundled=bundled, settings=_SETTINGS)


def _discover(**options: Any) -> Skills:  # noqa: ANN401
    # The layer reports missing folders and broken files in its own way.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkillsWarning)
        return Skills.discover(_NOWHERE, environ={}, cache=False, **options).for_user()


def instructions(skills: Skills) -> str:
    """Return the instructions of the skill that `open_file` read, with their placeholders."""
    [skill] = skills.list().skills
    return skills.load(skill.id).raw


def fill_in(content: str, arguments: str) -> str:
    """Return instructions with the arguments filled in."""
    skills = open_file(_FRONTMATTER + content.encode())
    return skills.load(_SKILL, arguments).text


def is_below(file: Path, folder: Path, max_depth: int = MAX_DEPTH) -> bool:
    """Tell whether a `SKILL.md` is in a folder, or at most some folders below it."""
    # `Path.is_relative_to` takes ten times as long, and this runs for each skill and source.
    path, prefix = str(file), os.path.join(folder, "")  # noqa: PTH118
    return path.startswith(prefix) and path.count(os.sep, len(prefix)) <= max_depth


def order(file: Path) -> tuple[int, str]:
    """Order files as the engine does: the nearest first, then by path."""
    return len(file.parts), str(file)


def cache_counts(skills: Skills) -> tuple[int, int, int]:
    """Return the entries, hits and misses of the cache of instructions."""
    stats = skills.cache_stats()
    return stats.entries, stats.hits, stats.misses
