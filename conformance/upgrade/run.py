#!/usr/bin/env python3
"""An upgrade from older programs, and back: nothing is lost, and each refusal is as docs/formats.md says.

    conformance/upgrade/run.py --cache FOLDER --new target/release/skillfold
    conformance/upgrade/run.py --old SKILLFOLD_RC1 --lock SKILLFOLD_LOCK --new target/release/skillfold

Two users, each with an empty home and the program at `~/.local/bin/skillfold`, which an update replaces by a rename:

- One has 0.1.0-rc.1 (`rc1.py`): settings, trust, held skills, a passphrase, proposals, a skill that runs, an index, a hook and a
  server in three clients. Then 0.1.0 over it, then 0.1.0-rc.1 again, then 0.1.0 again.
- One has the first program with `skills.lock` (`lock.py`): skills from a folder, an archive and a repository. Then the same.

Before and after every command all files of the home are compared, and each difference is judged by the row of docs/formats.md that
names the file (`rows.py`). A row that is not checked in a direction, a file that no row names, and a row that the page does not have
are failures. Prints a table; the last line is one JSON object; the exit code is 1 if anything failed.

`--cache` builds the older programs from this repository's history (`build.py`), once; that takes minutes each. Needs Linux, tmux and git.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import lock
import rc1
from build import LOCK, RC1, older_program
from home import Findings
from rows import NEW, ROWS, page_rows

DIRECTIONS = [(f"{RC1} → {NEW}", f"{NEW} → {RC1}"), (f"{LOCK} → {NEW}", f"{NEW} → {LOCK}")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new", type=Path, required=True, help="the command to upgrade to")
    parser.add_argument("--old", type=Path, help="the command as 0.1.0-rc.1")
    parser.add_argument("--lock", type=Path, help="the command that first wrote skills.lock")
    parser.add_argument("--cache", type=Path, help="build the older commands into this folder, if it does not have them")
    parser.add_argument("--only", choices=[RC1, LOCK], help="run one of the two")
    parser.add_argument("--keep", action="store_true", help="keep the homes")
    options = parser.parse_args()
    older = {RC1: options.old, LOCK: options.lock}
    for name, program in older.items():
        if program is None:
            if options.cache is None:
                parser.error("name the older commands, or a folder for them with --cache")
            older[name] = older_program(name, options.cache)
    start, findings = time.monotonic(), Findings()
    with tempfile.TemporaryDirectory(prefix="skillfold-") as folder:
        # Whoever builds meanwhile does not change what is tested.
        new = Path(folder) / "skillfold"
        new.write_bytes(options.new.read_bytes())
        new.chmod(0o755)
        for name, journey in ((RC1, rc1.journey), (LOCK, lock.journey)):
            if options.only in (None, name):
                journey(findings, older[name].resolve(), new, options.keep)
    return report(findings, options.only, time.monotonic() - start)


def report(findings: Findings, only: str | None, seconds: float) -> int:
    """Print the table and the counts."""
    named = {row.name for row in ROWS}
    for name in sorted(named ^ set(page_rows())):
        findings.check(name, "the page", "docs/formats.md and rows.py have the same rows", False)
    unchecked = []
    print("| row | the new program on older files | the older program on newer files | verdict |\n|---|---|---|---|")
    for row in ROWS:
        seen = [list(dict.fromkeys(what for pair in DIRECTIONS for what in findings.seen[row.name, pair[side]])) for side in (0, 1)]
        failed = [what for (name, _), found in findings.failed.items() if name == row.name for what in found]
        if not all(seen) and not only:
            unchecked.append(row.name)
        verdict = f"failed: {'; '.join(failed)}" if failed else "holds" if all(seen) else "not checked"
        print(f"| {row.name} | {'; '.join(seen[0])} | {'; '.join(seen[1])} | {verdict} |")
    failures = sum(map(len, findings.failed.values()))
    print(json.dumps({
        "rows": len(ROWS), "checks": findings.checks, "commands": findings.commands, "failed": failures, "unchecked": unchecked,
        "seconds": round(seconds, 1),
    }, ensure_ascii=False))
    return 1 if failures or unchecked else 0


if __name__ == "__main__":
    sys.exit(main())
