#!/usr/bin/env python3
"""Compares the Python package with the other libraries for skills on PyPI, in CPU time.

    pip install -r bench/python/requirements.txt skillfold
    python bench/python/run.py [--corpus CORPUS] [--sizes 100,1000,10000] [--runs 7] [--json FILE]

`CORPUS` is a zstd file of JSON lines with `text`, one `SKILL.md` each; without it, skills are generated. The skills are
the first in the order of their SHA-256 that every library accepts, and that have a name of their own. Each is a folder
with the file alone, and smaller sizes are the first skills of the largest. The files are in the page cache.

Every figure is the median of `--runs` processes, each of one library; the libraries take turns. CPU time is that of all
threads, user and system. Columns: `imports` of the library; `discovery` in the fresh process; `refresh`, once more in
the same process with nothing changed; `first load`, the mean of 50 skills whose instructions are taken as text for the
first time; `cached load`, the same again; `peak`, how much resident memory rises above that after the imports during
the discovery, with the pages of native code that run for the first time. Logging is off. skillfold caches metadata on
disk from 1,000 skills: a second row has starts with that cache.

`--engine PROGRAM` is `skillfold-bench`, whose subcommand `engine` does what `turns.py cost` does with the engine alone:
without default roots, without a cache, with an empty home.

The last line of the output is one JSON object with all figures. `--sizes 100 --runs 1` takes less than a minute.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TypeAlias

import corpus
from libraries import CACHED, DISTRIBUTIONS, LIBRARIES

Figures: TypeAlias = "dict[str, Any]"

_HERE = Path(__file__).parent
_CACHED_FROM = 1_000
_COST_REQUESTS = 200
_UNITS = {"discover_ms": "ms", "turn_us": "µs"}
_COLUMNS = {
    "import_ms": "imports, ms",
    "discover_ms": "discovery, ms",
    "refresh_ms": "refresh, ms",
    "first_load_us": "first load, µs",
    "cached_load_us": "cached load, µs",
    "peak_mb": "peak, MB",
}


def main() -> None:
    """Run the comparison that the command line asks for."""
    chosen = _arguments()
    sizes: list[int] = chosen.sizes
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        skills, tried = _skills(chosen.corpus, max(sizes), scratch)
        kind = "generated skills" if chosen.corpus is None else "skills of the corpus"
        print(f"{len(skills)} {kind}: of the first {tried}, all that every library accepts", flush=True)
        for size in sizes:
            corpus.install(scratch / f"{size}/skills", list(skills.items())[:size])
        _fill_cache(scratch, sizes)
        rows = _compare(scratch, sizes, chosen.runs)
        turns = _turns(scratch / f"{max(sizes)}", list(skills.values()), chosen)
    result: Figures = {
        "python": platform.python_version(),
        "machine": platform.platform(),
        "versions": _versions(),
        "corpus": {"kind": kind, "skills": len(skills), "tried": tried},
        "runs": chosen.runs,
        "rows": rows,
        "turns": {"skills": max(sizes), **turns},
    }
    result["goals"] = list(_goals(result))
    print(_table(result))
    for line in _notes(result):
        print(line)
    for goal in result["goals"]:
        print(f"goal: {goal['goal']}; measured {goal['measured']}: {goal['state']}")
    line = json.dumps(result)
    if chosen.json:
        chosen.json.write_text(f"{line}\n", encoding="utf-8")
    print(line)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument(
        "--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[100, 1_000, 10_000]
    )
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--turns", type=int, default=100, help="turns of a thread in each of the 15 pairs, default 100")
    parser.add_argument("--engine", type=Path, help="skillfold-bench, to compare with the engine alone")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _skills(file: Path | None, count: int, scratch: Path) -> tuple[dict[str, str], int]:
    """Return as many skills as the largest size, by name, and how many were tried."""
    home = scratch / "choose"
    home.mkdir()

    def accepted(folder: Path) -> set[str]:
        names: list[list[str]] = [_child(library, folder, home, "--accepted")["accepted"] for library in DISTRIBUTIONS]
        return set(names[0]).intersection(*names)

    return corpus.choose(corpus.generate() if file is None else corpus.read(file), count, accepted)


def _fill_cache(scratch: Path, sizes: list[int]) -> None:
    large = [size for size in sizes if size >= _CACHED_FROM]
    if large:
        # A file that changed within the last two seconds is not cached.
        time.sleep(2.5)
    for size in large:
        _child(CACHED, scratch / f"{size}/skills", scratch / f"{size}")


def _compare(scratch: Path, sizes: list[int], runs: int) -> list[Figures]:
    """Return the medians of each library and size."""
    taken: dict[tuple[int, str], list[Figures]] = {}
    names = list(LIBRARIES)
    for run in range(runs):
        for size in sizes:
            for library in names[run % len(names) :] + names[: run % len(names)]:
                if library == CACHED and size < _CACHED_FROM:
                    continue
                figures = _child(library, scratch / f"{size}/skills", scratch / f"{size}")
                if figures.pop("found") != size:
                    sys.exit(f"error: {library} does not find the {size} skills")
                taken.setdefault((size, library), []).append(figures)
            print(f"run {run + 1} of {runs}, {size} skills", file=sys.stderr, flush=True)
    ordered = sorted(taken, key=lambda place: (place[0], names.index(place[1])))
    return [{"skills": size, "library": library, **_medians(taken[size, library])} for size, library in ordered]


def _turns(folder: Path, texts: list[str], chosen: argparse.Namespace) -> Figures:
    """Return what a discovery and a turn cost with the largest size, and what two threads do."""
    requests = corpus.requests(texts, max(_COST_REQUESTS, chosen.turns * 45))
    some, every = folder / "some.txt", folder / "every.txt"
    some.write_text("\n".join(requests[:_COST_REQUESTS]), encoding="utf-8")
    every.write_text("\n".join(requests), encoding="utf-8")
    package: list[Figures] = []
    engine: list[Figures] = []
    for _ in range(chosen.runs):
        package.append(_run(sys.executable, _HERE / "turns.py", "cost", folder / "skills", folder, some))
        if chosen.engine:
            engine.append(_run(chosen.engine.resolve(), "engine", "--folder", folder / "skills", "--requests", some))
    result: Figures = {"package": _medians(package), "engine": _medians(engine) if engine else None}
    return {**result, "threads": _run(sys.executable, _HERE / "turns.py", "threads", folder / "skills", folder, every)}


def _child(library: str, folder: Path, scratch: Path, *options: str) -> Figures:
    return _run(sys.executable, _HERE / "libraries.py", library, folder, scratch, *options)


def _run(*command: str | Path) -> Figures:
    """Return the JSON object in the last line of what a program prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))} ended with {done.returncode}\n{done.stderr[-2_000:]}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def _medians(taken: list[Figures]) -> Figures:
    return {
        key: None if first is None else statistics.median(figures[key] for figures in taken)
        for key, first in taken[0].items()
    }


