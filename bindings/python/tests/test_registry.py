"""What skills from sources promise."""

from __future__ import annotations

import asyncio
import subprocess
from typing import TYPE_CHECKING

import pytest

from skillfold import InvalidError, NotFoundError, RefusedError, Registry, Skills, views

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "---\nname: {name}\ndescription: {about}\n---\n{body}\n"


class Source:
    """A git repository with the skills `csv` and `pdf`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"file://{folder.as_posix()}"
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.write("csv", "Cleans up tables", "Use csvclean.")
        self.write("pdf", "Fills in forms", "Use pdftk.")
        self.commit("v1.0.0")

    def write(self, name: str, about: str, body: str) -> None:
        file = self.folder / f"skills/{name}/SKILL.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TEXT.format(name=name, about=about, body=body), encoding="utf-8")

    def commit(self, tag: str) -> None:
        self.git("add", "--all")
        self.git("-c", "user.name=Anna", "-c", "user.email=anna@example.com", "commit", "--quiet", "--message", tag)
        self.git("tag", tag)

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", str(self.folder), *arguments], check=True)  # noqa: S607


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path / "upstream.git")


@pytest.fixture
def skills(tmp_path: Path) -> Skills:
    (tmp_path / "project").mkdir()
    return Skills.discover(tmp_path / "project", home=tmp_path / "home", trust_project=True)


def add(skills: Skills, source: Source, *names: str) -> Registry:
    registry = skills.registry()
    for proposed in registry.add(f"{source.address}@^1", names).skills:
        assert proposed.proposal is not None
        skills.reviewer("anna").approve(skills.proposal(proposed.proposal))
    return registry


def test_skill_from_a_source_waits_until_it_is_approved(skills: Skills, source: Source) -> None:
    registry = skills.registry()
    assert [it.name for it in registry.search(source.address).skills] == ["csv", "pdf"]
    assert [it.name for it in registry.search(source.address, "fill in a form", 1).skills] == ["pdf"]
    [proposed] = registry.add(f"{source.address}@^1", ["pdf"]).skills
    assert (proposed.name, proposed.version.tag) == ("pdf", "v1.0.0")
    assert proposed.effects is not None
    assert proposed.proposal is not None
    assert "pdf" not in skills
    assert not registry.lock_file.exists()

    skills.reviewer("anna").approve(skills.proposal(proposed.proposal))
    assert skills.load("pdf").body == "Use pdftk.\n"
    assert registry.verify().is_as_locked
    origin = registry.why_installed("pdf")
    assert (origin.source, origin.wanted, origin.version.tag) == (source.address, "^1", "v1.0.0")
    assert repr(registry) == f"<Registry of {registry.lock_file}>"
    assert "^1" in registry.wanted_file.read_text(encoding="utf-8")


def test_update_is_a_proposal_that_keeps_local_edits(skills: Skills, source: Source, tmp_path: Path) -> None:
    registry = add(skills, source, "pdf")
    file = tmp_path / "project/.agents/skills/pdf/SKILL.md"
    file.write_text(file.read_text(encoding="utf-8") + "\nSign each form.\n", encoding="utf-8")
    assert [it.state for it in registry.verify().skills] == ["different"]
    source.write("pdf", "Fills in and merges forms", "Use pdftk.")
    source.commit("v1.1.0")

    [outdated] = registry.outdated().skills
    assert (outdated.name, outdated.locked.tag, outdated.newest.tag) == ("pdf", "v1.0.0", "v1.1.0")
    assert len(registry.update("pdf", dry_run=True).proposed) == 1
    assert skills.proposals().proposals == []
    [proposed] = registry.update().proposed
    assert proposed.conflicts == []
    assert proposed.proposal is not None
    assert "merges" not in file.read_text(encoding="utf-8")
    skills.reviewer("anna").approve(skills.proposal(proposed.proposal))
    text = file.read_text(encoding="utf-8")
    assert "merges" in text
    assert "Sign each form." in text
    assert registry.outdated().skills == []


def test_lock_is_restored_elsewhere_and_removed(skills: Skills, source: Source, tmp_path: Path) -> None:
    registry = add(skills, source, "csv", "pdf")
    assert [it.state for it in registry.vendor().skills] == ["installed"] * 2
    other = tmp_path / "other"
    (other / "project").mkdir(parents=True)
    for name in ("skills.toml", "skills.lock"):
        (other / "project" / name).write_bytes((tmp_path / "project" / name).read_bytes())
    elsewhere = Skills.discover(other / "project", home=other / "home", trust_project=True)
    report = elsewhere.registry().install(frozen=True)
    assert [(it.name, it.state) for it in report.skills] == [("csv", "installed"), ("pdf", "installed")]
    assert elsewhere.load("csv").body == "Use csvclean.\n"
    assert [it.state for it in elsewhere.registry().install(frozen=True, offline=True).skills] == ["unchanged"] * 2

    registry.remove("csv")
    assert "csv" not in skills
    with pytest.raises(NotFoundError):
        registry.remove("csv")
    (tmp_path / "project/.agents/skills/pdf/SKILL.md").write_text(TEXT.format(name="pdf", about="x", body="y"))
    with pytest.raises(RefusedError):
        registry.remove("pdf")
    assert registry.install().skills[0].state == "failed"
    assert registry.install(discard_edits=True).skills[0].state == "installed"


def test_calls_say_what_is_wrong(skills: Skills, source: Source) -> None:
    registry = skills.registry()
    with pytest.raises(NotFoundError):
        registry.verify()
    with pytest.raises(InvalidError, match="2 skills"):
        registry.add(source.address)
    with pytest.raises(InvalidError):
        registry.add(source.address, ["pdf"], all=True)
    with pytest.raises(TypeError):
        registry.add(source.address, "pdf")
    with pytest.raises(ValueError, match="at least 1"):
        registry.search(source.address, "pdf", 0)
    assert [it.name for it in registry.add(source.address, all=True).skills] == ["csv", "pdf"]


def test_skills_of_the_person_are_in_another_lock(skills: Skills, source: Source, tmp_path: Path) -> None:
    async def run() -> views.SkillProposals:
        registry = skills.registry(user=True)
        assert len((await registry.asearch(source.address)).skills) == 2
        return await registry.aadd(source.address, ["pdf"])

    [proposed] = asyncio.run(run()).skills
    assert proposed.proposal is not None
    skills.reviewer("anna").approve(skills.proposal(proposed.proposal))
    assert (tmp_path / "home/.agents/skills/pdf/SKILL.md").exists()
    assert not skills.registry().lock_file.exists()
    registry = skills.registry(user=True)

    async def look() -> list[int]:
        report = await registry.ainstall(frozen=True)
        return [len(report.skills), len((await registry.aoutdated()).skills), len((await registry.aupdate()).proposed)]

    assert asyncio.run(look()) == [1, 0, 0]
