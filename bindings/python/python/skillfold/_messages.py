"""Finds the user's latest message in the forms that agent frameworks use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard, cast

Message: TypeAlias = "Mapping[str, Any] | tuple[str, Any] | Any"
"""A message: a mapping with `role` and `content`, an object with such attributes, or a pair of both."""


def latest_user_text(messages: str | Message | Iterable[Message]) -> str:
    """Return the text of the latest user message; an empty text if there is none.

    A text is itself the message. Content may be a text, or a list of parts of which those with text count: a message
    that has only answers of tools is passed over. What is no message raises `TypeError`.
    """
    if isinstance(messages, str):
        return _valid(messages)
    every: list[Any] = [messages] if _is_message(messages) else list(messages)
    for message in reversed(every):
        role, text = _read(message)
        if text and (role == "user" or role.startswith("human")):
            return _valid(text)
    return ""


def _valid(text: str) -> str:
    """Return a text that can be encoded: half of a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def _is_message(messages: Any) -> bool:  # noqa: ANN401
    # A message may be iterable itself: a mapping, or a model of pydantic.
    return isinstance(messages, (Mapping, bytes)) or not _is_iterable(messages) or bool(_role(messages))


def _read(message: Any) -> tuple[str, str]:  # noqa: ANN401
    """Return the role and the text of a message."""
    if isinstance(message, str):
        return "user", message
    if _is_pair(message):
        return str(message[0]).lower(), _text(message[1])
    role = _role(message)
    if not role:
        what = f"A message is a text, or has a role and content, not `{type(message).__name__}`"
        raise TypeError(what)
    contents = (_field(message, name) for name in ("content", "parts", "text"))
    return role, next((text for content in contents if (text := _text(content))), "")


def _is_pair(message: object) -> TypeGuard[tuple[Any, Any]]:
    items: Any = message
    return isinstance(message, tuple) and len(items) == 2  # noqa: PLR2004


def _is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(value, Iterable)


def _field(message: Any, name: str) -> Any:  # noqa: ANN401
    value = cast("Any", message).get(name) if isinstance(message, Mapping) else getattr(message, name, None)
    return None if callable(value) else value


def _role(message: Any) -> str:  # noqa: ANN401
    role = _field(message, "role") or _field(message, "type") or ""
    # An enum of a framework, such as `Role.USER`.
    role = getattr(role, "value", role)
    return str(role).lower()


def _text(content: Any) -> str:  # noqa: ANN401
    if isinstance(content, str):
        return content
    if not _is_iterable(content):
        return ""
    texts = [part if isinstance(part, str) else _field(part, "text") for part in content]
    return "\n".join(part for part in texts if isinstance(part, str))
