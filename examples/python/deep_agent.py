"""Skills in an agent of deepagents.

`python deep_agent.py` talks to a scripted model, and prints what reaches it. `MODEL=openai:gpt-5.5` talks to a model of
OpenAI, with OPENAI_API_KEY and the package langchain-openai; other providers have their own packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepagents import create_deep_agent  # pyright: ignore[reportUnknownVariableType]
from langgraph.checkpoint.memory import InMemorySaver

from scripted import MODEL, REQUESTS, example_skills
from scripted_langchain import ScriptedChatModel
from skillfold.langchain import SkillMiddleware

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig


def main() -> None:
    """Have a conversation of three requests."""
    middleware = SkillMiddleware(example_skills())
    # deepagents has skills of its own, `skills=[...]`; do not give both the same folders.
    agent: Any = create_deep_agent(
        MODEL or ScriptedChatModel(),
        system_prompt="You help.",
        middleware=[middleware],
        checkpointer=InMemorySaver(),
    )
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    for request in REQUESTS:
        print(f"User: {request}")
        done = agent.invoke({"messages": [{"role": "user", "content": request}]}, thread)
        print(f"Agent: {done['messages'][-1].text}")
    print(f"Tokens spent on skills: {middleware.session(agent.get_state(thread).values).tokens_spent}")


if __name__ == "__main__":
    main()
