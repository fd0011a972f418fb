"""Skills, their sources and the numbers of the cache."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from skillfold.compat.skillkit._engine import instructions, open_file
from skillfold.compat.skillkit.core.exceptions import ContentLoadError, ManifestValidationError
from skillfold.compat.skillkit.core.processors import process_skill_content
from skillfold.compat.skillkit.core.scripts import ScriptDetector, ScriptMetadata

if TYPE_CHECKING:
    from pathlib import Path

_NO_FRONTMATTER = "SF001"
_MANIFEST_VERSIONS = ("0.1", "0.3")
_MAX_PLUGIN_DESCRIPTION = 1_000
_SEMVER_DOTS = 2


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The numbers of a cache."""

    size: int
    max_size: int
    hits: int
    misses: int
    hit_rate: float


class ContentCache:
    """A cache of texts by skill and arguments, for programs that use it themselves. The manager has the engine's.

    A text is current as long as its file has the same time of change. The least recently used one is dropped first.
    """

    def __init__(self, max_size: int = 100) -> None:
        """Limit the number of texts. `ValueError` if the limit is not positive."""
        if max_size <= 0:
            message = f"max_size must be positive, got: {max_size}"
            raise ValueError(message)
        self._texts: OrderedDict[tuple[str, str], tuple[str, float]] = OrderedDict()
        self._max_size = max_size
        self._hits = 0
        self._misses = 0

    async def get(self, skill_name: str, arguments: str, file_mtime: float) -> str | None:
        """Return a text, or `None` if there is none for this time of change."""
        key = (skill_name, arguments)
        text, mtime = self._texts.get(key, (None, None))
        if text is None or mtime != file_mtime:
            self._texts.pop(key, None)
            self._misses += 1
            return None
        self._texts.move_to_end(key)
        self._hits += 1
        return text

    async def put(self, skill_name: str, arguments: str, content: str, file_mtime: float) -> None:
        """Keep a text."""
        key = (skill_name, arguments)
        self._texts[key] = (content, file_mtime)
        self._texts.move_to_end(key)
        if len(self._texts) > self._max_size:
            self._texts.popitem(last=False)

    async def clear(self, skill_name: str | None = None) -> int:
        """Drop the texts of a skill, or all, and return how many there were."""
        keys = [key for key in self._texts if skill_name in (None, key[0])]
        for key in keys:
            del self._texts[key]
        return len(keys)

    def get_stats(self) -> CacheStats:
        """Return the numbers."""
        return cache_stats(len(self._texts), self._max_size, self._hits, self._misses)


class SourceType(str, Enum):
    """Where skills come from. Of skills with the same name, the first of these sources wins."""

    PROJECT = "project"
    ANTHROPIC = "anthropic"
    PLUGIN = "plugin"
    CUSTOM = "custom"


class InitMode(str, Enum):
    """How a manager discovered its skills the last time."""

    UNINITIALIZED = "uninitialized"
    SYNC = "sync"
    ASYNC = "async"


