"""Skills for the OpenAI Agents SDK: `pip install "skillfold[openai-agents]"`.

```python
skill_tools = SkillTools(Skills.discover())  # one per conversation
result = await Runner.run(skill_tools.attach(agent), "Fill in the form", session=session)
```

The hook is the agent's dynamic `instructions`: the SDK calls them before each model call, with the input of the run in
`context.turn_input`. One run has one `RunContextWrapper`, so that the request is matched once per run, and the
instructions stay the same while the model calls tools. The SDK does not keep instructions between runs; it keeps the
answers of tools in its session, or in `to_input_list()`.
"""

from __future__ import annotations

import inspect
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

from agents import Agent, FunctionTool, RunContextWrapper, ToolOutputImage, ToolOutputText

from skillfold.context import Context, ContextOptions, SkillContext

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agents.tool_context import ToolContext
    from typing_extensions import Unpack

    from skillfold import AgentSkills, Skills, views

    Instructions = Callable[[RunContextWrapper[Any], Agent[Any]], str | Awaitable[str | None] | None]

__all__ = ["SkillTools"]

TContext = TypeVar("TContext")


class SkillTools:
    """The skills of one conversation: dynamic instructions and function tools for its agents.

    Create one for each conversation, and attach it to the agents that take part. To continue the conversation in
    another process, pass what `save` returned as `state`.
    """

    def __init__(
        self,
        skills: Skills | AgentSkills,
        max_skills: int = 3,
        *,
        state: str | None = None,
        **options: Unpack[ContextOptions],
    ) -> None:
        """Start a conversation; `skillfold.context.SkillContext` describes the arguments."""
        self._conversation = SkillContext(skills, max_skills, state=state, **options)
        self._told: weakref.WeakKeyDictionary[RunContextWrapper[Any], Context] = weakref.WeakKeyDictionary()

    def attach(self, agent: Agent[TContext]) -> Agent[TContext]:
        """Return a copy of an agent with the instructions and tools added to its own."""
        return agent.clone(instructions=self.instructions(agent.instructions), tools=[*agent.tools, *self.tools()])

    def instructions(
        self, base: str | Instructions | None = None
    ) -> Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str | None]]:
        """Return dynamic instructions for an agent: its own, then what the latest user message of the run needs."""

        async def dynamic(context: RunContextWrapper[Any], agent: Agent[Any]) -> str | None:
            own = base(context, agent) if callable(base) else base
            if inspect.isawaitable(own):
                own = await own
            told = await self._context(context)
            return "\n\n".join(filter(None, [own, told.instructions])) or None

        return dynamic

    def tools(self) -> list[FunctionTool]:
        """Return the tools to search, load and read skills; none if there are no skills."""
        return [
            FunctionTool(
                name=tool.name,
                description=tool.description,
                params_json_schema=tool.input_schema,
                on_invoke_tool=self._invoker(tool.name),
                # Strict schemas have no optional arguments.
                strict_json_schema=False,
            )
            for tool in self._conversation.tools()
        ]

    def has_skills(self) -> bool:
        """Return whether there is a skill that the model may see."""
        return self._conversation.has_skills()

    def save(self) -> str:
        """Return the state as JSON. It contains ids, numbers and the arguments of loaded skills."""
        return self._conversation.save()

    @property
    def tokens_spent(self) -> int:
        """Tokens that were spent on skills so far."""
        return self._conversation.tokens_spent

    async def _context(self, run: RunContextWrapper[Any]) -> Context:
        if run not in self._told:
            self._told[run] = await self._conversation.ainvoking(run.turn_input)
        return self._told[run]

    def _invoker(self, name: str) -> Callable[[ToolContext[Any], str], Awaitable[Any]]:
        async def invoke(_: ToolContext[Any], arguments: str) -> str | list[ToolOutputText | ToolOutputImage]:
            answer = await self._conversation.acall(name, arguments)
            return [_output(block) for block in answer.content if block.type != "resource"] or answer.text

        return invoke


def _output(block: views.AnswerBlock) -> ToolOutputText | ToolOutputImage:
    if block.type == "image":
        return ToolOutputImage(image_url=f"data:{block.media_type};base64,{block.base64}")
    return ToolOutputText(text=block.text or "")
