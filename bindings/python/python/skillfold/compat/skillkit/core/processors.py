"""From the instructions in a file to the text for a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from skillfold.compat.skillkit._engine import fill_in
from skillfold.compat.skillkit.core.exceptions import ArgumentProcessingError, SizeLimitExceededError
from skillfold.errors import SkillfoldError

if TYPE_CHECKING:
    from pathlib import Path

MAX_ARGUMENT_BYTES = 1_000_000


def normalize_arguments(arguments: str | None) -> str:
    """Return arguments without white space around them, and with single spaces between words."""
    return " ".join((arguments or "").split())


def process_skill_content(content: str, base_dir: Path, arguments: str | None) -> str:
    """Return the text for a model: a line that names the folder, and the instructions with the arguments filled in.

    Without arguments (`None`) placeholders stay as they are.
    """
    return _with_folder(content if arguments is None else _with_arguments(content, arguments), base_dir)


def check_arguments(arguments: str) -> None:
    """Raise `SizeLimitExceededError` if arguments are longer than 1 MB."""
    if len(arguments.encode()) > MAX_ARGUMENT_BYTES:
        message = f"Arguments exceed maximum size of {MAX_ARGUMENT_BYTES} bytes"
        raise SizeLimitExceededError(message)


class ContentProcessor(ABC):
    """A step from the instructions to the text for a model."""

    @abstractmethod
    def process(self, content: str, context: dict[str, Any]) -> str:
        """Return the changed content. `context` has `arguments`, `base_directory` and `skill_name`."""


class BaseDirectoryProcessor(ContentProcessor):
    """Adds the line that names the skill's folder."""

    def process(self, content: str, context: dict[str, Any]) -> str:
        """Return the content after the line."""
        return _with_folder(content, context.get("base_directory", ""))


class ArgumentSubstitutionProcessor(ContentProcessor):
    """Fills in the arguments."""

    PLACEHOLDER_NAME = "ARGUMENTS"
    MAX_ARGUMENT_LENGTH = MAX_ARGUMENT_BYTES

    def process(self, content: str, context: dict[str, Any]) -> str:
        """Return the content with each `$ARGUMENTS` replaced, or with the arguments at the end if there is none."""
        return _with_arguments(content, context.get("arguments", ""))


class CompositeProcessor(ContentProcessor):
    """Runs several processors, each on what the one before returned."""

    def __init__(self, processors: list[ContentProcessor]) -> None:
        """Take the processors in their order."""
        self.processors = processors

    def process(self, content: str, context: dict[str, Any]) -> str:
        """Return what the last processor returns."""
        for processor in self.processors:
            content = processor.process(content, context)
        return content


def _with_folder(content: str, folder: Path | str) -> str:
    return f"Base directory for this skill: {folder}\n\n{content}"


def _with_arguments(content: str, arguments: str) -> str:
    check_arguments(arguments)
    try:
        return fill_in(content, arguments)
    except SkillfoldError as error:
        raise ArgumentProcessingError(str(error)) from error
