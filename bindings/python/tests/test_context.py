"""`SkillContext`: what a host adds to each call, without any framework."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from conftest import CODE_REVIEW_TEXT, MAIL_TEXT, PDF_TEXT
from skillfold import Skills
from skillfold.context import Context, SkillContext

if TYPE_CHECKING:
    from pathlib import Path


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": "Fill in a pdf."}, {"role": "user", "content": text}]


def discover(folder: Path, **files: str) -> Skills:
    return Skills.discover(folder, home=folder, bundled={f"{name}/SKILL.md": text for name, text in files.items()})


def skill(name: str, triggers: str, body: str = "Body.") -> str:
    return f"---\nname: {name}\ndescription: Does {name}\ntriggers: {triggers}\n---\n{body} of {name}\n"


def test_unrelated_request_adds_nothing(skills: Skills) -> None:
    assert SkillContext(skills).invoking(user("What is 2+2?")) == Context()


def test_matching_request_adds_only_the_matching_skill(skills: Skills) -> None:
    context = SkillContext(skills).invoking(user("Fill in a form for Alice"))
    assert context.instructions is not None
    assert PDF_TEXT in context.instructions
    assert CODE_REVIEW_TEXT not in context.instructions
    assert MAIL_TEXT not in context.instructions
    assert context.tokens > 0
    assert context.reasons == [f'pdf: phrase "fill in a form", given ({context.tokens} tokens)']


def test_async_invoking_equals_invoking(skills: Skills) -> None:
    request = user("Fill in a form for Alice")
    assert asyncio.run(SkillContext(skills).ainvoking(request)) == SkillContext(skills).invoking(request)


def test_without_a_user_message_nothing_is_added(skills: Skills) -> None:
    context = SkillContext(skills)
    assert context.invoking([]) == Context()
    assert context.invoking([{"role": "assistant", "content": "Shall I fill in the pdf?"}]) == Context()


def test_latest_user_message_is_matched(skills: Skills) -> None:
    messages = [*user("Fill in the pdf"), {"role": "assistant", "content": "Done: pdf."}, *user("What is 2+2?")]
    assert SkillContext(skills).invoking(messages) == Context()


@pytest.mark.parametrize("request_text", ["FILL IN A FORM", "my PDFs", "Pdf?", "(pdf)"])
def test_triggers_match_in_any_case_and_inside_words(skills: Skills, request_text: str) -> None:
    assert PDF_TEXT in (SkillContext(skills).invoking(user(request_text)).instructions or "")


def test_triggers_with_punctuation_match_literally(tmp_path: Path) -> None:
    skills = discover(tmp_path, cpp=skill("cpp", "['c++ (modern)']"))
    assert SkillContext(skills).invoking(user("Is it C++ (modern)?")).instructions
    assert SkillContext(skills).invoking(user("Is it c modern?")).instructions is None


@pytest.mark.parametrize("triggers", ["[]", "''"])
def test_skill_without_triggers_is_never_injected_by_keywords(tmp_path: Path, triggers: str) -> None:
    skills = discover(tmp_path, greet=skill("greet", triggers))
    assert SkillContext(skills, matching="keyword").invoking(user("greet Alice with greet")) == Context()


def test_at_most_max_skills_are_injected_in_order(tmp_path: Path) -> None:
    skills = discover(tmp_path, **{name: skill(name, "[report]") for name in ("d", "b", "c", "a")})
    given = [name for name in "abcd" if f"Body. of {name}" in instructions(SkillContext(skills), "report")]
    assert given == ["a", "b", "c"]
    one = SkillContext(skills, max_skills=1, matching="keyword", style="markdown")
    assert one.invoking(user("report")).instructions == "\n\n## Available Skills\n\n# a\nBody. of a\n"


def instructions(context: SkillContext, request: str) -> str:
    return context.invoking(user(request)).instructions or ""


def test_dropped_instructions_are_given_again_while_the_task_continues(skills: Skills) -> None:
    context = SkillContext(skills)
    assert PDF_TEXT in instructions(context, "Fill in the pdf")
    following = [PDF_TEXT in instructions(context, "And the next page") for _ in range(4)]
    assert following == [True, True, True, False]


def test_with_keywords_only_requests_with_a_trigger_get_instructions(skills: Skills) -> None:
    context = SkillContext(skills, matching="keyword")
    assert PDF_TEXT in instructions(context, "Fill in the pdf")
    assert context.invoking(user("Thanks")) == Context()
    assert PDF_TEXT in instructions(context, "Another pdf")


def test_skill_loaded_by_the_model_is_not_added_again(skills: Skills) -> None:
    context = SkillContext(skills)
    answer = asyncio.run(context.acall("load_skill", {"skill_id": "mail"}))
    assert MAIL_TEXT in answer.text
    assert context.invoking(user("Thanks")) == Context()
    assert context.tokens_spent == answer.tokens


def test_saved_conversation_resumes_where_it_stopped(skills: Skills) -> None:
    context = SkillContext(skills)
    context.invoking(user("Fill in the pdf"))
    asyncio.run(context.acall("load_skill", {"skill_id": "mail"}))
    resumed = SkillContext(skills, state=context.save())
    assert resumed.tokens_spent == context.tokens_spent > 0
    assert PDF_TEXT in instructions(resumed, "And the next page")
    assert PDF_TEXT not in context.save()


def test_state_of_another_agent_reveals_no_skills(skills: Skills) -> None:
    everything = SkillContext(skills)
    everything.invoking(user("Fill in the pdf"))
    agent = SkillContext(skills.bind("worker", ["mail"], sees="used"), state=everything.save())
    assert PDF_TEXT not in instructions(agent, "Go on with the pdf")
    assert "There is no skill `pdf`" in asyncio.run(agent.acall("load_skill", {"skill_id": "pdf"})).text
    assert [record.id for record in agent.get_all_metadata()] == ["mail"]


def test_conversations_do_not_mix(skills: Skills) -> None:
    requests = {"Fill in the pdf": PDF_TEXT, "Write a mail": MAIL_TEXT}

    async def converse(request: str) -> list[str | None]:
        context = SkillContext(skills)
        return [(await context.ainvoking(user(text))).instructions for text in (request, "Thanks", "Go on")]

    async def both() -> list[list[str | None]]:
        return await asyncio.gather(*(converse(request) for request in [*requests] * 8))

    for texts, own in zip(asyncio.run(both()), [*requests.values()] * 8, strict=True):
        for text in texts:
            assert text is not None
            assert [other for other in requests.values() if other in text] == [own]


def test_listing_is_part_of_each_call_in_the_other_modes(skills: Skills) -> None:
    context = SkillContext(skills, disclosure="catalog")
    first, second = (context.invoking(user("Fill in the pdf")) for _ in range(2))
    assert first == second
    assert "- pdf: Fills in" in (first.instructions or "")
    assert PDF_TEXT not in (first.instructions or "")
    assert first.tokens > 0


def test_capability_question_gets_the_listing(skills: Skills) -> None:
    listing = instructions(SkillContext(skills), "What can you do?")
    assert "- code-review:" in listing
    assert CODE_REVIEW_TEXT not in listing


def test_metadata_covers_only_skills_visible_to_models(tmp_path: Path) -> None:
    files = {
        "a/SKILL.md": skill("a", "[a]"),
        "b/SKILL.md": skill("b", "[b]").replace("description", "disable-model-invocation: true\ndescription"),
        "c/SKILL.md": skill("c", "[c]"),
    }
    skills = Skills.discover(tmp_path, home=tmp_path, bundled=files, settings={"disable": ["c"]})
    (record,) = SkillContext(skills).get_all_metadata()
    assert (record.id, record.name, record.description) == ("a", "a", "Does a")
    agent = skills.bind("worker", ["a"], sees="used")
    assert [record.id for record in SkillContext(agent).get_all_metadata()] == ["a"]


def test_metadata_of_many_skills_is_complete(tmp_path: Path) -> None:
    names = [f"s{number:03}" for number in range(120)]
    skills = discover(tmp_path, **{name: skill(name, "[]") for name in names})
    assert [record.id for record in SkillContext(skills).get_all_metadata()] == names


def test_enabled_skills_reflect_the_current_files(tmp_path: Path) -> None:
    skills = Skills.discover(tmp_path, home=tmp_path, roots=[tmp_path / "mine"], cache=False)
    context = SkillContext(skills)
    assert not context.has_skills()
    (tmp_path / "mine" / "greet").mkdir(parents=True)
    (tmp_path / "mine" / "greet" / "SKILL.md").write_text(skill("greet", "[bonjour]"))
    assert context.load_enabled_skills() is skills
    assert context.has_skills()
    assert "Body. of greet" in instructions(context, "Bonjour!")


def test_skills_for_a_request_are_logged(skills: Skills, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="skillfold")
    context = SkillContext(skills)
    context.invoking(user("What is 2+2?"))
    assert caplog.messages == []
    context.invoking(user("Fill in the pdf"))
    assert caplog.messages == ["Skills for the request: pdf (given)"]


def test_matching_takes_less_than_five_milliseconds(skills: Skills) -> None:
    context = SkillContext(skills)
    context.invoking(user("Build the index"))
    start = time.process_time()
    for number in range(200):
        context.invoking(user(f"Fill in pdf number {number}"))
    assert (time.process_time() - start) / 200 < 0.005


def test_package_imports_no_framework() -> None:
    code = "import sys, skillfold, skillfold.context; print([m for m in sys.modules if m.split('.')[0] in %r])"
    frameworks = {"agent_framework", "agents", "pydantic", "pydantic_ai", "langchain", "typing_extensions"}
    shown = subprocess.run([sys.executable, "-c", code % frameworks], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_skills_loaded_by_the_model_are_recorded_as_used(skills: Skills) -> None:
    context = SkillContext(skills)
    context.invoking(user("Fill in a form for Alice"))
    assert context.invoked() == []
    context.call("read_skill_resource", {"skill_id": "pdf", "path": "references/forms.md"})
    asyncio.run(context.acall("load_skill", '{"skill_id": "mail"}'))
    context.call("load_skill", {"skill_id": "none"})
    assert context.call("load_skill", '{"skill_id": ').is_error
    context.call("list_skills")
    assert context.invoked() == ["pdf", "mail"]
    assert context.invoked() == []
    assert context.invoked(["gone"]) == ["gone"]
    assert context.context_priority == skills.context_priority == 60


def test_skill_is_registered_after_discovery(skills: Skills) -> None:
    context = SkillContext(skills)
    changes = skills.register(
        "hello", "Greets people: all of them", triggers=["say hello", "c++: hi"], instructions="Wave.\n"
    )
    assert changes.added == ["hello"]
    told = context.invoking("Please say hello to Alice")
    assert told.instructions is not None
    assert "Wave." in told.instructions
    # The same name replaces it.
    skills.register("hello", "Greets", instructions="Bow.\n")
    assert skills.load("hello").body == "Bow.\n"
    assert skills.for_user().load("hello").body == "Bow.\n"
    with pytest.raises(ValueError, match="at most 64"):
        skills.register("../hello", "Greets")


def test_required_skills_are_ordered(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    head = "---\nname: {0}\ndescription: d\nrequires: [{1}]\n---\n"
    skills = discover(tmp_path, a=head.format("a", "b, none"), b=head.format("b", ""))
    assert skills.load_order("a") == ["b", "a"]
    assert "`a` requires `none`" in caplog.text
