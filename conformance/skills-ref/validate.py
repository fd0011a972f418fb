"""Judges skills with the reference validator of the specification (PyPI: skills-ref).

Reads a JSON object with `folder` and `text` per line, writes the list of the validator's errors per line.
"""

import json
import sys
import tempfile
from pathlib import Path

from skills_ref.validator import validate


def main() -> None:
    with tempfile.TemporaryDirectory() as root:
        for number, line in enumerate(sys.stdin):
            skill = json.loads(line)
            folder = Path(root) / str(number) / skill["folder"]
            folder.mkdir(parents=True)
            (folder / "SKILL.md").write_text(skill["text"], encoding="utf-8", newline="")
            try:
                errors = [str(error) for error in validate(folder)]
            except Exception as error:  # A validator that fails has no verdict; the text says so.
                errors = [f"crash: {error!r}"]
            print(json.dumps(errors), flush=False)
            (folder / "SKILL.md").unlink()


main()
