"""Conversations of the Microsoft Agent Framework with a scripted chat client."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

from agent_framework import (
    Agent,
    AgentContext,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    ContextProvider,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)

from conftest import BUNDLED, CODE_REVIEW_TEXT, FORMS, MAIL_TEXT, PDF_TEXT
from skillfold import Skills
from skillfold.agent_framework import SkillContextProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    import pytest

TOOLS = ["search_skills", "load_skill", "read_skill_resource", "list_skills"]


class ScriptedClient(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Answers with each step: a text, or a tool's name and arguments. It records what it got."""

    def __init__(self, *steps: str | tuple[str, dict[str, Any]]) -> None:
        super().__init__()
        self.steps = list(steps)
        self.prompts: list[str] = []
        self.tools: list[list[str]] = []
        self.messages: list[list[Message]] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Any:
        self.prompts.append(options.get("instructions") or "")
        self.tools.append([tool.name for tool in options.get("tools") or []])
        self.messages.append(list(messages))
        step = self.steps.pop(0) if self.steps else "Done."
        if isinstance(step, str):
            content = Content.from_text(step)
        else:
            content = Content.from_function_call(f"call-{len(self.prompts)}", step[0], arguments=json.dumps(step[1]))

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            yield ChatResponseUpdate(contents=[content], role="assistant")

        async def response() -> ChatResponse:
            await asyncio.sleep(0)
            return ChatResponse(messages=[Message("assistant", [content])])

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates) if stream else response()

    def tool_answers(self) -> list[str]:
        """Return the answers of tools in the latest messages."""
        contents = [content for message in self.messages[-1] for content in message.contents]
        return [str(content.result) for content in contents if content.type == "function_result"]


def converse(client: ScriptedClient, provider: ContextProvider, *requests: str) -> AgentSession:
    agent = Agent(client, "Be kind.", context_providers=[provider])
    session = agent.create_session()

    async def run() -> None:
        for request in requests:
            await agent.run(request, session=session)

    asyncio.run(run())
    return session


def test_unrelated_request_adds_no_instructions(skills: Skills) -> None:
    client = ScriptedClient()
    session = converse(client, provider := SkillContextProvider(skills), "What is 2+2?")
    assert client.prompts == ["Be kind."]
    assert client.tools == [TOOLS]
    assert provider.tokens_spent(session) == 0


def test_matching_request_gets_the_instructions_once_per_run(skills: Skills) -> None:
    client = ScriptedClient(("read_skill_resource", {"skill_id": "pdf", "path": "references/forms.md"}), "Done.")
    session = converse(client, provider := SkillContextProvider(skills), "Fill in a form for Alice")
    assert [prompt.count(PDF_TEXT) for prompt in client.prompts] == [1, 1]
    assert client.tool_answers() == [FORMS]
    assert provider.tokens_spent(session) > 0


def test_dropped_instructions_are_given_again_without_accumulating(skills: Skills) -> None:
    client = ScriptedClient()
    converse(client, SkillContextProvider(skills), "Fill in the pdf", "And the next page", "Another pdf")
    assert [prompt.count(PDF_TEXT) for prompt in client.prompts] == [1, 1, 1]
    assert all(PDF_TEXT not in message.text for messages in client.messages for message in messages)


def test_skill_loaded_by_the_model_stays_in_the_history_and_is_not_repeated(skills: Skills) -> None:
    client = ScriptedClient(("load_skill", {"skill_id": "mail"}), "Loaded.", "You are welcome.")
    session = converse(client, provider := SkillContextProvider(skills), "Hello", "Thanks")
    (answer,) = client.tool_answers()
    assert MAIL_TEXT in answer
    assert client.prompts == ["Be kind."] * 3
    assert provider.tokens_spent(session) > 0


def test_invalid_tool_call_returns_an_error_message(skills: Skills) -> None:
    client = ScriptedClient(("load_skill", {"skill_id": "pfd"}), "Oh.")
    converse(client, SkillContextProvider(skills), "Hello")
    (answer,) = client.tool_answers()
    assert "There is no skill `pfd`" in answer
    assert "Nearest: pdf" in answer


