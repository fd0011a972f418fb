"""Skills for Pydantic AI: `pip install "skillfold[pydantic-ai]"`.

```python
agent = Agent(model, toolsets=[SkillToolset(Skills.discover())])
```

Pydantic AI calls `for_run` once per run and `get_instructions` before each model request. It sends the instructions of
the latest request only, and keeps messages with the answers of tools in the message history. The state of the
conversation is in the `metadata` of its requests, which is stored with the history and not sent to the model.
"""

from __future__ import annotations

import base64
import copy
from typing import TYPE_CHECKING, Any

from pydantic_ai import AbstractToolset, BinaryContent, RunContext, ToolDefinition
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from skillfold.context import Context, ContextOptions, SkillContext, default_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.messages import ModelMessage
    from typing_extensions import Unpack

    from skillfold import AgentSkills, Skills, views

__all__ = ["SkillToolset"]

# The engine checks the arguments, and says in its answer what is wrong with them.
_ANY_ARGUMENTS = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))


class SkillToolset(AbstractToolset[AgentDepsT]):
    """Tools to search, load and read skills, and the instructions that the user's prompt needs.

    One toolset serves all runs of an agent, also at the same time. Without skills it adds nothing.
    """

    def __init__(
        self,
        skills: Skills | AgentSkills,
        max_skills: int = 3,
        *,
        id: str | None = None,  # noqa: A002
        **options: Unpack[ContextOptions],
    ) -> None:
        """Provide these skills; `skillfold.context.SkillContext` describes the options.

        `id` is the key of the state in a message history: by default `skillfold`, and for the skills of an agent with
        its id.
        """
        self.skills = skills
        self.max_skills = max_skills
        self._id = id or default_id(skills)
        self._options = options
        self._conversation = SkillContext(skills, max_skills, **options)
        self._prompt: UserPromptPart | None = None
        self._told = Context()

    @property
    def id(self) -> str:
        """The id of the toolset, unique among those of an agent."""
        return self._id

    def has_skills(self) -> bool:
        """Return whether there is a skill that the model may see."""
        return self._conversation.has_skills()

    def tokens_spent(self, messages: Sequence[ModelMessage]) -> int:
        """Return the tokens that were spent on skills in a message history."""
        return self._resumed(messages).tokens_spent

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> SkillToolset[AgentDepsT]:
        """Return the toolset for one run, which continues the conversation of the message history."""
        toolset = copy.copy(self)
        toolset._conversation = self._resumed(ctx.messages)  # noqa: SLF001
        return toolset

    async def get_instructions(self, ctx: RunContext[AgentDepsT]) -> str | None:
        """Return the instructions that the latest user prompt needs, if any; the same for all requests of a run."""
        prompt = _latest_prompt(ctx.messages)
        if prompt is not None and prompt != self._prompt:
            self._prompt = prompt
            self._told = await self._conversation.ainvoking({"role": "user", "content": prompt.content})
        request = ctx.messages[-1] if ctx.messages else None
        if isinstance(request, ModelRequest):
            request.metadata = {**(request.metadata or {}), self._id: self._conversation.save()}
        return self._told.instructions

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """Return the tools; none if there are no skills."""
        return {
            tool.name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema
                ),
                max_retries=ctx.max_retries,
                args_validator=_ANY_ARGUMENTS,
            )
            for tool in self._conversation.tools()
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],  # noqa: ARG002
        tool: ToolsetTool[AgentDepsT],  # noqa: ARG002
    ) -> str | list[str | BinaryContent]:
        """Call a tool as the model asked. What is wrong with the call is in the answer."""
        answer = await self._conversation.acall(name, tool_args)
        return [_content(block) for block in answer.content if block.type != "resource"] or answer.text

    def _resumed(self, messages: Sequence[ModelMessage]) -> SkillContext:
        saved = (message.metadata or {} for message in reversed(messages))
        state = next((metadata[self._id] for metadata in saved if self._id in metadata), None)
        return SkillContext(self.skills, self.max_skills, state=state, **self._options)


def _latest_prompt(messages: Sequence[ModelMessage]) -> UserPromptPart | None:
    parts = (part for message in reversed(messages) for part in reversed(message.parts))
    return next((part for part in parts if isinstance(part, UserPromptPart)), None)


def _content(block: views.AnswerBlock) -> str | BinaryContent:
    if block.type == "image":
        return BinaryContent(base64.b64decode(block.base64 or ""), media_type=block.media_type or "")
    return block.text or ""
