"""Skills in an agent of the Microsoft Agent Framework.

`python microsoft_agent.py` talks to a scripted model, and prints what reaches it. With MODEL and OPENAI_API_KEY, and
the package agent-framework-openai, it talks to a model of OpenAI.
"""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message

from scripted import MODEL, REQUESTS, example_skills, next_call, show
from skillfold.agent_framework import SkillContextProvider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class ScriptedClient(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Prints what it gets, and follows the script."""

    async def _inner_get_response(  # type: ignore[override]
        self,
        *,
        messages: Sequence[Message],
        options: Mapping[str, Any],
        **_: Any,  # noqa: ANN401
    ) -> ChatResponse:
        contents = [(str(message.role), content) for message in messages for content in message.contents]
        shown = [(role, str(content.result or content.text or content.name)) for role, content in contents]
        show([("system", options.get("instructions") or ""), *shown])
        call = next_call(shown[-1][1])
        answer = Content.from_function_call("1", call[0], arguments=call[1]) if call else Content.from_text("ok")
        return ChatResponse(messages=[Message("assistant", [answer])])


async def main() -> None:
    """Have a conversation of three requests."""
    client = importlib.import_module("agent_framework.openai").OpenAIChatClient(MODEL) if MODEL else ScriptedClient()
    provider = SkillContextProvider(example_skills())
    agent = Agent(client, "You help.", context_providers=[provider])
    session = agent.create_session()
    for request in REQUESTS:
        print(f"User: {request}")
        print(f"Agent: {await agent.run(request, session=session)}")
    print(f"Tokens spent on skills: {provider.tokens_spent(session)}")


if __name__ == "__main__":
    asyncio.run(main())
