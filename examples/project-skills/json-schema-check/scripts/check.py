# /// script
# requires-python = ">=3.10"
# dependencies = ["jsonschema>=4.23"]
# ///
"""Checks JSON files against a JSON Schema."""

import argparse
import json

from jsonschema import Draft202012Validator

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("schema", type=argparse.FileType())
parser.add_argument("files", nargs="+", type=argparse.FileType())
options = parser.parse_args()

validator = Draft202012Validator(json.load(options.schema))
violations = 0
for file in options.files:
    for error in sorted(validator.iter_errors(json.load(file)), key=lambda error: error.json_path):
        violations += 1
        print(f"{file.name}: {error.json_path}: {error.message}")
print(f"{len(options.files)} files, {violations} violations")
raise SystemExit(1 if violations else 0)
