"""The libraries that are compared, and the program that measures one of them in a process of its own.

python libraries.py LIBRARY FOLDER SCRATCH [--accepted]

Prints one JSON object with the figures, or with `--accepted` the names of the skills that the library accepts.
`SCRATCH` is the home of skillfold, and has its cache.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import resource
import statistics
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

# Less than the 100 texts that skillkit caches.
_LOADED = 50
_REPEATS = 200
_MAX_SECONDS = 0.5


class Library(ABC):
    """A library for skills. Its constructor imports it, and nothing else."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        """Import the library."""
        self.folder, self.scratch = folder, scratch
        self.import_library()

    @abstractmethod
    def import_library(self) -> None:
        """Import what the other methods use."""

    @abstractmethod
    def discover(self) -> None:
        """Find all skills, and read their metadata."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the skills that were found."""

    def refresh(self) -> None:
        """See what changed since the discovery. Most libraries have nothing for this but another discovery."""
        self.discover()

    def accepted(self) -> list[str]:
        """Return the names of the skills that the library has no objection to."""
        self.discover()
        return self.names()

    def load(self, names: list[str]) -> None:
        """Load the instructions of each of the skills, as text."""
        raise NotImplementedError


class Skillfold(Library):
    """skillfold, which reads every file."""

    has_cache = False

    def import_library(self) -> None:  # noqa: D102
        import skillfold  # noqa: PLC0415

        self._Skills = skillfold.Skills

    def discover(self) -> None:  # noqa: D102
        self.skills = self._Skills.discover(
            self.scratch,
            roots=[self.folder],
            settings={"default_roots": False},
            cache=self.has_cache,
            home=self.scratch,
            environ={"XDG_CACHE_HOME": str(self.scratch / "cache")},
        )

    def names(self) -> list[str]:  # noqa: D102
        return [skill.id for skill in self.skills if skill.status == "active" and skill.id == skill.name]

    def refresh(self) -> None:  # noqa: D102
        self.skills.refresh()

    def load(self, names: list[str]) -> None:  # noqa: D102
        load = self.skills.load
        for name in names:
            _ = load(name).text

    def load_handles(self, names: list[str]) -> None:
        """Load the skills without taking their texts."""
        load = self.skills.load
        for name in names:
            load(name)


class CachedSkillfold(Skillfold):
    """skillfold with its cache on disk, which is there from 1,000 skills."""

    has_cache = True


class Skillkit(Library):
    """skillkit."""

    def import_library(self) -> None:  # noqa: D102
        import skillkit  # noqa: PLC0415

        self._Manager = skillkit.SkillManager

    def discover(self) -> None:  # noqa: D102
        self._manager = self._new()
        self._manager.discover()

    def names(self) -> list[str]:  # noqa: D102
        return [skill.name for skill in self._manager.list_skills()]

    def refresh(self) -> None:  # noqa: D102
        self._manager.discover()

    def load(self, names: list[str]) -> None:  # noqa: D102
        for name in names:
            self._manager.invoke_skill(name)

    def _new(self) -> Any:  # noqa: ANN401
        return self._Manager(project_skill_dir=self.folder, anthropic_config_dir="", plugin_dirs=[])


class AsyncSkillkit(Skillkit):
    """skillkit with the methods that are coroutines."""

    def import_library(self) -> None:  # noqa: D102
        super().import_library()
        self._loop = asyncio.new_event_loop()

    def discover(self) -> None:  # noqa: D102
        self._manager = self._new()
        self._loop.run_until_complete(self._manager.adiscover())

    def refresh(self) -> None:  # noqa: D102
        self._loop.run_until_complete(self._manager.adiscover())

    def load(self, names: list[str]) -> None:  # noqa: D102
        async def load_all() -> None:
            for name in names:
                await self._manager.ainvoke_skill(name)

        self._loop.run_until_complete(load_all())


class SkillsRef(Library):
    """skills-ref, the reference of the specification. It returns no instructions."""

    def import_library(self) -> None:  # noqa: D102
        import skills_ref  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]  # noqa: PLC0415

        self._module = skills_ref

    def discover(self) -> None:  # noqa: D102
        self._skills = [self._module.read_properties(folder) for folder in self.folder.iterdir()]

    def names(self) -> list[str]:  # noqa: D102
        return [skill.name for skill in self._skills]

    def accepted(self) -> list[str]:  # noqa: D102
        return [folder.name for folder in self.folder.iterdir() if self._is_valid(folder)]

    def _is_valid(self, folder: Path) -> bool:
        try:
            return not self._module.validate(folder)
        except Exception:  # noqa: BLE001
            # Characters that YAML forbids end in an `AttributeError`.
            return False


