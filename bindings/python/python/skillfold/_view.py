"""The base of all results: a dict whose fields are attributes too."""

from __future__ import annotations

from typing import Any, ClassVar, TypeGuard

_MAX_SHOWN = 60


class View(dict[str, Any]):
    """A result of the engine.

    It is a dict with exactly the JSON that `skillfold --json` prints, and its fields are attributes. A field without a
    value is absent in the dict; as an attribute it is `None`, or an empty list.
    """

    __slots__ = ()
    # For each field: what it is if it is absent, and the class of its value or of its items.
    _fields: ClassVar[dict[str, tuple[Any, type[View] | None]]] = {}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        field = self._fields.get(name)
        if field is None:
            message = f"{type(self).__name__} has no field {name!r}; it has {', '.join(self._fields)}"
            raise AttributeError(message)
        default, view = field
        value: Any = self.get(name)
        if value is None:
            return [] if default == [] else default
        if view is None:
            return value
        if _is_list(value):
            return [view(item) for item in value]
        return view(value)

    def __repr__(self) -> str:
        """Show the fields that have a value, cut to a readable length."""
        shown = (f"{name}={_short(self[name])}" for name in self._fields if name in self)
        return f"{type(self).__name__}({', '.join(shown)})"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]


class TextView(View):
    """A result whose text is what a model gets. `str()` is the text."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.get("text") or ""


class DecidedView(TextView):
    """A text for a request, with the reasons."""

    __slots__ = ()

    @property
    def reasons(self) -> list[str]:
        """Why each skill was chosen or not, such as ``pdf: phrase "fill in a form", given (420 tokens)``."""
        return [_reason(decision) for decision in self["decisions"]]


def _reason(decision: dict[str, Any]) -> str:
    evidence = decision["evidence"]
    matched = f'{decision["signal"]} "{evidence}"' if evidence else decision["signal"]
    tokens = f" ({decision['tokens']} tokens)" if "tokens" in decision else ""
    return f"{decision['id']}: {matched}, {decision['outcome']}{tokens}"


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _short(value: Any) -> str:  # noqa: ANN401
    text = repr(value)
    if _is_list(value) and value:
        return f"[{len(value)} item{'s' * (len(value) != 1)}]"
    if isinstance(value, dict):
        return "{...}"
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 4]}...{text[-1]}"
