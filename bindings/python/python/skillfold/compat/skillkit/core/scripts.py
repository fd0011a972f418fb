"""The scripts of a skill. They run in the engine's sandbox, without network and with nothing of the host."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillfold import _skillfold, views
from skillfold.compat.skillkit.core.exceptions import (
    ArgumentSerializationError,
    ArgumentSizeError,
    InterpreterNotFoundError,
    PathSecurityError,
    ScriptError,
    ScriptPermissionError,
    ToolIDValidationError,
)
from skillfold.errors import SkillfoldError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillfold.compat.skillkit.core.models import SkillMetadata

logger = logging.getLogger(__name__)

_MAX_TOOL_ID = 60
_TOOL_ID = re.compile(r"[a-z0-9-]+__[a-z0-9_]+")
_TIMEOUT_EXIT_CODE = 124
_MAX_ARGUMENT_BYTES = 10_000_000
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
_MAX_HEAD_BYTES = 65_536
_LINE_END = re.compile(r"\r\n|\r|\n")


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
    """What the script does, from its first comment; may be empty."""

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

    def extract(self, script_path: Path, max_lines: int = 50) -> str:
        """Return the text of the first comment within some lines; empty if there is none or the file cannot be read."""
        comments = _COMMENTS.get(_SCRIPT_TYPES.get(script_path.suffix.lower(), ""))
        if comments is None:
            return ""
        try:
            with script_path.open("rb") as file:
                head = file.read(_MAX_HEAD_BYTES)
        except OSError as error:
            logger.warning("The script %s has no description: %s", script_path, error)
            return ""
        lines = [line.strip() for line in _LINE_END.split(head.decode("utf-8", "replace"))[:max_lines]]
        if lines and lines[0].startswith("#!"):
            del lines[0]
        return " ".join(filter(None, comments(lines)))[: self.max_chars]


def _docstring(lines: list[str]) -> Iterable[str]:
    """Return the lines of a docstring at the head of a module, or else of the first comment."""
    while lines and not lines[0]:
        del lines[0]
    quote = lines[0][:3] if lines else ""
    if quote not in {'"""', "'''"}:
        return _hash_comment(lines)
    text, _, _ = "\n".join(lines)[len(quote) :].partition(quote)
    return (line.strip() for line in text.split("\n"))


def _hash_comment(lines: list[str]) -> Iterator[str]:
    """Return the lines of the first comment. A blank line does not end it."""
    is_comment = False
    for line in lines:
        if line.startswith("#"):
            is_comment = True
            yield line.lstrip("#").strip()
        elif is_comment and line:
            return


def _slash_comments(lines: list[str]) -> Iterator[str]:
    """Return the lines of the comments before the first code."""
    in_block = False
    for line in lines:
        text = line
        if not in_block:
            if line.startswith("//"):
                yield line.lstrip("/").strip()
                continue
            if not line:
                continue
            if not line.startswith("/*"):
                return
            text = line[2:]
        comment, end, _ = text.partition("*/")
        yield comment.strip(" *")
        in_block = not end


_COMMENTS = {
    "python": _docstring,
    "shell": _hash_comment,
    "ruby": _hash_comment,
    "perl": _hash_comment,
    "javascript": _slash_comments,
}


