"""Scripts and tools of skills, which run in a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from skillfold import _skillfold, views
from skillfold._threads import until_cancelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillfold._arguments import Call


class ScriptLimits(TypedDict, total=False):
    """Limits of a run. What is left out is as the settings say."""

    seconds: int
    memory_mb: int
    output_kb: int
    processes: int


TOOL_CHECKS = {"allowed": True, "conditional": False, "refused": False}
"""Whether a tool may be called, by the engine's word; `unlisted` is not there."""


class Running:
    """What `Skills` runs. Nothing runs that a person, or your program in their place, has not allowed."""

    __slots__ = ()

    def _call(self, call: Call) -> Any:  # noqa: ANN401
        raise NotImplementedError

    def _start(self, call: Call, input: bytes, cancel: _skillfold.Cancel) -> Any:  # noqa: A002, ANN401
        raise NotImplementedError

    def _check_tool(self, skill_id: str, tool: str, argument: str | None) -> tuple[str, list[str]]:
        word, rules = self._call({"check_tool": {"id": skill_id, "tool": tool, "input": argument}})
        return word, rules

    def check_tool(self, skill_id: str, tool: str, argument: str | None = None) -> bool | None:
        """Return whether a skill's `allowed-tools` include a use of a tool; `None` if the skill lists none.

        `argument` is what the tool is given: for a shell its command line. Under rules such as `Bash(git:*)` a tool is
        included only with an argument that one of them includes, and without one it is not; `tool_rules` returns those
        that are left to you, such as `Read(src/**)`. Nothing is enforced by this: ask before each call of a tool while
        the skill is in use, or let `Session.check_tool` ask for all of them.
        """
        return TOOL_CHECKS.get(self._check_tool(skill_id, tool, argument)[0])

    def tool_rules(self, skill_id: str, tool: str, argument: str | None = None) -> list[str]:
        """Return the rules under which a skill's `allowed-tools` include a tool, such as `git:*`.

        With an argument, they are those that only the tool understands, if no other includes it.
        """
        return self._check_tool(skill_id, tool, argument)[1]

    def scripts(self, skill_id: str) -> views.ScriptList:
        """Return what a skill can run: its scripts and tools, what it asks for, and whether it is allowed."""
        return views.ScriptList(self._start({"scripts": {"id": skill_id}}, b"", _skillfold.Cancel()))

    def run(
        self,
        skill_id: str,
        script: str,
        arguments: Sequence[str] = (),
        input: str | bytes = b"",  # noqa: A002
        *,
        limits: ScriptLimits | None = None,
    ) -> views.Run:
        """Run a skill's script in the sandbox, and return how it ended and what it wrote.

        `limits` are at most those of the settings (`script_seconds` and the like), which count without them.
        It raises `RefusedError` if the skill is not allowed, or has changed since (`Reviewer.allow` allows it), and
        `RunError` if it cannot start. Ctrl-C ends the script.
        """
        return self._run(_skillfold.Cancel(), skill_id, script, arguments, input=input, limits=limits)

    def _run(  # noqa: PLR0913
        self,
        cancel: _skillfold.Cancel,
        skill_id: str,
        script: str,
        arguments: Sequence[str],
        *,
        input: str | bytes,  # noqa: A002
        limits: ScriptLimits | None,
    ) -> views.Run:
        if isinstance(arguments, str):
            message = f"`arguments` is a list: pass [{arguments!r}]"
            raise TypeError(message)
        given = input.encode() if isinstance(input, str) else input
        run = {"id": skill_id, "script": script, "arguments": list(arguments), "limits": limits or {}}
        return views.Run(self._start({"run": run}, given, cancel))

    async def arun(
        self,
        skill_id: str,
        script: str,
        arguments: Sequence[str] = (),
        input: str | bytes = b"",  # noqa: A002
        *,
        limits: ScriptLimits | None = None,
    ) -> views.Run:
        """Do what `run` does, on another thread. The script ends if the task is cancelled."""
        cancel = _skillfold.Cancel()
        return await until_cancelled(cancel, self._run, cancel, skill_id, script, arguments, input=input, limits=limits)

    def call_tool(self, skill_id: str, tool: str, arguments: Mapping[str, Any] | None = None) -> views.Run:
        """Call a tool of a skill's toolset in the sandbox, and return its answer.

        A call that fails raises `RunError`.
        """
        return self._call_tool(skill_id, tool, arguments, _skillfold.Cancel())

    def _call_tool(
        self, skill_id: str, tool: str, arguments: Mapping[str, Any] | None, cancel: _skillfold.Cancel
    ) -> views.Run:
        call = {"id": skill_id, "tool": tool, "arguments": dict(arguments or {})}
        return views.Run(self._start({"call_tool": call}, b"", cancel))

    async def acall_tool(self, skill_id: str, tool: str, arguments: Mapping[str, Any] | None = None) -> views.Run:
        """Do what `call_tool` does, on another thread. The tool ends if the task is cancelled."""
        cancel = _skillfold.Cancel()
        return await until_cancelled(cancel, self._call_tool, skill_id, tool, arguments, cancel)
