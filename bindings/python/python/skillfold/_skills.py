"""The live handle to all skills, and what one agent sees of them."""

from __future__ import annotations

import atexit
import json
import logging
import os
import re
import warnings
import weakref
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypedDict, TypeVar

from skillfold import _skillfold, views
from skillfold._arguments import (
    Call,
    Disclosure,
    Embedder,
    Envelope,
    Fallback,
    Matching,
    Path,
    Sees,
    Setting,
    Style,
    agent_options,
    as_json,
    as_list,
    as_setting,
    bundled_files,
    checked_limit,
    named_embedder,
    session_options,
)
from skillfold._improve import Proposing
from skillfold._registry import Registry
from skillfold._run import Running
from skillfold._session import Session
from skillfold._threads import to_thread
from skillfold.errors import SkillfoldError, SkillsWarning, from_view

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from typing_extensions import Self, Unpack

    from skillfold._messages import Message
    from skillfold._skillfold import Instructions

OnChange: TypeAlias = "Callable[[views.Changes], None]"

logger = logging.getLogger("skillfold")

_Native = TypeVar("_Native", _skillfold.Skills, _skillfold.AgentSkills)


class _Readable(Generic[_Native]):
    """What the skills and an agent's skills have in common."""

    __slots__ = ("_native",)

    context_priority = 60
    """The place of `get_context` among a host's providers: after a channel's (0), before memory's (100)."""

    def __init__(self, native: _Native) -> None:
        """Wrap the native handle."""
        self._native: _Native = native

    def _call(self, call: Call) -> Any:  # noqa: ANN401
        return json.loads(self._native.call(as_json(call)))

    def load(self, skill_id: str, arguments: str = "") -> Instructions:
        """Return the instructions of a skill with the arguments filled in. They are read on first use, then cached."""
        return self._native.load(skill_id, arguments)

    async def aload(self, skill_id: str, arguments: str = "") -> Instructions:
        """Do what `load` does, on another thread."""
        return await to_thread(self.load, skill_id, arguments)

    def render(self, skill_id: str, arguments: str = "", *, envelope: Envelope = "plain") -> views.LoadedSkill:
        """Return the instructions of a skill in an envelope for a model."""
        call = {"render": {"id": skill_id, "arguments": arguments, "envelope": envelope}}
        return views.LoadedSkill(self._call(call))

    async def arender(self, skill_id: str, arguments: str = "", *, envelope: Envelope = "plain") -> views.LoadedSkill:
        """Do what `render` does, on another thread."""
        return await to_thread(self.render, skill_id, arguments, envelope=envelope)

    def files(self, skill_id: str, *, after: str | None = None, limit: int = 1_000) -> views.FileListing:
        """Return a page of the files of a skill. Those that the instructions mention come first."""
        checked_limit(limit)
        return views.FileListing(self._call({"files": {"id": skill_id, "after": after, "limit": limit}}))

    async def afiles(self, skill_id: str, *, after: str | None = None, limit: int = 1_000) -> views.FileListing:
        """Do what `files` does, on another thread."""
        return await to_thread(self.files, skill_id, after=after, limit=limit)

    def read(self, skill_id: str, path: Path, *, start: int = 0, end: int | None = None) -> views.FileContent:
        """Return a file of a skill, or the bytes from `start` up to `end` of it.

        A path that leads out of the skill raises `RefusedError`.
        """
        name = path if isinstance(path, str) else os.fspath(path).replace(os.sep, "/")
        call = {"read": {"id": skill_id, "path": name, "start": start, "end": end}}
        return views.FileContent(self._call(call))

    async def aread(self, skill_id: str, path: Path, *, start: int = 0, end: int | None = None) -> views.FileContent:
        """Do what `read` does, on another thread."""
        return await to_thread(self.read, skill_id, path, start=start, end=end)

    def get_skill_content(self, skill_id: str) -> str:
        """Return the instructions of a skill, without arguments, as text for an agent's own instructions."""
        return self._native.load(skill_id, "").body

    def session(  # noqa: PLR0913
        self,
        *,
        disclosure: Disclosure | None = None,
        style: Style | None = None,
        listing: str | None = None,
        matching: Matching | None = None,
        max_per_request: int | None = None,
        breadcrumb: bool | None = None,
        fallback: Fallback | None = None,
        body_tokens: int | None = None,
        transient: bool = False,
        state: str | None = None,
    ) -> Session:
        """Start a conversation, or resume one from its saved `state`.

        What is not passed is as the settings say. `transient` is for hosts that drop added text after each call: then
        it is given again in each turn that needs it. `body_tokens` limits the instructions that one turn adds.
        """
        options = session_options(
            disclosure=disclosure,
            style=style,
            listing=listing,
            matching=matching,
            max_per_request=max_per_request,
            breadcrumb=breadcrumb,
            fallback=fallback,
            body_tokens=body_tokens,
            transient=transient,
            state=state,
        )
        return Session(self._native.session(options))


