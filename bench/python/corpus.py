"""The skills that the benchmarks of the Python package run on: real ones from a corpus, or generated ones."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# A name that every library accepts. The libraries decide about the rest of a file.
_NAME = re.compile(r"""^name:[ ]*(["']?)([a-z0-9]+(?:-[a-z0-9]+)*)\1[ ]*$""", re.MULTILINE)
_DESCRIPTION = re.compile(r"^description:[ ]*(\w.{40,})$", re.MULTILINE)
_VERBS = "analyze build check convert deploy edit extract fill format index merge plan review".split()  # noqa: SIM905
_NOUNS = (  # noqa: SIM905
    "account answer archive backup budget calendar chart contract database diagram email form graph image invoice "
    "letter log message model network order package page password payment pdf pipeline presentation query receipt "
    "record release report schema script server spreadsheet survey table task template translation website workflow"
).split()


def read(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each skill of a corpus, in an order that depends on the texts alone.

    The corpus is a zstd file of JSON lines with `text`. Of several skills with one name the first in that order counts.
    """
    import zstandard  # noqa: PLC0415

    texts: dict[bytes, str] = {}
    with file.open("rb") as packed, zstandard.ZstdDecompressor().stream_reader(packed) as unpacked:
        for line in io.TextIOWrapper(unpacked, encoding="utf-8"):
            text: str = json.loads(line)["text"]
            texts[hashlib.sha256(text.encode()).digest()] = text
    seen: set[str] = set()
    for _, text in sorted(texts.items()):
        name = _NAME.search(text)
        if name and name[2] not in seen:
            seen.add(name[2])
            yield name[2], text


def generate() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of generated skills, always the same ones."""
    chance = random.Random(0)  # noqa: S311
    for number in itertools.count():
        verb, *nouns = chance.choice(_VERBS), *chance.sample(_NOUNS, 3)
        name = f"{verb}-{nouns[0]}-{number}"
        about = (
            f"{verb.title()} a {nouns[0]} with its {nouns[1]} and {nouns[2]}. Use it for a {nouns[0]} that is broken."
        )
        steps = (
            f"{step}. {chance.choice(_VERBS).title()} the {' and the '.join(chance.sample(_NOUNS, 4))}, then go on."
            for step in range(1, chance.randrange(20, 80))
        )
        head = f"---\nname: {name}\ndescription: {about}\nlicense: MIT\n---\n"
        yield name, f"{head}\n# {name}\n\n" + "\n".join(steps) + "\n"


def choose(
    candidates: Iterator[tuple[str, str]], count: int, accepted: Callable[[Path], set[str]]
) -> tuple[dict[str, str], int]:
    """Return the first skills that all libraries accept, and how many were tried for them.

    `accepted` returns the names that all libraries find in a folder.
    """
    chosen: dict[str, str] = {}
    tried = 0
    while len(chosen) < count:
        batch = dict(itertools.islice(candidates, 2 * (count - len(chosen))))
        if not batch:
            sys.exit(f"error: the corpus has {len(chosen)} skills that all libraries accept, {count} are needed")
        with tempfile.TemporaryDirectory() as stage:
            install(Path(stage), batch.items())
            names = accepted(Path(stage))
        for name, text in batch.items():
            if len(chosen) == count:
                break
            tried += 1
            if name in names:
                chosen[name] = text
    return chosen, tried


def install(root: Path, skills: Iterable[tuple[str, str]]) -> None:
    """Write skills as folders with a `SKILL.md` each."""
    for name, text in skills:
        folder = root / name
        folder.mkdir(parents=True)
        folder.joinpath("SKILL.md").write_bytes(text.encode())


def requests(texts: Iterable[str], count: int) -> list[str]:
    """Return different requests: each has the first words of one description and the last words of another."""
    found = (_DESCRIPTION.search(text) for text in texts)
    words = [description[1].split() for description in found if description]
    made: dict[str, None] = {}
    for cut, distance in itertools.product((6, 7, 8, 5), range(1, len(words))):
        for first, last in zip(words, words[distance:] + words[:distance], strict=True):
            made[" ".join((*first[:cut], *last[-cut:]))] = None
            if len(made) == count:
                return list(made)
    sys.exit(f"error: {len(words)} descriptions give {len(made)} requests, {count} are needed")
