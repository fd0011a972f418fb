"""The older programs, built from the repository's history."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Each older program: its name, the commit that it is built from, the version that it gets, and what the commit is. With one version for
# two commits, cargo would take what it built of one for the other.
RC1 = "rc.1"
LOCK = "lock"
COMMITS = {
    RC1: ("c4b6af01", "0.1.0-rc.1", "the last one before one list of skills: the formats 1 of the log, the allowances and the passphrase"),
    LOCK: ("2a6a2b2a", "0.1.0-rc.2", "the last one of skills from sources: the first `skills.toml` and `skills.lock`"),
}


def older_program(name: str, cache: Path) -> Path:
    """Return an older program, which is built if the cache folder does not have it."""
    commit, version, what = COMMITS[name]
    program = cache.resolve() / f"skillfold-{commit}"
    if program.exists():
        return program
    git = ["git", "-C", str(ROOT)]
    if subprocess.run([*git, "cat-file", "-e", f"{commit}^{{commit}}"], capture_output=True, check=False).returncode:
        raise SystemExit(f"The history of this checkout does not reach {commit} ({what}). Fetch all of it: git fetch --unshallow")
    print(f"builds {commit}, {what}", flush=True)
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="skillfold-") as folder:
        source = Path(folder)
        with subprocess.Popen([*git, "archive", commit], stdout=subprocess.PIPE) as archive:
            with tarfile.open(fileobj=archive.stdout, mode="r|") as tar:
                tar.extractall(source, filter="data")
        set_version(source / "Cargo.toml", version)
        # Both share their dependencies.
        target = cache.resolve() / "target"
        environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "0"}
        build = ["cargo", "build", "--quiet", "--profile", "smoke", "-p", "skillfold-cli"]
        subprocess.run(build, cwd=source, env=environment, check=True)
        shutil.copy2(target / "smoke" / "skillfold", program)
    return program


def set_version(manifest: Path, version: str) -> None:
    """Set the version of all crates, as a release does."""
    text = re.sub(r'(?m)^version = "0\.1\.0"$', f'version = "{version}"', manifest.read_text())
    manifest.write_text(text.replace('version = "0.1.0" }', f'version = "{version}" }}'))