class DiscoverOptions(TypedDict, total=False):
    """The options of `Skills.discover`."""

    roots: Iterable[Path]
    bundled: Mapping[str, str | bytes] | Path | None
    settings: Mapping[str, Setting] | None
    trust_project: bool
    embedder: Embedder | None
    cache: bool
    lenient: bool
    home: Path | None
    environ: Mapping[str, str] | None


class Skills(_Readable[_skillfold.Skills], Proposing, Running):
    """All skills of a project and of the person, live. Any number of threads may use it.

    It is for models: it hides skills that only people may start. `for_user` returns the same skills for a person.
    """

    __slots__ = ("_watcher",)

    def __init__(self, native: _skillfold.Skills | None = None) -> None:
        """Wrap the native handle; use `Skills.discover`."""
        if not isinstance(native, _skillfold.Skills):
            message = "Use `Skills.discover`"
            raise TypeError(message)
        super().__init__(native)
        self._watcher: _skillfold.Watcher | None = None

    @classmethod
    def discover(  # noqa: PLR0913
        cls,
        directory: Path = ".",
        *,
        roots: Iterable[Path] = (),
        bundled: Mapping[str, str | bytes] | Path | None = None,
        settings: Mapping[str, Setting] | None = None,
        trust_project: bool = False,
        embedder: Embedder | None = None,
        cache: bool = True,
        lenient: bool = False,
        home: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Skills:
        """Discover the skills for a working folder: those of its project, of the person, and of `roots`.

        Models get the project's skills only if the user trusts the project, or with `trust_project`. Warns with
        `SkillsWarning` of an untrusted project, a root that does not exist and a bundled skill that cannot be read.

        Args:
            directory: The working folder.
            roots: More folders of skills.
            bundled: Skills that come with the program: a folder, or files in memory by path, such as
                `{"pdf/SKILL.md": "..."}`.
            settings: Settings that override the person's files and variables.
            trust_project: Whether models get the project's skills, whichever it is.
            embedder: Compares requests with skills by meaning: a pair of the model's name and a callable that returns a
                vector for each text, or such a callable with an attribute `id`. An object with `embed_documents` and
                `embed_query`, such as LangChain's, embeds requests with the latter.
            cache: Whether metadata of many skills is cached on disk for the next start.
            lenient: Whether invalid settings are only reported, by `doctor`; otherwise they raise `InvalidError`.
            home: Replaces the person's home. With it or `environ`, no variable of the process is read.
            environ: Replaces the variables of the process.

        """
        files, folder = bundled_files(bundled)
        replaced = None
        if home is not None or environ is not None:
            replaced = {
                "home": None if home is None else os.path.realpath(home),
                "variables": list((environ or {}).items()),
            }
        options: dict[str, Any] = {
            "directory": os.path.realpath(directory) if replaced else os.fspath(directory),
            "environment": replaced,
            "roots": [os.fspath(root) for root in as_list(roots, "roots")],
            "bundled_folder": folder,
            "settings": [
                *(as_setting(key, value) for key, value in (settings or {}).items()),
                *([("trust_project", "true")] if trust_project else []),
            ],
            "cache": cache,
            "lenient": lenient,
        }
        embeds = None if embedder is None else named_embedder(embedder)
        native = _skillfold.Skills.discover(as_json(options), files, embeds)
        for warning in native.warnings():
            warnings.warn(warning, SkillsWarning, stacklevel=2)
        return cls(native)

    @classmethod
    async def adiscover(cls, directory: Path = ".", **options: Unpack[DiscoverOptions]) -> Skills:
        """Do what `discover` does, on another thread."""
        return await to_thread(cls.discover, directory, **options)

    def for_user(self) -> Skills:
        """Return the same skills for a person: with those that only people may start, and reasons in errors."""
        return Skills(self._native.for_user())

    def list(  # noqa: PLR0913
        self,
        query: str | None = None,
        *,
        scope: str | None = None,
        name: str | None = None,
        words: str | None = None,
        tag: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> views.SkillList:
        """Return the skills, also those that models do not get. `ids` are those that `load` accepts.

        Filters: `query` (a part of the id or of a tag), `scope`, `name` (a regular expression), `words` (of the
        description), `tag`. Without any, folders that hold no valid skill are in `refused`. `after` continues at `next`
        of the page before.
        """
        filters = {
            "query": query,
            "scope": scope,
            "name": name,
            "words": words,
            "tag": tag,
            "limit": checked_limit(limit),
            "after": after,
        }
        is_whole = all(value is None for value in filters.values())
        return views.SkillList(self._call({"list": {**filters, "with_refused": is_whole}}))

    def ids(self) -> builtins.list[str]:
        """Return the ids of the skills that a model may see."""
        return self._native.visible_ids()

    def show(self, skill_id: str) -> views.Skill:
        """Return everything that is known about a skill without loading it."""
        return views.Skill(self._call({"show": {"id": skill_id}}))

    def search(self, request: str, limit: int = 10, *, all: bool = False) -> views.SearchResults:  # noqa: A002
        """Return the skills that answer a request best, each with a confidence; `all` includes withheld ones."""
        return views.SearchResults(self._call({"search": {"request": request, "limit": limit, "all": all}}))

    async def asearch(self, request: str, limit: int = 10, *, all: bool = False) -> views.SearchResults:  # noqa: A002
        """Do what `search` does, on another thread."""
        return await to_thread(self.search, request, limit, all=all)

    def prompt(self, request: str) -> views.Prompt:
        """Return what a new conversation is told for its first request, with its cost."""
        return views.Prompt(self._call({"prompt": {"request": request}}))

    def why(self, request: str, *skill_ids: str) -> views.Why:
        """Explain which skills a request would bring, and why not the skills `skill_ids`.

        The result is for people: it may name skills that models do not get.
        """
        session = self.session()
        session.listing()
        return session.why(request, *skill_ids)

    def check(self) -> views.Check:
        """Return the findings in all `SKILL.md` files."""
        return views.Check(self._call("check"))

    def evaluate(self, *skill_ids: str) -> views.Evaluation:
        """Run the trigger queries that skills ship: those of all skills, or of some."""
        return views.Evaluation(self._call({"evaluate": {"ids": list(skill_ids)}}))

    def doctor(self) -> views.Doctor:
        """Return the roots and skills that were found, and why models do not get some."""
        return views.Doctor(self._call("doctor"))

    def settings(self) -> views.SettingsReport:
        """Return every setting, and where it comes from."""
        return views.SettingsReport(self._call("settings"))

    def counters(self) -> views.Counters:
        """Return the activity counters since discovery."""
        return views.Counters(self._call("counters"))

    def cache_stats(self) -> views.CacheStats:
        """Return the entries, hits and misses of the cache of instructions."""
        return self.counters().cache

    def clear_cache(self, skill_id: str | None = None) -> None:
        """Empty the cache of instructions, or remove one skill from it."""
        self._call({"clear_cache": {"id": skill_id}})

    def register(
        self, name: str, description: str, triggers: Sequence[str] = (), instructions: str = ""
    ) -> views.Changes:
        """Add a skill in memory, or replace one that was added under this name, and return what changed.

        It is a bundled skill: one of the same name in a project or of the person comes before it.
        """
        if re.fullmatch(r"[\w-]{1,64}", name) is None:
            message = f"A name has at most 64 letters, digits, hyphens and underscores: {name!r}"
            raise ValueError(message)
        fields = {"name": name, "description": description, "triggers": as_list(triggers, "triggers")}
        frontmatter = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items())
        file = f"---\n{frontmatter}---\n{instructions}"
        return views.Changes(self._call({"register": {"name": name, "file": file}}))

    def registry(self, *, user: bool = False) -> Registry:
        """Return what is installed from sources: of the project, or with `user` for all projects of the person."""
        return Registry(lambda call: self._call({"registry": {"user": user, "call": call}}))

    def load_order(self, skill_id: str) -> builtins.list[str]:
        """Return the ids of a skill and of all skills that it requires, each after those that it requires.

        Nothing is loaded. What is missing or circular is left out and logged as a warning.
        """
        ids: builtins.list[str]
        ids, findings = self._call({"load_order": {"id": skill_id}})
        for finding in findings:
            logger.warning("%s", finding)
        return ids

    def refresh(self) -> views.Changes:
        """Read what changed on disk, and return it. Calls on other threads go on with what they have."""
        return views.Changes(self._call("refresh"))

    async def arefresh(self) -> views.Changes:
        """Do what `refresh` does, on another thread."""
        return await to_thread(self.refresh)

    def watch(self, interval: float = 5.0, on_change: OnChange | None = None) -> Skills:
        """Follow the files in the background, by notifications and a scan every `interval` seconds.

        `on_change` is called on the watcher's thread. `close`, or leaving a `with` block, ends it.
        """

        def changed(view: str) -> None:
            result = json.loads(view)
            if result["kind"] == "error":
                logger.warning("the skills stay as they were: %s", from_view(view))
            elif on_change is not None:
                on_change(views.Changes(result))

        self.close()
        self._watcher = self._native.watch(interval, changed)
        _watchers.add(self._watcher)
        return self

    def close(self) -> None:
        """Stop following the files. The skills stay usable."""
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.close()

    def bind(self, agent: str, skills: Sequence[str] | None = None, *, sees: Sees = "all") -> AgentSkills:
        """Return the skills as one agent sees them.

        Without `skills`, the person's settings say what the agent uses and sees, or the `manifest.yaml` of a trusted
        project, if `agent` is its path. With `skills`, it uses these; it sees
        all, or only those with `sees="used"`.
        """
        return AgentSkills(self._native.bind(agent_options(agent, skills, sees)))

    def compose_instructions(self, agent: str, prompt: str = "", inline: str = "") -> str:
        """Return the text that an agent starts with: the prompt, its skills, its own instructions.

        The agent is one of the settings, or the path of its `manifest.yaml` in a trusted project: then an empty prompt
        and empty instructions are those of the manifest.
        """
        text: str
        text, notes = self._call({"compose": {"agent": agent, "prompt": prompt, "inline": inline}})
        for note in notes:
            logger.warning("%s", note)
        return text

    def get_context(self, prompt: str | Message | Iterable[Message], agent_id: str | None = None) -> str | None:
        """Return what to add to one call of a model, or `None`: the listing, and what the prompt needs.

        It remembers nothing. For a conversation use `session`, which gives nothing twice. An agent that the settings do
        not name sees all skills.
        """
        owner: Skills | AgentSkills = self
        if agent_id is not None:
            owner = self._agent(agent_id)
        session = owner.session(transient=True)
        texts = (session.listing().text, session.turn(prompt).text)
        return "\n".join(text for text in texts if text) or None

    async def aget_context(self, prompt: str | Message | Iterable[Message], agent_id: str | None = None) -> str | None:
        """Do what `get_context` does, on another thread."""
        return await to_thread(self.get_context, prompt, agent_id)

    def _start(self, call: Call, input: bytes, cancel: _skillfold.Cancel) -> Any:  # noqa: A002, ANN401
        return json.loads(self._native.run(as_json(call), input, cancel))

    def _agent(self, agent_id: str) -> AgentSkills:
        try:
            return self.bind(agent_id)
        except SkillfoldError as error:
            if error.code != "not_found":
                raise
            return self.bind(agent_id, [])

    @property
    def search_problem(self) -> str | None:
        """Why searches are less complete than configured; known after the first search."""
        problem: str | None = self._call("search_problem")
        return problem

    def __len__(self) -> int:
        return len(self._native)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, skill_id: object) -> bool:
        return isinstance(skill_id, str) and skill_id in self._native

    def __iter__(self) -> Iterator[views.SkillRecord]:
        return iter(self.list().skills)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        count, roots = len(self), self._native.root_count()
        return f"<Skills: {count} skill{'s' * (count != 1)} in {roots} root{'s' * (roots != 1)}>"


