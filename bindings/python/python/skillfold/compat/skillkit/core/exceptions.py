"""The exceptions. All are below `SkillsUseError`."""

from __future__ import annotations


class SkillsUseError(Exception):
    """The base of all exceptions."""


class SkillParsingError(SkillsUseError):
    """A `SKILL.md` is not a valid skill."""


class InvalidYAMLError(SkillParsingError):
    """The frontmatter is not valid YAML."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        """Create the error for a position in the frontmatter."""
        super().__init__(message)
        self.line = line
        self.column = column


class MissingRequiredFieldError(SkillParsingError):
    """The name or the description is missing or empty."""

    def __init__(self, message: str, field_name: str | None = None) -> None:
        """Create the error for a field."""
        super().__init__(message)
        self.field_name = field_name


class InvalidFrontmatterError(SkillParsingError):
    """The file has no frontmatter, or it is not a mapping of fields."""


class SkillNotFoundError(SkillsUseError):
    """No skill has this name."""


class SkillInvocationError(SkillsUseError):
    """A skill could not be invoked."""


class ArgumentProcessingError(SkillInvocationError):
    """The arguments could not be filled in."""


class ContentLoadError(SkillInvocationError):
    """The instructions could not be read."""


class SkillSecurityError(SkillsUseError):
    """A rule forbids it."""


class SuspiciousInputError(SkillSecurityError):
    """The input looks like an attack. Nothing raises it."""


class SizeLimitExceededError(SkillSecurityError):
    """The arguments are longer than 1 MB."""


class PathSecurityError(SkillSecurityError):
    """A path leads out of the skill's folder."""

    def __init__(self, message: str, requested_path: str | None = None, base_directory: str | None = None) -> None:
        """Create the error for a path and the folder that it leaves."""
        super().__init__(message)
        self.requested_path = requested_path
        self.base_directory = base_directory


class ConfigurationError(SkillsUseError):
    """A folder that the program named does not exist."""

    def __init__(self, message: str, parameter_name: str | None = None, invalid_path: str | None = None) -> None:
        """Create the error for a parameter of `SkillManager`."""
        super().__init__(message)
        self.parameter_name = parameter_name
        self.invalid_path = invalid_path


class AsyncStateError(SkillsUseError):
    """Nothing raises it: a manager may be used with and without `await`."""


class PluginError(SkillsUseError):
    """A plugin cannot be used."""


class ManifestNotFoundError(PluginError):
    """The plugin has no `.claude-plugin/plugin.json`."""


class ManifestParseError(PluginError):
    """The manifest of a plugin is not JSON, or is too large."""

    def __init__(self, message: str, manifest_path: str | None = None, parse_error: Exception | None = None) -> None:
        """Create the error for a file."""
        super().__init__(message)
        self.manifest_path = manifest_path
        self.parse_error = parse_error


class ManifestValidationError(PluginError):
    """A field of the manifest is missing or invalid."""

    def __init__(self, message: str, field_name: str | None = None, invalid_value: str | None = None) -> None:
        """Create the error for a field."""
        super().__init__(message)
        self.field_name = field_name
        self.invalid_value = invalid_value


class ScriptError(SkillsUseError):
    """A script could not be run."""


class InterpreterNotFoundError(ScriptError):
    """The interpreter of a script is not installed."""

    def __init__(self, message: str, interpreter: str | None = None, script_path: str | None = None) -> None:
        """Create the error for an interpreter."""
        super().__init__(message)
        self.interpreter = interpreter
        self.script_path = script_path


class ScriptNotFoundError(ScriptError):
    """The skill has no such script."""

    def __init__(self, message: str, script_name: str | None = None, skill_name: str | None = None) -> None:
        """Create the error for a script."""
        super().__init__(message)
        self.script_name = script_name
        self.skill_name = skill_name


class ScriptPermissionError(ScriptError):
    """The script would run with the rights of its owner."""

    def __init__(self, message: str, script_path: str | None = None, permission_mode: str | None = None) -> None:
        """Create the error for a script."""
        super().__init__(message)
        self.script_path = script_path
        self.permission_mode = permission_mode


class ArgumentSerializationError(ScriptError):
    """The arguments of a script cannot be written as JSON."""

    def __init__(
        self,
        message: str,
        argument_data: str | None = None,
        serialization_error: Exception | None = None,
    ) -> None:
        """Create the error for the arguments."""
        super().__init__(message)
        self.argument_data = argument_data
        self.serialization_error = serialization_error


class ArgumentSizeError(ScriptError):
    """The arguments of a script are too long."""

    def __init__(self, message: str, size_bytes: int | None = None, max_bytes: int | None = None) -> None:
        """Create the error for a size."""
        super().__init__(message)
        self.size_bytes = size_bytes
        self.max_bytes = max_bytes


class ToolIDValidationError(ScriptError):
    """The name of a script's tool is too long, or has characters that models' providers refuse."""

    def __init__(
        self,
        message: str,
        tool_id: str | None = None,
        skill_name: str | None = None,
        script_name: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Create the error for a tool."""
        super().__init__(message)
        self.tool_id = tool_id
        self.skill_name = skill_name
        self.script_name = script_name
        self.reason = reason
