"""What `Skills` promises."""

from __future__ import annotations

import asyncio
import json
import pickle
from pathlib import Path

import pytest

import skillfold
from skillfold import Skills, views

PDF = "---\nname: pdf\ndescription: Fills in PDF forms\ntriggers: [tax form]\n---\nFill in $ARGUMENTS by forms.md.\n"
FILES = {
    "pdf/SKILL.md": PDF,
    "pdf/forms.md": "Every field has a name.\n",
    "pdf/logo.png": b"\x89PNG\r\n\x1a\n",
    "mail/SKILL.md": "---\nname: mail\ndescription: Writes letters\n---\nWrite.\n",
    "deploy/SKILL.md": "---\nname: deploy\ndescription: Deploys\ndisable-model-invocation: true\n---\nDeploy.\n",
    "broken/SKILL.md": "\0 is not text\n",
}


@pytest.fixture
def bundled(tmp_path: Path) -> Skills:
    return Skills.discover(tmp_path, bundled=FILES, home=tmp_path)


def write_skill(folder: Path, name: str, description: str, body: str = "Do it.\n") -> Path:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\nname: {name}\ndescription: {description}\n---\n{body}", encoding="utf-8")
    return file


def test_listing_includes_refused_skills(bundled: Skills) -> None:
    listed = bundled.list()
    assert [skill.id for skill in listed.skills] == ["deploy", "mail", "pdf"]
    assert [refused.folder for refused in listed.refused] == ["broken"]
    assert listed.refused[0].diagnostics[0].code == "SF009"
    assert [skill.id for skill in bundled] == ["deploy", "mail", "pdf"]
    assert len(bundled) == 3
    assert "PDF" in bundled
    assert "nothing" not in bundled
    assert 1 not in bundled


def test_lists_are_filtered_and_paged(bundled: Skills) -> None:
    assert [skill.id for skill in bundled.list("PD").skills] == ["pdf"]
    assert [skill.id for skill in bundled.list(name="^ma").skills] == ["mail"]
    first = bundled.list(limit=2)
    assert first.next == "mail"
    assert [skill.id for skill in bundled.list(limit=2, after=first.next).skills] == ["pdf"]
    with pytest.raises(skillfold.InvalidError, match="Scope is not one of"):
        bundled.list(scope="galaxy")


def test_load_substitutes_arguments_and_reads_nothing_else(bundled: Skills) -> None:
    loaded = bundled.load("pdf", "report.pdf")
    assert loaded.text == "Fill in report.pdf by forms.md.\n"
    assert loaded.raw == "Fill in $ARGUMENTS by forms.md.\n"
    assert (loaded.id, loaded.name, loaded.description) == ("pdf", "pdf", "Fills in PDF forms")
    assert loaded.base_dir is None
    assert str(loaded) == loaded.text
    assert repr(loaded) == "<Instructions pdf, 8 tokens>"


def test_files_are_listed_and_read_as_text_or_bytes(bundled: Skills) -> None:
    assert [file.path for file in bundled.files("pdf").files] == ["forms.md", "SKILL.md", "logo.png"]
    assert str(bundled.read("pdf", "forms.md")) == "Every field has a name.\n"
    assert bundled.read("pdf", "forms.md", start=6, end=11).text == "field"
    assert bundled.read("pdf", "logo.png").base64 == "iVBORw0KGgo="
    assert bundled.read("pdf", "logo.png").text is None


def test_rendered_skill_is_a_serializable_view(bundled: Skills) -> None:
    rendered = bundled.render("pdf", "a.pdf", envelope="skill_context")
    assert rendered.text.startswith('<skill_context id="pdf">')
    assert rendered["kind"] == "instructions"
    assert json.loads(json.dumps(rendered)) == rendered


def test_models_do_not_get_user_only_skills(bundled: Skills) -> None:
    with pytest.raises(skillfold.NotFoundError):
        bundled.load("deploy")
    assert bundled.for_user().load("deploy").text == "Deploy.\n"


def test_untrusted_project_is_listed_but_not_given(tmp_path: Path) -> None:
    write_skill(tmp_path / "app/.agents/skills", "notes", "Takes notes")
    untrusted = Skills.discover(tmp_path / "app", home=tmp_path)
    assert [skill.status for skill in untrusted] == ["untrusted"]
    with pytest.raises(skillfold.SkillfoldError):
        untrusted.load("notes")
    assert untrusted.session().tools() == []
    trusted = Skills.discover(tmp_path / "app", home=tmp_path, trust_project=True)
    assert trusted.load("notes").body == "Do it.\n"
    base = tmp_path.resolve() / "app/.agents/skills/notes"
    assert trusted.load("notes").text == f"Base directory for this skill: {base}\n\nDo it.\n"


