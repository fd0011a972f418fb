"""Sums one column of a CSV file for each value of another."""

import argparse
import csv
from collections import defaultdict

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file")
parser.add_argument("--by", metavar="COLUMN")
parser.add_argument("--sum", metavar="COLUMN")
parser.add_argument("--out", metavar="FILE", help="also write a Markdown table")
options = parser.parse_args()

with open(options.file, newline="", encoding="utf-8-sig") as file:
    rows = list(csv.DictReader(file))
if not options.by or not options.sum:
    print("Columns:", ", ".join(rows[0]) if rows else "none")
    raise SystemExit

totals: dict[str, float] = defaultdict(float)
for row in rows:
    totals[row[options.by]] += float(row[options.sum] or 0)
lines = [f"| {options.by} | {options.sum} |", "|---|--:|"]
lines += [f"| {key} | {value:g} |" for key, value in sorted(totals.items(), key=lambda item: -item[1])]
print("\n".join(lines))
if options.out:
    with open(options.out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
