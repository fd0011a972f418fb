"""What errors promise."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import skillfold
from skillfold import Skills

FILES = {"pdf/SKILL.md": "---\nname: pdf\ndescription: Fills in PDF forms\n---\nUse forms.md.\n"}


@pytest.fixture
def skills(tmp_path: Path) -> Skills:
    return Skills.discover(tmp_path, bundled=FILES, home=tmp_path)


def test_error_has_code_hint_and_nearest_ids(skills: Skills) -> None:
    with pytest.raises(skillfold.NotFoundError) as raised:
        skills.load("pfd")
    error = raised.value
    assert isinstance(error, LookupError)
    assert (error.code, error.nearest) == ("not_found", ["pdf"])
    assert error.hint == "Check the id against the list of skills"
    assert str(error) == "There is no skill `pfd`. Did you mean `pdf`?"


def test_refusal_names_the_rule(skills: Skills) -> None:
    with pytest.raises(skillfold.RefusedError) as raised:
        skills.read("pdf", "../../etc/passwd")
    assert (raised.value.code, raised.value.refusal) == ("refused", "traversal")


def test_malformed_input_is_a_value_error(skills: Skills) -> None:
    with pytest.raises(ValueError, match="`envelope`"):
        skills.render("pdf", envelope="paper")  # type: ignore[arg-type]
    with pytest.raises(skillfold.InvalidError, match="interval"):
        skills.watch(interval=-1.0)


def test_unreadable_skill_raises_unreadable_or_not_found(tmp_path: Path) -> None:
    with pytest.raises(skillfold.SkillfoldError):
        Skills.discover(tmp_path, bundled=tmp_path / "nowhere", home=tmp_path)


def test_skills_are_constructed_by_discover() -> None:
    with pytest.raises(TypeError, match=r"Use `Skills\.discover`"):
        Skills()


def test_discovery_warns_about_missing_roots_and_broken_bundled_skills(tmp_path: Path) -> None:
    broken = {**FILES, "broken/SKILL.md": "\0 is not text"}
    with pytest.warns(skillfold.SkillsWarning) as warned:
        found = Skills.discover(tmp_path, bundled=broken, roots=[tmp_path / "nope"], home=tmp_path)
    assert found.ids() == ["pdf"]
    missing, refused = (str(warning.message) for warning in warned)
    assert missing.startswith("nope: Root does not exist")
    assert refused.startswith("Bundled `broken/SKILL.md`: File is not encoded as UTF-8")
    assert {warning.filename for warning in warned} == {__file__}


def test_wrongly_typed_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="not `dict`"):
        Skills.discover(tmp_path, settings={"style": {}}, home=tmp_path)  # type: ignore[dict-item]


def test_errors_can_be_pickled(skills: Skills) -> None:
    with pytest.raises(skillfold.NotFoundError) as raised:
        skills.load("pfd")
    copied = pickle.loads(pickle.dumps(raised.value))
    assert type(copied) is skillfold.NotFoundError
    assert copied.failure == raised.value.failure


def test_error_can_be_built_from_a_message() -> None:
    error = skillfold.NotFoundError("gone")
    assert (str(error), error.code, error.nearest) == ("gone", "not_found", [])


def test_every_error_is_a_skillfold_error_and_every_code_has_a_class() -> None:
    from skillfold.errors import _CLASSES

    assert {code for code, error in _CLASSES.items() if not issubclass(error, skillfold.RunError)} == {
        "not_found",
        "refused",
        "unreadable",
        "invalid",
        "exists",
        "unwritable",
        "system",
        "other",
    }
    assert all(issubclass(error, skillfold.SkillfoldError) for error in _CLASSES.values())


@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud7ff", "￿", "‮", "\x1b[31m", "x" * 100_000, ""])
def test_hostile_strings_do_not_crash(skills: Skills, text: str) -> None:
    session = skills.session()
    session.turn(text)
    skills.search(text)
    assert session.call("load_skill", {"skill_id": text}).is_error
    for call in (lambda: skills.load(text), lambda: skills.read("pdf", text)):
        with pytest.raises(skillfold.SkillfoldError) as raised:
            call()
        assert "\x1b" not in str(raised.value)


def test_lone_surrogate_is_refused_by_python(skills: Skills) -> None:
    with pytest.raises(UnicodeEncodeError):
        skills.load("\ud800")
