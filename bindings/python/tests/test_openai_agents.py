"""Conversations of the OpenAI Agents SDK with a scripted model."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from agents import (
    Agent,
    Model,
    ModelResponse,
    RunContextWrapper,
    Runner,
    SQLiteSession,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from conftest import BUNDLED, FORMS, MAIL_TEXT, PDF_TEXT
from skillfold import Skills
from skillfold.openai_agents import SkillTools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

TOOLS = ["search_skills", "load_skill", "read_skill_resource", "list_skills"]


@pytest.fixture(autouse=True)
def _no_tracing() -> None:
    set_tracing_disabled(disabled=True)


class ScriptedModel(Model):
    """Answers with each step: a text, or a tool's name and its arguments as JSON. It records what it got."""

    def __init__(self, *steps: str | tuple[str, str]) -> None:
        self.steps = list(steps)
        self.prompts: list[str] = []
        self.inputs: list[Any] = []
        self.tools: list[list[str]] = []

    async def get_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *_: Any, **__: Any
    ) -> ModelResponse:
        return ModelResponse([self._answer(system_instructions, input, tools)], Usage(), None)

    async def stream_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *_: Any, **__: Any
    ) -> AsyncIterator[Any]:
        response = Response(
            id="response",
            created_at=0,
            model="scripted",
            object="response",
            output=[self._answer(system_instructions, input, tools)],
            parallel_tool_calls=False,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(response=response, sequence_number=0, type="response.completed")

    def _answer(self, prompt: str | None, items: Any, tools: list[Any]) -> Any:
        self.prompts.append(prompt or "")
        self.inputs.append(items)
        self.tools.append([tool.name for tool in tools])
        step = self.steps.pop(0) if self.steps else "Done."
        number = f"{id(self)}-{len(self.prompts)}"
        if isinstance(step, tuple):
            return ResponseFunctionToolCall(call_id=number, name=step[0], arguments=step[1], type="function_call")
        text = ResponseOutputText(text=step, type="output_text", annotations=[])
        return ResponseOutputMessage(id=number, content=[text], role="assistant", status="completed", type="message")

    def tool_answers(self) -> list[Any]:
        """Return the answers of tools in the latest input."""
        return [item["output"] for item in self.inputs[-1] if item.get("type") == "function_call_output"]


def converse(model: ScriptedModel, skill_tools: SkillTools, *requests: str) -> None:
    agent = skill_tools.attach(Agent("assistant", instructions="Be kind.", model=model))
    session = SQLiteSession("conversation")

    async def run() -> None:
        for request in requests:
            await Runner.run(agent, request, session=session)

    asyncio.run(run())


def test_unrelated_request_adds_no_instructions(skills: Skills) -> None:
    model, skill_tools = ScriptedModel(), SkillTools(skills)
    converse(model, skill_tools, "What is 2+2?")
    assert model.prompts == ["Be kind."]
    assert model.tools == [TOOLS]
    assert skill_tools.tokens_spent == 0


def test_matching_request_gets_the_instructions_once_per_run(skills: Skills) -> None:
    read = ("read_skill_resource", '{"skill_id": "pdf", "path": "references/forms.md"}')
    model, skill_tools = ScriptedModel(read, "Done."), SkillTools(skills)
    converse(model, skill_tools, "Fill in a form for Alice")
    assert [prompt.count(PDF_TEXT) for prompt in model.prompts] == [1, 1]
    assert model.prompts[0].startswith("Be kind.\n\n")
    assert model.tool_answers() == [FORMS]
    # The request is matched once, not again after the tool.
    assert json.loads(skill_tools.save())["turn"] == 1
    assert skill_tools.tokens_spent > 0


def test_dropped_instructions_are_given_again_without_accumulating(skills: Skills) -> None:
    model = ScriptedModel()
    converse(model, SkillTools(skills), "Fill in the pdf", "And the next page", "Another pdf")
    assert [prompt.count(PDF_TEXT) for prompt in model.prompts] == [1, 1, 1]
    assert PDF_TEXT not in json.dumps(model.inputs)


def test_latest_message_of_an_input_list_is_matched(skills: Skills) -> None:
    model = ScriptedModel()
    agent = SkillTools(skills).attach(Agent("assistant", model=model))
    items: list[Any] = [
        {"role": "user", "content": "Fill in the pdf"},
        {"role": "assistant", "content": "Which pdf?"},
        {"role": "user", "content": [{"type": "input_text", "text": "Write a mail instead"}]},
    ]
    asyncio.run(Runner.run(agent, items))
    assert MAIL_TEXT in model.prompts[0]
    assert PDF_TEXT not in model.prompts[0]


def test_skill_loaded_by_the_model_stays_in_the_history_and_is_not_repeated(skills: Skills) -> None:
    model, skill_tools = ScriptedModel(("load_skill", '{"skill_id": "mail"}'), "Loaded."), SkillTools(skills)
    converse(model, skill_tools, "Hello", "Thanks")
    (answer,) = model.tool_answers()
    assert MAIL_TEXT in answer
    assert model.prompts == ["Be kind."] * 3
    assert skill_tools.tokens_spent > 0


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ('{"skill_id": "pfd"}', "There is no skill `pfd`"),
        ("{}", "skill_id"),
        ('{"skill_id": ', "The arguments are not valid JSON"),
        ("", "skill_id"),
    ],
)
def test_invalid_tool_call_returns_an_error_message(skills: Skills, arguments: str, answer: str) -> None:
    model = ScriptedModel(("load_skill", arguments), "Oh.")
    converse(model, SkillTools(skills), "Hello")
    assert answer in model.tool_answers()[0]


