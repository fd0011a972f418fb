"""What proposals and decisions promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillfold import ExistsError, InvalidError, NotFoundError, RefusedError, Skills

if TYPE_CHECKING:
    from pathlib import Path

PDF = "---\nname: pdf\ndescription: Fills in forms\n---\nUse pdftk.\n"
DIFF = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -5 +5 @@\n-Use pdftk.\n+Use qpdf.\n"
NEW = "---\nname: csv\ndescription: Cleans up tables\n---\nUse csvclean.\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / ".agents/skills/pdf/SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(PDF, encoding="utf-8")
    return file


@pytest.fixture
def skills(tmp_path: Path, file: Path) -> Skills:
    assert file.exists()
    return Skills.discover(tmp_path, home=tmp_path)


def test_change_is_pending_until_approved_and_can_be_rolled_back(skills: Skills, file: Path) -> None:
    proposed = skills.propose_update("pdf", DIFF, "pdftk is gone", "not found", author="my-agent", session="s1")
    assert (proposed.author, proposed.session) == ("my-agent", "s1")
    # With the lines around it.
    assert proposed.diff is not None
    assert proposed.diff.endswith("\n ---\n-Use pdftk.\n+Use qpdf.\n")
    assert proposed.effects is not None
    assert any("Tokens of the instructions" in line for line in proposed.effects.lines)
    assert file.read_text(encoding="utf-8") == PDF
    assert [one.name for one in skills.proposals().proposals] == [proposed.name]

    version = skills.reviewer("anna").approve(skills.proposal(proposed.name))
    assert skills.load("pdf").body == "Use qpdf.\n"
    assert skills.proposals().proposals == []
    found, approved = skills.history("pdf").versions
    assert (found.cause, approved.cause) == ("found", "approved")
    assert (approved.digest, approved.by, approved.how, approved.reason) == (version, "anna", "host", "pdftk is gone")

    assert found.digest is not None
    skills.reviewer("anna").roll_back("pdf", found.digest, "qpdf cannot sign")
    assert file.read_text(encoding="utf-8") == PDF
    assert skills.history("pdf").versions[-1].cause == "rolled_back"


def test_reviewer_can_recommend_without_changing_the_skill(skills: Skills, file: Path) -> None:
    proposed = skills.propose_update("pdf", DIFF, "pdftk is gone", author="my-agent")
    skills.reviewer("another-agent").recommend(proposed, "approve", "qpdf is installed")
    with pytest.raises(InvalidError):
        skills.reviewer("another-agent").recommend(proposed, "maybe", "unsure")  # type: ignore[arg-type]
    [recommended] = skills.proposal(proposed.name).recommendations
    assert (recommended.by, recommended.verdict, recommended.reason) == (
        "another-agent",
        "approve",
        "qpdf is installed",
    )
    assert file.read_text(encoding="utf-8") == PDF


def test_digest_of_a_skill_is_the_same_everywhere(tmp_path: Path) -> None:
    folder = tmp_path / ".agents/skills/golden"
    for path, text in {
        "SKILL.md": "---\nname: golden\ndescription: Golden vector\n---\n# Skill\n",
        "refs/guide.md": "guide",
        ".hidden": "hidden",
        ".git/config": "[core]",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    golden = "sha256:c8dcddeff7cdd7a484cbc6456f8ded5e1518a06d4d67c9f7ba74555716fb848f"
    skills = Skills.discover(tmp_path, home=tmp_path)
    assert skills.show("golden").digest == golden
    assert skills.scripts("golden").digest == golden
    diff = "--- a/refs/guide.md\n+++ b/refs/guide.md\n@@ -1 +1 @@\n-guide\n\\ No newline at end of file\n+Guide\n"
    proposed = skills.propose_update("golden", diff, "wrong")
    assert proposed.base == golden
    skills.reviewer("anna").approve(proposed)
    assert skills.history("golden").versions[0].digest == golden


def test_new_skill_is_unavailable_until_approved(skills: Skills) -> None:
    proposed = skills.propose_new("csv", NEW, "asked for three times")
    assert proposed.base is None
    assert "csv" not in skills.refresh().added
    with pytest.raises(NotFoundError):
        skills.load("csv")
    skills.reviewer("anna").approve(proposed)
    assert skills.load("csv").body == "Use csvclean.\n"
    with pytest.raises(ExistsError):
        skills.propose_new("csv", NEW, "again")


def test_approval_is_refused_if_the_skill_changed_since_review(skills: Skills, file: Path) -> None:
    seen = skills.propose_update("pdf", DIFF, "pdftk is gone")
    reviewer = skills.reviewer("anna")
    file.write_text(PDF.replace("forms", "PDF forms"), encoding="utf-8")
    with pytest.raises(RefusedError) as refused:
        reviewer.approve(seen)
    assert refused.value.refusal == "approval"
    merged = reviewer.merge(seen)
    assert merged.name != seen.name
    reviewer.approve(merged)
    text = file.read_text(encoding="utf-8")
    assert "PDF forms" in text
    assert "Use qpdf." in text
    with pytest.raises(NotFoundError):
        reviewer.approve(seen)


def test_rejected_change_is_removed_and_its_reason_logged(skills: Skills, file: Path) -> None:
    proposed = skills.propose_update("pdf", DIFF, "pdftk is gone")
    skills.reviewer("anna").reject(proposed, "pdftk is fine")
    assert skills.proposals().proposals == []
    assert file.read_text(encoding="utf-8") == PDF
    with pytest.raises(NotFoundError):
        skills.reviewer("anna").approve(proposed)


def test_approval_needs_another_reviewer_and_the_passphrase(tmp_path: Path, skills: Skills) -> None:
    proposed = skills.propose_update("pdf", DIFF, "pdftk is gone", author="my-agent")
    with pytest.raises(RefusedError, match="pdf"):
        skills.reviewer("my-agent").approve(proposed)
    strict = Skills.discover(tmp_path, home=tmp_path, settings={"approval_requires": "passphrase"})
    with pytest.raises(RefusedError) as refused:
        strict.reviewer("anna").approve(proposed)
    assert "passphrase" in refused.value.hint


def test_change_that_does_not_apply_or_breaks_the_skill_is_invalid(skills: Skills) -> None:
    for diff in [
        "no diff",
        DIFF.replace("pdftk", "pdfjam"),
        DIFF.replace("@@ -5 +5 @@\n-Use pdftk.\n+Use qpdf.", "@@ -2 +2 @@\n-name: pdf\n+name: ["),
    ]:
        with pytest.raises(InvalidError):
            skills.propose_update("pdf", diff, "why")


def test_proposal_tool_is_available_only_if_enabled(tmp_path: Path, skills: Skills) -> None:
    names = [tool.name for tool in skills.session().tools()]
    assert "propose_skill_update" not in names
    asked = Skills.discover(tmp_path, home=tmp_path, settings={"proposals": True})
    session = asked.session()
    assert "propose_skill_update" in [tool.name for tool in session.tools()]
    answer = session.call("propose_skill_update", {"skill_id": "pdf", "diff": DIFF, "justification": "pdftk is gone"})
    assert "It is pending review" in answer.text
    assert not [tool.name for tool in session.tools() if "approve" in tool.name]
