"""The two libraries that the tests of this folder compare."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("skillkit")

from compat.pair import Write, library, without_faults, write_skill


@pytest.fixture(scope="session")
def theirs() -> Any:
    return library("skillkit")


@pytest.fixture(scope="session")
def ours() -> Any:
    return library("skillfold.compat.skillkit")


@pytest.fixture(scope="session", params=["skillkit", "skillfold.compat.skillkit"], ids=["theirs", "ours"])
def either(request: pytest.FixtureRequest) -> Any:
    """Both, one after the other: what is tested with it is the same in both."""
    return library(request.param)


@pytest.fixture(scope="session")
def write() -> Write:
    return write_skill


@pytest.fixture(scope="session")
def corrected() -> Callable[[str], str]:
    return without_faults


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of skills that were not changed for two seconds, so that the engine's cache takes them."""
    folder = tmp_path_factory.mktemp("settled")
    write_skill(folder, "greet", "Greet $ARGUMENTS.\n")
    write_skill(folder, "bye", "Say good-bye.\n")
    time.sleep(2.2)
    return folder
