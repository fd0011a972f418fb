"""Skills as tools of LangChain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypedDict

from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field

from skillfold.compat.skillkit.core.exceptions import SkillNotFoundError

if TYPE_CHECKING:
    from skillfold.compat.skillkit.core.manager import SkillManager
    from skillfold.compat.skillkit.core.models import Skill, SkillMetadata
    from skillfold.compat.skillkit.core.scripts import ScriptMetadata


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


def create_script_tools(skill: Skill, manager: SkillManager) -> list[StructuredTool]:
    """Return a tool for each script of a skill. It runs the script in the sandbox, and answers with what it writes."""
    return [_script_tool(skill, script, manager) for script in skill.scripts]


def _script_tool(skill: Skill, script: ScriptMetadata, manager: SkillManager) -> StructuredTool:
    def run(arguments: dict[str, Any] | None = None) -> str:
        try:
            result = manager.execute_skill_script(skill.metadata.name, script.name, arguments or {})
        except Exception as error:
            message = f"Script execution error: {error}"
            raise ToolException(message) from error
        if result.success:
            return result.stdout
        message = f"Script failed with exit code {result.exit_code}"
        if result.stderr:
            message += f"\nError: {result.stderr}"
        if result.timeout:
            message += "\n(Script timed out)"
        if result.signaled:
            message += f"\n(Killed by signal: {result.signal})"
        raise ToolException(message)

    async def arun(arguments: dict[str, Any] | None = None) -> str:
        return await asyncio.to_thread(run, arguments)

    return StructuredTool(
        name=script.get_fully_qualified_name(skill.metadata.name),
        description=script.description or f"Execute {script.name} script",
        args_schema=ScriptInput,
        func=run,
        coroutine=arun,
    )


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
