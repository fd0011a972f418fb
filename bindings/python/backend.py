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

from maturin import (
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)
from maturin import build_sdist as build_sdist_of_sources
from maturin import build_wheel as build_wheel_of_library

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


def build_wheel(wheel_directory: str, config_settings: dict[str, Any] | None = None, *rest: Any) -> str:  # noqa: ANN401
    """Build the command, and the wheel around it."""
    place_command()
    return build_wheel_of_library(wheel_directory, config_settings, *rest)


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """Build the source distribution. maturin wants the folder of the command to exist; it stays empty."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    return build_sdist_of_sources(sdist_directory, config_settings)


def place_command() -> None:
    """Put the command into the folder whose files go to `bin`."""
    command = os.environ.get("SKILLFOLD_COMMAND") or build_command()
    shutil.rmtree(SCRIPTS, ignore_errors=True)
    SCRIPTS.mkdir(parents=True)
    shutil.copy2(command, SCRIPTS / Path(command).name)


def build_command() -> str:
    """Build the command with the profile of the wheel, and return its path."""
    profile = os.environ.get("SKILLFOLD_PROFILE", "dist")
    manifest = "crates/skillfold-cli/Cargo.toml"
    subprocess.run(  # noqa: S603
        ["cargo", "build", "--locked", "--profile", profile, "--manifest-path", manifest],  # noqa: S607
        check=True,
    )
    metadata = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--manifest-path", manifest]
    found = json.loads(subprocess.run(metadata, check=True, capture_output=True).stdout)  # noqa: S603
    return str(Path(found["target_directory"]) / profile / PROGRAM)
