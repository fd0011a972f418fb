"""Skills in an agent of the OpenAI Agents SDK.

`python openai_agent.py` talks to a scripted model, and prints what reaches it. With MODEL and OPENAI_API_KEY it talks
to a model of OpenAI.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from agents import Agent, Model, ModelResponse, Runner, SQLiteSession, Usage, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from scripted import MODEL, REQUESTS, example_skills, next_call, show
from skillfold.openai_agents import SkillTools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class ScriptedModel(Model):
    """Prints what it gets, and follows the script."""

    async def get_response(
        self,
        system_instructions: str | None,
        input: Any,  # noqa: A002, ANN401
        *_: Any,  # noqa: ANN401
        **__: Any,  # noqa: ANN401
    ) -> ModelResponse:
        """Answer a request."""
        shown = [(item.get("role") or item["type"], text_of(item)) for item in input]
        show([("system", system_instructions or ""), *shown])
        call = next_call(shown[-1][1])
        if call:
            output = ResponseFunctionToolCall(
                call_id="1", name=call[0], arguments=json.dumps(call[1]), type="function_call"
            )
            return ModelResponse([output], Usage(), None)
        text = ResponseOutputText(text="ok", type="output_text", annotations=[])
        message = ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse([message], Usage(), None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:  # noqa: ANN401
        """Refuse: the example does not stream."""
        raise NotImplementedError


def text_of(item: dict[str, Any]) -> str:
    """Return the text of a message, a call or its answer."""
    content = item.get("content") or item.get("output") or f"{item.get('name')} {item.get('arguments')}"
    return content if isinstance(content, str) else content[0]["text"]


async def main() -> None:
    """Have a conversation of three requests."""
    if not MODEL:
        set_tracing_disabled(disabled=True)
    skill_tools = SkillTools(example_skills())  # one for each conversation
    agent = skill_tools.attach(Agent(name="helper", instructions="You help.", model=MODEL or ScriptedModel()))
    session = SQLiteSession("example")
    for request in REQUESTS:
        print(f"User: {request}")
        result = await Runner.run(agent, request, session=session)
        print(f"Agent: {result.final_output}")
    print(f"Tokens spent on skills: {skill_tools.tokens_spent}")


if __name__ == "__main__":
    asyncio.run(main())
