"""An agent loop with skills: python3 agent.py. Replace `model` by a call of yours."""

from __future__ import annotations

from typing import Any

from skillfold import Skills

MAX_STEPS = 8
GREET = """---
name: greet
description: Greets people. Use when someone is to be greeted.
triggers: [say hello]
---
Say hello to each person by name.
"""


def model(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Stand in for a model: answer with how much it got. A call of a tool would be in `tool_calls`."""
    return {"role": "assistant", "content": f"{len(messages)} messages, {len(tools)} tools", "tool_calls": []}


def main() -> None:
    # Without `bundled`: the skills of the project and of the person.
    session = Skills.discover(bundled={"greet/SKILL.md": GREET}).session()
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in session.tools()
    ]
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You help.\n\n" + session.listing().text}]
    for request in ("Say hello to Alice", "What is 2+2?"):
        messages += [{"role": "user", "content": text} for text in (session.turn(request).text, request) if text]
        for _ in range(MAX_STEPS):
            answer = model(messages, tools)
            messages.append(answer)
            if not answer["tool_calls"]:
                break
            for call in answer["tool_calls"]:
                # A wrong call is an answer too, which the model can act on.
                result = session.call(call["name"], call["arguments"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result.text})
        print(f"{request} -> {messages[-1]['content']}")


if __name__ == "__main__":
    main()
