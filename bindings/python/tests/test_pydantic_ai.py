"""Conversations of Pydantic AI with a scripted model."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from pydantic_ai import Agent, BinaryContent, FunctionToolset
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from conftest import BUNDLED, FORMS, MAIL_TEXT, PDF_TEXT
from skillfold import Skills
from skillfold.pydantic_ai import SkillToolset

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

TOOLS = ["search_skills", "load_skill", "read_skill_resource", "list_skills"]
Step = str | tuple[str, dict[str, Any]]


class Script:
    """Answers with each step: a text, or a tool's name and arguments. It records what the model gets."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.prompts: list[str] = []
        self.tools: list[list[str]] = []
        self.messages: list[list[ModelMessage]] = []
        self.model = FunctionModel(self._answer, stream_function=self._stream)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        step = self._next(messages, info)
        return ModelResponse([TextPart(step) if isinstance(step, str) else ToolCallPart(*step)])

    async def _stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        step = self._next(messages, info)
        yield step if isinstance(step, str) else {0: DeltaToolCall(step[0], json.dumps(step[1]), tool_call_id="1")}

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> Step:
        self.prompts.append(info.instructions or "")
        self.tools.append(sorted(tool.name for tool in info.function_tools))
        self.messages.append(messages)
        return self.steps.pop(0) if self.steps else "Done."

    def tool_answers(self) -> list[Any]:
        """Return the answers of tools in the latest messages."""
        parts = [part for message in self.messages[-1] for part in message.parts]
        return [part.content for part in parts if isinstance(part, ToolReturnPart)]


def converse(script: Script, toolset: SkillToolset[Any], *requests: str) -> list[ModelMessage]:
    agent = Agent(script.model, instructions="Be kind.", toolsets=[toolset])
    history: list[ModelMessage] = []
    for request in requests:
        history = asyncio.run(agent.run(request, message_history=history)).all_messages()
    return history


def test_unrelated_request_adds_no_instructions(skills: Skills) -> None:
    script, toolset = Script(), SkillToolset[Any](skills)
    history = converse(script, toolset, "What is 2+2?")
    assert script.prompts == ["Be kind."]
    assert script.tools == [sorted(TOOLS)]
    assert toolset.tokens_spent(history) == 0


def test_matching_request_gets_the_instructions_once_per_run(skills: Skills) -> None:
    script = Script(("read_skill_resource", {"skill_id": "pdf", "path": "references/forms.md"}))
    toolset = SkillToolset[Any](skills)
    history = converse(script, toolset, "Fill in a form for Alice")
    assert [prompt.count(PDF_TEXT) for prompt in script.prompts] == [1, 1]
    assert script.tool_answers() == [FORMS]
    # The request is matched once, not again after the tool.
    assert turns(history) == [1, 1]
    assert toolset.tokens_spent(history) > 0


def turns(history: list[ModelMessage]) -> list[int]:
    requests = [message for message in history if isinstance(message, ModelRequest)]
    return [json.loads((request.metadata or {})["skillfold"])["turn"] for request in requests]


def test_dropped_instructions_are_given_again_without_accumulating(skills: Skills) -> None:
    script = Script()
    history = converse(script, SkillToolset(skills), "Fill in the pdf", "And the next page", "Another pdf")
    assert [prompt.count(PDF_TEXT) for prompt in script.prompts] == [1, 1, 1]
    assert turns(history) == [1, 2, 3]
    parts = [part for message in script.messages[-1] for part in message.parts]
    assert not [part for part in parts if PDF_TEXT in str(part)]


def test_multipart_prompt_is_matched_by_its_text(skills: Skills) -> None:
    script = Script()
    agent = Agent(script.model, toolsets=[SkillToolset[Any](skills)])
    picture = BinaryContent(b"pdf", media_type="image/png")
    asyncio.run(agent.run(["Write a mail", picture, "to Alice"]))
    assert MAIL_TEXT in script.prompts[0]
    assert PDF_TEXT not in script.prompts[0]


def test_skill_loaded_by_the_model_stays_in_the_history_and_is_not_repeated(skills: Skills) -> None:
    script, toolset = Script(("load_skill", {"skill_id": "mail"}), "Loaded."), SkillToolset[Any](skills)
    history = converse(script, toolset, "Hello", "Thanks")
    (answer,) = script.tool_answers()
    assert MAIL_TEXT in answer
    assert script.prompts == ["Be kind."] * 3
    assert toolset.tokens_spent(history) > 0


def test_invalid_tool_call_returns_an_error_message(skills: Skills) -> None:
    script = Script(("load_skill", {"skill_id": "pfd"}), ("load_skill", {}))
    converse(script, SkillToolset(skills), "Hello")
    unknown, missing = script.tool_answers()
    assert "There is no skill `pfd`" in unknown
    assert "skill_id" in missing


def test_image_is_returned_as_an_image(skills: Skills) -> None:
    script = Script(("read_skill_resource", {"skill_id": "pdf", "path": "assets/stamp.png"}))
    converse(script, SkillToolset(skills), "Hello")
    ((picture,),) = script.tool_answers()
    assert isinstance(picture, BinaryContent)
    assert (picture.media_type, picture.data) == ("image/png", BUNDLED["pdf/assets/stamp.png"])


