"""The scripts of a skill. They are listed; running them waits for the engine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NoReturn

from skillfold.compat.skillkit._engine import script_paths
from skillfold.compat.skillkit.core.exceptions import ScriptError, ToolIDValidationError

if TYPE_CHECKING:
    from skillfold.compat.skillkit.core.models import SkillMetadata

_MAX_TOOL_ID = 60
_TOOL_ID = re.compile(r"[a-z0-9-]+__[a-z0-9_]+")
_TIMEOUT_EXIT_CODE = 124
_SCRIPT_TYPES = {
    ".py": "python",
    ".sh": "shell",
    ".js": "javascript",
    ".rb": "ruby",
    ".pl": "perl",
    ".bat": "batch",
    ".cmd": "batch",
    ".ps1": "powershell",
}
_SKIPPED_FOLDERS = {"__pycache__", "node_modules", "venv"}


def validate_tool_id(tool_id: str, skill_name: str, script_name: str) -> None:
    """Raise `ToolIDValidationError` if a name of a tool is too long or has other than a-z, 0-9, `-` and `_`."""
    if len(tool_id) > _MAX_TOOL_ID:
        message = f"Tool name '{tool_id}' has {len(tool_id)} characters, the limit is {_MAX_TOOL_ID}"
        raise ToolIDValidationError(message, tool_id, skill_name, script_name, "length_exceeded")
    if not _TOOL_ID.fullmatch(tool_id):
        message = f"Tool name '{tool_id}' is not a skill in a-z, 0-9 and -, two underscores, a script in a-z, 0-9 and _"
        raise ToolIDValidationError(message, tool_id, skill_name, script_name, "invalid_format")


@dataclass(frozen=True, slots=True)
class ScriptMetadata:
    """A script of a skill."""

    name: str
    """The file's name without its extension."""
    path: Path
    """The path inside the skill."""
    script_type: str
    """The language, such as `python` or `shell`."""
    description: str
    """What the script does; empty until scripts can be run."""

    def get_fully_qualified_name(self, skill_name: str) -> str:
        """Return the name of the script's tool, such as `pdf-forms__fill`."""
        tool_id = f"{skill_name.lower().replace('_', '-')}__{self.name.lower()}"
        validate_tool_id(tool_id, skill_name, self.name)
        return tool_id


@dataclass(frozen=True, slots=True)
class ScriptExecutionResult:
    """What came of a script."""

    stdout: str
    stderr: str
    exit_code: int
    execution_time_ms: float
    script_path: Path
    signal: str | None = None
    signal_number: int | None = None
    stdout_truncated: bool = False
    stderr_truncated: bool = False

    @property
    def success(self) -> bool:
        """Whether the script ended with exit code 0."""
        return self.exit_code == 0

    @property
    def timeout(self) -> bool:
        """Whether the script ran out of time."""
        return self.exit_code == _TIMEOUT_EXIT_CODE and "Timeout" in self.stderr

    @property
    def signaled(self) -> bool:
        """Whether a signal ended the script."""
        return self.signal is not None


class ScriptDescriptionExtractor:
    """Reads what a script does from its first comment."""

    def __init__(self, max_chars: int = 500) -> None:
        """Limit the description to some characters."""
        self.max_chars = max_chars

    def extract(self, script_path: Path, max_lines: int = 50) -> str:  # noqa: ARG002
        """Raise `ScriptError`: not available yet."""
        not_available(str(script_path))


class ScriptDetector:
    """Lists the scripts of a skill."""

    def __init__(self, max_depth: int = 5, max_lines_for_description: int = 50) -> None:
        """Limit the folders below `scripts/`."""
        self.max_depth = max_depth
        self.max_lines_for_description = max_lines_for_description

    def detect_scripts(self, skill_base_dir: Path) -> list[ScriptMetadata]:
        """Return the scripts below `scripts/`, then those beside the `SKILL.md`. A folder without a skill has none."""
        paths = [path for path in map(PurePosixPath, script_paths(skill_base_dir)) if self._is_listed(path)]
        paths.sort(key=lambda path: (len(path.parts) == 1, path))
        return [ScriptMetadata(path.stem, Path(path), _SCRIPT_TYPES[path.suffix.lower()], "") for path in paths]

    def _is_listed(self, path: PurePosixPath) -> bool:
        *folders, name = path.parts
        is_hidden = any(part.startswith(".") for part in path.parts)
        return (
            path.suffix.lower() in _SCRIPT_TYPES
            and folders[:1] in ([], ["scripts"])
            and len(folders) <= self.max_depth
            and not (is_hidden or _SKIPPED_FOLDERS.intersection(folders) or not name)
        )


class ScriptExecutor:
    """Runs scripts, once the engine can."""

    def __init__(self, timeout: int = 30, max_output_size: int = 10_000_000, use_cache: bool = False) -> None:  # noqa: FBT001, FBT002
        """Keep the limits."""
        self.timeout = timeout
        self.max_output_size = max_output_size
        self.use_cache = use_cache

    def execute(
        self,
        script_path: Path,
        arguments: dict[str, Any],  # noqa: ARG002
        skill_base_dir: Path,  # noqa: ARG002
        skill_metadata: SkillMetadata,  # noqa: ARG002
    ) -> ScriptExecutionResult:
        """Raise `ScriptError`: not available yet."""
        not_available(str(script_path))


def not_available(script: str) -> NoReturn:
    """Say that scripts cannot be run."""
    message = f"Running scripts is not available yet: {script}"
    raise ScriptError(message)
