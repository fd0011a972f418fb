"""The API of skillkit 0.4 over the engine. Programs that were written for skillkit change their imports alone.

>>> from skillfold.compat.skillkit import SkillManager
>>> manager = SkillManager(project_skill_dir="", anthropic_config_dir="")
>>> manager.discover()
>>> manager.list_skills()
[]
"""

import logging

from skillfold.compat.skillkit.core.exceptions import (
    ArgumentProcessingError,
    ArgumentSerializationError,
    ArgumentSizeError,
    ContentLoadError,
    InterpreterNotFoundError,
    InvalidFrontmatterError,
    InvalidYAMLError,
    MissingRequiredFieldError,
    PathSecurityError,
    ScriptNotFoundError,
    ScriptPermissionError,
    SizeLimitExceededError,
    SkillInvocationError,
    SkillNotFoundError,
    SkillParsingError,
    SkillSecurityError,
    SkillsUseError,
    SuspiciousInputError,
    ToolIDValidationError,
)
from skillfold.compat.skillkit.core.manager import SkillManager
from skillfold.compat.skillkit.core.models import Skill, SkillMetadata
from skillfold.compat.skillkit.core.path_resolver import FilePathResolver
from skillfold.compat.skillkit.core.scripts import ScriptExecutionResult, ScriptMetadata

logging.getLogger(__name__).addHandler(logging.NullHandler())

__version__ = "0.4.0"
"""The version of skillkit whose API this is."""

__all__ = [
    "ArgumentProcessingError",
    "ArgumentSerializationError",
    "ArgumentSizeError",
    "ContentLoadError",
    "FilePathResolver",
    "InterpreterNotFoundError",
    "InvalidFrontmatterError",
    "InvalidYAMLError",
    "MissingRequiredFieldError",
    "PathSecurityError",
    "ScriptExecutionResult",
    "ScriptMetadata",
    "ScriptNotFoundError",
    "ScriptPermissionError",
    "SizeLimitExceededError",
    "Skill",
    "SkillInvocationError",
    "SkillManager",
    "SkillMetadata",
    "SkillNotFoundError",
    "SkillParsingError",
    "SkillSecurityError",
    "SkillsUseError",
    "SuspiciousInputError",
    "ToolIDValidationError",
]
