"""The examples of `examples/python` run, and their models get what they should.

The client of the Claude Agent SDK is a program. The variable SKILLFOLD_CLAUDE has its path.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "python"
CLAUDE = os.environ.get("SKILLFOLD_CLAUDE")


def run(name: str, home: Path) -> list[list[str]]:
    """Runs an example in an empty home, and returns the lines of each request to its model."""
    environment = {**os.environ, "HOME": str(home)}
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(
        command,
        env=environment,
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Agent: ok") == 3
    assert int(done.stdout.rsplit("Tokens spent on skills: ", 1)[1]) > 0
    parts = done.stdout.split("The model gets:\n")[1:]
    requests = [[line.strip() for line in part.splitlines() if line.startswith("  ")] for part in parts]
    assert len(requests) == 4
    return requests


def given(request: list[str], skill: str) -> int:
    return sum(f'<skill_context id="{skill}">' in line for line in request)


def test_the_example_of_google_adk_runs(tmp_path: Path) -> None:
    unrelated, related, asked, answered = run("google_adk.py", tmp_path)
    assert unrelated == ["user: 'What is 2+2?'"]
    assert [given(request, "hello-extended") for request in (related, asked, answered)] == [1, 1, 1]
    assert related[-1] == "user: 'Greet Alice in French'"
    assert [given(request, "code-review") for request in (asked, answered)] == [0, 1]
    assert answered[-2] == "model: \"load_skill {'skill_id': 'code-review'}\""


def test_the_example_of_the_claude_agent_sdk_runs(tmp_path: Path) -> None:
    if CLAUDE is None:
        pytest.fail(
            "Set SKILLFOLD_CLAUDE to the path of a `claude` program, such as that in the package claude-agent-sdk"
        )
    unrelated, related, asked, answered = run("claude_agent.py", tmp_path)
    assert unrelated[0] == "user: 'What is 2+2?'"
    assert given(unrelated, "hello-extended") == 0
    # The client keeps what the hook added where it was.
    assert [given(request, "hello-extended") for request in (related, asked, answered)] == [1, 1, 1]
    assert [given(request, "code-review") for request in (asked, answered)] == [0, 1]
    assert answered[-2] == "assistant: \"mcp__skills__load_skill {'skill_id': 'code-review'}\""
