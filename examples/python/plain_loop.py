"""Skills in an agent loop made by hand, without a framework.

`python plain_loop.py` talks to a scripted model, and prints what reaches it. With MODEL, and OPENAI_API_KEY or
OPENAI_BASE_URL, it talks to a server that has the chat API of OpenAI, such as OpenAI, Ollama, llama.cpp or vLLM.
"""

from __future__ import annotations

import json
import os
import urllib.request
from typing import Any

from scripted import MODEL, REQUESTS, example_skills, next_call, show

Message = dict[str, Any]
MAX_STEPS = 8


def scripted_model(messages: list[Message], _tools: list[dict[str, Any]]) -> Message:
    """Print what it gets, and follow the script."""
    show((message["role"], message["content"] or str(message["tool_calls"][0]["function"])) for message in messages)
    call = next_call(messages[-1]["content"])
    if not call:
        return {"role": "assistant", "content": "ok"}
    function = {"name": call[0], "arguments": json.dumps(call[1])}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": function}]}


def real_model(messages: list[Message], tools: list[dict[str, Any]]) -> Message:
    """Ask a server."""
    url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions"
    headers = {"authorization": f"Bearer {os.environ.get('OPENAI_API_KEY')}", "content-type": "application/json"}
    body = json.dumps({"model": MODEL, "messages": messages, "tools": tools}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:  # noqa: S310
        return json.load(answer)["choices"][0]["message"]


def main() -> None:
    """Have a conversation of three requests."""
    model = real_model if MODEL else scripted_model
    # What is added stays in the messages, so nothing has to be given twice.
    session = example_skills().session(disclosure="triggered", breadcrumb=False)
    tools = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in session.tools()
    ]
    messages: list[Message] = [{"role": "system", "content": "You help."}]
    for request in REQUESTS:
        turn = session.turn(request)
        print(f"User: {request}", f"Tokens that skills add: {turn.tokens}", sep="\n")
        messages += [{"role": "user", "content": text} for text in (turn.text, request) if text]
        for _ in range(MAX_STEPS):
            answer = model(messages, tools)
            messages.append(answer)
            calls: list[Any] = answer.get("tool_calls") or []
            for call in calls:
                # The arguments may be JSON text. Whatever is wrong with a call is an answer that the model can act on.
                text = session.call(call["function"]["name"], call["function"]["arguments"]).text
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
            if not calls:
                print(f"Agent: {answer['content']}")
                break
        else:
            print(f"Agent: stopped after {MAX_STEPS} calls of the model")
    print(f"Tokens spent on skills: {session.tokens_spent}")


if __name__ == "__main__":
    main()
