"""The names, signatures and exceptions are those of skillkit 0.4.0."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

PACKAGE = "skillfold.compat.skillkit"
# What exists in skillkit beside the API: constants of its parser, names of types, and what only running scripts needs.
LEFT_OUT = {
    "core.models": {"PYTHON_310_PLUS"},
    "core.scripts": {"INTERPRETER_MAP", "ScriptArguments", "ScriptEnvironment", "ScriptList"},
}
MODULES = [
    "",
    "core",
    "core.discovery",
    "core.exceptions",
    "core.manager",
    "core.models",
    "core.parser",
    "core.path_resolver",
    "core.processors",
    "core.scripts",
    "integrations.langchain",
]


def module(package: str, name: str) -> Any:
    return importlib.import_module(f"{package}.{name}".rstrip("."))


def public(name: str) -> dict[str, Any]:
    """Return the public names that a module of skillkit defines, or exports."""
    original = module("skillkit", name)
    exported = getattr(original, "__all__", None)
    if exported:
        return {key: getattr(original, key) for key in exported}
    left_out = LEFT_OUT.get(name, set()) | {"logger", "TYPE_CHECKING"}
    return {
        key: value
        for key, value in vars(original).items()
        if not key.startswith("_")
        and key not in left_out
        and not inspect.ismodule(value)
        and getattr(value, "__module__", original.__name__) == original.__name__
    }


def parameters(value: Any) -> list[tuple[str, object, str]]:
    try:
        found = inspect.signature(value).parameters.values()
    except ValueError:
        # An exception, or a typed dict, without a constructor of its own.
        return []
    return [(parameter.name, parameter.kind, repr(parameter.default)) for parameter in found]


ALL = [(name, key) for name in MODULES for key in public(name)]


@pytest.mark.parametrize(("name", "key"), ALL, ids=[f"{name}.{key}".lstrip(".") for name, key in ALL])
def test_name_has_the_signature_of_the_original(name: str, key: str) -> None:
    original, our = public(name)[key], getattr(module(PACKAGE, name), key)
    if not callable(original):
        assert our == original
        return
    for member, value in vars(original).items() if isinstance(original, type) else ():
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, staticmethod)):
            theirs, ours = getattr(original, member), getattr(our, member)
            assert parameters(ours) == parameters(theirs), member
            assert inspect.iscoroutinefunction(ours) == inspect.iscoroutinefunction(theirs), member
    assert parameters(our) == parameters(original)


def test_properties_and_fields_match_the_original() -> None:
    for name, key in ALL:
        original, our = public(name)[key], getattr(module(PACKAGE, name), key)
        if not isinstance(original, type):
            continue
        for member, value in vars(original).items():
            if isinstance(value, property) and not member.startswith("_"):
                assert isinstance(getattr(our, member), property), (key, member)
        fields = [field for field in getattr(original, "__dataclass_fields__", {}) if not field.startswith("_")]
        assert list(getattr(our, "__dataclass_fields__", {})) == fields, key
        if fields:
            assert our.__dataclass_params__.frozen
    assert hasattr(module(PACKAGE, "core.models").Skill, "content")


def test_exceptions_have_the_hierarchy_and_attributes_of_the_original() -> None:
    for key, original in public("core.exceptions").items():
        our = getattr(module(PACKAGE, "core.exceptions"), key)
        assert [base.__name__ for base in our.__mro__] == [base.__name__ for base in original.__mro__]
        values = [f"value {index}" for index in range(len(parameters(original)) - 1)]
        assert vars(our("message", *values)) == vars(original("message", *values))
        assert str(our("message", *values)) == "message"


def test_enumerations_have_the_members_of_the_original() -> None:
    for key in ("SourceType", "InitMode"):
        members = [
            [(member.name, member.value) for member in getattr(module(package, "core.models"), key)]
            for package in ("skillkit", PACKAGE)
        ]
        assert members[0] == members[1]
        assert getattr(module(PACKAGE, "core.models"), key).__mro__[1] is str


def test_metadata_of_a_missing_file_is_refused(either: Any) -> None:
    with pytest.raises(ValueError, match="does not exist"):
        either.SkillMetadata("pdf", "PDF", Path("missing/SKILL.md"))


def test_version_is_the_api_version() -> None:
    assert module(PACKAGE, "").__version__ == "0.4.0"
    assert module("skillkit", "").__version__ == "0.3.0"