def test_roots_and_settings_of_the_program_apply(tmp_path: Path) -> None:
    write_skill(tmp_path / "more", "notes", "Takes notes")
    write_skill(tmp_path / ".agents/skills", "home", "Is at home")
    found = Skills.discover(tmp_path, home=tmp_path, roots=[tmp_path / "more"], settings={"default_roots": False})
    assert [skill.id for skill in found] == ["notes"]
    disabled = Skills.discover(tmp_path, home=tmp_path, roots=[tmp_path / "more"], settings={"disable": ["notes"]})
    assert disabled.show("notes").status == "disabled"
    by_variable = Skills.discover(tmp_path, home=tmp_path, environ={"SKILLFOLD_DEFAULT_ROOTS": "false"})
    assert len(by_variable) == 0


def test_bundled_skills_may_come_from_a_folder(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "notes", "Takes notes")
    skills = Skills.discover(tmp_path, home=tmp_path, bundled=tmp_path / "skills")
    assert [(skill.id, skill.scope) for skill in skills] == [("notes", "bundled")]


def test_invalid_settings_raise_unless_lenient(tmp_path: Path) -> None:
    with pytest.raises(skillfold.InvalidError, match="did you mean `style`"):
        Skills.discover(tmp_path, home=tmp_path, settings={"stile": "xml"})
    lenient = Skills.discover(tmp_path, home=tmp_path, settings={"stile": "xml"}, lenient=True)
    assert lenient.doctor().settings[0].diagnostic.code == "SF701"


def test_search_returns_hits_with_confidence(bundled: Skills) -> None:
    found = bundled.search("write a letter to Alice").found
    assert found[0].id == "mail"
    assert 0 < found[0].confidence <= 1
    assert "deploy" not in [one.id for one in bundled.search("deploys").found]
    assert "deploy" in [one.id for one in bundled.search("deploys", all=True).found]


def test_edit_is_visible_in_the_next_turn(tmp_path: Path) -> None:
    file = write_skill(tmp_path / ".agents/skills", "pdf", "Fills in forms\ntriggers: [tax form]", "Old.\n")
    skills = Skills.discover(tmp_path, home=tmp_path)
    assert "Old." in str(skills.session().turn("the tax form"))
    file.write_text(file.read_text(encoding="utf-8").replace("Old.", "New and longer."), encoding="utf-8")
    assert skills.refresh().changed == ["pdf"]
    assert "New and longer." in str(skills.session().turn("the tax form"))
    write_skill(tmp_path / ".agents/skills", "mail", "Writes letters")
    assert skills.refresh().added == ["mail"]
    assert skills.refresh() == {"view": 2, "kind": "changes"}


def test_agents_see_only_their_bound_skills(bundled: Skills) -> None:
    clerk = bundled.bind("clerk", ["pdf"], sees="used")
    assert repr(clerk) == "<AgentSkills of clerk: 1 skill>"
    assert clerk.ids() == ["pdf"]
    assert "mail" not in clerk
    composed = clerk.compose("You are a clerk.", "Be brief.")
    assert composed.text == "You are a clerk.\n\nSkill: pdf\n\nFill in  by forms.md.\n\nBe brief."
    with pytest.raises(skillfold.NotFoundError):
        clerk.load("mail")
    assert clerk.read("pdf", "forms.md").text == "Every field has a name.\n"
    assert clerk.narrow("helper", ["mail"], sees="used").ids() == []


def test_agents_from_settings_are_composed_by_id(tmp_path: Path) -> None:
    settings = tmp_path / ".config/skillfold/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[agents.clerk]\nuses_skills = ["pdf"]\nsees = "used"\n', encoding="utf-8")
    skills = Skills.discover(tmp_path, home=tmp_path, bundled=FILES)
    assert skills.compose_instructions("clerk", "You are a clerk.").startswith("You are a clerk.\n\nSkill: pdf")
    assert "pdf" in (skills.get_context("hello", "clerk") or "")
    assert "mail" not in (skills.get_context("hello", "clerk") or "")
    with pytest.raises(skillfold.NotFoundError) as raised:
        skills.compose_instructions("clark")
    assert raised.value.nearest == ["clerk"]


