"""A conversation with a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from skillfold import _skillfold, views
from skillfold._arguments import Call, as_json
from skillfold._messages import latest_user_text
from skillfold._run import TOOL_CHECKS
from skillfold._threads import to_thread, until_cancelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skillfold._messages import Message
    from skillfold._skillfold import Instructions

Feedback = Literal["used", "unused", "missed"]


class Session:
    """One conversation: what its model is told about skills, turn by turn.

    It remembers what the model has, so that nothing is given twice. Several threads may call it; they wait for each
    other. `Skills.session` starts one.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _skillfold.Session) -> None:
        """Wrap the native conversation; use `Skills.session`."""
        self._native = native

    def _ask(self, call: Call) -> Any:  # noqa: ANN401
        return json.loads(self._native.call(as_json(call)))

    def listing(self) -> views.Listing:
        """Return the listing for the system prompt: one line per skill, within a budget.

        It is byte-identical while the skills are unchanged, so that a prompt cache keeps it. Later changes are
        announced in turns. Its text is empty if there are no skills, or with the disclosure `triggered`.
        """
        empty = {"view": 2, "kind": "listing", "text": "", "tokens": 0, "skills": 0}
        return views.Listing(self._ask("listing") or empty)

    def turn(self, request: str | Message | Iterable[Message]) -> views.Turn:
        """Decide what to tell the model for a request.

        The request is a text, or a list of messages of which the user's latest counts. Add the `text` of the result to
        the model's context; it is `None` if the request needs no skill, or the model has what it needs.
        """
        return views.Turn(json.loads(self._native.turn(latest_user_text(request))))

    async def aturn(self, request: str | Message | Iterable[Message]) -> views.Turn:
        """Do what `turn` does, on another thread."""
        return await to_thread(self.turn, request)

    def why(self, request: str, *ids: str) -> views.Why:
        """Explain what a request would add, and why the skills `ids` would not be chosen.

        The conversation does not change. The result is for people: it may name skills that the model may not see.
        """
        return views.Why(self._ask({"why": {"message": request, "ids": list(ids)}}))

    def load(self, skill_id: str, arguments: str = "") -> Instructions:
        """Load a skill that the model asked for, and remember that it has it."""
        return self._native.load(skill_id, arguments)

    async def aload(self, skill_id: str, arguments: str = "") -> Instructions:
        """Do what `load` does, on another thread."""
        return await to_thread(self.load, skill_id, arguments)

    def tools(self) -> list[views.Tool]:
        """Return the tools for the model, to search, load, read and list skills; none if there are no skills.

        Each has `name`, `description` and `input_schema`, the JSON schema of its arguments.
        """
        return views.ToolList(self._ask("tools")).tools

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> views.ToolAnswer:
        """Call a tool as the model asked: its name, and the arguments as a mapping or as JSON.

        What is wrong with the call is in the answer, for the model to act on; nothing is raised.
        """
        return self._call(name, arguments, _skillfold.Cancel())

    def _call(
        self, name: str, arguments: Mapping[str, Any] | str | None, cancel: _skillfold.Cancel
    ) -> views.ToolAnswer:
        text = arguments if isinstance(arguments, str) else json.dumps(dict(arguments or {}))
        return views.ToolAnswer(json.loads(self._native.call_tool(name, text, cancel)))

    async def acall(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> views.ToolAnswer:
        """Do what `call` does, on another thread. A script that the call runs ends if the task is cancelled."""
        cancel = _skillfold.Cancel()
        return await until_cancelled(cancel, self._call, name, arguments, cancel)

    def after_compaction(self, budget: int = 4_000, kept: Iterable[str] = ()) -> views.Turn:
        """Return what to give again, within a budget of tokens, after the conversation was compacted.

        The instructions of the skills `kept`, by their ids, are still in the conversation.
        """
        return views.Turn(self._ask({"after_compaction": {"tokens": budget, "kept": list(kept)}}))

    def record_feedback(self, skill_id: str, feedback: Feedback) -> None:
        """Record whether a skill was used, given but not used, or missed; `skillfold stats` reports on it."""
        self._ask({"record_feedback": {"id": skill_id, "feedback": feedback}})

    def check_tool(self, tool: str, argument: str = "") -> bool | None:
        """Return whether the skills whose instructions the model has allow a use of a tool.

        It is `None` if none of them lists tools. `argument` is what the tool is given: for a shell its command line.
        Ask before each call of a tool to enforce `allowed-tools`.
        """
        return TOOL_CHECKS.get(self._ask({"check_tool": {"tool": tool, "input": argument}}))

    def child(self, *skill_ids: str) -> Session:
        """Start a conversation of a sub-agent that sees only these skills, at most those that this one sees."""
        return Session(self._native.child(list(skill_ids)))

    def save(self) -> str:
        """Return the state as JSON, for `Skills.session(state=...)`.

        It contains ids, numbers and the arguments that skills were loaded with; no requests and no instructions.
        """
        return self._native.call('"state"')

    def may_see(self, skill_id: str) -> bool:
        """Return whether there is such a skill and the conversation's model may see it."""
        return bool(self._ask({"may_see": {"id": skill_id}}))

    @property
    def tokens_spent(self) -> int:
        """Tokens that were spent on skills so far."""
        return int(self._ask("numbers")[1])

    @property
    def turns(self) -> int:
        """The number of turns so far."""
        return int(self._ask("numbers")[0])

    @property
    def plain_list_tokens(self) -> int:
        """Tokens of a plain list of all descriptions, which most clients put into every request."""
        return int(self._ask("numbers")[2])

    def __repr__(self) -> str:
        turns = self.turns
        return f"<Session: {turns} turn{'s' * (turns != 1)}, {self.tokens_spent} tokens>"
