#!/usr/bin/env python3
"""Tests what installs skills from sources, from end to end: real servers, a real terminal, real clients, and real faults.

    python3 conformance/registry/run.py --skillfold target/release/skillfold [--part F] [--only NAME]... [--release]

Each group is a file of this folder and says what it tries. `--part 1`, the default, is the long form; `--part 0.06` is the short
one for CI. With `--release`, figures of cost are held to their limits. One line per check; the last line is one JSON object; the
exit code is 1 if anything failed. Needs Linux, and what `servers.py` needs; `strace`, `unshare`, Node and npm make it complete,
and where they are missing a line says what was left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from checks import Checks
from processes import install

GROUPS = ("restore", "tampering", "hostile_sources", "hostile_archives", "writers", "kills", "edits", "network", "in_clients", "verifies", "cost")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skillfold", type=Path, required=True, help="the command to test")
    parser.add_argument("--part", type=float, default=1.0, help="how much of the long form runs")
    parser.add_argument("--only", choices=GROUPS, action="append", help="run this group; can be repeated")
    parser.add_argument("--release", action="store_true", help="hold the figures of cost to their limits")
    parser.add_argument("--baseline", type=Path, help="an older command: others may not start more slowly than its")
    parser.add_argument("--keep", type=Path, help="work in this folder, and keep it")
    options = parser.parse_args()
    if missing := install():
        print(f"left out: all, since {', '.join(missing)} cannot be installed here")
        return 1
    results, start = {}, time.monotonic()
    for name in options.only or GROUPS:
        checks = Checks(name, options.part)
        checks.is_release, checks.baseline = options.release, options.baseline
        with tempfile.TemporaryDirectory(prefix="skillfold-", ignore_cleanup_errors=True, dir=options.keep) as temporary:
            # Whoever replaces the command meanwhile does not change what is tested.
            binary = Path(shutil.copy2(options.skillfold.resolve(), temporary))
            try:
                importlib.import_module(name).run(checks, binary, Path(temporary))
            except Exception:  # noqa: BLE001
                checks.check("The tests of this group run to their end", False, traceback.format_exc())
        results[name] = checks.result()
    failed = sum(len(result["failed"]) for result in results.values())
    print(json.dumps({"part": options.part, "failed": failed, "seconds": round(time.monotonic() - start, 1), "groups": results}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