def test_get_context_has_the_listing_and_matching_skills(bundled: Skills, tmp_path: Path) -> None:
    context = bundled.get_context("fill in the tax form", "any agent")
    assert context is not None
    assert "- pdf: Fills in PDF forms" in context
    assert "Fill in" in context
    assert Skills.discover(tmp_path, home=tmp_path).get_context("fill in the tax form") is None
    assert bundled.get_skill_content("mail") == "Write.\n"


def test_sync_and_async_calls_can_be_mixed(tmp_path: Path) -> None:
    async def run() -> None:
        skills = await Skills.adiscover(tmp_path, bundled=FILES, home=tmp_path)
        assert skills.load("pdf").text == (await skills.aload("pdf")).text
        assert skills.render("pdf") == await skills.arender("pdf")
        assert skills.files("pdf") == await skills.afiles("pdf")
        assert skills.read("pdf", "forms.md") == await skills.aread("pdf", "forms.md")
        assert skills.search("forms") == await skills.asearch("forms")
        assert skills.get_context("hello") == await skills.aget_context("hello")
        assert skills.refresh() == await skills.arefresh()
        session = skills.session()
        assert (await session.aturn("the tax form")).tier == 3
        assert (await session.acall("load_skill", {"skill_id": "mail"})).skill == "mail"
        assert (await session.aload("mail")).id == "mail"
        many = await asyncio.gather(*(skills.aload("pdf", str(number)) for number in range(20)))
        assert {one.text for one in many} == {f"Fill in {number} by forms.md.\n" for number in range(20)}

    asyncio.run(run())


def test_results_are_dicts_with_attributes(bundled: Skills) -> None:
    record = bundled.list("pdf").skills[0]
    assert record.plugin is None
    assert record.tags == []
    assert repr(record).startswith("SkillRecord(description='Fills in PDF forms', id='pdf'")
    with pytest.raises(AttributeError, match="SkillRecord has no field 'tittle'; it has"):
        record.tittle
    assert "description" in dir(record)
    assert pickle.loads(pickle.dumps(record)) == record
    assert isinstance(bundled.show("pdf"), views.Skill)
    assert repr(bundled) == "<Skills: 3 skills in 1 root>"
    assert len(repr(bundled.list())) < 120


def test_counters_and_cache_can_be_read_and_cleared(bundled: Skills) -> None:
    bundled.load("pdf")
    bundled.load("pdf")
    assert bundled.counters().cache.hits == 1
    bundled.clear_cache("pdf")
    bundled.clear_cache()
    assert bundled.counters().cache.entries == 0
    with pytest.raises(skillfold.NotFoundError):
        bundled.clear_cache("nothing")


def test_string_is_not_accepted_as_a_list(bundled: Skills, tmp_path: Path) -> None:
    for roots in (str(tmp_path), tmp_path):
        with pytest.raises(TypeError, match="`roots` is a list"):
            Skills.discover(tmp_path, home=tmp_path, roots=roots)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"`skills` is a list: pass \['pdf'\]"):
        bundled.bind("clerk", "pdf")
    with pytest.raises(TypeError, match="`skills` is a list"):
        bundled.bind("clerk", []).narrow("helper", "pdf")


def test_common_mistakes_say_what_to_do(bundled: Skills, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"Skills\.discover"):
        Skills(".")  # type: ignore[arg-type]
    with pytest.raises(skillfold.NotFoundError, match="nowhere"):
        Skills.discover(tmp_path / "nowhere", home=tmp_path)
    with pytest.raises(ValueError, match="`limit` is at least 1"):
        bundled.list(limit=0)
    with pytest.raises(ValueError, match="`limit` is at least 1"):
        bundled.files("pdf", limit=0)
    with pytest.raises(TypeError, match="Setting `index` is"):
        Skills.discover(tmp_path, home=tmp_path, settings={"index": None})  # type: ignore[dict-item]
    assert bundled.read("pdf", Path("forms.md")).text == "Every field has a name.\n"
    assert bundled.ids() == ["mail", "pdf"]


def test_session_sees_what_a_model_may_see(bundled: Skills) -> None:
    session = bundled.session()
    assert [session.may_see(one) for one in ("pdf", "PDF", "deploy", "nothing")] == [True, True, False, False]