def test_image_is_returned_as_an_image(skills: Skills) -> None:
    model = ScriptedModel(("read_skill_resource", '{"skill_id": "pdf", "path": "assets/stamp.png"}'), "Nice.")
    converse(model, SkillTools(skills), "Hello")
    ((picture,),) = model.tool_answers()
    assert picture["type"] == "input_image"
    assert picture["image_url"].startswith("data:image/png;base64,iVBORw0KGgo")


def test_streamed_run_matches_a_regular_run(skills: Skills) -> None:
    model = ScriptedModel(("load_skill", '{"skill_id": "mail"}'), "Done.")
    agent = SkillTools(skills).attach(Agent("assistant", model=model))

    async def run() -> Any:
        result = Runner.run_streamed(agent, "Fill in the pdf")
        async for _ in result.stream_events():
            pass
        return result.final_output

    assert asyncio.run(run()) == "Done."
    assert [prompt.count(PDF_TEXT) for prompt in model.prompts] == [1, 1]
    assert MAIL_TEXT in model.tool_answers()[0]


def test_agent_keeps_its_own_instructions_and_tools(skills: Skills) -> None:
    @function_tool
    def weather() -> str:
        """Return the weather."""
        return "Sunny."

    async def own(context: RunContextWrapper[str], agent: Agent[str]) -> str:
        await asyncio.sleep(0)
        return f"You are {agent.name} of {context.context}."

    model = ScriptedModel(("weather", "{}"), "Sunny.")
    agent = Agent("Bob", instructions=own, model=model, tools=[weather])
    result = asyncio.run(Runner.run(SkillTools(skills).attach(agent), "How is the weather?", context="Alice"))
    assert result.final_output == "Sunny."
    assert model.prompts == ["You are Bob of Alice."] * 2
    assert model.tools[0] == ["weather", *TOOLS]
    assert agent.tools == [weather]


def test_handoff_agent_gets_the_same_instructions(skills: Skills) -> None:
    skill_tools = SkillTools(skills)
    second = ScriptedModel()
    specialist = skill_tools.attach(Agent("specialist", instructions="You are a specialist.", model=second))
    first = ScriptedModel(("transfer_to_specialist", "{}"))
    agent = skill_tools.attach(Agent("assistant", model=first, handoffs=[specialist]))
    asyncio.run(Runner.run(agent, "Fill in the pdf"))
    assert [prompt.count(PDF_TEXT) for prompt in first.prompts + second.prompts] == [1, 1]
    assert json.loads(skill_tools.save())["turn"] == 1


def test_saved_conversation_resumes_in_another_process(skills: Skills) -> None:
    skill_tools = SkillTools(skills)
    converse(ScriptedModel(("load_skill", '{"skill_id": "mail"}')), skill_tools, "Fill in the pdf")
    resumed, model = SkillTools(skills, state=skill_tools.save()), ScriptedModel()
    assert resumed.tokens_spent == skill_tools.tokens_spent > 0
    converse(model, resumed, "And the next page")
    assert PDF_TEXT in model.prompts[0]


def test_concurrent_conversations_do_not_mix(skills: Skills) -> None:
    own = {"Fill in the pdf": PDF_TEXT, "Write a mail": MAIL_TEXT}

    async def talk(request: str, number: int) -> list[str]:
        model = ScriptedModel()
        agent = SkillTools(skills).attach(Agent("assistant", model=model))
        session = SQLiteSession(f"{number}")
        for text in (request, "Go on", "Thanks"):
            await Runner.run(agent, text, session=session)
        return model.prompts

    async def all_at_once() -> list[list[str]]:
        return await asyncio.gather(*(talk(request, number) for number, request in enumerate([*own] * 5)))

    for prompts, expected in zip(asyncio.run(all_at_once()), [*own.values()] * 5, strict=True):
        assert [[text for text in own.values() if text in prompt] for prompt in prompts] == [[expected]] * 3


def test_without_skills_nothing_is_added(no_skills: Skills) -> None:
    model, skill_tools = ScriptedModel(), SkillTools(no_skills)
    assert not skill_tools.has_skills()
    converse(model, skill_tools, "Fill in the pdf")
    assert (model.prompts, model.tools) == (["Be kind."], [[]])


def test_bound_agent_sees_only_its_skills(tmp_path: Path) -> None:
    bound = Skills.discover(tmp_path, home=tmp_path, bundled=BUNDLED).bind("worker", ["mail"], sees="used")
    model = ScriptedModel(("load_skill", '{"skill_id": "pdf"}'))
    agent = Agent("worker", instructions=str(bound.compose("You write.")), model=model)
    asyncio.run(Runner.run(SkillTools(bound).attach(agent), "Write a mail about the pdf"))
    assert all(prompt.count(MAIL_TEXT) == 1 and PDF_TEXT not in prompt for prompt in model.prompts)
    assert "There is no skill `pdf`" in model.tool_answers()[0]
