"""Reads `SKILL.md` files and manifests of plugins."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from skillfold.compat.skillkit._engine import open_file
from skillfold.compat.skillkit.core.exceptions import (
    ContentLoadError,
    InvalidFrontmatterError,
    InvalidYAMLError,
    ManifestNotFoundError,
    ManifestParseError,
    ManifestValidationError,
    MissingRequiredFieldError,
    SkillsUseError,
)
from skillfold.compat.skillkit.core.models import PluginManifest, SkillMetadata, read_skill_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from skillfold import views

MAX_MANIFEST_SIZE = 1_000_000
"""Bytes of a plugin's manifest."""

# Findings of the engine for which the file is no skill here, the one that is raised first. The engine itself repairs
# some of them.
_UNREADABLE = ("SF004", "SF009", "SF503", "SF504", "SF513")
_NO_FRONTMATTER = ("SF001", "SF002", "SF003", "SF005", "SF109", "SF111")
_INVALID_YAML = ("SF010", "SF013", "SF016", "SF019")
_MISSING = {"SF006": "name", "SF008": "name", "SF007": "description"}
_FATAL = (*_UNREADABLE, *_NO_FRONTMATTER, *_INVALID_YAML, *_MISSING)
_REQUIRED = ("name", "version", "description", "author")


class SkillParser:
    """Reads `SKILL.md` files."""

    def parse_skill_file(self, skill_path: Path) -> SkillMetadata:
        """Return what a `SKILL.md` says about its skill.

        `ContentLoadError` if it cannot be read, an error below `SkillParsingError` if it is not a valid skill.
        """
        skills = open_file(read_skill_file(skill_path))
        listing = skills.list()
        for refused in listing.refused:
            raise refusal(refused.diagnostics, skill_path)
        return metadata(skills.show(listing.skills[0].id), skill_path)


def metadata(skill: views.Skill, skill_path: Path) -> SkillMetadata:
    """Return the metadata of a skill of the engine, or raise what is wrong with its file."""
    if any(diagnostic.code in _FATAL for diagnostic in skill.diagnostics):
        raise refusal(skill.diagnostics, skill_path)
    return SkillMetadata(skill.name, skill.description, skill_path, tuple(skill.allowed_tools), skill.version)


def refusal(diagnostics: Iterable[views.Diagnostic], skill_path: Path) -> SkillsUseError:
    """Return the error for a file that is not a valid skill."""
    ranked = sorted(diagnostics, key=lambda found: _FATAL.index(found.code) if found.code in _FATAL else len(_FATAL))
    found = ranked[0]
    message = f"{found.message} in {skill_path}"
    if found.code in _UNREADABLE:
        return ContentLoadError(message)
    if found.code in _MISSING:
        return MissingRequiredFieldError(message, _MISSING[found.code])
    if found.code not in _INVALID_YAML or found.span is None:
        return InvalidFrontmatterError(message)
    # Lines count from the first one after the fence.
    line, column = found.span.start.line - 1, found.span.start.column
    return InvalidYAMLError(f"{message}, line {line}, column {column}", line, column)


def parse_plugin_manifest(manifest_path: Path) -> PluginManifest:
    """Read a plugin's manifest. Errors are below `PluginError`."""
    if not manifest_path.exists():
        message = f"Plugin manifest not found: {manifest_path}"
        raise ManifestNotFoundError(message)
    data = _read_json(manifest_path)
    missing = [name for name in _REQUIRED if name not in data]
    if missing:
        message = f"Manifest fields are missing: {', '.join(missing)}"
        raise ManifestValidationError(message, missing[0])
    author, skills = data["author"], data.get("skills", ["skills/"])
    for name, value, types in (("skills", skills, (str, list)), ("author", author, (str, dict))):
        if not isinstance(value, types):
            kind = type(value).__name__
            message = f"Manifest field '{name}' must not be of the type {kind}"
            raise ManifestValidationError(message, name, kind)
    try:
        return PluginManifest(
            name=data["name"],
            version=data["version"],
            description=data["description"],
            author={"name": author} if isinstance(author, str) else author,
            skills=[skills] if isinstance(skills, str) else skills,
            manifest_path=manifest_path,
            manifest_version=data.get("manifest_version", "0.1"),
            display_name=data.get("display_name"),
            homepage=data.get("homepage"),
            repository=data.get("repository"),
        )
    except (AttributeError, TypeError) as error:
        message = f"Manifest has a field of another type: {manifest_path}: {error}"
        raise ManifestParseError(message, str(manifest_path), error) from error


def _read_json(manifest_path: Path) -> dict[str, Any]:
    size = manifest_path.stat().st_size
    if size > MAX_MANIFEST_SIZE:
        message = f"Manifest has {size:,} bytes, the limit is {MAX_MANIFEST_SIZE:,}"
        raise ManifestParseError(message, str(manifest_path))
    try:
        data: object = json.loads(manifest_path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        message = f"Manifest cannot be read: {manifest_path}: {error}"
        raise ManifestParseError(message, str(manifest_path), error) from error
    if not isinstance(data, dict):
        kind = type(data).__name__
        message = f"Manifest must be a JSON object, got {kind}"
        raise ManifestValidationError(message, "root", kind)
    return cast("dict[str, Any]", data)


__all__ = ["MAX_MANIFEST_SIZE", "SkillParser", "parse_plugin_manifest"]
