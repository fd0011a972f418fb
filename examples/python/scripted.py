"""What the examples share: the skills, the conversation, and the script that their models follow."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from skillfold import Skills

if TYPE_CHECKING:
    from collections.abc import Iterable

SKILLS = Path(__file__).parent.parent / "skills"
# One that needs no skill, one that brings in instructions, and one for which the model loads a skill itself.
REQUESTS = ("What is 2+2?", "Greet Alice in French", "Load the skill for reviews")
# The name of a real model, in the form of the framework.
MODEL = os.environ.get("MODEL")


def example_skills() -> Skills:
    """Return the skills of the examples alone. `Skills.discover()` finds those of the project and of the person."""
    return Skills.discover(SKILLS, home=SKILLS, bundled=SKILLS)


def next_call(last_text: str) -> tuple[str, dict[str, str]] | None:
    """Return the tool that the script calls after a text; otherwise the model says "ok"."""
    return ("load_skill", {"skill_id": "code-review"}) if last_text == REQUESTS[2] else None


def show(messages: Iterable[tuple[str, str]]) -> None:
    """Print what a model gets: the role and the start of each message."""
    print("The model gets:")
    for role, text in messages:
        print(f"  {role}: {text[:100]!r}")
