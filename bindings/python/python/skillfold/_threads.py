"""Runs a call on another thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillfold import _skillfold

P = ParamSpec("P")
T = TypeVar("T")


async def to_thread(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Do what `asyncio.to_thread` does. Its import takes longer than that of the rest, and many programs never wait."""
    import asyncio  # noqa: PLC0415

    return await asyncio.to_thread(function, *arguments, **options)


async def until_cancelled(
    cancel: _skillfold.Cancel, function: Callable[P, T], *arguments: P.args, **options: P.kwargs
) -> T:
    """Do what `to_thread` does, and end what runs there if the task is cancelled."""
    try:
        return await to_thread(function, *arguments, **options)
    except BaseException:
        cancel.cancel()
        raise
