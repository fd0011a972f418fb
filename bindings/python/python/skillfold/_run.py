"""Scripts and tools of skills, which run in a box."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillfold import views
from skillfold._threads import to_thread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillfold import _skillfold


class Running:
    """What `Skills` runs. Nothing runs that a person, or your program in their place, has not allowed."""

    __slots__ = ()

    def _runner(self) -> _skillfold.Runner:
        raise NotImplementedError

    def _check_tool(self, skill_id: str, tool: str) -> tuple[str, list[str]]:
        raise NotImplementedError

    def check_tool(self, skill_id: str, tool: str) -> bool | None:
        """Return whether a skill's `allowed-tools` include a tool; `None` if the skill lists none.

        A tool that is listed with rules, such as `Bash(git:*)`, is included; `tool_rules` returns the rules. Nothing is
        enforced by this: ask before each call of a tool while the skill is in use.
        """
        return {"allowed": True, "conditional": True, "refused": False}.get(self._check_tool(skill_id, tool)[0])

    def tool_rules(self, skill_id: str, tool: str) -> list[str]:
        """Return the rules under which a skill's `allowed-tools` include a tool, such as `git:*`."""
        return self._check_tool(skill_id, tool)[1]

    def scripts(self, skill_id: str) -> views.ScriptList:
        """Return what a skill can run: its scripts and tools, what it asks for, and whether it is allowed."""
        return views.ScriptList(json.loads(self._runner().scripts(skill_id)))

    def run(
        self,
        skill_id: str,
        script: str,
        arguments: Sequence[str] = (),
        input: str | bytes = b"",  # noqa: A002
    ) -> views.Run:
        """Run a script of a skill in the box, and return how it ended and what it wrote.

        It raises `RefusedError` if the skill is not allowed, or has changed since; `Reviewer.allow` allows it.
        """
        if isinstance(arguments, str):
            message = f"`arguments` is a list: pass [{arguments!r}]"
            raise TypeError(message)
        given = input.encode() if isinstance(input, str) else input
        return views.Run(json.loads(self._runner().run(skill_id, script, list(arguments), given)))

    async def arun(
        self,
        skill_id: str,
        script: str,
        arguments: Sequence[str] = (),
        input: str | bytes = b"",  # noqa: A002
    ) -> views.Run:
        """Do what `run` does, on another thread."""
        return await to_thread(self.run, skill_id, script, arguments, input)

    def call_tool(self, skill_id: str, tool: str, arguments: Mapping[str, Any] | None = None) -> views.Run:
        """Call a tool of a skill's toolset in the box, and return its answer."""
        return views.Run(json.loads(self._runner().call(skill_id, tool, json.dumps(dict(arguments or {})))))

    async def acall_tool(self, skill_id: str, tool: str, arguments: Mapping[str, Any] | None = None) -> views.Run:
        """Do what `call_tool` does, on another thread."""
        return await to_thread(self.call_tool, skill_id, tool, arguments)
