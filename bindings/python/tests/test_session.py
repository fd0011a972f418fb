"""What a conversation promises."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import pytest

import skillfold
from skillfold import Session, Skills

FILES = {
    "pdf/SKILL.md": "---\nname: pdf\ndescription: Fills in PDF forms\ntriggers: [tax form]\n---\nUse forms.md.\n",
    "pdf/forms.md": "Every field has a name.\n",
    "mail/SKILL.md": "---\nname: mail\ndescription: Writes letters\ntriggers: [letter]\n---\nWrite.\n",
}


@pytest.fixture
def skills(tmp_path: Path) -> Skills:
    return Skills.discover(tmp_path, bundled=FILES, home=tmp_path)


@pytest.fixture
def session(skills: Skills) -> Session:
    return skills.session()


def test_turn_has_text_tier_tokens_and_reasons(session: Session) -> None:
    assert "- pdf: Fills in PDF forms" in str(session.listing())
    turn = session.turn("Fill in the tax form")
    assert turn.tier == 3
    assert turn.tokens > 0
    assert turn.text is not None
    assert "Use forms.md." in turn.text
    assert turn.reasons == [f'pdf: phrase "tax form", given ({turn.decisions[0].tokens} tokens)']
    assert repr(session) == f"<Session: 1 turn, {session.tokens_spent} tokens>"


def test_nothing_is_given_twice(session: Session) -> None:
    session.listing()
    session.turn("Fill in the tax form")
    again = session.turn("Fill in another tax form")
    assert again.text is None
    assert again.decisions[0].outcome == "known"
    assert again.reasons == ['pdf: phrase "tax form", known']


def test_skill_dropped_after_each_call_is_given_again(skills: Skills) -> None:
    session = skills.session(transient=True)
    assert "Use forms.md." in str(session.turn("Fill in the tax form"))
    assert "Use forms.md." in str(session.turn("Fill in the tax form"))


def test_unrelated_request_adds_nothing(skills: Skills) -> None:
    session = skills.session(disclosure="triggered", breadcrumb=False)
    turn = session.turn("What is the capital of France?")
    assert (turn.text, turn.tier, turn.tokens) == (None, 0, 0)
    assert str(turn) == ""


@pytest.mark.parametrize(
    "messages",
    [
        "the tax form",
        {"role": "user", "content": "the tax form"},
        [
            {"role": "user", "content": "a letter"},
            {"role": "assistant", "content": "Done. What about the letter?"},
            {"role": "user", "content": [{"type": "text", "text": "the tax form"}, {"type": "image"}]},
            {"role": "tool", "content": "letter"},
        ],
        [SimpleNamespace(type="human", content="the tax form")],
        [SimpleNamespace(role=SimpleNamespace(value="USER"), text="the tax form", content=None)],
        ("a letter", "the tax form"),
        [("user", "the tax form"), ("assistant", "a letter")],
        [SimpleNamespace(type="HumanMessageChunk", content="the tax form")],
        [SimpleNamespace(role="user", parts=[SimpleNamespace(text="the tax form")])],
        [
            {"role": "user", "content": "the tax form"},
            {"role": "user", "content": [{"type": "tool_result", "content": "a letter"}]},
        ],
        (message for message in [{"role": "user", "content": "the tax form"}]),
    ],
)
def test_latest_user_message_is_matched(session: Session, messages: object) -> None:
    assert [decision.id for decision in session.turn(messages).decisions] == ["pdf"]


@pytest.mark.parametrize("wrong", [None, b"the tax form", 3, {"content": "the tax form"}, [None], [object()]])
def test_invalid_message_raises(session: Session, wrong: object) -> None:
    with pytest.raises(TypeError, match="has a role and content"):
        session.turn(wrong)
    assert session.turns == 0


def test_lone_surrogate_does_not_lose_the_rest(session: Session) -> None:
    assert session.turn("the tax form \ud83d").decisions[0].id == "pdf"


def test_messages_without_a_user_message_match_nothing(session: Session) -> None:
    assert session.turn([{"role": "system", "content": "the tax form"}]).decisions == []
    assert session.turn([]).decisions == []


def test_tool_calls_of_a_model_are_executed(session: Session) -> None:
    tools = {tool.name: tool for tool in session.tools()}
    assert list(tools) == ["search_skills", "load_skill", "read_skill_resource", "list_skills"]
    assert tools["load_skill"].input_schema["required"] == ["skill_id"]
    assert session.call("search_skills", {"query": "fill in a form"}).value["skills"][0]["id"] == "pdf"
    loaded = session.call("load_skill", '{"skill_id": "pdf"}')
    assert (loaded.skill, loaded.is_error) == ("pdf", False)
    assert loaded.tokens > 0
    assert "Use forms.md." in str(loaded)
    assert str(session.call("read_skill_resource", {"skill_id": "pdf", "path": "forms.md"})) == FILES["pdf/forms.md"]
    assert session.call("list_skills").is_error is False
    # What was loaded by a tool is not given again.
    assert session.turn("the tax form").text is None


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("load_skill", {"skill_id": "pfd"}, "pdf"),
        ("load_skill", {}, "skill_id"),
        ("read_skill_resource", {"skill_id": "pdf", "path": "../mail/SKILL.md"}, "Path traversal detected"),
        ("no_such_tool", {}, "load_skill"),
    ],
)
def test_invalid_tool_call_is_answered_and_never_raises(
    session: Session, name: str, arguments: dict[str, str], says: str
) -> None:
    answer = session.call(name, arguments)
    assert answer.is_error
    assert says in answer.text


@pytest.mark.parametrize("arguments", ["{", "NaN", '{"skill_id": "\\ud800"}', "[" * 200, {"skill_id": "\ud800"}])
def test_arguments_that_are_not_json_are_answered(session: Session, arguments: str | dict[str, str]) -> None:
    answer = session.call("load_skill", arguments)
    assert answer.is_error
    assert answer.text.startswith("The arguments are not valid JSON")


def test_empty_arguments_and_any_mapping_are_accepted(session: Session) -> None:
    assert not session.call("list_skills", " ").is_error
    assert session.call("load_skill", MappingProxyType({"skill_id": "pdf"})).skill == "pdf"


def test_saved_conversation_can_be_resumed(skills: Skills, session: Session) -> None:
    session.turn("the tax form")
    resumed = skills.session(state=session.save())
    assert resumed.turn("the tax form").text is None
    assert resumed.turns == 2
    with pytest.raises(skillfold.InvalidError, match="state"):
        skills.session(state="{}{")
    with pytest.raises(skillfold.InvalidError, match="another value of `transient`"):
        skills.session(state=session.save(), transient=True)


def test_saved_state_has_no_requests_or_instructions(session: Session) -> None:
    session.turn("the tax form of Alice")
    session.load("mail", "Bob")
    assert "Alice" not in session.save()
    assert "forms.md" not in session.save()
    assert "Bob" in session.save()


def test_skills_lost_in_compaction_are_given_again(session: Session) -> None:
    session.turn("the tax form")
    assert "Use forms.md." in str(session.after_compaction())


def test_skill_that_a_compaction_kept_is_not_given_again(session: Session) -> None:
    session.turn("the tax form")
    assert session.after_compaction(kept=["pdf"]).text is None
    assert session.turn("the tax form").text is None


def test_child_session_sees_only_the_skills_it_was_given(session: Session) -> None:
    child = session.child("mail")
    assert child.turn("the tax form").text is None
    assert not child.may_see("pdf")
    assert child.call("load_skill", {"skill_id": "pdf"}).is_error
    with pytest.raises(skillfold.NotFoundError):
        child.child("pdf")


def test_settings_of_a_conversation_are_checked(skills: Skills) -> None:
    assert skills.session(style="xml").listing().text.startswith("<available_skills>")
    with pytest.raises(skillfold.InvalidError, match="`lines`"):
        skills.session(style="rainbow")  # type: ignore[arg-type]


def test_feedback_is_counted_and_checked(skills: Skills, session: Session) -> None:
    session.turn("the tax form")
    session.record_feedback("pdf", "used")
    assert skills.counters().used == 1
    with pytest.raises(skillfold.InvalidError, match="`missed`"):
        session.record_feedback("pdf", "loved")  # type: ignore[arg-type]


def test_why_explains_and_changes_nothing(session: Session) -> None:
    why = session.why("the tax form", "mail")
    assert why.matched[0].id == "pdf"
    assert why.unmatched[0].id == "mail"
    assert session.turns == 0
    assert session.plain_list_tokens > 0
