"""Skills in an agent of the Google Agent Development Kit (ADK).

`python google_adk.py` has a conversation with a scripted model, which prints what reaches it. `python google_adk.py
gemini-2.5-flash` has it with a model of Google; set GOOGLE_API_KEY.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.base_tool import BaseTool
from google.genai import types

from skillfold import Session, Skills, views

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.tools.tool_context import ToolContext

skills = Skills.discover(bundled=Path(__file__).parent.parent / "skills")


def resumed(state: Any) -> Session:  # noqa: ANN401
    """Return the conversation of an ADK session. ADK drops what is added to a request, so it is transient."""
    return skills.session(disclosure="triggered", breadcrumb=False, transient=True, state=state.get("skills"))


def add_skills(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
    """Put what the user's message needs before it, in every model call of the turn."""
    state, message = callback_context.state, callback_context.user_content
    if state.get("skill_turn") != callback_context.invocation_id:
        session = resumed(state)
        parts = message.parts if message else None
        state["skill_text"] = session.turn("\n".join(part.text for part in parts or [] if part.text)).text
        state["skills"], state["skill_turn"] = session.save(), callback_context.invocation_id
    text, contents = state["skill_text"], llm_request.contents
    if text and message in contents:
        at = len(contents) - 1 - contents[::-1].index(message)
        contents.insert(at, types.UserContent(text))


class SkillTool(BaseTool):
    """A tool of the engine."""

    def __init__(self, tool: views.Tool) -> None:
        """Take its name, description and schema."""
        super().__init__(name=tool.name, description=tool.description)
        self.schema = tool.input_schema

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self.schema,
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, str]:
        """Call it, and keep what the model got."""
        session = resumed(tool_context.state)
        answer = await session.acall(self.name, args)
        tool_context.state["skills"] = session.save()
        return {"error" if answer.is_error else "result": answer.text}


class ScriptedModel(BaseLlm):
    """Prints what it gets. It loads a skill if it is asked to, and says "ok" otherwise."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002, FBT001, FBT002
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer a request."""
        print("The model gets:")
        for content in llm_request.contents:
            for part in content.parts or []:
                call, answer = part.function_call, part.function_response
                text = f"{call.name} {call.args}" if call else str((answer.response if answer else None) or part.text)
                print(f"  {content.role}: {text[:70]!r}")
        part = types.Part(text="ok")
        if (llm_request.contents[-1].parts or [part])[-1].text == "Load the skill for reviews":
            part = types.Part.from_function_call(name="load_skill", args={"skill_id": "code-review"})
        yield LlmResponse(content=types.ModelContent([part]))


async def main() -> None:
    """Have a conversation of three requests."""
    agent = LlmAgent(
        name="helper",
        model=sys.argv[1] if len(sys.argv) > 1 else ScriptedModel(model="scripted"),
        instruction="You help.",
        before_model_callback=add_skills,
        tools=[SkillTool(tool) for tool in skills.session().tools()],
    )
    runner = InMemoryRunner(agent, app_name="example")
    conversation = await runner.session_service.create_session(app_name="example", user_id="me")
    for request in ("What is 2+2?", "Greet Alice in French", "Load the skill for reviews"):
        print(f"User: {request}")
        async for event in runner.run_async(
            user_id="me",
            session_id=conversation.id,
            new_message=types.UserContent(request),
        ):
            if event.is_final_response() and event.content:
                print(f"Agent: {(event.content.parts or [types.Part()])[0].text}")
    kept = await runner.session_service.get_session(app_name="example", user_id="me", session_id=conversation.id)
    print(f"Tokens spent on skills: {resumed(kept.state).tokens_spent if kept else 0}")


if __name__ == "__main__":
    asyncio.run(main())