class ScriptDetector:
    """Lists the scripts of a skill."""

    def __init__(self, max_depth: int = 5, max_lines_for_description: int = 50) -> None:
        """Limit the folders, `scripts/` included, and the lines that are read of each script."""
        self.max_depth = max_depth
        self.max_lines_for_description = max_lines_for_description
        self.extractor = ScriptDescriptionExtractor()

    def detect_scripts(self, skill_base_dir: Path) -> list[ScriptMetadata]:
        """Return the scripts below `scripts/`, then those beside the `SKILL.md`. Links are not followed."""
        scripts = skill_base_dir / "scripts"
        is_folder = scripts.is_dir() and not scripts.is_symlink()
        found = [*(self._below(scripts, 1) if is_folder else ()), *self._files(skill_base_dir)]
        return [
            ScriptMetadata(
                path.stem,
                path.relative_to(skill_base_dir),
                _SCRIPT_TYPES[path.suffix.lower()],
                self.extractor.extract(path, self.max_lines_for_description),
            )
            for path in found
        ]

    def _below(self, folder: Path, depth: int) -> list[Path]:
        if depth > self.max_depth:
            return []
        found = self._files(folder)
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED_FOLDERS:
                found += self._below(Path(entry.path), depth + 1)
        return sorted(found)

    @staticmethod
    def _files(folder: Path) -> list[Path]:
        files = [Path(entry.path) for entry in _entries(folder) if entry.is_file(follow_symlinks=False)]
        return sorted(file for file in files if file.suffix.lower() in _SCRIPT_TYPES)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what is in a folder and not hidden; nothing if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        logger.warning("The scripts in %s are not listed: %s", folder, error)
        return []


class ScriptExecutor:
    """Runs scripts in the sandbox, of skills that the user has allowed."""

    def __init__(self, timeout: int = 30, max_output_size: int = 10_000_000, use_cache: bool = False) -> None:  # noqa: FBT001, FBT002
        """Keep the limits."""
        self.timeout = timeout
        self.max_output_size = max_output_size
        self.use_cache = use_cache

    def execute(
        self,
        script_path: Path,
        arguments: dict[str, Any],
        skill_base_dir: Path,
        skill_metadata: SkillMetadata,  # noqa: ARG002
    ) -> ScriptExecutionResult:
        """Run a script with the arguments as JSON on its standard input, and return what came of it."""
        base = Path(skill_base_dir).resolve()
        path = (base / script_path).resolve()
        if not path.is_relative_to(base):
            message = f"Script '{script_path}' leads out of the skill"
            raise PathSecurityError(message, str(script_path), str(base))
        if not path.is_file():
            message = f"Script not found: {path}"
            raise FileNotFoundError(message)
        mode = path.stat().st_mode
        if mode & (stat.S_ISUID | stat.S_ISGID):
            message = f"Script '{path}' is setuid or setgid"
            raise ScriptPermissionError(message, str(path), oct(stat.S_IMODE(mode)))
        return self._run(base, path, _serialized(arguments))

    def _run(self, base: Path, path: Path, given: bytes) -> ScriptExecutionResult:
        script = path.relative_to(base).as_posix()
        try:
            answer = _skillfold.run_script(str(base), script, given, self.timeout, self.max_output_size)
        except SkillfoldError as error:
            if error.code in {"interpreter_missing", "not_a_script"}:
                raise InterpreterNotFoundError(str(error), script_path=str(path)) from error
            raise ScriptError(str(error)) from error
        ran = views.Run(json.loads(answer))
        is_late, is_cut = ran.result == "timeout", ran.result == "output_too_large"
        # A limit ends a script by a signal that is not its own.
        killed = -(ran.signal or signal.SIGKILL)
        ended = killed if ran.exit_code is None else ran.exit_code
        return ScriptExecutionResult(
            stdout=ran.output + "\n[... OUTPUT TRUNCATED: exceeded the limit ...]" * is_cut,
            stderr=(ran.errors or "") + "\nTimeout" * is_late,
            exit_code=_TIMEOUT_EXIT_CODE if is_late else int(ended),
            execution_time_ms=(ran.seconds or 0.0) * 1_000,
            script_path=path,
            signal=None if ran.signal is None else signal.Signals(ran.signal).name,
            signal_number=ran.signal,
            stdout_truncated=is_cut,
        )


def _serialized(arguments: dict[str, Any]) -> bytes:
    try:
        given = json.dumps(arguments).encode()
    except (TypeError, ValueError) as error:
        message = f"The arguments cannot be written as JSON: {error}"
        raise ArgumentSerializationError(message) from error
    if len(given) > _MAX_ARGUMENT_BYTES:
        message = f"The arguments have {len(given)} bytes, the limit is {_MAX_ARGUMENT_BYTES}"
        raise ArgumentSizeError(message, len(given), _MAX_ARGUMENT_BYTES)
    return given