def test_arguments_reach_the_skill(tmp_path: Path) -> None:
    file = "---\nname: greet\ndescription: Greets\n---\nSay hello to $ARGUMENTS.\n"
    skills = Skills.discover(tmp_path, home=tmp_path, bundled={"greet/SKILL.md": file})
    client = ScriptedClient(("load_skill", {"skill_id": "greet", "arguments": "Alice"}), "Done.")
    converse(client, SkillContextProvider(skills), "Hello")
    assert "Say hello to Alice." in client.tool_answers()[0]


def test_image_is_returned_as_an_image(skills: Skills) -> None:
    client = ScriptedClient(("read_skill_resource", {"skill_id": "pdf", "path": "assets/stamp.png"}), "Nice.")
    converse(client, SkillContextProvider(skills), "Hello")
    (result,) = (content for content in client.messages[-1][-1].contents if content.type == "function_result")
    assert [item.media_type for item in result.items or []] == ["image/png"]


def test_streamed_run_matches_a_regular_run(skills: Skills) -> None:
    client = ScriptedClient(("load_skill", {"skill_id": "mail"}), "Done.")
    agent = Agent(client, "Be kind.", context_providers=[SkillContextProvider(skills)])

    async def run() -> str:
        return "".join([update.text async for update in agent.run("Fill in the pdf", stream=True)])

    assert asyncio.run(run()) == "Done."
    assert [prompt.count(PDF_TEXT) for prompt in client.prompts] == [1, 1]
    assert MAIL_TEXT in client.tool_answers()[0]


def test_stored_session_resumes_in_another_process(skills: Skills) -> None:
    client = ScriptedClient(("load_skill", {"skill_id": "mail"}), "Done.")
    session = converse(client, first := SkillContextProvider(skills), "Fill in the pdf")
    stored = json.dumps(session.to_dict())
    assert PDF_TEXT not in json.dumps(session.to_dict()["state"]["skillfold"])

    restored, provider = AgentSession.from_dict(json.loads(stored)), SkillContextProvider(skills)
    assert provider.tokens_spent(restored) == first.tokens_spent(session) > 0
    agent = Agent(client, context_providers=[provider])
    asyncio.run(agent.run("And the next page", session=restored))
    assert PDF_TEXT in client.prompts[-1]
    assert MAIL_TEXT in client.tool_answers()[0]


def test_concurrent_sessions_do_not_mix(skills: Skills) -> None:
    own = {"Fill in the pdf": PDF_TEXT, "Write a mail": MAIL_TEXT}
    provider = SkillContextProvider(skills)

    async def talk(request: str) -> list[str]:
        client = ScriptedClient()
        agent = Agent(client, context_providers=[provider])
        session = agent.create_session()
        for text in (request, "Go on", "Thanks"):
            await agent.run(text, session=session)
        return client.prompts

    async def all_at_once() -> list[list[str]]:
        return await asyncio.gather(*(talk(request) for request in [*own] * 5))

    for prompts, expected in zip(asyncio.run(all_at_once()), [*own.values()] * 5, strict=True):
        assert [[text for text in own.values() if text in prompt] for prompt in prompts] == [[expected]] * 3


class Memory(ContextProvider):
    """Another provider, which remembers requests."""

    async def before_run(self, *, context: Any, state: dict[str, Any], **_: Any) -> None:
        context.extend_instructions(self.source_id, f"You know: {state.get('known', [])}")
        state.setdefault("known", []).extend(message.text for message in context.input_messages)


def test_other_providers_middleware_and_sessions_are_unaffected(skills: Skills) -> None:
    def transcript(*more: ContextProvider) -> tuple[list[str], list[list[str]], dict[str, Any], list[str]]:
        seen: list[str] = []

        async def middleware(context: AgentContext, call_next: Callable[[], Awaitable[None]]) -> None:
            seen.extend(message.text for message in context.messages)
            await call_next()

        client = ScriptedClient("Hello Alice.", "Alice.")
        agent = Agent(client, "Be kind.", context_providers=[Memory("memory"), *more], middleware=[middleware])
        session = agent.create_session()
        for request in ("My name is Alice", "What's my name?"):
            asyncio.run(agent.run(request, session=session))
        messages = [[message.text for message in messages] for messages in client.messages]
        return client.prompts, messages, session.state["memory"], seen

    assert transcript(SkillContextProvider(skills)) == transcript()


