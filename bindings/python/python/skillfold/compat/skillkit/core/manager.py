"""The manager: discovers skills of several sources, and invokes them."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from skillfold.compat.skillkit._engine import cache_counts, is_below, open_folders, order
from skillfold.compat.skillkit.core.discovery import discover_plugin_manifest, skill_folders
from skillfold.compat.skillkit.core.exceptions import (
    ConfigurationError,
    ContentLoadError,
    ScriptNotFoundError,
    SkillNotFoundError,
    SkillsUseError,
)
from skillfold.compat.skillkit.core.models import (
    CacheStats,
    InitMode,
    QualifiedSkillName,
    Skill,
    SkillMetadata,
    SkillSource,
    SourceType,
    cache_stats,
)
from skillfold.compat.skillkit.core.parser import metadata, refusal
from skillfold.compat.skillkit.core.processors import check_arguments
from skillfold.compat.skillkit.core.scripts import ScriptExecutor
from skillfold.errors import SkillfoldError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skillfold import Skills
    from skillfold.compat.skillkit.core.scripts import ScriptExecutionResult

logger = logging.getLogger(__name__)

DEFAULT_PROJECT_DIR = Path("./skills")
DEFAULT_ANTHROPIC_DIR = Path("./.claude/skills")
PRIORITY_PROJECT = 100
PRIORITY_ANTHROPIC = 50
PRIORITY_PLUGIN = 10
PRIORITY_CUSTOM_BASE = 5

_DEFAULTS = {
    SourceType.PROJECT: (DEFAULT_PROJECT_DIR, PRIORITY_PROJECT),
    SourceType.ANTHROPIC: (DEFAULT_ANTHROPIC_DIR, PRIORITY_ANTHROPIC),
}
_Value = TypeVar("_Value")
# The cache is limited by its entries alone.
_UNLIMITED_BYTES = 2**40
_NOT_UTF8 = "SF802"


class SkillManager:
    """The skills of a project, of `.claude/skills`, of plugins and of other folders.

    Of skills with the same name, that of the source with the highest priority has it. A plugin's skill always has the
    name `plugin:skill` too. A manager may be used with and without `await`.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        skill_dir: Path | str | None = None,
        project_skill_dir: Path | str | None = None,
        anthropic_config_dir: Path | str | None = None,
        plugin_dirs: Sequence[Path | str] | None = None,
        additional_search_paths: Sequence[Path | str] | None = None,
        default_script_timeout: int = 30,
        max_cache_size: int = 100,
    ) -> None:
        """Name the sources. `ConfigurationError` if one of them does not exist.

        Args:
            skill_dir: The old name of `project_skill_dir`.
            project_skill_dir: The project's skills, of priority 100; `./skills` by default, none with `""`.
            anthropic_config_dir: Priority 50; `./.claude/skills` by default, none with `""`.
            plugin_dirs: Folders of plugins, of priority 10.
            additional_search_paths: More folders of skills, of priority 5, 4 and so on down to 1.
            default_script_timeout: Seconds that a script may run.
            max_cache_size: Maximum number of cached texts.

        """
        if skill_dir is not None and project_skill_dir is None:
            logger.warning("The parameter `skill_dir` is deprecated; use `project_skill_dir`")
            project_skill_dir = skill_dir
        if max_cache_size <= 0:
            message = f"max_size must be positive, got: {max_cache_size}"
            raise ValueError(message)
        self.sources: list[SkillSource] = [
            *_folder(SourceType.PROJECT, "project_skill_dir", project_skill_dir),
            *_folder(SourceType.ANTHROPIC, "anthropic_config_dir", anthropic_config_dir),
            *_plugins(plugin_dirs or ()),
            *_search_paths(additional_search_paths or ()),
        ]
        self.default_script_timeout = default_script_timeout
        self.skills_dir = Path(project_skill_dir) if project_skill_dir else Path.cwd() / ".claude" / "skills"
        self._max_cache_size = max_cache_size
        self._init_mode = InitMode.UNINITIALIZED
        self._folders: list[Path] = []
        self._engine = self._open()
        self._ids: dict[Path, str] = {}
        self._for_people: set[Path] = set()
        self._skills: dict[str, SkillMetadata] = {}
        self._plugin_skills: dict[str, dict[str, SkillMetadata]] = {}

    @property
    def init_mode(self) -> InitMode:
        """How the skills were discovered the last time."""
        return self._init_mode

    def discover(self) -> None:
        """Discover the skills of all sources, again if it was done before. Invalid skills are logged and left out."""
        self._init_mode = InitMode.SYNC
        self._discover()

    async def adiscover(self) -> None:
        """Do what `discover` does, on another thread."""
        self._init_mode = InitMode.ASYNC
        await asyncio.to_thread(self._discover)

    @overload
    def list_skills(self, include_qualified: Literal[False] = False) -> list[SkillMetadata]: ...  # noqa: FBT002
    @overload
    def list_skills(self, include_qualified: Literal[True]) -> list[str]: ...
    @overload
    def list_skills(self, include_qualified: bool) -> list[SkillMetadata] | list[str]: ...  # noqa: FBT001
    def list_skills(self, include_qualified: bool = False) -> list[SkillMetadata] | list[str]:  # noqa: FBT001, FBT002
        """Return the skills that have their name.

        With `include_qualified`, return names: theirs, and `plugin:skill` for each plugin's skill that lost its name.
        """
        if not include_qualified:
            return list(self._skills.values())
        lost = [
            f"{plugin}:{name}"
            for plugin, skills in self._plugin_skills.items()
            for name, skill in skills.items()
            if self._skills[name].skill_path != skill.skill_path
        ]
        return [*self._skills, *lost]

    def get_skill(self, name: str) -> SkillMetadata:
        """Return a skill by `name` or `plugin:name`, in this spelling. `SkillNotFoundError` if there is none."""
        try:
            parsed = QualifiedSkillName.parse(name)
        except ValueError as error:
            raise SkillNotFoundError(str(error)) from error
        if parsed.plugin is None:
            return _get(self._skills, parsed.skill, f"Skill '{name}' not found. Available skills")
        plugin = _get(self._plugin_skills, parsed.plugin, f"Plugin '{parsed.plugin}' not found. Available plugins")
        message = f"Skill '{parsed.skill}' not found in plugin '{parsed.plugin}'. Available skills in this plugin"
        return _get(plugin, parsed.skill, message)

    def load_skill(self, name: str) -> Skill:
        """Return a skill whose instructions are read on first use."""
        skill = self.get_skill(name)
        return Skill(skill, skill.skill_path.parent)

    def get_cache_stats(self) -> CacheStats:
        """Return the numbers of the cache of invoked texts."""
        size, hits, misses = cache_counts(self._engine)
        return cache_stats(size, self._max_cache_size, hits, misses)

    def clear_cache(self, skill_name: str | None = None) -> int:
        """Drop the cached texts of a skill, or all, and return how many there were."""
        before = self.get_cache_stats().size
        try:
            self._engine.clear_cache(None if skill_name is None else self._id(self.get_skill(skill_name)))
        except SkillNotFoundError:
            return 0
        return before - self.get_cache_stats().size

    async def aclear_cache(self, skill_name: str | None = None) -> int:
        """Do what `clear_cache` does."""
        return self.clear_cache(skill_name)

    def invoke_skill(self, name: str, arguments: str = "") -> str:
        """Return the text for a model: a line that names the folder, and the instructions with the arguments filled in.

        Texts are cached by skill and arguments. A text is read again if its file changed.
        """
        skill = self.get_skill(name)
        # Programs pass `None` too.
        arguments = arguments or ""
        check_arguments(arguments)
        try:
            loaded = self._engine.load(self._id(skill), arguments)
        except SkillfoldError as error:
            message = f"Skill file cannot be loaded: {skill.skill_path}: {error}"
            raise ContentLoadError(message) from error
        if any(_NOT_UTF8 in note for note in loaded.notes):
            message = f"Skill file contains invalid UTF-8: {skill.skill_path}"
            raise ContentLoadError(message)
        return loaded.text

    async def ainvoke_skill(self, name: str, arguments: str = "") -> str:
        """Do what `invoke_skill` does, on another thread."""
        self._check_initialized()
        return await asyncio.to_thread(self.invoke_skill, name, arguments)

    def execute_skill_script(
        self,
        skill_name: str,
        script_name: str,
        arguments: dict[str, Any],
        timeout: int | None = None,
    ) -> ScriptExecutionResult:
        """Run a skill's script in the sandbox, with the arguments as JSON on its standard input."""
        self._check_initialized()
        skill = self.load_skill(skill_name)
        for script in skill.scripts:
            if script.name == script_name:
                executor = ScriptExecutor(self.default_script_timeout if timeout is None else timeout)
                return executor.execute(script.path, arguments, skill.base_directory, skill.metadata)
        message = f"Script '{script_name}' not found in skill '{skill_name}'"
        raise ScriptNotFoundError(message, script_name, skill_name)

    def _check_initialized(self) -> None:
        if self._init_mode is InitMode.UNINITIALIZED:
            message = "Manager not initialized. Call discover() or adiscover() first"
            raise SkillsUseError(message)

    def _for_models(self) -> list[SkillMetadata]:
        return [skill for skill in self.list_skills() if skill.skill_path not in self._for_people]

    def _id(self, skill: SkillMetadata) -> str:
        return self._ids[skill.skill_path]

    def _discover(self) -> None:
        folders = [folder for source in self.sources for folder in skill_folders(source)]
        if folders == self._folders:
            self._engine.refresh()
        else:
            self._folders = folders
            self._engine = self._open()
        found = self._read(self._engine)
        names: dict[str, SkillMetadata] = {}
        plugins: dict[str, dict[str, SkillMetadata]] = {}
        for source in self.sources:
            for skill in _skills_of(source, found):
                if source.plugin_name is not None:
                    plugins.setdefault(source.plugin_name, {}).setdefault(skill.name, skill)
                kept = names.setdefault(skill.name, skill)
                if kept is not skill:
                    message = "Skill name conflict detected for '%s': %s has the name, %s has not"
                    logger.warning(message, skill.name, kept.skill_path, skill.skill_path)
        self._skills, self._plugin_skills = names, plugins

    def _open(self) -> Skills:
        return open_folders(self._folders, cache_entries=self._max_cache_size, cache_bytes=_UNLIMITED_BYTES)

    def _read(self, engine: Skills) -> list[SkillMetadata]:
        """Return all valid skills, the nearest to its root first."""
        listing = engine.list()
        for refused in listing.refused:
            path = Path(refused.file or refused.folder)
            logger.error("Failed to parse skill at %s: %s", path, refusal(refused.diagnostics, path))
        found: list[SkillMetadata] = []
        ids: dict[Path, str] = {}
        for_people: set[Path] = set()
        for record in listing.skills:
            path = Path(record.file or record.id)
            try:
                shown = engine.show(record.id)
                found.append(metadata(shown, path))
            except (SkillsUseError, SkillfoldError, ValueError) as error:
                logger.error("Failed to parse skill at %s: %s", path, error)  # noqa: TRY400
                continue
            ids[path] = record.id
            if shown.disable_model_invocation:
                for_people.add(path)
        self._ids, self._for_people = ids, for_people
        return sorted(found, key=lambda skill: order(skill.skill_path))


