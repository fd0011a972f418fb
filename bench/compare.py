#!/usr/bin/env python3
"""Runs the benchmarks of two builds by turns and prints their figures side by side.

    python3 bench/compare.py BEFORE AFTER --corpus CORPUS --data REQUESTS [--rounds 4] [NAME...]

BEFORE and AFTER are folders with `skillfold-bench` and `skillfold`. Both builds run every benchmark, one right after the
other, and each figure is the lowest of all rounds, of rates (`_rps`) the highest: noise only makes it worse. The build
that goes first changes with each round: with two cores of unequal speed, the kernel tends to start every other process
on the same core. The last line is JSON.
"""

import argparse
import json
import pathlib
import subprocess

BENCHES = {
    "discover": "discover --skills 5000 --corpus {corpus} --runs 5",
    "catalog": "catalog --skills 10000 --refreshes 20",
    "load": "load --skills 1000 --corpus {corpus}",
    "match": "match --skills 1000",
    "search": "search --data {data} --pool 10000 --method default --no-baseline --no-metatool",
    "mcp": "mcp --clients 50 --seconds 3 --skillfold {folder}/skillfold",
}


def numbers(value, name=""):
    """Yields every number of a JSON value with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield name, float(value)


def run(folder, command):
    """Returns the figures that one benchmark of a build prints."""
    output = subprocess.run([folder / "skillfold-bench", *command], check=True, capture_output=True, text=True).stdout
    return dict(numbers(json.loads(output.splitlines()[-1])))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    arguments = parser.parse_intermixed_args()
    unknown = set(arguments.names) - set(BENCHES)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    table = {}
    for name in arguments.names or BENCHES:
        builds = [arguments.before, arguments.after]
        runs = {folder: [] for folder in builds}
        for number in range(arguments.rounds):
            for folder in builds if number % 2 == 0 else reversed(builds):
                fill = {"corpus": arguments.corpus, "data": arguments.data, "folder": folder}
                runs[folder].append(run(folder, [word.format(**fill) for word in BENCHES[name].split()]))
        for figure in set.intersection(*(set(figures) for folder in builds for figures in runs[folder])):
            best = max if figure.endswith("_rps") else min
            before, after = (best(figures[figure] for figures in runs[folder]) for folder in builds)
            table[f"{name} {figure}"] = {"before": before, "after": after}
        for figure in sorted(figure for figure in table if figure.startswith(f"{name} ")):
            before, after = table[figure].values()
            ratio = f"{after / before:6.2f}" if before else "     -"
            print(f"{figure:48} {before:12.4g} {after:12.4g} {ratio}", flush=True)
    print(json.dumps(table))


if __name__ == "__main__":
    main()
