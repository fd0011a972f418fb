"""The examples of `examples/python` run, and their models get what they should.

The client of the Claude Agent SDK is a program. The variable SKILLFOLD_CLAUDE has its path.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "python"
CLAUDE = os.environ.get("SKILLFOLD_CLAUDE")
# Not run by themselves.
SHARED = {"scripted.py", "scripted_langchain.py"}
# Frameworks that keep what was added among the messages, and those that drop it after the run.
KEEPING = ["plain_loop.py", "langchain_agent.py", "deep_agent.py"]
DROPPING = ["microsoft_agent.py", "openai_agent.py", "pydantic_agent.py"]


def run(name: str, home: Path, **variables: str) -> str:
    """Runs an example in an empty home, and returns what it prints."""
    environment = {**os.environ, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    if not variables:
        environment.pop("MODEL", None)
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        env=environment,
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def requests_of(name: str, home: Path) -> list[list[str]]:
    """Runs an example with its scripted model, and returns the lines of each request to the model."""
    printed = run(name, home)
    assert printed.count("Agent: ok") == 3
    assert int(printed.rsplit("Tokens spent on skills: ", 1)[1]) > 0
    parts = printed.split("The model gets:\n")[1:]
    requests = [[line.strip() for line in part.splitlines() if line.startswith("  ")] for part in parts]
    assert len(requests) == 4
    return requests


def given(request: list[str], skill: str) -> int:
    return sum(f'<skill_context id="{skill}">' in line for line in request)


def test_every_example_has_a_test() -> None:
    tested = {*KEEPING, *DROPPING, "google_adk.py", "claude_agent.py"}
    assert {path.name for path in EXAMPLES.glob("*.py")} == tested | SHARED


def test_page_shows_the_output_of_the_example(tmp_path: Path) -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    # The model gets the path of a skill, so that the tokens depend on the place of the checkout.
    some = re.compile(r"^(Tokens .*: )[1-9]\d*$", re.MULTILINE)
    shown = some.sub(r"\1some", page.split("```text\n")[1].split("```")[0])
    printed = some.sub(r"\1some", run("plain_loop.py", tmp_path))
    start, end = shown.split("…\n")
    assert printed.startswith(start)
    assert printed.endswith(end)


@pytest.mark.parametrize("name", KEEPING)
def test_example_adds_instructions_before_the_request_that_needs_them(name: str, tmp_path: Path) -> None:
    unrelated, related, asked, answered = requests_of(name, tmp_path)
    assert [line.split(": ", 1)[1] for line in unrelated] == ["'You help.'", "'What is 2+2?'"]
    assert given([related[-2]], "hello-extended") == 1
    assert related[-1].endswith(": 'Greet Alice in French'")
    # They stay where they were, and are not added again.
    assert [given(request, "hello-extended") for request in (related, asked, answered)] == [1, 1, 1]
    assert "load_skill" in answered[-2]
    assert [given(request, "code-review") for request in (asked, answered)] == [0, 1]


@pytest.mark.parametrize("name", DROPPING)
def test_example_adds_instructions_to_the_system_prompt_of_the_run(name: str, tmp_path: Path) -> None:
    unrelated, related, asked, answered = requests_of(name, tmp_path)
    assert unrelated[0] == "system: 'You help.'"
    # The framework drops them after the run, so they come again while they may still be needed.
    assert [given(request[:1], "hello-extended") for request in (related, asked, answered)] == [1, 1, 1]
    assert [given(request[1:], "hello-extended") for request in (related, asked, answered)] == [0, 0, 0]
    assert "load_skill" in answered[-2]
    assert [given(request, "code-review") for request in (asked, answered)] == [0, 1]


def test_google_adk_example_runs(tmp_path: Path) -> None:
    unrelated, related, asked, answered = requests_of("google_adk.py", tmp_path)
    assert unrelated == ["user: 'What is 2+2?'"]
    assert [given(request, "hello-extended") for request in (related, asked, answered)] == [1, 1, 1]
    assert related[-1] == "user: 'Greet Alice in French'"
    assert [given(request, "code-review") for request in (asked, answered)] == [0, 1]
    assert answered[-2] == "model: \"load_skill {'skill_id': 'code-review'}\""


def test_claude_agent_sdk_example_runs(tmp_path: Path) -> None:
    if CLAUDE is None:
        pytest.fail(
            "Set SKILLFOLD_CLAUDE to the path of a `claude` program, such as that in the package claude-agent-sdk"
        )
    unrelated, related, asked, answered = requests_of("claude_agent.py", tmp_path)
    assert unrelated[0] == "user: 'What is 2+2?'"
    assert given(unrelated, "hello-extended") == 0
    # The client keeps what the hook added where it was.
    assert [given(request, "hello-extended") for request in (related, asked, answered)] == [1, 1, 1]
    assert [given(request, "code-review") for request in (asked, answered)] == [0, 1]
    assert answered[-2] == "assistant: \"mcp__skills__load_skill {'skill_id': 'code-review'}\""


@contextmanager
def chat_server(requests: list[dict[str, Any]]) -> Iterator[str]:
    """Serves the chat API of OpenAI, and records requests. It loads a skill that does not exist, then says "fine"."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            function = {"name": "load_skill", "arguments": '{"skill_id": "code-revue"}'}
            message: dict[str, Any] = {"role": "assistant", "content": "fine"}
            if len(requests) == 1:
                message = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]}
            body = json.dumps({"choices": [{"message": message}]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def test_plain_loop_works_with_a_chat_api_server(tmp_path: Path) -> None:
    requests: list[dict[str, Any]] = []
    with chat_server(requests) as url:
        printed = run("plain_loop.py", tmp_path, MODEL="small", OPENAI_BASE_URL=url, NO_PROXY="127.0.0.1")
    assert printed.count("Agent: fine") == 3
    assert requests[0]["model"] == "small"
    assert [tool["function"]["name"] for tool in requests[0]["tools"]][1] == "load_skill"
    # A wrong call is answered with what to do.
    assert "code-review" in requests[1]["messages"][-1]["content"]
