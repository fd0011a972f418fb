"""What the methods of `Skills` take, and how it is passed to the engine."""

from __future__ import annotations

import json
import os
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, cast

Path: TypeAlias = "str | os.PathLike[str]"
Setting: TypeAlias = "str | int | bool | Sequence[str]"
Embed: TypeAlias = "Callable[[list[str]], Sequence[Sequence[float]]]"
EmbedQuery: TypeAlias = "Callable[[str], Sequence[float]]"


class Embeddings(Protocol):
    """A model that embeds requests in another way than skills, such as those of LangChain."""

    def embed_documents(self, texts: list[str], /) -> Sequence[Sequence[float]]:
        """Return a vector for each text."""
        ...

    def embed_query(self, text: str, /) -> Sequence[float]:
        """Return the vector of a request."""
        ...


Embedder: TypeAlias = "Embed | Embeddings | tuple[str, Embed | Embeddings]"
"""A callable that returns a vector for each text, and the name of its model: an attribute `id`, or first in a pair.

Vectors of different models are never compared. The name of a plain function stands for its model.
"""
Call: TypeAlias = "str | dict[str, Any]"
"""A call of the engine: its name, and what it takes."""
Envelope: TypeAlias = Literal["plain", "read_skill", "skill_context", "skill_content"]
Disclosure: TypeAlias = Literal["catalog", "triggered", "hybrid"]
Style: TypeAlias = Literal["lines", "xml-rules", "xml", "markdown", "tiers", "bullets"]
Matching: TypeAlias = Literal["keyword", "hybrid", "semantic"]
Fallback: TypeAlias = Literal["none", "show_all", "ask_user"]
Sees: TypeAlias = Literal["all", "used"]

# Settings that are `on` or `off`; the others that are switches are `true` or `false`.
_WORD_SWITCHES = {"breadcrumb", "index", "proposals", "scripts", "watch"}
# Settings that are lists of paths.
_PATH_LISTS = {"roots", "trusted"}


def as_json(value: Any) -> str:  # noqa: ANN401
    """Return a call or its options as the engine takes them."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def agent_options(agent: str, skills: Sequence[str] | None, sees: Sees) -> str:
    """Return what an agent uses and sees."""
    return as_json({"id": agent, "skills": None if skills is None else as_list(skills, "skills"), "sees": sees})


def as_setting(key: str, value: Setting) -> tuple[str, str]:
    """Return a setting as the engine reads it from a variable."""
    if isinstance(value, bool):
        words = ("on", "off") if key in _WORD_SWITCHES else ("true", "false")
        return key, words[not value]
    if isinstance(value, (str, int)):
        return key, str(value)
    if not isinstance(value, (list, tuple)):
        what = f"Setting `{key}` is a text, a number, a switch or a list, not `{type(value).__name__}`"
        raise TypeError(what)
    return key, (os.pathsep if key in _PATH_LISTS else ",").join(value)


def as_list(value: Iterable[Any], what: str) -> list[Any]:
    """Return a list. A text would be taken for its characters."""
    if isinstance(value, (str, bytes, os.PathLike)):
        message = f"`{what}` is a list: pass [{value!r}]"
        raise TypeError(message)
    return list(value)


def checked_limit(limit: int | None) -> int | None:
    if limit is not None and limit < 1:
        message = "`limit` is at least 1"
        raise ValueError(message)
    return limit


def session_options(  # noqa: PLR0913
    *,
    disclosure: Disclosure | None,
    style: Style | None,
    listing: str | None,
    matching: Matching | None,
    max_per_request: int | None,
    breadcrumb: bool | None,
    fallback: Fallback | None,
    body_tokens: int | None,
    transient: bool,
    state: str | None,
) -> str:
    settings: dict[str, Setting | None] = {
        "disclosure": disclosure,
        "style": style,
        "listing": listing,
        "matching": matching,
        "max_per_request": max_per_request,
        "breadcrumb": breadcrumb,
        "fallback": fallback,
    }
    options = {
        "settings": [as_setting(key, value) for key, value in settings.items() if value is not None],
        "transient": transient,
        "state": state,
        "body_tokens": body_tokens,
    }
    return as_json(options)


def bundled_files(bundled: Mapping[str, str | bytes] | Path | None) -> tuple[list[tuple[str, bytes]], str | None]:
    if bundled is None:
        return [], None
    if isinstance(bundled, Mapping):
        encoded = ((path, text.encode() if isinstance(text, str) else text) for path, text in bundled.items())
        return list(encoded), None
    return [], os.fspath(bundled)


def named_embedder(embedder: Any) -> tuple[str, Embed, EmbedQuery | None]:  # noqa: ANN401
    """Return the name of an embedder's model, what embeds skills, and what embeds requests if that differs."""
    if isinstance(embedder, tuple):
        name, model = cast("tuple[str, Any]", embedder)
        return name, getattr(model, "embed_documents", model), getattr(model, "embed_query", None)
    function: Any = getattr(embedder, "embed_documents", embedder)
    query: EmbedQuery | None = getattr(embedder, "embed_query", None)
    named: object = getattr(embedder, "id", None)
    if isinstance(named, str) and callable(function):
        return named, cast("Embed", function), query
    if isinstance(embedder, types.FunctionType) and embedder.__name__ != "<lambda>":
        return f"{embedder.__module__}.{embedder.__qualname__}", function, query
    message = "Name the embedder's model: pass `embedder=(name, callable)`, or give the callable an attribute `id`"
    raise TypeError(message)