class Deepagents(Library):
    """The skills of deepagents. Its models read the files with a tool, and nothing is cached."""

    def import_library(self) -> None:  # noqa: D102
        from deepagents.backends.filesystem import FilesystemBackend  # noqa: PLC0415
        from deepagents.middleware.skills import SkillsMiddleware  # noqa: PLC0415

        self._Backend, self._Middleware = FilesystemBackend, SkillsMiddleware

    def discover(self) -> None:  # noqa: D102
        self._backend = self._Backend(root_dir=self.folder)
        middleware: Any = self._Middleware(backend=self._backend, sources=["/"])
        self._skills: dict[str, str] = {
            skill["name"]: skill["path"] for skill in middleware.before_agent({}, None, {})["skills_metadata"]
        }

    def names(self) -> list[str]:  # noqa: D102
        return list(self._skills)

    def load(self, names: list[str]) -> None:  # noqa: D102
        # What the middleware does for a skill that is pinned. The tool `read_file` takes twice as long.
        for name in names:
            content = self._backend.download_files([self._skills[name]])[0].content
            if content is None:
                sys.exit(f"error: deepagents does not read {name}")
            content.decode()


class AgentFramework(Library):
    """The file skills source of the Agent Framework. It holds all instructions in memory from the discovery on."""

    def import_library(self) -> None:  # noqa: D102
        from agent_framework import FileSkillsSource, SkillsSourceContext  # noqa: PLC0415

        # The source does not look at the agent.
        agent: Any = None
        self._source, self._context = FileSkillsSource(self.folder), SkillsSourceContext(agent=agent)
        self._loop = asyncio.new_event_loop()

    def discover(self) -> None:  # noqa: D102
        found = self._run(self._source.get_skills(self._context))
        self._skills = {skill.frontmatter.name: skill for skill in found}

    def names(self) -> list[str]:  # noqa: D102
        return list(self._skills)

    def load(self, names: list[str]) -> None:  # noqa: D102
        async def load_all() -> None:
            for name in names:
                await self._skills[name].get_content()

        self._run(load_all())

    def _run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401
        return self._loop.run_until_complete(coroutine)


CACHED = "skillfold, cache filled"
LIBRARIES: dict[str, type[Library]] = {
    "skillfold": Skillfold,
    CACHED: CachedSkillfold,
    "skillkit": Skillkit,
    "skillkit, async": AsyncSkillkit,
    "deepagents": Deepagents,
    "agent-framework": AgentFramework,
    "skills-ref": SkillsRef,
}
# The names of the distributions, and what decides which skills all of them accept.
DISTRIBUTIONS = {
    "skills-ref": "skills-ref",
    "agent-framework": "agent-framework-core",
    "deepagents": "deepagents",
    "skillkit": "skillkit",
    "skillfold": "skillfold",
}


def measure(library: Library) -> dict[str, float | None]:
    """Return the figures of a library in this fresh process; times are CPU time of all threads."""
    _reset_peak()
    before = _memory("VmRSS")
    figures: dict[str, float | None] = {"discover_ms": _cpu(library.discover) * 1e3}
    figures["peak_mb"] = (_memory("VmHWM") - before) / 1e6
    # Work that goes on after the call has returned.
    figures["background_ms"] = _cpu(lambda: time.sleep(0.1)) * 1e3
    names = sorted(library.names())
    figures["found"] = len(names)
    figures["refresh_ms"] = _median(library.refresh, repeats=9) * 1e3
    sample = names[:: max(1, len(names) // _LOADED)][:_LOADED]
    try:
        figures["first_load_us"] = _cpu(lambda: library.load(sample)) / len(sample) * 1e6
    except NotImplementedError:
        return {**figures, "first_load_us": None, "cached_load_us": None}
    figures["cached_load_us"] = _median(lambda: library.load(sample)) / len(sample) * 1e6
    if isinstance(library, Skillfold):
        figures["cached_handle_us"] = _median(lambda: library.load_handles(sample)) / len(sample) * 1e6
        figures["list_ms"] = _median(library.skills.list, repeats=5) * 1e3
    return figures


def _cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _median(call: Callable[[], object], *, repeats: int = _REPEATS) -> float:
    """Return the median CPU time of as many calls as half a second allows, at least of one."""
    taken: list[float] = []
    while len(taken) < repeats and sum(taken) < _MAX_SECONDS:
        taken.append(_cpu(call))
    return statistics.median(taken)


def _reset_peak() -> None:
    """Forget the peak of the imports."""
    if os.path.exists("/proc/self/clear_refs"):  # noqa: PTH110
        Path("/proc/self/clear_refs").write_text("5")


def _memory(field: str) -> int:
    """Return the bytes that are resident (`VmRSS`), or were at most (`VmHWM`).

    Where there is no `/proc`, it is `ru_maxrss`. On Linux that begins with the peak of the parent process.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(status.split(f"{field}:")[1].split()[0]) * 1024


def main() -> None:
    """Measure the library that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("--accepted", action="store_true")
    chosen = parser.parse_args()
    # What a library finds to say about a file costs time to write.
    logging.disable(logging.CRITICAL)
    start = time.process_time()
    library = LIBRARIES[chosen.library](chosen.folder, chosen.scratch)
    imports = (time.process_time() - start) * 1e3
    result = {"accepted": library.accepted()} if chosen.accepted else {"import_ms": imports, **measure(library)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
