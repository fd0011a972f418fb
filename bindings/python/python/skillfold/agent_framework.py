"""Skills for the Microsoft Agent Framework: `pip install "skillfold[agent-framework]"`.

```python
provider = SkillContextProvider(Skills.discover())
agent = Agent(client, "You are helpful.", context_providers=[provider] if provider.has_skills() else [])
```

The framework calls `before_run` once per run, keeps the instructions for all model calls of the run, and drops them
after it. Its history keeps the answers of tools. `state` of the provider is part of the session, also when the session
is stored.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from agent_framework import AgentSession, Content, ContextProvider, FunctionTool, SessionContext, SupportsAgentRun

from skillfold.context import ContextOptions, SkillContext, default_id

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from skillfold import AgentSkills, Skills, views

__all__ = ["SkillContextProvider"]

logger = logging.getLogger("skillfold")


class SkillContextProvider(ContextProvider):
    """Gives a run the skills that its request needs, and the tools to search, load and read others.

    One provider serves all sessions of an agent, also at the same time. Without skills it adds nothing.
    """

    def __init__(
        self,
        skills: Skills | AgentSkills,
        max_skills: int = 3,
        *,
        source_id: str | None = None,
        **options: Unpack[ContextOptions],
    ) -> None:
        """Provide these skills; `skillfold.context.SkillContext` describes the options.

        `source_id` is the key of the state in a session: by default `skillfold`, and for the skills of an agent with
        its id.
        """
        super().__init__(source_id or default_id(skills))
        self.skills = skills
        self.max_skills = max_skills
        self._options = options
        if self.has_skills():
            logger.info("Skill context provider enabled: %r", skills)

    def has_skills(self) -> bool:
        """Return whether there is a skill that the model may see."""
        return self._conversation({}).has_skills()

    def tokens_spent(self, session: AgentSession) -> int:
        """Return the tokens that were spent on skills in a session so far."""
        return self._conversation(session.state.get(self.source_id, {})).tokens_spent

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002
        session: AgentSession,  # noqa: ARG002
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add the instructions that the latest user message needs, if any, and the tools."""
        conversation = self._conversation(state)
        told = await conversation.ainvoking(context.input_messages)
        state["conversation"] = conversation.save()
        if told.instructions is not None:
            context.extend_instructions(self.source_id, told.instructions)
        context.extend_tools(self.source_id, [_tool(tool, conversation, state) for tool in conversation.tools()])

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002
        session: AgentSession,  # noqa: ARG002
        context: SessionContext,  # noqa: ARG002
        state: dict[str, Any],
    ) -> None:
        """Record which skills the model asked for in the run: it followed them."""
        if used := state.pop("used", []):
            conversation = self._conversation(state)
            conversation.invoked(used)
            state["conversation"] = conversation.save()

    def _conversation(self, state: dict[str, Any]) -> SkillContext:
        return SkillContext(self.skills, self.max_skills, state=state.get("conversation"), **self._options)


def _tool(tool: views.Tool, conversation: SkillContext, state: dict[str, Any]) -> FunctionTool:
    async def call(**arguments: Any) -> str | list[Content]:  # noqa: ANN401
        answer = await conversation.acall(tool.name, arguments)
        state["conversation"] = conversation.save()
        state["used"] = conversation.used
        return [_content(block) for block in answer.content if block.type != "resource"] or answer.text

    return FunctionTool(name=tool.name, description=tool.description, input_model=tool.input_schema, func=call)


def _content(block: views.AnswerBlock) -> Content:
    if block.type == "image":
        return Content.from_uri(f"data:{block.media_type};base64,{block.base64}", media_type=block.media_type)
    return Content.from_text(block.text or "")
