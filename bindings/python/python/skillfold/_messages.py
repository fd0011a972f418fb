"""Finds the user's latest message in the forms that agent frameworks use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard, cast

Message: TypeAlias = "Mapping[str, Any] | Any"
"""A message: a mapping with `role` and `content`, or an object with such attributes."""

_USER_ROLES = {"user", "human"}


def latest_user_text(messages: str | Message | Iterable[Message]) -> str:
    """Return the text of the latest user message; an empty text if there is none.

    A text is itself the message. Content may be a text, or a list of parts of which those with text count.
    """
    if isinstance(messages, str):
        return messages
    every: list[Any] = [messages] if _is_message(messages) else list(messages)
    for message in reversed(every):
        if isinstance(message, str):
            return message
        if _role(message) in _USER_ROLES:
            return _text(_field(message, "content"), _field(message, "text"))
    return ""


def _is_message(messages: Any) -> bool:  # noqa: ANN401
    # A message may be iterable itself: a mapping, or a model of pydantic.
    return isinstance(messages, Mapping) or not _is_iterable(messages) or bool(_role(messages))


def _is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(value, Iterable)


def _field(message: Any, name: str) -> Any:  # noqa: ANN401
    value = cast("Any", message).get(name) if isinstance(message, Mapping) else getattr(message, name, None)
    return None if callable(value) else value


def _role(message: Message) -> str:
    role = _field(message, "role") or _field(message, "type") or ""
    # An enum of a framework, such as `Role.USER`.
    role = getattr(role, "value", role)
    return str(role).lower()


def _text(content: Any, text: object) -> str:  # noqa: ANN401
    if isinstance(content, str):
        return content
    if _is_iterable(content):
        texts = [part if isinstance(part, str) else _field(part, "text") for part in content]
        return "\n".join(part for part in texts if isinstance(part, str))
    return text if isinstance(text, str) else ""
