r"""The errors of the engine.

Each has a `code`, stable across releases, and a `hint` that says what to do:

>>> import skillfold
>>> skills = skillfold.Skills.discover(bundled={"pdf/SKILL.md": "---\nname: pdf\ndescription: PDF\n---\n"})
>>> try:
...     skills.load("pfd")
... except skillfold.NotFoundError as error:
...     print(error.code, error.nearest)
not_found ['pdf']
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from skillfold import views

if TYPE_CHECKING:
    from skillfold.views import Failure

__all__ = [
    "ExistsError",
    "InvalidError",
    "NotFoundError",
    "RefusedError",
    "RunArgumentsError",
    "RunCancelledError",
    "RunError",
    "RunTimeoutError",
    "SandboxUnavailableError",
    "SkillfoldError",
    "ToolsetError",
    "UnreadableError",
    "UnwritableError",
]


class SkillsWarning(UserWarning):
    """Skills are withheld or broken, such as those of a project that is not trusted."""


class SkillfoldError(Exception):
    """The base of all errors of the engine."""

    codes: ClassVar[tuple[str, ...]] = ("other", "system")

    def __init__(self, failure: Failure | str) -> None:
        """Create the error from the engine's view of it, or from a message."""
        if isinstance(failure, str):
            failure = views.Failure({"error": self.codes[0], "message": failure, "hint": ""})
        super().__init__(failure.message)
        self.failure = failure
        """Everything that the engine says about the error."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.failure,)

    @property
    def code(self) -> str:
        """What kind of error it is, such as `not_found`."""
        return self.failure.error

    @property
    def hint(self) -> str:
        """What to do about it."""
        return self.failure.hint

    @property
    def nearest(self) -> list[str]:
        """Existing ids that are similar to an unknown one, the nearest first."""
        return self.failure.nearest

    def __str__(self) -> str:
        nearest = ", ".join(f"`{skill_id}`" for skill_id in self.nearest)
        parts = [self.failure.message, f"Did you mean {nearest}?" if nearest else self.failure.hint]
        return ". ".join(part for part in parts if part)


class NotFoundError(SkillfoldError, LookupError):
    """A skill, file or folder does not exist."""

    codes = ("not_found",)


class RefusedError(SkillfoldError):
    """A rule forbids it: an untrusted skill, a path that leads out of the skill, a file over a limit."""

    codes = ("refused",)

    @property
    def refusal(self) -> str | None:
        """Which rule refused it, such as `traversal` or `untrusted`."""
        return self.failure.refusal


class UnreadableError(SkillfoldError):
    """It exists, but could not be read."""

    codes = ("unreadable",)


class InvalidError(SkillfoldError, ValueError):
    """An argument, a setting or a file is malformed."""

    codes = ("invalid",)


class ExistsError(SkillfoldError):
    """A file exists already and was left as it is."""

    codes = ("exists",)


class UnwritableError(SkillfoldError):
    """It could not be written."""

    codes = ("unwritable",)


class RunError(SkillfoldError):
    """A script or a tool of a skill did not run. What ended one that did run is in its result."""

    codes: ClassVar[tuple[str, ...]] = (
        "failed_to_start",
        "interpreter_missing",
        "not_a_script",
        "not_permitted",
        "invalid_dependencies",
        "packages_not_installed",
    )


class SandboxUnavailableError(RunError):
    """The system lacks a layer of the sandbox."""

    codes = ("sandbox_unavailable",)


class RunArgumentsError(RunError, ValueError):
    """The arguments or the input are over a limit, or do not fit the tool."""

    codes = ("too_many_arguments", "arguments_too_long", "input_too_large", "invalid_arguments")


class ToolsetError(RunError):
    """The toolset has no such tool, cannot be loaded, or failed."""

    codes = ("unknown_tool", "invalid_toolset", "toolset_failed")


class RunTimeoutError(RunError, TimeoutError):
    """The toolset did not answer in time."""

    codes = ("timeout",)


class RunCancelledError(RunError):
    """The call was cancelled."""

    codes = ("cancelled",)


def _below(error: type[SkillfoldError]) -> list[type[SkillfoldError]]:
    return [error, *(found for subclass in error.__subclasses__() for found in _below(subclass))]


_CLASSES = {code: error for error in _below(SkillfoldError) for code in error.codes}


def from_view(view: str) -> SkillfoldError:
    """Return the error for the engine's JSON; the native module calls it."""
    failure = views.Failure(json.loads(view))
    return _CLASSES.get(failure.error, SkillfoldError)(failure)
