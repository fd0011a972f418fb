"""Skills from repositories, archives and folders, pinned in a lock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillfold import views
from skillfold._arguments import as_list, checked_limit
from skillfold._threads import to_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillfold._arguments import Call


class Registry:
    """The skills that are installed from sources, of the project or of the person. `Skills.registry` returns one.

    Nothing here asks anybody. `add` and `update` propose: a `Reviewer` decides, or a person with `skillfold review`.
    """

    __slots__ = ("_call",)

    def __init__(self, call: Callable[[Call], Any]) -> None:
        """Use `Skills.registry`."""
        self._call = call

    def search(self, source: str, request: str = "", limit: int = 10) -> views.SourceSkills:
        """Return the skills of a source that answer a request best, or all of them. Nothing is installed."""
        checked_limit(limit)
        return views.SourceSkills(self._call({"search": {"source": source, "request": request, "limit": limit}}))

    async def asearch(self, source: str, request: str = "", limit: int = 10) -> views.SourceSkills:
        """Do what `search` does, on another thread."""
        return await to_thread(self.search, source, request, limit)

    def add(
        self,
        source: str,
        skills: Sequence[str] = (),
        *,
        all: bool = False,  # noqa: A002
        clients: Sequence[str] = (),
    ) -> views.SkillProposals:
        """Fetch skills and propose to install them.

        `source` is what `skillfold add` takes, such as `owner/repo@^1.2`. Without names and `all`, it must have one
        skill. `clients` get the skills in a folder of their own too.
        """
        names, ids = as_list(skills, "skills"), as_list(clients, "clients")
        new = {"source": source, "names": names, "all": all, "clients": ids}
        return views.SkillProposals(self._call({"add": new}))

    async def aadd(
        self,
        source: str,
        skills: Sequence[str] = (),
        *,
        all: bool = False,  # noqa: A002
        clients: Sequence[str] = (),
    ) -> views.SkillProposals:
        """Do what `add` does, on another thread."""
        return await to_thread(self.add, source, skills, all=all, clients=clients)

    def install(self, *, frozen: bool = False, offline: bool = False, discard_edits: bool = False) -> views.Install:
        """Restore the skills of the lock: each has the digest of the lock, or is in the result as failed.

        Skills that are wanted and not locked are proposed; with `frozen` they are an error. `offline` fetches nothing.
        A skill that was edited is left alone, unless `discard_edits` is set.
        """
        options = {"frozen": frozen, "offline": offline, "discard_edits": discard_edits}
        return views.Install(self._call({"install": options}))

    async def ainstall(
        self, *, frozen: bool = False, offline: bool = False, discard_edits: bool = False
    ) -> views.Install:
        """Do what `install` does, on another thread."""
        return await to_thread(self.install, frozen=frozen, offline=offline, discard_edits=discard_edits)

    def verify(self) -> views.Verification:
        """Compare what is installed with the lock, without the network."""
        return views.Verification(self._call("verify"))

    def outdated(self) -> views.Outdated:
        """Ask the sources which skills have another version."""
        return views.Outdated(self._call("outdated"))

    async def aoutdated(self) -> views.Outdated:
        """Do what `outdated` does, on another thread."""
        return await to_thread(self.outdated)

    def update(self, *names: str, dry_run: bool = False) -> views.Update:
        """Propose the newest versions of skills, of all without names. `dry_run` proposes nothing."""
        return views.Update(self._call({"update": {"names": list(names), "dry_run": dry_run}}))

    async def aupdate(self, *names: str, dry_run: bool = False) -> views.Update:
        """Do what `update` does, on another thread."""
        return await to_thread(self.update, *names, dry_run=dry_run)

    def remove(self, name: str, *, discard_edits: bool = False) -> None:
        """Remove a skill, its links and its entries. One that was edited is refused, unless `discard_edits` is set."""
        self._call({"remove": {"name": name, "discard_edits": discard_edits}})

    def vendor(self) -> views.Install:
        """Copy every skill of the lock into `.skillfold/vendor`, for `install` without the network."""
        return views.Install(self._call("vendor"))

    def why_installed(self, name: str) -> views.Origin:
        """Return where a skill is from, and its versions on this machine."""
        return views.Origin(self._call({"why_installed": {"name": name}}))

    @property
    def wanted_file(self) -> Path:
        """The path of `skills.toml`."""
        return Path(self._call("files")[0])

    @property
    def lock_file(self) -> Path:
        """The path of `skills.lock`."""
        return Path(self._call("files")[1])

    def __repr__(self) -> str:
        return f"<Registry of {self.lock_file}>"
