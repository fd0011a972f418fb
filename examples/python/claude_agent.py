"""Skills in an agent of the Claude Agent SDK.

`python claude_agent.py` talks to a scripted model on this computer, and prints what reaches it. `MODEL=sonnet` talks to
Claude; log in to Claude Code or set ANTHROPIC_API_KEY. The SDK runs the Claude Code that it comes with, or that of the
variable SKILLFOLD_CLAUDE.
"""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import tempfile
import threading
from typing import TYPE_CHECKING, Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    SdkMcpTool,
    TextBlock,
    create_sdk_mcp_server,
)

from scripted import MODEL, REQUESTS, example_skills, next_call, show

if TYPE_CHECKING:
    from skillfold import Session, views

skills = example_skills()


def skill_options(session: Session, **options: Any) -> ClaudeAgentOptions:  # noqa: ANN401
    """Return options of an agent with skills. Claude Code keeps what a hook adds in the conversation."""

    async def add_skills(prompt: Any, _tool: str | None, _context: Any) -> Any:  # noqa: ANN401
        text = (await session.aturn(prompt["prompt"])).text
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}} if text else {}

    def skill_tool(tool: views.Tool) -> SdkMcpTool[Any]:
        async def call(arguments: dict[str, Any]) -> dict[str, Any]:
            answer = await session.acall(tool.name, arguments)
            return {"content": [{"type": "text", "text": answer.text}], "is_error": answer.is_error}

        return SdkMcpTool(tool.name, tool.description, tool.input_schema, call)

    return ClaudeAgentOptions(
        hooks={"UserPromptSubmit": [HookMatcher(hooks=[add_skills])]},
        mcp_servers={"skills": create_sdk_mcp_server("skills", tools=[skill_tool(tool) for tool in session.tools()])},
        allowed_tools=["mcp__skills"],
        # Claude Code would list the skills in `.claude/skills` itself.
        skills=[],
        cli_path=os.environ.get("SKILLFOLD_CLAUDE"),
        **options,
    )


class ScriptedModel(http.server.BaseHTTPRequestHandler):
    """Speaks the Messages API, prints what it gets, and follows the script."""

    def do_POST(self) -> None:
        """Answer a request."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta: dict[str, Any] = {"type": "text_delta", "text": "ok"}
        # Requests without tools are the client's own, such as for a title.
        if request.get("tools"):
            shown = [(message["role"], text) for message in request["messages"] for text in texts(message["content"])]
            show(shown)
            call = next_call([text for role, text in shown if role == "user"][-1])
            if call:
                block = {"type": "tool_use", "id": "toolu_1", "name": f"mcp__skills__{call[0]}", "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        self.answer(request, block, delta)

    def answer(self, request: dict[str, Any], block: dict[str, Any], delta: dict[str, Any]) -> None:
        """Stream a message of one block."""
        message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": request["model"]}
        message |= {
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing about requests."""


def texts(content: str | list[dict[str, Any]]) -> list[str]:
    """Return the texts of a message: its own, and those of calls and answers of tools."""
    if isinstance(content, str):
        return [content]
    found: list[str] = []
    for block in content:
        if block["type"] == "tool_use":
            found.append(f"{block['name']} {block['input']}")
        else:
            found += texts(block["content"]) if "content" in block else [block.get("text", "")]
    return found


async def converse(**options: Any) -> None:  # noqa: ANN401
    """Have a conversation of three requests."""
    # A hook may add 10,000 characters. Longer instructions are named in a line, and the model loads them with a tool.
    session = skills.session(disclosure="triggered", breadcrumb=False, body_tokens=2_000)
    async with ClaudeSDKClient(skill_options(session, **options)) as client:
        for request in REQUESTS:
            print(f"User: {request}")
            await client.query(request)
            async for message in client.receive_response():
                for block in message.content if isinstance(message, AssistantMessage) else []:
                    if isinstance(block, TextBlock):
                        print(f"Agent: {block.text}")
    print(f"Tokens spent on skills: {session.tokens_spent}")


def main() -> None:
    """Run with the scripted model, or with Claude."""
    if MODEL:
        asyncio.run(converse(model=MODEL))
        return
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ScriptedModel)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "HOME": home,
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.server_port}",
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            # No other host is reached.
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1",
        }
        asyncio.run(converse(env=environment, cwd=home, tools=[], setting_sources=[], system_prompt="You help."))


if __name__ == "__main__":
    main()
