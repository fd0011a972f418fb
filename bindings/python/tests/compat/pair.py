"""What the tests of this folder share: the two libraries, and skills for them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

MODULES = (
    "core.discovery",
    "core.exceptions",
    "core.manager",
    "core.models",
    "core.parser",
    "core.path_resolver",
    "core.processors",
    "core.scripts",
    "integrations.langchain",
)
Write = Callable[..., Path]
NO_DEFAULTS = {"project_skill_dir": "", "anthropic_config_dir": ""}


def library(package: str) -> Any:
    """Return everything that a library has, by its name, whichever module it is in."""
    found: dict[str, Any] = {"package": package}
    for module in MODULES:
        found.update(vars(importlib.import_module(f"{package}.{module}")))
    return SimpleNamespace(**found)


def manager(library: Any, folder: Path, **options: Any) -> Any:
    found = library.SkillManager(project_skill_dir=folder, anthropic_config_dir="", **options)
    found.discover()
    return found


def failure(library: Any, action: Callable[[Any], object]) -> tuple[str, dict[str, object]]:
    """Return the class and the attributes of the exception that an action raises."""
    with pytest.raises(library.SkillsUseError) as caught:
        action(library)
    return type(caught.value).__name__, vars(caught.value)


def write_skill(folder: Path, name: str, body: str = "Do it.\n", *, fields: str = "", description: str = "") -> Path:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name}\ndescription: {description or name + ' does it'}\n{fields}---\n{body}"
    file.write_text(text, encoding="utf-8")
    return file


def write_plugin(folder: Path, plugin: str, **changes: object) -> Path:
    manifest = {"name": plugin, "version": "1.0.0", "description": "A plugin", "author": {"name": "Me"}, **changes}
    file = folder / ".claude-plugin" / "plugin.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({key: value for key, value in manifest.items() if value is not None}))
    return file


def without_faults(text: str) -> str:
    """Return a text of the original without the two lines that it adds, and without the frontmatter."""
    header, _supporting, rest = text.split("\n\n", 2)
    assert rest.startswith("---\n")
    return f"{header}\n\n{rest.split('---' + chr(10), 2)[2]}"
