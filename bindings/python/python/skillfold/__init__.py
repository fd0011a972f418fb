"""The skills engine for AI agents.

>>> import skillfold
>>> skills = skillfold.Skills.discover()
>>> session = skills.session()
>>> system_prompt = session.listing().text
>>> turn = session.turn("Fill in the tax form report.pdf")
>>> turn.text, turn.tier, turn.tokens, turn.reasons  # doctest: +SKIP

`Skills` are all skills of a project and of the person, live. A `Session` decides turn by turn what a model is told
about them, and has the tools for a model to search, load and read skills itself. Results are `skillfold.views`: dicts
whose fields are attributes. Errors are in `skillfold.errors`.
"""

from skillfold._arguments import Embedder, Embeddings
from skillfold._improve import Reviewer
from skillfold._registry import Registry
from skillfold._session import Session
from skillfold._skillfold import VERSION as __version__
from skillfold._skillfold import Instructions
from skillfold._skills import AgentSkills, Skills, stats
from skillfold.errors import (
    ExistsError,
    InvalidError,
    NotFoundError,
    RefusedError,
    RunArgumentsError,
    RunCancelledError,
    RunError,
    RunTimeoutError,
    SandboxUnavailableError,
    SkillfoldError,
    SkillsWarning,
    ToolsetError,
    UnreadableError,
    UnwritableError,
)

__all__ = [
    "AgentSkills",
    "Embedder",
    "Embeddings",
    "ExistsError",
    "Instructions",
    "InvalidError",
    "NotFoundError",
    "RefusedError",
    "Registry",
    "Reviewer",
    "RunArgumentsError",
    "RunCancelledError",
    "RunError",
    "RunTimeoutError",
    "SandboxUnavailableError",
    "Session",
    "SkillfoldError",
    "Skills",
    "SkillsWarning",
    "ToolsetError",
    "UnreadableError",
    "UnwritableError",
    "__version__",
    "stats",
]
