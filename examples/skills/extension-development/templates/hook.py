#!/usr/bin/env python3
"""Adds the skill that fits to a prompt: echo "fill in the tax form" | python3 hook.py CONVERSATION

Prints what belongs before the prompt, or nothing. A client that has plugins in Python calls `context_for` instead.
"""

from __future__ import annotations

import json
import subprocess
import sys

# The command itself ends after 2 seconds at the latest.
TIMEOUT_SECONDS = 5


def context_for(prompt: str, conversation: str) -> str | None:
    """Return what to add to a prompt, or None. A failure is reported on standard error and adds nothing."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": conversation, "prompt": prompt}
    try:
        done = subprocess.run(
            ["skillfold", "hook"],
            input=json.dumps(event),
            stdout=subprocess.PIPE,
            encoding="utf-8",
            timeout=TIMEOUT_SECONDS,
            check=True,
        )
        answer: dict[str, dict[str, str]] = json.loads(done.stdout.strip() or "{}")
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        print(f"No skill is added: {error}", file=sys.stderr)
        return None
    return answer.get("hookSpecificOutput", {}).get("additionalContext")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: hook.py CONVERSATION < prompt")
    context = context_for(sys.stdin.buffer.read().decode(errors="replace"), sys.argv[1])
    if context:
        print(context)
