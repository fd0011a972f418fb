"""Skills in an agent of Pydantic AI.

`python pydantic_agent.py` talks to a scripted model, and prints what reaches it. `MODEL=openai:gpt-5.5` talks to a
model of OpenAI, with OPENAI_API_KEY and the package pydantic-ai-slim[openai]; other providers have their own extras.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from scripted import MODEL, REQUESTS, example_skills, next_call, show
from skillfold.pydantic_ai import SkillToolset

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Print what the model gets, and follow the script."""
    parts: list[Any] = [part for message in messages for part in message.parts]
    shown = [(part.part_kind, str(getattr(part, "content", part))) for part in parts]
    show([("system", info.instructions or ""), *shown])
    call = next_call(shown[-1][1])
    return ModelResponse([ToolCallPart(*call) if call else TextPart("ok")])


def main() -> None:
    """Have a conversation of three requests."""
    toolset = SkillToolset[object](example_skills())
    agent = Agent(MODEL or FunctionModel(scripted), instructions="You help.", toolsets=[toolset])
    history: list[ModelMessage] = []
    for request in REQUESTS:
        print(f"User: {request}")
        result = agent.run_sync(request, message_history=history)
        history = result.all_messages()
        print(f"Agent: {result.output}")
    print(f"Tokens spent on skills: {toolset.tokens_spent(history)}")


if __name__ == "__main__":
    main()