@dataclass(frozen=True, slots=True)
class SkillMetadata:
    """What is known about a skill without its instructions."""

    name: str
    description: str
    skill_path: Path
    """The path of the `SKILL.md`."""
    allowed_tools: tuple[str, ...] = field(default_factory=tuple)
    """The tools that the skill asks to use. Nothing enforces them."""
    version: str | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` if the file does not exist."""
        if not self.skill_path.exists():
            message = f"Skill path does not exist: {self.skill_path}"
            raise ValueError(message)


@dataclass(frozen=True)
class Skill:
    """A skill whose instructions are read on first use, and then kept."""

    metadata: SkillMetadata
    base_directory: Path

    @cached_property
    def content(self) -> str:
        """The instructions as the file has them, without the frontmatter."""
        content = read_skill_file(self.metadata.skill_path)
        skills = open_file(content)
        for refused in skills.list().refused:
            if any(diagnostic.code == _NO_FRONTMATTER for diagnostic in refused.diagnostics):
                return content.decode("utf-8-sig")
            message = f"{self.metadata.skill_path} is not a valid skill: {refused.diagnostics[0].message}"
            raise ContentLoadError(message)
        return instructions(skills)

    def invoke(self, arguments: str = "") -> str:
        """Return the text for a model: a line that names the folder, and the instructions with the arguments."""
        return process_skill_content(self.content, self.base_directory, arguments)

    async def ainvoke(self, arguments: str = "") -> str:
        """Do what `invoke` does, on another thread."""
        return await asyncio.to_thread(self.invoke, arguments)

    @property
    def scripts(self) -> list[ScriptMetadata]:
        """The scripts of the skill."""
        return self._scripts

    @cached_property
    def _scripts(self) -> list[ScriptMetadata]:
        return ScriptDetector().detect_scripts(self.base_directory)


@dataclass(frozen=True, slots=True)
class PluginManifest:
    """The manifest of a plugin, `.claude-plugin/plugin.json`."""

    name: str
    version: str
    description: str
    author: dict[str, str]
    skills: list[str]
    """The folders of skills, relative to the plugin's."""
    manifest_path: Path
    manifest_version: str = "0.1"
    display_name: str | None = None
    homepage: str | None = None
    repository: dict[str, str] | None = None

    def __post_init__(self) -> None:
        """Raise `ManifestValidationError` for the first field that is invalid."""
        author: Any = self.author
        rules = [
            ("manifest_version", self.manifest_version in _MANIFEST_VERSIONS, "must be 0.1 or 0.3"),
            ("name", bool(self.name) and " " not in self.name, "must have a value without spaces"),
            ("version", self.version.count(".") >= _SEMVER_DOTS, "must have three numbers, such as 1.0.0"),
            (
                "description",
                0 < len(self.description) <= _MAX_PLUGIN_DESCRIPTION,
                f"must have 1 to {_MAX_PLUGIN_DESCRIPTION} characters",
            ),
            ("author", isinstance(author, dict) and "name" in author, "must have a `name`"),
        ]
        for name, is_valid, rule in rules:
            if not is_valid:
                value = getattr(self, name)
                message = f"Manifest field '{name}' {rule}"
                raise ManifestValidationError(message, name, value if isinstance(value, str) else str(value))
        for folder in self.skills:
            # An absolute path, also one of Windows, or one that leads upwards, would leave the plugin's folder.
            if not folder or ".." in folder or folder[0] in "/\\" or folder[1:2] == ":":
                message = f"Manifest field 'skills' must have folders inside the plugin, not '{folder}'"
                raise ManifestValidationError(message, "skills", folder)


@dataclass(frozen=True, slots=True)
class SkillSource:
    """A folder of skills and its priority; the highest wins a name."""

    source_type: SourceType
    directory: Path
    priority: int
    plugin_name: str | None = None
    plugin_manifest: PluginManifest | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` if the folder does not exist, the priority is not positive or a plugin has no name."""
        if not self.directory.is_dir():
            message = f"Source directory does not exist: {self.directory}"
        elif self.priority <= 0:
            message = f"Priority must be positive, got: {self.priority}"
        elif self.source_type is SourceType.PLUGIN and self.plugin_name is None:
            message = "plugin_name required when source_type == PLUGIN"
        else:
            return
        raise ValueError(message)


@dataclass(frozen=True, slots=True)
class QualifiedSkillName:
    """The name of a skill, or of a plugin and its skill: `plugin:skill`."""

    plugin: str | None
    skill: str

    @staticmethod
    def parse(name: str) -> QualifiedSkillName:
        """Split a name at its first colon. `ValueError` if a part is empty."""
        plugin, colon, skill = name.partition(":")
        if not colon:
            plugin, skill = "", name
        if not skill or (colon and not plugin):
            message = f"Skill name has an empty part: '{name}'"
            raise ValueError(message)
        return QualifiedSkillName(plugin or None, skill)


def cache_stats(size: int, max_size: int, hits: int, misses: int) -> CacheStats:
    """Return the numbers of a cache with its rate of hits."""
    return CacheStats(size, max_size, hits, misses, hits / (hits + misses) if hits + misses else 0.0)


def read_skill_file(path: Path) -> bytes:
    """Return a `SKILL.md`. `ContentLoadError` if it cannot be read or is not UTF-8."""
    try:
        content = path.read_bytes()
        content.decode()
    except (OSError, UnicodeDecodeError) as error:
        message = f"Skill file cannot be read: {path}: {error}"
        raise ContentLoadError(message) from error
    return content