def _skills_of(source: SkillSource, found: Iterable[SkillMetadata]) -> list[SkillMetadata]:
    return [skill for folder in skill_folders(source) for skill in found if is_below(skill.skill_path, folder)]


def _get(skills: dict[str, _Value], name: str, message: str) -> _Value:
    if name not in skills:
        message = f"{message}: {', '.join(skills) or 'none'}"
        raise SkillNotFoundError(message)
    return skills[name]


def _existing(folder: Path | str, parameter: str) -> Path:
    path = Path(folder)
    if not path.is_dir():
        message = f"Explicitly configured directory does not exist: {parameter}='{path}'"
        raise ConfigurationError(message, parameter, str(path))
    return path


def _folder(source_type: SourceType, parameter: str, folder: Path | str | None) -> list[SkillSource]:
    default, priority = _DEFAULTS[source_type]
    if folder == "" or (folder is None and not default.is_dir()):
        return []
    path = default if folder is None else _existing(folder, parameter)
    return [SkillSource(source_type, path.resolve(), priority)]


def _plugins(folders: Iterable[Path | str]) -> list[SkillSource]:
    sources: list[SkillSource] = []
    counts: dict[str, int] = {}
    for folder in folders:
        path = _existing(folder, "plugin_dirs")
        manifest = discover_plugin_manifest(path.resolve())
        name = path.name if manifest is None else manifest.name
        if manifest is None:
            logger.warning("The plugin %s has no valid manifest; its name is that of its folder, '%s'", path, name)
        counts[name] = counts.get(name, 0) + 1
        if counts[name] > 1:
            name = f"{name}-{counts[name]}"
            logger.warning("Another plugin has the name of %s, which is now '%s'", path, name)
        sources.append(SkillSource(SourceType.PLUGIN, path.resolve(), PRIORITY_PLUGIN, name, manifest))
    return sources


def _search_paths(folders: Iterable[Path | str]) -> list[SkillSource]:
    return [
        SkillSource(
            SourceType.CUSTOM,
            _existing(folder, "additional_search_paths").resolve(),
            max(PRIORITY_CUSTOM_BASE - index, 1),
        )
        for index, folder in enumerate(folders)
    ]
