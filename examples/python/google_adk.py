"""Skills in an agent of the Google Agent Development Kit (ADK).

`python google_adk.py` talks to a scripted model, and prints what reaches it. `MODEL=gemini-2.5-flash`, with
GOOGLE_API_KEY, talks to a model of Google.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.base_tool import BaseTool
from google.genai import types

from scripted import MODEL, REQUESTS, example_skills, next_call, show

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.tools.tool_context import ToolContext

    from skillfold import Session, views

skills = example_skills()


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
    """Prints what it gets, and follows the script."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002, FBT001, FBT002
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer a request."""
        shown = [(str(content.role), text_of(part)) for content in llm_request.contents for part in content.parts or []]
        show(shown)
        call = next_call(shown[-1][1])
        part = types.Part.from_function_call(name=call[0], args=dict(call[1])) if call else types.Part(text="ok")
        yield LlmResponse(content=types.ModelContent([part]))


def text_of(part: types.Part) -> str:
    """Return the text of a part: its own, or that of a call of a tool or its answer."""
    call, answer = part.function_call, part.function_response
    return f"{call.name} {call.args}" if call else str((answer.response if answer else None) or part.text)


async def main() -> None:
    """Have a conversation of three requests."""
    agent = LlmAgent(
        name="helper",
        model=MODEL or ScriptedModel(model="scripted"),
        instruction="You help.",
        before_model_callback=add_skills,
        tools=[SkillTool(tool) for tool in skills.session().tools()],
    )
    runner = InMemoryRunner(agent, app_name="example")
    conversation = await runner.session_service.create_session(app_name="example", user_id="me")
    for request in REQUESTS:
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
