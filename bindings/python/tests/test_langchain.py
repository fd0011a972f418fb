"""What a LangChain agent with skills promises."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware, SummarizationMiddleware
from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from scripted_chat_model import ScriptedChatModel, user
from skillfold import Skills
from skillfold.langchain import SkillMiddleware, create_skill_tools

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
)
FILES: dict[str, str | bytes] = {
    "pdf/SKILL.md": "---\nname: pdf\ndescription: Fills in PDF forms\ntriggers: [tax form]\n---\nUse forms.md.\n",
    "pdf/forms.md": "Every field has a name.\n",
    "pdf/form.png": PICTURE,
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


def agent_of(model: ScriptedChatModel, *middleware: Any, **options: Any) -> Any:
    options.setdefault("checkpointer", InMemorySaver())
    return create_agent(model, system_prompt="You help.", middleware=list(middleware), **options)


def test_unrelated_request_adds_nothing(skills: Skills, model: ScriptedChatModel) -> None:
    agent_of(model, SkillMiddleware(skills)).invoke(user("What is 2+2?"), thread("a"))
    assert model.texts() == ["You help.", "What is 2+2?"]


def test_matching_request_gets_the_instructions_once(skills: Skills, model: ScriptedChatModel) -> None:
    agent = agent_of(model, SkillMiddleware(skills))
    agent.invoke(user("Fill in the tax form"), thread("a"))
    system, instructions, request = model.texts()
    assert (system, request) == ("You help.", "Fill in the tax form")
    assert PDF in instructions
    agent.invoke(user("And the next tax form"), thread("a"))
    # What was given stays where it was, for the prompt cache.
    assert model.texts() == [*model.texts(0), "ok", "And the next tax form"]


def test_agent_messages_are_unchanged(skills: Skills, model: ScriptedChatModel) -> None:
    agent = agent_of(model, SkillMiddleware(skills))
    result = agent.invoke(user("Fill in the tax form"), thread("a"))
    assert [message.text for message in result["messages"]] == ["Fill in the tax form", "ok"]
    assert result.keys() == {"messages"}


def test_at_most_max_skills_are_added_to_a_request(skills: Skills, model: ScriptedChatModel) -> None:
    agent = agent_of(model, SkillMiddleware(skills, max_skills=1))
    agent.invoke(user("Fill in the tax form and write a letter"), thread("a"))
    assert (PDF in model.text()) != (MAIL in model.text())


def test_listing_is_in_the_system_prompt_if_the_mode_has_one(
    skills: Skills,
    model: ScriptedChatModel,
) -> None:
    agent = agent_of(model, SkillMiddleware(skills, disclosure="hybrid"))
    agent.invoke(user("What is 2+2?"), thread("a"))
    assert model.texts()[0].startswith("You help.\n\n## Skills")
    assert "- pdf: Fills in PDF forms" in model.texts()[0]
    assert len(model.texts()) == 2


def test_model_gets_the_engine_tools(skills: Skills, model: ScriptedChatModel) -> None:
    agent_of(model, SkillMiddleware(skills)).invoke(user("Hi"), thread("a"))
    tools = {tool.name: tool for tool in skills.session().tools()}
    offered = {tool["name"]: tool for tool in model.tools}
    assert offered.keys() == tools.keys()
    assert offered["load_skill"]["description"] == tools["load_skill"].description
    assert offered["load_skill"]["parameters"] == tools["load_skill"].input_schema


def test_only_the_named_tools_are_offered(skills: Skills, model: ScriptedChatModel) -> None:
    agent_of(model, SkillMiddleware(skills, tools=["load_skill"])).invoke(user("Hi"), thread("a"))
    assert [tool["name"] for tool in model.tools] == ["load_skill"]


def test_model_loads_a_skill_and_reads_its_file(skills: Skills, model: ScriptedChatModel) -> None:
    middleware = SkillMiddleware(skills)
    agent = agent_of(model, middleware)
    model.script = [
        [("load_skill", {"skill_id": "pdf"})],
        [("read_skill_resource", {"skill_id": "pdf", "path": "forms.md"})],
    ]
    result = agent.invoke(user("Help me"), thread("a"))
    loaded, read = (message for message in result["messages"] if isinstance(message, ToolMessage))
    assert PDF in loaded.text
    assert read.text == "Every field has a name.\n"
    assert read.text in model.text()
    # The conversation knows that the model has it.
    session = middleware.session(agent.get_state(thread("a")).values)
    assert session.tokens_spent > 0
    agent.invoke(user("Fill in the tax form"), thread("a"))
    assert model.text().count(PDF) == 1


def test_tools_called_in_parallel_are_both_recorded(skills: Skills, model: ScriptedChatModel) -> None:
    agent = agent_of(model, SkillMiddleware(skills))
    model.script = [[("load_skill", {"skill_id": "pdf"}), ("load_skill", {"skill_id": "mail"})]]
    agent.invoke(user("Help me"), thread("a"))
    agent.invoke(user("Fill in the tax form and write a letter"), thread("a"))
    assert (model.text().count(PDF), model.text().count(MAIL)) == (1, 1)


def test_failed_call_tells_the_model_what_to_do(skills: Skills, model: ScriptedChatModel) -> None:
    model.script = [[("load_skill", {"skill_id": "pfd"})]]
    result = agent_of(model, SkillMiddleware(skills)).invoke(user("Help me"), thread("a"))
    answer = result["messages"][2]
    assert answer.status == "error"
    assert "Nearest: pdf" in answer.text


def test_image_of_a_skill_reaches_the_model(skills: Skills, model: ScriptedChatModel) -> None:
    model.script = [[("read_skill_resource", {"skill_id": "pdf", "path": "form.png"})]]
    agent_of(model, SkillMiddleware(skills)).invoke(user("Help me"), thread("a"))
    (block,) = model.requests[-1][-1].content_blocks
    assert block["type"] == "image"
    assert base64.b64decode(block.get("base64", "")) == PICTURE


def test_tokens_are_counted_per_conversation(skills: Skills, model: ScriptedChatModel) -> None:
    middleware = SkillMiddleware(skills)
    agent = agent_of(model, middleware)
    agent.invoke(user("Fill in the tax form"), thread("a"))
    agent.invoke(user("What is 2+2?"), thread("b"))
    spent = [middleware.session(agent.get_state(thread(name)).values).tokens_spent for name in "ab"]
    assert spent == [skills.session(disclosure="triggered").turn("Fill in the tax form").tokens, 0]


def test_checkpointer_resumes_in_another_process(tmp_path: Path, model: ScriptedChatModel) -> None:
    saver = InMemorySaver()
    for request in ("Fill in the tax form", "And the next tax form"):
        skills = Skills.discover(tmp_path, bundled=FILES, home=tmp_path)
        agent_of(model, SkillMiddleware(skills), checkpointer=saver).invoke(user(request), thread("a"))
    assert len(model.texts()) == 5
    assert model.text().count(PDF) == 1


def test_history_without_a_checkpointer_behaves_the_same(skills: Skills, model: ScriptedChatModel) -> None:
    agent = agent_of(model, SkillMiddleware(skills), checkpointer=None)
    messages: list[BaseMessage] = []
    for request in ("Fill in the tax form", "And the next tax form"):
        messages = agent.invoke({"messages": [*messages, HumanMessage(request)]})["messages"]
    assert model.texts() == [*model.texts(0), "ok", "And the next tax form"]


def test_forked_thread_does_not_see_later_skills(skills: Skills, model: ScriptedChatModel) -> None:
    agent = agent_of(model, SkillMiddleware(skills))
    agent.invoke(user("Hi"), thread("a"))
    before = agent.get_state(thread("a")).config
    agent.invoke(user("Fill in the tax form"), thread("a"))
    agent.invoke(user("Write a letter about the tax form"), before)
    assert (model.text().count(PDF), model.text().count(MAIL)) == (1, 1)


def test_concurrent_threads_do_not_mix(skills: Skills, model: ScriptedChatModel) -> None:
    middleware = SkillMiddleware(skills)
    agent = agent_of(model, middleware)
    requests = {"a": "Fill in the tax form", "b": "Write a letter", "c": "What is 2+2?"}

    async def all_at_once() -> None:
        await asyncio.gather(*(agent.ainvoke(user(text), thread(name)) for name, text in requests.items()))

    for _ in range(3):
        asyncio.run(all_at_once())
    for request in model.requests:
        text = "\n".join(message.text for message in request)
        expected = {"tax": (1, 0), "letter": (0, 1), "2+2": (0, 0)}
        (name,) = (name for name in expected if name in request[-1].text)
        assert (text.count(PDF), text.count(MAIL)) == expected[name]


def test_async_and_sync_calls_share_a_conversation(skills: Skills, model: ScriptedChatModel) -> None:
    middleware = SkillMiddleware(skills)
    agent = agent_of(model, middleware)
    model.script = [[("load_skill", {"skill_id": "pdf"})]]
    asyncio.run(agent.ainvoke(user("Help me"), thread("a")))
    agent.invoke(user("Fill in the tax form"), thread("a"))
    asyncio.run(agent.ainvoke(user("Write a letter"), thread("a")))
    assert (model.text().count(PDF), model.text().count(MAIL)) == (1, 1)
    assert middleware.session(agent.get_state(thread("a")).values).turns == 3


def test_skills_are_given_again_after_a_summary(skills: Skills, model: ScriptedChatModel) -> None:
    summary = SummarizationMiddleware(model=ScriptedChatModel(), trigger=("messages", 5), keep=("messages", 1))
    agent = agent_of(model, summary, SkillMiddleware(skills))
    for request in ("Fill in the tax form", "Thanks", "What is 2+2?", "And 3+3?"):
        agent.invoke(user(request), thread("a"))
        assert model.text().count(PDF) == 1
    assert "summary" in model.text()


def test_summary_text_triggers_no_skill(skills: Skills, model: ScriptedChatModel) -> None:
    writer = ScriptedChatModel(answer="The user will write a letter")
    summary = SummarizationMiddleware(model=writer, trigger=("messages", 3), keep=("messages", 1))
    agent = agent_of(model, summary, SkillMiddleware(skills))
    agent.invoke(user("Hi"), thread("a"))
    agent.invoke(user("Thanks"), thread("a"))
    assert writer.answer in model.text()
    assert MAIL not in model.text()


def test_skill_in_a_kept_message_is_not_given_twice(skills: Skills, model: ScriptedChatModel) -> None:
    summary = SummarizationMiddleware(model=ScriptedChatModel(), trigger=("messages", 5), keep=("messages", 3))
    agent = agent_of(model, summary, SkillMiddleware(skills))
    for request in ("Fill in the tax form", "Write a letter", "What is 2+2?"):
        agent.invoke(user(request), thread("a"))
    assert "Fill in the tax form" not in model.texts()
    assert (model.text().count(PDF), model.text().count(MAIL)) == (1, 1)


def test_skill_in_a_kept_answer_of_a_tool_is_not_given_twice(skills: Skills, model: ScriptedChatModel) -> None:
    agent = agent_of(model, SkillMiddleware(skills))
    model.script = [[("load_skill", {"skill_id": "pdf"})]]
    agent.invoke(user("Write a letter"), thread("a"))
    request = agent.get_state(thread("a")).values["messages"][0]
    agent.update_state(thread("a"), {"messages": [RemoveMessage(request.id)]})
    agent.invoke(user("Go on"), thread("a"))
    assert "Write a letter" not in model.texts()
    assert (model.text().count(PDF), model.text().count(MAIL)) == (1, 1)


def test_removing_a_message_without_skills_gives_nothing_again(
    skills: Skills,
    model: ScriptedChatModel,
) -> None:
    agent = agent_of(model, SkillMiddleware(skills))
    agent.invoke(user("Hi"), thread("a"))
    agent.invoke(user("Fill in the tax form"), thread("a"))
    first = agent.get_state(thread("a")).values["messages"][0]
    agent.update_state(thread("a"), {"messages": [RemoveMessage(first.id)]})
    agent.invoke(user("Thanks"), thread("a"))
    before, instructions, request = model.texts()[1:4]
    assert (before, request) == ("ok", "Fill in the tax form")
    assert PDF in instructions


def test_failed_model_call_does_not_count_as_given(skills: Skills) -> None:
    class Failing(ScriptedChatModel):
        def _generate(self, *arguments: Any, **options: Any) -> Any:
            result = super()._generate(*arguments, **options)
            if len(self.requests) <= 2:
                raise ConnectionError
            return result

    model, middleware = Failing(), SkillMiddleware(skills)
    agent = agent_of(model, ModelRetryMiddleware(max_retries=2, initial_delay=0), middleware)
    agent.invoke(user("Fill in the tax form"), thread("a"))
    assert model.texts(0) == model.texts(2)
    assert middleware.session(agent.get_state(thread("a")).values).turns == 1


def test_agent_sees_only_its_skills(skills: Skills, model: ScriptedChatModel) -> None:
    writer = skills.bind("writer", ["mail"], sees="used")
    agent = create_agent(model, system_prompt=str(writer.compose("You write.")), middleware=[SkillMiddleware(writer)])
    model.script = [[("load_skill", {"skill_id": "pdf"})]]
    agent.invoke({"messages": [HumanMessage("Write a letter about the tax form")]})
    assert "There is no skill `pdf`" in model.text()
    assert (model.text().count(PDF), model.text().count(MAIL)) == (0, 1)


def test_custom_graph_can_use_the_tools(skills: Skills, model: ScriptedChatModel) -> None:
    session = skills.session()
    tools = create_skill_tools(session)
    bound = model.bind_tools(tools)

    async def call(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph: Any = StateGraph(MessagesState).add_node("model", call).add_node("tools", ToolNode(tools))
    graph = graph.add_edge(START, "model").add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    model.script = [[("load_skill", {"skill_id": "pdf"})]]
    result = asyncio.run(graph.add_edge("tools", "model").compile().ainvoke(user("Help me")))
    assert PDF in result["messages"][2].text
    assert session.turn("Fill in the tax form").text is None
    assert tools[1].invoke({"skill_id": "mail"}).count(MAIL) == 1


def test_tools_outside_allowed_tools_are_refused(tmp_path: Path) -> None:
    text = "---\nname: git\ndescription: Commits\ntriggers: [commit]\nallowed-tools: Bash(git:*)\n---\nCommit.\n"
    skills = Skills.discover(tmp_path, home=tmp_path, bundled={"git/SKILL.md": text})
    ran: list[str] = []

    @tool("Bash")
    def bash(command: str) -> str:
        """Run a command."""
        ran.append(command)
        return "done"

    def answers(request: str, *, enforce_tools: bool) -> list[str]:
        commands = ("git log", "git log; rm -r .")
        model = ScriptedChatModel(script=[[("Bash", {"command": command})] for command in commands])
        agent = agent_of(model, SkillMiddleware(skills, enforce_tools=enforce_tools), tools=[bash])
        result = agent.invoke(user(request), thread(request))
        assert asyncio.run(agent.ainvoke(user("Thanks"), thread(request)))
        return [message.text for message in result["messages"] if isinstance(message, ToolMessage)]

    refused = "The skills in use do not list this use of `Bash` under `allowed-tools`; go on without it"
    assert answers("Please commit", enforce_tools=True) == ["done", refused]
    assert ran == ["git log"]
    # Without such a skill, or without asking for it, nothing is refused.
    assert answers("What is 2+2?", enforce_tools=True) == ["done", "done"]
    assert answers("Please commit", enforce_tools=False) == ["done", "done"]
