#!/usr/bin/env python3
"""Compares the Node package with the commands of openskills and skills on npm, and with the engine alone, in CPU time.

    python3 bench/node/run.py --packages FOLDER --modules FOLDER [--engine PROGRAM] [--corpus CORPUS]
        [--sizes 100,1000,10000] [--runs 7]

`--packages` has the archives of `bindings/node/pack.mjs`. `--modules` is a folder with `bench/node/package.json`
installed. `CORPUS` is a zstd file of JSON lines with `text`, one `SKILL.md` each; without it, skills are generated.

Listing: every figure is the median of `--runs` processes, which take turns. A process of openskills or skills is its
command, which lists all skills of a folder; one of skillfold is a program of five lines that discovers them and
prints a line for each. CPU time is that of the process and its children, user and system; `node` is a Node that does
nothing. The files are in the page cache. skillfold does not use its cache of metadata, which no other has.

The binding: `cost.mjs` does what `skillfold-bench engine` does with the engine alone, each in fresh processes that
take turns. `load` is a cached load, the mean of 200,000, with its text and without.

The last line of the output is one JSON object with all figures.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import corpus

_HERE = Path(__file__).parent
_LISTING = """
import { Skills } from "skillfold";
const skills = await Skills.discover(".", { home: ".", trustProject: true, cache: false });
for (const { id, description } of skills) console.log(id, description);
"""


def main() -> None:
    """Run the comparison that the command line asks for."""
    chosen = _arguments()
    with tempfile.TemporaryDirectory() as scratch:
        result = _measured(chosen, Path(scratch))
    print(json.dumps(result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--modules", type=Path, required=True)
    parser.add_argument("--engine", type=Path, help="skillfold-bench, to compare with the engine alone")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument(
        "--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[100, 1_000, 10_000]
    )
    parser.add_argument("--runs", type=int, default=7)
    return parser.parse_args()


def _measured(chosen: argparse.Namespace, scratch: Path) -> dict[str, object]:
    modules = chosen.modules.resolve() / "node_modules"
    node = modules / "node/bin/node"
    project = scratch / "project"
    project.mkdir()
    names = ("skillfold-[0-9]*.tgz", "skillfold-linux-x64-gnu-*.tgz")
    archives = [str(path.resolve()) for name in names for path in chosen.packages.glob(name)]
    _done(["npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", *archives], project)
    (project / "list.mjs").write_text(_LISTING)
    (project / "cost.mjs").write_bytes((_HERE / "cost.mjs").read_bytes())

    sizes: list[int] = chosen.sizes
    source = corpus.generate() if chosen.corpus is None else corpus.read(chosen.corpus)
    skills = list(itertools.islice(source, max(sizes)))
    rows = []
    for size in sizes:
        home = scratch / str(size)
        corpus.install(home / ".agents/skills", skills[:size])
        # openskills has folders of its own.
        (home / ".agent").symlink_to(".agents")
        commands = {
            "node": [node, "-e", ""],
            "skillfold": [node, project / "list.mjs"],
            "openskills": [node, modules / "openskills/dist/cli.js", "list"],
            "skills": [node, modules / "skills/bin/cli.mjs", "list"],
        }
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(chosen.runs):
            for name, command in commands.items():
                output, cpu = _cpu([str(word) for word in command], home)
                if name != "node" and output.count(skills[0][0]) == 0:
                    sys.exit(f"error: {name} does not list {skills[0][0]}:\n{output[:2_000]}")
                taken[name].append(cpu)
        rows.append({"skills": size, **{f"{name}_ms": round(statistics.median(of), 1) for name, of in taken.items()}})
        print(rows[-1], file=sys.stderr, flush=True)

    largest = scratch / str(max(sizes))
    requests = scratch / "requests.txt"
    requests.write_text("\n".join(corpus.requests((text for _, text in skills), 200)), encoding="utf-8")
    folder = str(largest / ".agents/skills")
    package, engine = [], []
    for _ in range(chosen.runs):
        package.append(_json([str(node), str(project / "cost.mjs"), folder, str(requests)]))
        if chosen.engine:
            command = [str(chosen.engine.resolve()), "engine", "--folder", folder, "--requests", str(requests)]
            engine.append(_json(command))
    binding = {"package": _medians(package), "engine": _medians(engine) if engine else None}
    result = {"rows": rows, "binding": {"skills": max(sizes), **binding}, "runs": chosen.runs}
    for line in _goals(binding["package"], binding["engine"]):
        print(line)
    return result


def _goals(package: dict[str, float], engine: dict[str, float] | None) -> list[str]:
    load = package["load_us"]
    lines = [f"goal: a cached load under 3 µs; measured {load:.2f} µs: {'met' if load < 3 else 'missed'}"]  # noqa: PLR2004
    if engine is not None:
        most = engine["turn_us"] * 1.2 + 5
        state = "met" if package["turn_us"] <= most else "missed"
        turn = f"measured {package['turn_us']:.1f} by {engine['turn_us']:.1f} µs"
        lines.append(f"goal: a turn within 20 % of the engine plus 5 µs; {turn}: {state}")
    return lines


def _cpu(command: list[str], folder: Path) -> tuple[str, float]:
    """Return what a process prints, and its CPU time in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = _done(command, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return output, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def _done(command: list[str], folder: Path | None = None) -> str:
    variables = {**os.environ, "NO_COLOR": "1"}
    if folder is not None:
        variables["HOME"] = str(folder)
    # A program that ends before a pipe has taken all that it printed would lose the rest.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output, tempfile.TemporaryFile("w+") as errors:
        done = subprocess.run(command, cwd=folder, env=variables, stdout=output, stderr=errors, check=False)  # noqa: S603
        output.seek(0)
        errors.seek(0)
        if done.returncode != 0:
            sys.exit(f"error: {' '.join(command)} ended with {done.returncode}\n{errors.read()[-2_000:]}")
        return output.read()


def _json(command: list[str]) -> dict[str, float]:
    figures: dict[str, float] = json.loads(_done(command).splitlines()[-1])
    return figures


def _medians(taken: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(figures[key] for figures in taken) for key in taken[0]}


if __name__ == "__main__":
    main()