def _versions() -> dict[str, str]:
    installed = {found.name: found.version for found in importlib.metadata.distributions()}
    return {name: installed.get(name, "not installed") for name in DISTRIBUTIONS.values()}


def _table(result: Figures) -> str:
    lines = [
        f"| skills | library | {' | '.join(_COLUMNS.values())} | discovery, by skillfold's |",
        "|--:|---|" + "--:|" * (len(_COLUMNS) + 1),
    ]
    for row in result["rows"]:
        cells = [_number(row[column]) for column in _COLUMNS]
        ratio = row["discover_ms"] / _figure(result, row["skills"], "skillfold", "discover_ms")
        lines.append(f"| {row['skills']:,} | {row['library']} | {' | '.join(cells)} | {ratio:.1f} |")
    return "\n".join(lines)


def _number(value: float | None) -> str:
    if value is None:
        return "–"  # noqa: RUF001
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004


def _figure(result: Figures, size: int, library: str, key: str) -> float:
    return float(next(row[key] for row in result["rows"] if (row["skills"], row["library"]) == (size, library)))


def _notes(result: Figures) -> list[str]:
    """Return what the table does not show."""
    own = [row for row in result["rows"] if row["library"] == "skillfold"]
    listed = ", ".join(f"{_number(row['list_ms'])} ms for {row['skills']:,}" for row in own)
    busy = max(result["rows"], key=lambda row: row["background_ms"])
    package, versions = result["turns"]["package"], result["versions"]
    return [
        f"skillfold's `list()`, which makes a Python object of every skill: {listed}",
        f"skillfold's turn with {result['turns']['skills']:,} skills: {_number(package['turn_us'])} µs",
        f"CPU time in the 0.1 s after a discovery: at most {busy['background_ms']:.2f} ms ({busy['library']})",
        f"Python {result['python']}, {', '.join(f'{name} {version}' for name, version in versions.items())}",
    ]


def _goals(result: Figures) -> list[Figures]:
    """Return the goals, and whether they are met; what was not measured is neither."""
    sizes = {row["skills"] for row in result["rows"]}
    turns, largest = result["turns"], result["turns"]["skills"]
    goals: list[Figures] = []

    def add(goal: str, measured: str | None, *, is_met: bool | None) -> None:
        state = "no goal" if is_met is None else "met" if is_met else "missed"
        goals.append({"goal": goal, "measured": measured or "nothing", "state": state if measured else "open"})

    for what, key, least in (("a cold discovery", "discover_ms", 40), ("an unchanged refresh", "refresh_ms", 150)):
        goal = f"with 1,000 skills {what} takes the fastest peer at least {least} times the CPU"
        if _CACHED_FROM not in sizes:
            add(goal, None, is_met=None)
            continue
        peers = (name for name in LIBRARIES if not name.startswith("skillfold"))
        fastest = min(peers, key=lambda name: _figure(result, _CACHED_FROM, name, key))
        ratio = _figure(result, _CACHED_FROM, fastest, key) / _figure(result, _CACHED_FROM, "skillfold", key)
        add(goal, f"{ratio:.1f} ({fastest})", is_met=ratio >= least)
    handle, text = (_figure(result, largest, "skillfold", key) for key in ("cached_handle_us", "cached_load_us"))
    measured = f"{handle:.2f} µs with {largest:,} skills, {text:.2f} µs with its text taken"
    add("a cached load takes less than 2 µs", measured, is_met=handle < 2)  # noqa: PLR2004
    for what, key in (("discover", "discover_ms"), ("turn", "turn_us")):
        goal = f"the package takes less than 20 % more CPU than the engine alone for `{what}` with 10,000 skills"
        if turns["engine"] is None:
            add(goal, None, is_met=None)
            continue
        more = turns["package"][key] / turns["engine"][key] - 1
        measured = f"{more:.1%} with {largest:,}, {_number(turns['package'][key])} by {_number(turns['engine'][key])}"
        add(goal, f"{measured} {_UNITS[key]}", is_met=more < 0.2)  # noqa: PLR2004
    ratio, control = turns["threads"]["ratio"], turns["threads"]["control"]
    measured = f"{ratio:.2f}, and {control:.2f} for threads that share nothing"
    add(f"two threads do turns how many times as fast as one, {largest:,} skills", measured, is_met=None)
    return goals


if __name__ == "__main__":
    main()