def test_without_skills_nothing_is_added(no_skills: Skills, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="skillfold")
    client = ScriptedClient()
    provider = SkillContextProvider(no_skills)
    assert not provider.has_skills()
    converse(client, provider, "Fill in the pdf")
    assert (client.prompts, client.tools, caplog.messages) == (["Be kind."], [[]], [])


def test_activation_is_logged(skills: Skills, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="skillfold")
    assert SkillContextProvider(skills).has_skills()
    assert caplog.messages == ["Skill context provider enabled: <Skills: 3 skills in 1 root>"]


def test_bound_specialist_reads_a_template_without_loading_its_skill(tmp_path: Path) -> None:
    page = "<main>{{content}}</main>\n"
    template = "---\nname: templates-skill\ndescription: Page templates\n---\nFill templates/page.html.\n"
    bundled = {**BUNDLED, "templates-skill/SKILL.md": template, "templates-skill/templates/page.html": page}
    skills = Skills.discover(tmp_path, home=tmp_path, bundled=bundled)
    builder = skills.bind("builder", ["templates-skill"], sees="used")
    client = ScriptedClient(
        ("read_skill_resource", {"skill_id": "templates-skill", "path": "templates/page.html"}),
        ("load_skill", {"skill_id": "pdf"}),
        "<main>Hello</main>",
    )
    agent = Agent(client, str(builder.compose("You build pages.")), context_providers=[SkillContextProvider(builder)])
    result = asyncio.run(agent.run("Build a page from templates-skill for a pdf"))

    assert result.text == "<main>Hello</main>"
    assert all(prompt.count("Fill templates/page.html.") == 1 for prompt in client.prompts)
    assert all(prompt.startswith("You build pages.") and PDF_TEXT not in prompt for prompt in client.prompts)
    answers = client.tool_answers()
    assert answers[0] == page
    assert "There is no skill `pdf`" in answers[1]


def test_agents_that_share_a_session_see_their_own_skills(skills: Skills) -> None:
    client = ScriptedClient("Done.", ("list_skills", {}), "Done.", "Done.")
    everyone = Agent(client, context_providers=[SkillContextProvider(skills)])
    worker = Agent(client, context_providers=[SkillContextProvider(skills.bind("worker", ["mail"], sees="used"))])
    session = everyone.create_session()
    for agent in (everyone, worker, everyone):
        asyncio.run(agent.run("Write a mail about the pdf", session=session))
    assert [PDF_TEXT in prompt for prompt in client.prompts] == [True, False, False, True]
    # The worker starts with its skill, which the state of the other agent does not know.
    assert [MAIL_TEXT in prompt for prompt in client.prompts] == [True, False, False, True]
    assert client.tool_answers() == ["- mail: Writes and sends mail\n"]


def test_worker_lists_loads_and_applies_a_skill(skills: Skills) -> None:
    client = ScriptedClient(
        ("list_skills", {}),
        ("load_skill", {"skill_id": "code-review"}),
        "main.py:3: the file is never closed.",
    )
    agent = Agent(client, "You work.", context_providers=[SkillContextProvider(skills)])
    result = asyncio.run(agent.run("Is main.py good?"))

    assert result.text == "main.py:3: the file is never closed."
    assert client.prompts == ["You work."] * 3
    listed, loaded = client.tool_answers()
    assert "- code-review: Reviews code changes for bugs and style" in listed
    assert CODE_REVIEW_TEXT in loaded


def test_listing_reaches_every_call_of_every_agent(skills: Skills) -> None:
    worker = skills.bind("worker", ["mail"], sees="used")
    for owner, listed in ((skills, ["code-review", "mail", "pdf"]), (worker, ["mail"])):
        client = ScriptedClient(("list_skills", {}), "Done.", "Done.")
        converse(client, SkillContextProvider(owner, disclosure="catalog"), "Hello", "Thanks")
        lines = [[line.split(":")[0] for line in text.splitlines() if line.startswith("- ")] for text in client.prompts]
        assert lines == [[f"- {name}" for name in listed]] * 3


def test_skills_loaded_by_the_model_are_recorded_after_the_run(skills: Skills) -> None:
    client = ScriptedClient(("load_skill", {"skill_id": "mail"}), "Loaded.")
    session = converse(client, provider := SkillContextProvider(skills), "Write to Alice")
    assert list(session.state[provider.source_id]) == ["conversation"]
    assert skills.counters().used == 1
