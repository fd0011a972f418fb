#!/usr/bin/env python3
"""Git repositories that attack who installs from them: a named list, `HOSTILE`, that says what is wrong with each.

    python3 conformance/registry/hostile.py --check

Each has the sound skill `skills/good`, if it has skills at all, and most have what is wrong in `skills/bad`. Attacks that run
commands would create a file that the caller names. `--check` builds all, clones them over HTTP with the system's git, and
says which arrive; `servers.py` also serves the packs that git itself would not send.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import subprocess
import tempfile
import time
from pathlib import Path

# These fill the list.
import attack_contents  # noqa: F401
import attack_files  # noqa: F401
import attack_history  # noqa: F401
import attack_trees  # noqa: F401
import repositories
from attacks import HOSTILE, Hostile

__all__ = ["HOSTILE", "Hostile"]


def check() -> None:
    """Clone all over HTTP, without a checkout, and print what became of them."""
    from servers import GitHttp

    names = collections.Counter(hostile.name.casefold() for hostile in HOSTILE)
    if twice := [name for name, count in names.items() if count > 1]:
        raise SystemExit(f"not so: each name is there once: {twice}")
    with tempfile.TemporaryDirectory(prefix="skillfold-check-") as temporary:
        folder = Path(temporary)
        mark = folder / "mark"
        start = time.perf_counter()
        small = [hostile for hostile in HOSTILE if not hostile.is_large]
        paths = {hostile: hostile.build(folder / "all", mark) for hostile in small}
        print(f"{len(small)} of {len(HOSTILE)} built in {time.perf_counter() - start:.1f} s, without the large ones")
        with GitHttp(folder / "all") as http, concurrent.futures.ThreadPoolExecutor(2) as threads:

            def clone(hostile: Hostile) -> str:
                command = ["git", "clone", "-q", "--bare", "--template=", http.url(hostile.name), folder / "clones" / hostile.name]
                done = subprocess.run(command, env=repositories.environment(), capture_output=True, text=True, errors="replace")
                if hostile.group == "refs" and (unseen := refs_of(paths[hostile]) - refs_of(command[-1])):
                    return f"refs that did not arrive: {unseen}"
                return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no message"])[0]

            refused = {hostile: error for hostile, error in zip(small, threads.map(clone, small)) if error}
        for group in dict.fromkeys(hostile.group for hostile in HOSTILE):
            ours = [hostile for hostile in small if hostile.group == group]
            print(f"{group}: {len(ours)}, of which a bare clone gets {sum(hostile not in refused for hostile in ours)}")
        for hostile, error in refused.items():
            print(f"  no clone: {hostile.name}: {error[:110]!r}")
        print(f"the mark exists: {mark.exists()}")


def refs_of(path: Path) -> set[bytes]:
    """Return the branches and tags of a repository that has not changed since it was written or cloned."""
    lines = (path / "packed-refs").read_bytes().splitlines() if (path / "packed-refs").exists() else []
    return {line[41:] for line in lines if line[41:].startswith((b"refs/heads/", b"refs/tags/"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", required=True, help="build and clone all")
    parser.parse_args()
    check()


if __name__ == "__main__":
    main()
