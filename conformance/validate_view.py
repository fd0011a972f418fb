"""Validates the answers of all cases by the schema of the view, with a validator that is not ours.

Usage: python validate_view.py SCHEMA CASES
"""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator

schema = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)

answers = sorted(pathlib.Path(sys.argv[2]).glob("*/expected.json"))
if not answers:
    sys.exit("no cases")
wrong = 0
for path in answers:
    for error in validator.iter_errors(json.loads(path.read_text(encoding="utf-8"))):
        wrong += 1
        print(f"{path}: {error.json_path}: {error.message}")
print(json.dumps({"answers": len(answers), "wrong": wrong}))
sys.exit(1 if wrong else 0)
