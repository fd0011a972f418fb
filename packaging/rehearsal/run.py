#!/usr/bin/env python3
"""Rehearses a release: makes everything that is published, publishes it to real registries on the loopback, and installs from each.

    packaging/rehearsal/run.py                   everything, from the last commit
    packaging/rehearsal/run.py pypi npm          these ways, with the artifacts that are there already
    packaging/rehearsal/run.py make              the artifacts alone
    packaging/rehearsal/run.py tampering         what changed artifacts do to each way

The release is made in a clone, in CACHE/release: the version and the date are set and committed there, `packaging/release.py` checks
and tags it, and the scripts of packaging/ build, pack and sign, with keys made for the rehearsal. Then each way to install is taken in
a system of Debian without Rust, on whose network there is nothing but that registry, with the commands that README.md and
docs/install.md print. Prints a table, and a JSON object as the last line.

`--quick` leaves out the final optimizations of everything but the command for this system. Needs root, and of Debian what `--programs` lists; what is missing there it installs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import clean_root
import tampering
from tools import PROGRAMS, install_programs, install_tools
from ways import WAYS, Release, Row, Timer

ROOT = Path(__file__).parents[2]
TARGETS = ("x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl", "x86_64-pc-windows-gnu")
# What this machine's own ways take; packaging/wheels.sh and npm.sh build for the others as well.
LIBRARIES = ("x86_64-unknown-linux-gnu",)
# Without the final optimizations, as in the profile `smoke`.
QUICK = {"PROFILE": "smoke", "CARGO_PROFILE_RELEASE_LTO": "off", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16"}
# The address that the artifacts name; nothing is there.
REPOSITORY = "https://example.com/skillfold"


def git(folder: Path, *words: str) -> str:
    author = ("-c", "user.name=rehearsal", "-c", "user.email=rehearsal@example.com")
    return subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def make_keys(folder: Path, tools: Path) -> dict[str, str]:
    """Make the keys of the rehearsal: of cosign for everything, of gpg for apt."""
    if not (folder / "cosign.key").exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment = os.environ | {"COSIGN_PASSWORD": "rehearsal"}
        subprocess.run([tools / "bin/cosign", "generate-key-pair"], cwd=folder, check=True, capture_output=True, env=environment)
        words = ["gpg", "--batch", "--passphrase", "", "--quick-generate-key", "rehearsal@example.com", "ed25519", "sign", "never"]
        subprocess.run(words, check=True, capture_output=True, env=os.environ | {"GNUPGHOME": str(folder)})
    words = ["gpg", "--list-keys", "--with-colons", "rehearsal@example.com"]
    listed = subprocess.run(words, check=True, capture_output=True, text=True, env=os.environ | {"GNUPGHOME": str(folder)})
    fingerprint = next(line.split(":")[9] for line in listed.stdout.splitlines() if line.startswith("fpr"))
    key = (folder / "cosign.key").read_text()
    return {"COSIGN_PRIVATE_KEY": key, "COSIGN_PASSWORD": "rehearsal", "GNUPGHOME": str(folder), "APT_KEY": fingerprint}


def tag(source: Path, keys: Path, version: str, checks: list[str]) -> None:
    """Make the commit and the tag of the release in a clone."""
    shutil.rmtree(source, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", ROOT, source], check=True)
    release = source / "packaging/release.py"
    subprocess.run([release, version, "--set"], check=True)
    shutil.copy2(keys / "cosign.pub", source / "packaging/release.pub")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message", f"release: {version}")
    subprocess.run([release, version, *checks], check=True)
    if checks:
        git(source, "tag", "--annotate", f"v{version}", "--message", f"Skillfold {version}")


def make(release: Release, row: Row, targets: list[str], quick: dict[str, str]) -> None:
    """Build, pack and sign everything, each artifact by the script that the workflow runs too."""
    target = os.environ.get("CARGO_TARGET_DIR", str(release.tools.parent / "target"))
    whole = {name: value for name, value in os.environ.items() if name not in QUICK}
    environment = whole | release.keys | {"REPOSITORY": REPOSITORY, "PACKED": "dist", "CARGO_TARGET_DIR": target}
    logs = release.source.parent / "logs"
    logs.mkdir(exist_ok=True)

    def step(name: str, *words: str, **variables: str) -> None:
        with Timer(row, name), (logs / name).open("w") as log:
            options = {"cwd": release.source, "stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            done = subprocess.run([f"packaging/{words[0]}", *words[1:]], env=environment | variables, check=False, **options)
        if done.returncode:
            raise clean_root.Failed(f"packaging/{' '.join(words)}: see {logs / name}")
        print(f"made: {name}, {row.seconds[name]:.0f} s", flush=True)

    linux = [name for name in targets if "linux" in name]
    for name in targets:
        step(f"archive {name}", "archive.sh", name, **({} if name == TARGETS[0] else quick))
    for name in linux:
        step(f"packages {name}", "packages.sh", name)
    step("image", "image.sh", *linux)
    step("wheels", "wheels.sh", *LIBRARIES, **quick)
    step("npm", "npm.sh", *LIBRARIES, **quick)
    step("materials", "materials.sh")
    step("sign", "sign.sh")


def table(rows: list[Row]) -> None:
    parts = ("publish", "install", "README", "program")
    print(f"\n{'way':8} {'publish':>9} {'install':>9} {'README':>9} {'program':>9} {'MB':>7}  result")
    for row in rows:
        cells = " ".join(f"{row.seconds[part]:7.1f} s" if part in row.seconds else " " * 9 for part in parts)
        print(f"{row.way:8} {cells} {row.downloaded / 1e6:7.1f}  {row.failed.splitlines()[0] if row.failed else 'passed'}; {row.doctor}")


def sizes(release: Release) -> dict[str, int]:
    found = {file.name: file.stat().st_size for file in sorted(release.files.iterdir())}
    print("\nartifact, bytes")
    for name, size in found.items():
        print(f"{size:12,}  {name}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"make, {', '.join(WAYS)}, tampering; all of them unless some are named", metavar="PART")
    parser.add_argument("--version", default="0.1.0")
    parser.add_argument("--cache", type=Path, default=Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "skillfold-rehearsal"))
    parser.add_argument("--targets", nargs="*", default=TARGETS, help="archives for these systems alone")
    parser.add_argument("--checks", nargs="*", default=[], help="only these checks of packaging/release.py, before the tag")
    parser.add_argument("--quick", action="store_true", help="without the final optimizations, but for the command of this system")
    parser.add_argument("--programs", action="store_true", help="list the programs of the system that it needs")
    chosen = parser.parse_args()
    if chosen.programs:
        print(*(f"{name} ({package})" for name, package in PROGRAMS.items()), sep="\n")
        return
    unknown = set(chosen.parts) - {"make", *WAYS, "tampering"}
    if unknown:
        sys.exit(f"error: unknown: {', '.join(unknown)}; the parts are make, {', '.join(WAYS)}, tampering")
    if os.geteuid() != 0:
        sys.exit("error: a clean system is made by root; run it as root, or in a virtual machine")
    if "REHEARSAL_MOUNTS" not in os.environ:
        # What it mounts is gone when it ends, however that happens.
        os.environ["REHEARSAL_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", "--", sys.executable, *sys.argv])
    rehearse(chosen)


def rehearse(chosen: argparse.Namespace) -> None:
    start = time.monotonic()
    if chosen.quick:
        os.environ |= QUICK
    cache = chosen.cache.resolve()
    install_programs()
    install_tools(cache / "tools")
    os.environ["PATH"] = f"{cache}/tools/bin:{cache}/tools/npm/node_modules/node/bin:{os.environ['PATH']}"
    place = cache / "release"
    source = place / "source"
    keys = make_keys(cache / "keys", cache / "tools")
    release = Release(source, chosen.version, cache / "tools", clean_root.make(cache), keys)
    rows, made, changed = [], Row("make"), {}
    parts = chosen.parts or ["make", *WAYS, "tampering"]
    failed = False
    if "make" in parts:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        tag(source, cache / "keys", chosen.version, chosen.checks)
        make(release, made, chosen.targets, QUICK if chosen.quick else {})
    for name in WAYS:
        if name not in parts:
            continue
        row = Row(name)
        rows.append(row)
        try:
            WAYS[name](release, row)
        except (clean_root.Failed, subprocess.CalledProcessError) as why:
            row.failed = f"FAILED: {why}" + (f"\n{why.stderr}" if isinstance(why, subprocess.CalledProcessError) else "")
            print(row.failed, flush=True)
        print(f"{'failed' if row.failed else 'passed'}: {name}", flush=True)
    if "tampering" in parts:
        changed = tampering.run(release)
        failed = bool(changed["installed by the script"])
    table(rows)
    found = sizes(release)
    failed = failed or any(row.failed for row in rows)
    commit = git(source, "rev-parse", "--short", "HEAD~1")
    ways = {row.way: {"passed": not row.failed, "seconds": row.seconds, "bytes": row.downloaded, "doctor": row.doctor} for row in rows}
    said = {"commit": commit, "version": chosen.version, "quick": chosen.quick, "seconds": round(time.monotonic() - start)}
    print(json.dumps(said | {"made": made.seconds, "ways": ways, "tampering": changed, "bytes": found}))
    sys.exit(failed)


if __name__ == "__main__":
    main()