def test_streamed_run_matches_a_regular_run(skills: Skills) -> None:
    script = Script(("load_skill", {"skill_id": "mail"}), "Done.")
    agent = Agent(script.model, toolsets=[SkillToolset[Any](skills)])

    async def run() -> str:
        async with agent.run_stream("Fill in the pdf") as result:
            return await result.get_output()

    assert asyncio.run(run()) == "Done."
    assert [prompt.count(PDF_TEXT) for prompt in script.prompts] == [1, 1]
    assert MAIL_TEXT in script.tool_answers()[0]


def test_stored_history_resumes_in_another_process(skills: Skills) -> None:
    toolset = SkillToolset[Any](skills)
    history = converse(Script(("load_skill", {"skill_id": "mail"})), toolset, "Fill in the pdf")
    restored = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(history))

    script, other = Script(), SkillToolset[Any](skills)
    assert other.tokens_spent(restored) == toolset.tokens_spent(history) > 0
    asyncio.run(Agent(script.model, toolsets=[other]).run("And the next page", message_history=restored))
    assert PDF_TEXT in script.prompts[0]
    assert MAIL_TEXT in script.tool_answers()[0]


def test_branched_conversation_resumes_from_each_branch(skills: Skills) -> None:
    script, toolset = Script(), SkillToolset[Any](skills)
    agent = Agent(script.model, toolsets=[toolset])
    start = asyncio.run(agent.run("Hello")).all_messages()
    asyncio.run(agent.run("Fill in the pdf", message_history=start))
    asyncio.run(agent.run("Thanks", message_history=start))
    assert [PDF_TEXT in prompt for prompt in script.prompts] == [False, True, False]


def test_other_metadata_is_kept(skills: Skills) -> None:
    script = Script()
    agent = Agent(script.model, toolsets=[SkillToolset[Any](skills)])
    request = ModelRequest.user_text_prompt("Fill in the pdf")
    request.metadata = {"mine": 1}
    history = asyncio.run(agent.run(message_history=[request])).all_messages()
    assert PDF_TEXT in script.prompts[0]
    assert sorted(history[0].metadata or {}) == ["mine", "skillfold"]
    assert request.metadata == {"mine": 1}


def test_concurrent_runs_of_one_agent_do_not_mix(skills: Skills) -> None:
    own = {"Fill in the pdf": PDF_TEXT, "Write a mail": MAIL_TEXT}
    toolset = SkillToolset[Any](skills)

    async def talk(request: str) -> list[str]:
        script, history = Script(), list[ModelMessage]()
        agent = Agent(script.model, toolsets=[toolset])
        for text in (request, "Go on", "Thanks"):
            history = (await agent.run(text, message_history=history)).all_messages()
        return script.prompts

    async def all_at_once() -> list[list[str]]:
        return await asyncio.gather(*(talk(request) for request in [*own] * 5))

    for prompts, expected in zip(asyncio.run(all_at_once()), [*own.values()] * 5, strict=True):
        assert [[text for text in own.values() if text in prompt] for prompt in prompts] == [[expected]] * 3


def test_agents_that_share_a_history_see_their_own_skills(skills: Skills) -> None:
    script, history = Script("Done.", ("list_skills", {})), list[ModelMessage]()
    everyone = Agent(script.model, toolsets=[SkillToolset[Any](skills)])
    worker = Agent(script.model, toolsets=[SkillToolset[Any](skills.bind("worker", ["mail"], sees="used"))])
    for agent in (everyone, worker, everyone):
        history = asyncio.run(agent.run("Write a mail about the pdf", message_history=history)).all_messages()
    assert [PDF_TEXT in prompt for prompt in script.prompts] == [True, False, False, True]
    # The worker starts with its skill, which the state of the other agent does not know.
    assert [MAIL_TEXT in prompt for prompt in script.prompts] == [True, False, False, True]
    assert script.tool_answers() == ["- mail: Writes and sends mail\n"]


def test_other_toolsets_are_unaffected(skills: Skills) -> None:
    def weather() -> str:
        return "Sunny."

    script = Script(("weather", {}), "Sunny.")
    agent = Agent(script.model, toolsets=[FunctionToolset([weather]), SkillToolset(skills)])
    assert asyncio.run(agent.run("How is the weather?")).output == "Sunny."
    assert script.tool_answers() == ["Sunny."]
    assert script.tools[0] == sorted([*TOOLS, "weather"])


def test_without_skills_nothing_is_added(no_skills: Skills) -> None:
    script, toolset = Script(), SkillToolset[Any](no_skills)
    assert not toolset.has_skills()
    converse(script, toolset, "Fill in the pdf")
    assert (script.prompts, script.tools) == (["Be kind."], [[]])


def test_bound_agent_sees_only_its_skills(tmp_path: Path) -> None:
    bound = Skills.discover(tmp_path, home=tmp_path, bundled=BUNDLED).bind("worker", ["mail"], sees="used")
    script = Script(("load_skill", {"skill_id": "pdf"}))
    agent = Agent(script.model, instructions=str(bound.compose("You write.")), toolsets=[SkillToolset[Any](bound)])
    asyncio.run(agent.run("Write a mail about the pdf"))
    assert all(prompt.count(MAIL_TEXT) == 1 and PDF_TEXT not in prompt for prompt in script.prompts)
    assert "There is no skill `pdf`" in script.tool_answers()[0]
