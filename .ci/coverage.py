"""Counts the covered lines of folders in an lcov file, and fails below a share.

Usage: coverage.py LCOV LEAST FOLDER...

Lines from `#[cfg(test)]` on are not counted: tests always run themselves.
"""

import sys
from pathlib import Path


def files(lcov):
    """Yields each source file with its lines and how often each ran."""
    path, lines = None, {}
    for row in lcov.read_text(encoding="utf-8").splitlines():
        kind, _, value = row.partition(":")
        if kind == "SF":
            path, lines = Path(value), {}
        elif kind == "DA":
            number, count = value.split(",")[:2]
            lines[int(number)] = int(count)
        elif row == "end_of_record":
            yield path, lines


def product_lines(path, lines):
    """Returns the lines before the tests of a file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() == "#[cfg(test)]":
            return {at: count for at, count in lines.items() if at < number}
    return lines


def main():
    lcov, least, folders = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    found = list(files(lcov))
    fails = False
    for folder in folders:
        covered = total = 0
        for path, lines in found:
            if folder not in path.as_posix():
                continue
            lines = product_lines(path, lines)
            missed = sorted(at for at, count in lines.items() if count == 0)
            covered += len(lines) - len(missed)
            total += len(lines)
            if missed:
                print(f"{folder}/{path.name}: not run: {', '.join(map(str, missed))}")
        share = 100 * covered / total if total else 0.0
        fails |= share < least
        print(f"{folder}: {covered} of {total} lines, {share:.1f} % (at least {least:g} %)")
    sys.exit("too little is covered" if fails else 0)


main()
