# /// script
# requires-python = ">=3.10"
# dependencies = ["openpyxl>=3.1"]
# ///
"""Summarizes the sheets of an Excel workbook."""

import argparse

from openpyxl import load_workbook

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file")
options = parser.parse_args()

for sheet in load_workbook(options.file, read_only=True, data_only=True).worksheets:
    rows = list(sheet.iter_rows(values_only=True))
    print(f"{sheet.title}: {max(len(rows) - 1, 0)} rows")
    for index, title in enumerate(rows[0] if rows else []):
        values = [row[index] for row in rows[1:] if index < len(row)]
        numbers = [value for value in values if isinstance(value, (int, float))]
        if numbers:
            print(f"  {title}: sum {sum(numbers):g}, {min(numbers):g} to {max(numbers):g}")
        else:
            print(f"  {title}: {len({value for value in values if value is not None})} different values")
