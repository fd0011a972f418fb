"""What a deep agent with skills promises."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from deepagents import create_deep_agent
from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from scripted_chat_model import ScriptedChatModel, user
from skillfold import Skills
from skillfold.langchain import SkillMiddleware

FILES = {
    "pdf/SKILL.md": "---\nname: pdf\ndescription: Fills in PDF forms\ntriggers: [tax form]\n---\nUse forms.md.\n",
    "pdf/forms.md": "Every field has a name.\n",
    "mail/SKILL.md": "---\nname: mail\ndescription: Writes letters\ntriggers: [letter]\n---\nBe polite.\n",
}
PDF, MAIL = "Use forms.md.", "Be polite."


@pytest.fixture
def skills(tmp_path: Path) -> Skills:
    return Skills.discover(tmp_path, bundled=FILES, home=tmp_path)


@pytest.fixture
def model() -> ScriptedChatModel:
    return ScriptedChatModel()


def thread(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}}


def deep_agent(model: ScriptedChatModel, *middleware: Any, **options: Any) -> Any:
    return create_deep_agent(
        model, system_prompt="You help.", middleware=middleware, checkpointer=InMemorySaver(), **options
    )


def test_deep_agent_gets_instructions_only_when_needed(skills: Skills, model: ScriptedChatModel) -> None:
    agent = deep_agent(model, SkillMiddleware(skills))
    agent.invoke(user("What is 2+2?"), thread("a"))
    assert model.texts() == ["You help.", "What is 2+2?"]
    agent.invoke(user("Fill in the tax form"), thread("a"))
    agent.invoke(user("And the next tax form"), thread("a"))
    assert model.text().count(PDF) == 1
    assert {"read_file", "task", "load_skill", "read_skill_resource"} <= {tool["name"] for tool in model.tools}


def test_tuple_messages_get_instructions_too(skills: Skills, model: ScriptedChatModel) -> None:
    agent = deep_agent(model, SkillMiddleware(skills))
    for request in ("What is 2+2?", "Fill in the tax form", "Fill in the tax form", "Write a letter"):
        agent.invoke({"messages": [("user", request)]}, thread("a"))
    assert [model.text(number).count(PDF) for number in range(4)] == [0, 1, 1, 1]
    assert [model.text(number).count(MAIL) for number in range(4)] == [0, 0, 0, 1]
    # Where the first request that needed them is.
    assert [PDF in text for text in model.texts()][:5] == [False, False, False, True, False]


def test_deep_agent_loads_a_skill_and_reads_its_file(skills: Skills, model: ScriptedChatModel) -> None:
    middleware = SkillMiddleware(skills)
    agent = deep_agent(model, middleware)
    model.script = [
        [("load_skill", {"skill_id": "pdf"}), ("read_skill_resource", {"skill_id": "pdf", "path": "forms.md"})],
    ]
    result = agent.invoke(user("Help me"), thread("a"))
    loaded, read = (message.text for message in result["messages"] if isinstance(message, ToolMessage))
    assert PDF in loaded
    assert read == "Every field has a name.\n"
    assert middleware.session(agent.get_state(thread("a")).values).tokens_spent > 0
    agent.invoke(user("Fill in the tax form"), thread("a"))
    assert model.text().count(PDF) == 1


def test_threads_of_a_deep_agent_do_not_mix(skills: Skills, model: ScriptedChatModel) -> None:
    agent = deep_agent(model, SkillMiddleware(skills))

    async def both_at_once() -> None:
        pdf, mail = user("Fill in the tax form"), user("Write a letter")
        await asyncio.gather(agent.ainvoke(pdf, thread("a")), agent.ainvoke(mail, thread("b")))

    asyncio.run(both_at_once())
    agent.invoke(user("Thanks"), thread("a"))
    assert (model.text().count(PDF), model.text().count(MAIL)) == (1, 0)


def test_subagents_get_skills_only_from_their_own_middleware(skills: Skills, model: ScriptedChatModel) -> None:
    writer: Any = {
        "name": "writer",
        "description": "Writes letters",
        "system_prompt": "You write.",
        "middleware": [SkillMiddleware(skills, max_skills=1, tools=[])],
    }
    agent = deep_agent(model, SkillMiddleware(skills), subagents=[writer])
    request = "Write a letter"
    model.script = [
        [
            ("task", {"description": request, "subagent_type": "writer"}),
            ("task", {"description": request, "subagent_type": "general-purpose"}),
        ],
    ]
    agent.invoke(user("Delegate it"), thread("a"))
    asked = [model.text(number) for number in (1, 2)]
    (written,) = (text for text in asked if "You write." in text)
    assert written.count(MAIL) == 1
    assert sum(text.count(MAIL) for text in asked) == 1
    # What the sub-agent was given, the agent was not.
    agent.invoke(user("Write a letter"), thread("a"))
    assert model.text().count(MAIL) == 1


def test_skills_are_given_again_after_a_deepagents_summary(skills: Skills, tmp_path: Path) -> None:
    model, writer = ScriptedChatModel(), ScriptedChatModel()
    backend = FilesystemBackend(root_dir=tmp_path, virtual_mode=True)
    summary = SummarizationMiddleware(writer, backend=backend, trigger=("messages", 5), keep=("messages", 1))
    agent = deep_agent(model, summary, SkillMiddleware(skills), backend=backend)
    for request in ("Fill in the tax form", "Thanks", "What is 2+2?", "And 3+3?", "And 4+4?"):
        agent.invoke(user(request), thread("a"))
        assert model.text().count(PDF) == 1
    assert "<summary>" in model.text()


def test_deepagents_skills_work_alongside_ours(skills: Skills, model: ScriptedChatModel, tmp_path: Path) -> None:
    skill = tmp_path / "theirs" / "slides" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: slides\ndescription: Makes slides\n---\nFew words.\n")
    backend = FilesystemBackend(root_dir=tmp_path, virtual_mode=True)
    agent = deep_agent(model, SkillMiddleware(skills), backend=backend, skills=["/theirs/"])
    agent.invoke(user("Fill in the tax form"), thread("a"))
    # It lists its skills in every system prompt; the model reads them with `read_file`.
    assert "Makes slides" in model.texts()[0]
    assert PDF not in model.texts()[0]
    assert PDF in model.texts()[1]
