"""Attacks the real `skillfold`, and counts what did not hold.

    python3 conformance/attack/run.py --skillfold target/release/skillfold [--part 0.1] [--only NAME] [--corpus FILE.jsonl.zst]

docs/testing.md says what each row tries and what must hold. `--part 1` is the long form; a tenth is the default. With a
corpus (which needs `zstd`) the rows of the search index use real skills. The last line is one JSON object; the exit code is 1
if anything failed. It needs Linux and nothing but the standard library of Python; `faketime` and the right to mount make two
rows sharper: where they are missing, the row says what it did instead.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import sys
import tempfile
import time

import allowances
import escapes
import forged
import grants
import index
import logfill
import memory
import oracle
import packages
import paths
import pins
import review
import rpc
import smuggle
import soak
import system
import undo
import untrusted
import widen
from ground import Ground, Row

ROWS = {
    "rpc": ("malformed JSON-RPC", rpc.attack),
    "paths": ("path tricks, FIFO, device, link", paths.attack),
    "untrusted": ("untrusted project to a model", untrusted.attack),
    "oracle": ("hidden skills told from absent ones", oracle.attack),
    "pins": ("pinned bytes that change", pins.attack),
    "widen": ("project settings widening", widen.attack),
    "undo": ("setup and undo", undo.attack),
    "escapes": ("terminal escapes", escapes.attack),
    "forged": ("forged listing lines", forged.attack),
    "damage": ("index damaged at rest", index.damage),
    "kill": ("kill -9 during an index build", index.kill),
    "clock": ("clock from 1970 to 2262", system.clock),
    "disk": ("full disk", system.disk),
    "smuggle": ("HTTP smuggling", smuggle.attack),
    "grants": ("grants by links, of secrets", grants.attack),
    "allowances": ("runs that nobody allowed", allowances.attack),
    "packages": ("packages from elsewhere", packages.attack),
    "memory": ("memory of the server", memory.attack),
    "logfill": ("repeated proposals", logfill.attack),
    "review": ("proposals that hide", review.attack),
    "soak": ("soak", soak.attack),
}


def seconds():
    """Returns the CPU seconds of this process and of all that it waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skillfold", required=True)
    parser.add_argument("--corpus")
    parser.add_argument("--part", type=float, default=0.1)
    parser.add_argument("--only", choices=ROWS, action="append")
    options = parser.parse_args()
    # Some rows act as another user, who may not enter the folder that it was built in.
    place = tempfile.TemporaryDirectory()
    os.chmod(place.name, 0o755)
    binary = shutil.copy2(pathlib.Path(options.skillfold).resolve(), place.name)
    rows = {}
    print(f"{'row':<36} {'tries':>8} {'failed':>6}")
    for name in options.only or ROWS:
        title, attack = ROWS[name]
        row, start, used = Row(name, options.part), time.monotonic(), seconds()
        with tempfile.TemporaryDirectory() as folder:
            note = attack(row, Ground(binary, folder), options.corpus)
        row.control(row.tries > 0, "the row tried something")
        rows[name] = {"tries": row.tries, "failed": row.failed, "cpu": round(seconds() - used, 1)}
        rows[name].update(seconds=round(time.monotonic() - start, 1), **({"note": note} if note else {}))
        print(f"{title:<36} {row.tries:>8} {row.failed:>6}  {note or ''}".rstrip(), flush=True)
    failed = sum(row["failed"] for row in rows.values())
    print(json.dumps({"part": options.part, "failed": failed, "cpu": round(seconds(), 1), "rows": rows}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
