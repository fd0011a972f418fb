#!/usr/bin/env python3
"""Runs the benchmarks of two builds by turns and prints their figures side by side.

    python3 bench/compare.py BEFORE AFTER --corpus CORPUS --data REQUESTS [--rounds 3] [NAME...]

BEFORE and AFTER are folders with `skillfold-bench` and `skillfold`. Both builds run every benchmark, one right after the
other, and each figure is the best of all rounds: the noise of a shared machine only ever adds. The last line is JSON.
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
    words = [word.format(folder=folder, **ARGUMENTS) for word in command.split()]
    output = subprocess.run([folder / "skillfold-bench", *words], check=True, capture_output=True, text=True).stdout
    return dict(numbers(json.loads(output.splitlines()[-1])))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    arguments = parser.parse_intermixed_args()
    ARGUMENTS.update(corpus=arguments.corpus, data=arguments.data)
    table = {}
    for name in arguments.names or BENCHES:
        command = BENCHES[name]
        rounds = [(run(arguments.before, command), run(arguments.after, command)) for _ in range(arguments.rounds)]
        for figure in rounds[0][0]:
            before = [one[figure] for one, _ in rounds if figure in one]
            after = [other[figure] for _, other in rounds if figure in other]
            if before and after:
                table[f"{name} {figure}"] = (min(before), min(after))
                print_row(f"{name} {figure}", min(before), min(after))
    print(json.dumps({name: {"before": before, "after": after} for name, (before, after) in table.items()}))


def print_row(name, before, after):
    ratio = f"{after / before:6.2f}" if before else "     -"
    print(f"{name:48} {before:12.4g} {after:12.4g} {ratio}", flush=True)


ARGUMENTS = {}

if __name__ == "__main__":
    main()
