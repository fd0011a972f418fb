r"""What a model is told about skills before each call, for a host of any framework.

>>> from skillfold import Skills
>>> from skillfold.context import SkillContext
>>> skill = "---\nname: pdf\ndescription: Fills in forms\ntriggers: [pdf]\n---\nFields are lower case."
>>> context = SkillContext(Skills.discover(bundled={"pdf/SKILL.md": skill}))
>>> context.invoking("What is 2+2?").instructions is None
True
>>> "Fields are lower case." in context.invoking([{"role": "user", "content": "Fill in this pdf"}]).instructions
True
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from skillfold._skills import AgentSkills, Skills
from skillfold._threads import to_thread
from skillfold.errors import SkillfoldError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typing_extensions import Unpack

    from skillfold import views
    from skillfold._arguments import Disclosure, Fallback, Matching, Style
    from skillfold._messages import Message

__all__ = ["Context", "ContextOptions", "SkillContext", "default_id"]

logger = logging.getLogger("skillfold")


class ContextOptions(TypedDict, total=False):
    """How a conversation differs from the settings; `Skills.session` describes the options.

    Without `disclosure` it is `triggered`, and without `breadcrumb` it is off: a request that needs no skill adds
    nothing. With another `disclosure` the listing of the skills is part of each call.
    """

    disclosure: Disclosure
    style: Style
    listing: str
    matching: Matching
    breadcrumb: bool
    fallback: Fallback
    body_tokens: int


@dataclass(frozen=True)
class Context:
    """What to add to one call of a model."""

    instructions: str | None = None
    """The text to add; `None` if the request needs no skill."""
    tokens: int = 0
    """Tokens of the text."""
    reasons: list[str] = field(default_factory=list[str])
    """Why each skill was chosen or not."""


def default_id(skills: Skills | AgentSkills) -> str:
    """Return the key of a conversation's state; agents that share a history keep their states apart."""
    return f"skillfold-{skills.agent_id}" if isinstance(skills, AgentSkills) else "skillfold"


class SkillContext:
    """One conversation of a host that adds text to each call of a model, and drops it afterwards.

    A skill's instructions come with each request that needs them and with the next three, so that "and now page 2" has
    them too; with `matching="keyword"` only with requests that contain a trigger. Answers of the tools are expected to
    stay in the conversation: a skill that the model loaded itself is not added again.
    """

    context_priority = 60
    """The place among a host's providers: after a channel's (0), before memory's (100)."""

    def __init__(
        self,
        skills: Skills | AgentSkills,
        max_skills: int = 3,
        *,
        state: str | None = None,
        **options: Unpack[ContextOptions],
    ) -> None:
        """Start a conversation, or resume one from what `save` returned. A request adds at most `max_skills` skills."""
        self.skills = skills
        settings: ContextOptions = {"disclosure": "triggered", "breadcrumb": False, **options}
        self._session = skills.session(max_per_request=max_skills, transient=True, state=state, **settings)
        self.used: list[str] = []
        """The skills that the model asked for since the last `invoked`: their instructions, files or scripts."""

    def invoking(self, messages: str | Message | Iterable[Message]) -> Context:
        """Return what to add to the next call of the model. Of the messages, the user's latest counts.

        Call it once per request, not again after the model called a tool.
        """
        listing, turn = self._session.listing(), self._session.turn(messages)
        if turn.decisions:
            logger.info("Skills for the request: %s", ", ".join(f"{d.id} ({d.outcome})" for d in turn.decisions))
        text = "\n".join(filter(None, (str(listing), str(turn))))
        return Context(text or None, listing.tokens + turn.tokens, turn.reasons)

    async def ainvoking(self, messages: str | Message | Iterable[Message]) -> Context:
        """Do what `invoking` does, on another thread."""
        return await to_thread(self.invoking, messages)

    def invoked(self, used: Iterable[str] | None = None) -> list[str]:
        """Record which skills the model followed, after it answered, and return their ids; `stats` reports on them.

        By default these are the skills that it asked for by a tool. Nothing is recorded for a skill that was only added
        to the request: whether the model followed it is not known.
        """
        ids = list(dict.fromkeys(self.used if used is None else used))
        self.used = []
        for skill_id in ids:
            # The skill may have been removed since.
            with suppress(SkillfoldError):
                self._session.record_feedback(skill_id, "used")
        return ids

    def tools(self) -> list[views.Tool]:
        """Return the tools for the model; none if there are no skills."""
        return self._session.tools()

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> views.ToolAnswer:
        """Call a tool as the model asked."""
        answer = self._session.call(name, arguments)
        if not answer.is_error:
            given: Any = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments or {}
            if isinstance(skill_id := given.get("skill_id"), str):
                self.used.append(skill_id)
        return answer

    async def acall(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> views.ToolAnswer:
        """Call a tool as the model asked, on another thread."""
        return await to_thread(self.call, name, arguments)

    def save(self) -> str:
        """Return the state as JSON, to resume with. It contains ids, numbers and the arguments of loaded skills."""
        return self._session.save()

    @property
    def tokens_spent(self) -> int:
        """Tokens of all instructions and lines that were given so far, without listings."""
        return self._session.tokens_spent

    def has_skills(self) -> bool:
        """Return whether there is a skill that the model may see."""
        return bool(self._session.tools())

    def get_all_metadata(self) -> list[views.SkillRecord]:
        """Return the records of the skills that the model may see."""
        visible = set(self.skills.ids())
        return [record for record in self.skills if record.id in visible]

    def load_enabled_skills(self) -> Skills | AgentSkills:
        """Read what changed on disk and return the skills; those of an agent follow the skills they were bound from."""
        if isinstance(self.skills, Skills):
            self.skills.refresh()
        return self.skills
