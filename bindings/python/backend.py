"""Builds the wheel: the command first, then everything else by maturin.

maturin packs either a library or a program. The wheel has both, so this puts the command where maturin takes files for
`bin` from. `SKILLFOLD_COMMAND` names a command that is built already, such as for another system.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import maturin
from maturin import (
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

SCRIPTS = Path("bindings/python/skillfold.data/scripts")
PROGRAM = "skillfold.exe" if sys.platform == "win32" else "skillfold"


def build_wheel(*arguments: Any) -> str:  # noqa: ANN401
    """Build the command, and the wheel around it."""
    place_command()
    return maturin.build_wheel(*arguments)


def build_editable(*arguments: Any) -> str:  # noqa: ANN401
    """Build the command, and a wheel that refers to the sources."""
    place_command()
    return maturin.build_editable(*arguments)


def build_sdist(*arguments: Any) -> str:  # noqa: ANN401
    """Build the source distribution."""
    make_folder()
    return maturin.build_sdist(*arguments)


def prepare_metadata_for_build_wheel(*arguments: Any) -> str:  # noqa: ANN401
    """Write the metadata of the wheel."""
    make_folder()
    return maturin.prepare_metadata_for_build_wheel(*arguments)


def prepare_metadata_for_build_editable(*arguments: Any) -> str:  # noqa: ANN401
    """Write the metadata of a wheel that refers to the sources."""
    make_folder()
    return maturin.prepare_metadata_for_build_editable(*arguments)


def make_folder() -> None:
    """Make the folder of the command: maturin wants it to exist, whatever it does."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)


def place_command() -> None:
    """Put the command into the folder whose files go to `bin`."""
    command = os.environ.get("SKILLFOLD_COMMAND") or build_command()
    shutil.rmtree(SCRIPTS, ignore_errors=True)
    make_folder()
    shutil.copy2(command, SCRIPTS / Path(command).name)


def build_command() -> str:
    """Build the command with the profile of the wheel, and return its path."""
    profile = os.environ.get("SKILLFOLD_PROFILE", "release")
    manifest = "crates/skillfold-cli/Cargo.toml"
    subprocess.run(  # noqa: S603
        ["cargo", "build", "--locked", "--profile", profile, "--manifest-path", manifest],  # noqa: S607
        check=True,
    )
    metadata = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--manifest-path", manifest]
    found = json.loads(subprocess.run(metadata, check=True, capture_output=True).stdout)  # noqa: S603
    return str(Path(found["target_directory"]) / profile / PROGRAM)
