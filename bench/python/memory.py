#!/usr/bin/env python3
"""Checks that calls of the package leave nothing in memory.

    python bench/python/memory.py [--calls 1000000]

Of 20 calls, 8 load instructions, 4 read a file, 2 are turns, 2 search, 2 start a session and 2 raise an error, by turns
for an id that is not there, a path out of the skill, a setting that is not valid and an argument of the wrong type.
The first of two turns is in a session that lives until the end, the other in the newest one. Loads have one of 100
arguments, requests are ever new combinations of the same words: the caches of the engine fill in the first tenth.

After that, resident memory may grow by 2 MiB: an object of 64 bytes that every twentieth call leaves would be 2.7 MiB
in the nine tenths of a million calls, and without a leak it grew by 0.2 MiB in 100,000 calls. The blocks that Python
has allocated may grow by 500, so that one object in a hundred errors is noticed. Ends with 1 if it grew by more; the
last line is one JSON object.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corpus

import skillfold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SKILLS = 100
_ROUND = 20
_MAX_GROWTH = 2 * 1024 * 1024
_MAX_BLOCKS = 500


def main() -> None:
    """Make the calls, and compare the memory after each tenth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000)
    tenth = max(1, parser.parse_args().calls // 10 // _ROUND)
    with tempfile.TemporaryDirectory() as folder:
        rounds = _Rounds(Path(folder))
        memory: list[tuple[int, int]] = []
        start = time.process_time()
        for number in range(10):
            for _ in range(tenth):
                rounds.go()
            gc.collect()
            memory.append((_resident(), sys.getallocatedblocks()))
            print(f"{number + 1}0 %: {memory[-1][0] / 1e6:.2f} MB, {memory[-1][1]} blocks", flush=True)
    grown, blocks = (after - before for before, after in zip(memory[0], memory[-1], strict=True))
    is_met = grown <= _MAX_GROWTH and blocks <= _MAX_BLOCKS
    result: dict[str, Any] = {
        "calls": rounds.calls,
        "cpu_s": round(time.process_time() - start, 1),
        "resident_bytes": [resident for resident, _ in memory],
        "grown_bytes": grown,
        "max_grown_bytes": _MAX_GROWTH,
        "grown_blocks": blocks,
        "max_grown_blocks": _MAX_BLOCKS,
        "met": is_met,
    }
    print(json.dumps(result))
    sys.exit(not is_met)


class _Rounds:
    """Calls in rounds of twenty."""

    def __init__(self, folder: Path) -> None:
        made = dict(itertools.islice(corpus.generate(), _SKILLS))
        corpus.install(folder / "skills", made.items())
        for name in made:
            folder.joinpath("skills", name, "notes.md").write_text(f"Notes on {name}.\n" * 50, encoding="utf-8")
        self._skills = skillfold.Skills.discover(
            folder, roots=[folder / "skills"], settings={"default_roots": False}, cache=False, home=folder
        )
        self._ids = itertools.cycle(made)
        words = sorted({word for text in made.values() for word in text.split()})
        self._requests = _requests(words)
        self._arguments = itertools.cycle(f"{number} times" for number in range(100))
        self._kept = self._skills.session()
        self._errors: Iterator[tuple[type[Exception], Callable[[], object]]] = itertools.cycle(
            (
                (skillfold.NotFoundError, lambda: self._skills.load("no-such-skill")),
                (skillfold.RefusedError, lambda: self._skills.read(next(self._ids), "../../secret")),
                (skillfold.InvalidError, lambda: self._skills.session(max_per_request=-1)),
                (TypeError, lambda: self._skills.search(request=3)),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            )
        )
        self.calls = 0

    def go(self) -> None:
        """Make twenty calls."""
        skills = self._skills
        for _ in range(4):
            _ = skills.load(next(self._ids)).text
            _ = skills.load(next(self._ids), next(self._arguments)).text
            _ = skills.read(next(self._ids), "notes.md").text
        session = skills.session()
        for conversation in (self._kept, session):
            _ = conversation.turn(next(self._requests)).text
        for _ in range(2):
            _ = skills.search(next(self._requests)).found
        skills.session().listing()
        for _ in range(2):
            kind, call = next(self._errors)
            try:
                call()
            except kind:
                continue
            sys.exit(f"error: no {kind.__name__} was raised")
        self.calls += _ROUND


def _requests(words: list[str]) -> Iterator[str]:
    """Yield ever new requests of the same words."""
    chance = random.Random(0)  # noqa: S311
    while True:
        yield " ".join(chance.choices(words, k=8))


def _resident() -> int:
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
