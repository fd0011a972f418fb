"""Everything that needs no agent framework."""

from skillfold.compat.skillkit.core.discovery import SkillDiscovery
from skillfold.compat.skillkit.core.exceptions import (
    ArgumentProcessingError,
    ContentLoadError,
    InvalidFrontmatterError,
    InvalidYAMLError,
    MissingRequiredFieldError,
    SizeLimitExceededError,
    SkillInvocationError,
    SkillNotFoundError,
    SkillParsingError,
    SkillSecurityError,
    SkillsUseError,
    SuspiciousInputError,
)
from skillfold.compat.skillkit.core.manager import SkillManager
from skillfold.compat.skillkit.core.models import CacheStats, ContentCache, Skill, SkillMetadata
from skillfold.compat.skillkit.core.parser import SkillParser
from skillfold.compat.skillkit.core.processors import (
    ArgumentSubstitutionProcessor,
    BaseDirectoryProcessor,
    CompositeProcessor,
    ContentProcessor,
    normalize_arguments,
    process_skill_content,
)

__all__ = [
    "ArgumentProcessingError",
    "ArgumentSubstitutionProcessor",
    "BaseDirectoryProcessor",
    "CacheStats",
    "CompositeProcessor",
    "ContentCache",
    "ContentLoadError",
    "ContentProcessor",
    "InvalidFrontmatterError",
    "InvalidYAMLError",
    "MissingRequiredFieldError",
    "SizeLimitExceededError",
    "Skill",
    "SkillDiscovery",
    "SkillInvocationError",
    "SkillManager",
    "SkillMetadata",
    "SkillNotFoundError",
    "SkillParser",
    "SkillParsingError",
    "SkillSecurityError",
    "SkillsUseError",
    "SuspiciousInputError",
    "normalize_arguments",
    "process_skill_content",
]