class AgentSkills(_Readable[_skillfold.AgentSkills]):
    """The skills as one agent sees them. Skills that it may not see do not exist in it. `Skills.bind` returns one."""

    __slots__ = ()

    @property
    def agent_id(self) -> str:
        """The agent's id."""
        return self._native.id

    def narrow(self, agent: str, skills: Sequence[str] | None = None, *, sees: Sees = "all") -> AgentSkills:
        """Return the skills for a sub-agent that this agent starts: what both may see."""
        return AgentSkills(self._native.narrow(agent_options(agent, skills, sees)))

    def compose(self, prompt: str = "", inline: str = "") -> views.Composed:
        """Return the text that the agent starts with: the prompt, the skills that it uses, its own instructions."""
        return views.Composed(self._call({"compose": {"prompt": prompt, "inline": inline}}))

    def ids(self) -> builtins.list[str]:
        """Return the ids of the skills that the agent sees."""
        return self._native.ids()

    def list(self) -> views.SkillList:
        """Return the skills that the agent sees."""
        return views.SkillList(self._call("list"))

    def __len__(self) -> int:
        return len(self._native.ids())

    def __bool__(self) -> bool:
        return True

    def __contains__(self, skill_id: object) -> bool:
        return skill_id in self._native.ids()

    def __iter__(self) -> Iterator[views.SkillRecord]:
        return iter(self.list().skills)

    def __repr__(self) -> str:
        count = len(self)
        return f"<AgentSkills of {self.agent_id}: {count} skill{'s' * (count != 1)}>"


def stats(file: Path, *, outcomes: int | None = None) -> views.StatsReport:
    """Return how well skills were chosen over time, from a log of trace lines: by day, or for every `outcomes`."""
    with open(file, "rb") as log:  # noqa: PTH123
        return views.StatsReport(json.loads(_skillfold.stats(log.read(), outcomes)))


_watchers: weakref.WeakSet[_skillfold.Watcher] = weakref.WeakSet()


@atexit.register
def _close_watchers() -> None:
    """Stop all watchers before Python ends: a callback that runs then would end the process."""
    for watcher in list(_watchers):
        watcher.close()
