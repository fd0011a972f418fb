"""Skills as tools of LangChain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from langchain_core.tools import StructuredTool
from pydantic import BaseModel, ConfigDict, Field

from skillfold.compat.skillkit.core.exceptions import SkillNotFoundError
from skillfold.compat.skillkit.core.scripts import not_available

if TYPE_CHECKING:
    from skillfold.compat.skillkit.core.manager import SkillManager
    from skillfold.compat.skillkit.core.models import Skill, SkillMetadata


class ScriptToolResult(TypedDict):
    """What a script's tool returns."""

    type: str
    tool_use_id: str
    content: str | list[str] | None
    is_error: bool


class SkillInput(BaseModel):
    """The input of a skill's tool."""

    model_config = ConfigDict(str_strip_whitespace=True)

    arguments: str = Field(default="", description="Arguments to pass to the skill")


class ScriptInput(BaseModel):
    """The input of a script's tool."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    arguments: dict[str, Any] = Field(
        default_factory=dict,
        description="JSON-serializable arguments to pass to the script via stdin",
    )


def create_langchain_tools(manager: SkillManager) -> list[StructuredTool]:
    """Return a tool for each skill that a model may start. It answers with the skill's instructions."""
    skills = manager._for_models()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return [_tool(manager, skill) for skill in skills]


def create_script_tools(skill: Skill, manager: SkillManager) -> list[StructuredTool]:  # noqa: ARG001
    """Return no tools for a skill without scripts. With scripts, raise `ScriptError`: not available yet."""
    for script in skill.scripts:
        not_available(script.get_fully_qualified_name(skill.metadata.name))
    return []


def _tool(manager: SkillManager, skill: SkillMetadata) -> StructuredTool:
    def check() -> None:
        # The skill may have become one for people since.
        models = manager._for_models()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        if skill.name not in {one.name for one in models}:
            message = f"Skill '{skill.name}' not found"
            raise SkillNotFoundError(message)

    def invoke(arguments: str = "") -> str:
        check()
        return manager.invoke_skill(skill.name, arguments)

    async def ainvoke(arguments: str = "") -> str:
        check()
        return await manager.ainvoke_skill(skill.name, arguments)

    return StructuredTool(
        name=skill.name,
        description=skill.description,
        args_schema=SkillInput,
        func=invoke,
        coroutine=ainvoke,
    )
