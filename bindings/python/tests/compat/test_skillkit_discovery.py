"""Discovery, names and plugins are the same in skillkit 0.4.0 and in the layer.

Each test runs with both libraries, or compares their results.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from compat.pair import NO_DEFAULTS, Write, failure, manager, write_plugin


def fields(skill: Any) -> tuple[object, ...]:
    return skill.name, skill.description, skill.skill_path, skill.allowed_tools, skill.version


# Discovery.


def test_skills_are_found_down_to_five_folders(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "top", fields="version: v2\nallowed-tools: [Read, 'Bash(git:*)']\n")
    write(tmp_path / "a/b/c/d", "deep")
    write(tmp_path / "a/b/c/d/e", "too-deep")
    write(tmp_path / ".hidden", "in-hidden-folder", description="'Quoted: text'")
    found = [sorted(map(fields, manager(library, tmp_path).list_skills())) for library in (theirs, ours)]
    assert found[0] == found[1]
    assert [skill[0] for skill in found[1]] == ["deep", "in-hidden-folder", "top"]


def test_search_path_may_itself_be_a_skill(either: Any, tmp_path: Path, write: Write) -> None:
    file = write(tmp_path, "pdf")
    assert [skill.skill_path for skill in manager(either, file.parent).list_skills()] == [file]


def test_default_folders_are_searched(
    either: Any,
    tmp_path: Path,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    none = either.SkillManager()
    none.discover()
    assert none.list_skills() == []
    write(tmp_path / "skills", "pdf", description="of the project")
    write(tmp_path / ".claude/skills", "pdf", description="of Claude")
    write(tmp_path / ".claude/skills", "mail")
    write(tmp_path / ".agents/skills", "not-a-source")
    both = either.SkillManager()
    both.discover()
    assert sorted(skill.name for skill in both.list_skills()) == ["mail", "pdf"]
    assert both.get_skill("pdf").description == "of the project"
    for options, descriptions in (
        ({"project_skill_dir": ""}, ["mail does it", "of Claude"]),
        ({"anthropic_config_dir": ""}, ["of the project"]),
        (NO_DEFAULTS, []),
    ):
        found = either.SkillManager(**options)
        found.discover()
        assert sorted(skill.description for skill in found.list_skills()) == descriptions


def test_user_settings_and_folders_are_not_read(
    either: Any,
    tmp_path: Path,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SKILLFOLD_DISABLE", "pdf")
    write(tmp_path / ".agents/skills", "mine")
    write(tmp_path / "app/skills", "pdf")
    (tmp_path / "app/.git").mkdir()
    (tmp_path / "app/.skillfold").mkdir()
    (tmp_path / "app/.skillfold/config.toml").write_text('disable = ["pdf"]')
    monkeypatch.chdir(tmp_path / "app")
    found = either.SkillManager()
    found.discover()
    assert [skill.name for skill in found.list_skills()] == ["pdf"]
    assert "Do it." in found.invoke_skill("pdf")


def test_sources_have_their_priorities(theirs: Any, ours: Any, tmp_path: Path) -> None:
    for name in ("project", "claude", "one", "two", "more", "last"):
        (tmp_path / name).mkdir()
    write_plugin(tmp_path / "two", "one")
    sources = [
        [
            (source.source_type.value, source.directory, source.priority, source.plugin_name)
            for source in library.SkillManager(
                project_skill_dir=tmp_path / "project",
                anthropic_config_dir=str(tmp_path / "claude"),
                plugin_dirs=[tmp_path / "one", str(tmp_path / "two")],
                additional_search_paths=[tmp_path / "more", tmp_path / "last"],
            ).sources
        ]
        for library in (theirs, ours)
    ]
    assert sources[0] == sources[1]
    assert [source[2:] for source in sources[1]] == [
        (100, None),
        (50, None),
        (10, "one"),
        (10, "one-2"),
        (5, None),
        (4, None),
    ]


def test_highest_priority_wins_a_name(either: Any, tmp_path: Path, write: Write) -> None:
    names = ("project", "claude", "plugin", "custom")
    for depth, name in enumerate(names):
        for skill in ["pdf", *names[depth:]]:
            write(tmp_path / name, skill, description=f"from {name}")
    found = either.SkillManager(
        project_skill_dir=tmp_path / "project",
        anthropic_config_dir=tmp_path / "claude",
        plugin_dirs=[tmp_path / "plugin"],
        additional_search_paths=[tmp_path / "custom"],
    )
    found.discover()
    won = {skill.name: skill.description for skill in found.list_skills()}
    assert won == {
        "pdf": "from project",
        "project": "from project",
        "claude": "from project",
        "plugin": "from project",
        "custom": "from project",
    }
    (tmp_path / "project" / "pdf" / "SKILL.md").unlink()
    (tmp_path / "claude" / "pdf" / "SKILL.md").unlink()
    found.discover()
    assert found.get_skill("pdf").description == "from plugin"
    (tmp_path / "plugin" / "pdf" / "SKILL.md").unlink()
    found.discover()
    assert found.get_skill("pdf").description == "from custom"


def test_repeated_discovery_finds_new_skills(either: Any, tmp_path: Path, write: Write) -> None:
    found = manager(either, tmp_path)
    write(tmp_path, "pdf")
    found.discover()
    assert [skill.name for skill in found.list_skills()] == ["pdf"]
    write(tmp_path, "pdf", description="changed")
    found.discover()
    assert found.get_skill("pdf").description == "changed"


def test_source_added_by_the_program_is_searched(either: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path / "more", "mail")
    found = either.SkillManager(**NO_DEFAULTS)
    found.discover()
    found.sources.append(either.SkillSource(either.SourceType.CUSTOM, tmp_path / "more", 1))
    found.discover()
    assert [skill.name for skill in found.list_skills()] == ["mail"]


def test_invalid_skills_are_logged_and_left_out(
    either: Any,
    tmp_path: Path,
    write: Write,
    caplog: pytest.LogCaptureFixture,
) -> None:
    write(tmp_path, "good")
    for name, text in BROKEN.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(text)
    assert [skill.name for skill in manager(either, tmp_path).list_skills()] == ["good"]
    messages = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert sorted(name for name in BROKEN if any(f"/{name}/SKILL.md" in message for message in messages)) == sorted(
        BROKEN,
    )


BROKEN = {
    "no-frontmatter": "# Hello\n",
    "never-closed": "---\nname: never-closed\ndescription: x\n\n# Hello\n",
    "a-list": "---\n- name\n- description\n---\n",
    "colon-in-text": "---\nname: colon-in-text\ndescription: Use when: it rains\n---\n",
    "open-bracket": "---\nname: open-bracket\ndescription: x\nallowed-tools: [Read\n---\n",
    "tag": "---\nname: tag\ndescription: !!python/object:os.system x\n---\n",
    "no-name": "---\ndescription: x\n---\n",
    "empty-name": "---\nname: ''\ndescription: x\n---\n",
    "no-description": "---\nname: no-description\n---\n",
    "empty-description": "---\nname: empty-description\ndescription: '  '\n---\n",
    "text-before": "\n\n---\nname: text-before\ndescription: x\n---\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_parser_raises_what_the_original_raises(theirs: Any, ours: Any, tmp_path: Path, name: str) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text(BROKEN[name])
    original, our = (
        failure(library, lambda library: library.SkillParser().parse_skill_file(file)) for library in (theirs, ours)
    )
    assert our[0] == original[0]
    assert our[1].get("field_name") == original[1].get("field_name")
    # Two readers of YAML notice some mistakes at different columns.
    assert our[1].get("line") == original[1].get("line") or name == "open-bracket"
    assert set(our[1]) == set(original[1])


def test_parser_and_content_refuse_files_that_cannot_be_read(either: Any, tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_bytes(b"---\nname: x\ndescription: x\n---\n\xff\n")
    for file in (tmp_path / "SKILL.md", tmp_path / "missing"):
        with pytest.raises(either.ContentLoadError):
            either.SkillParser().parse_skill_file(file)
    skill = either.Skill(either.SkillMetadata("x", "x", tmp_path / "SKILL.md"), tmp_path)
    with pytest.raises(either.ContentLoadError):
        skill.invoke()


def test_discovery_does_not_read_files(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    files = [write(tmp_path, "pdf"), write(tmp_path / "a", "mail")]
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "SKILL.md").write_text("# Not a skill")
    source = {
        library.package: library.SkillSource(library.SourceType.PROJECT, tmp_path, 1) for library in (theirs, ours)
    }
    for depth, count in ((0, 0), (1, 2), (2, 3)):
        found = [sorted(library.SkillDiscovery().find_skill_files(tmp_path, depth)) for library in (theirs, ours)]
        assert found[0] == found[1]
        assert len(found[1]) == count
    for library in (theirs, ours):
        discovery = library.SkillDiscovery()
        expected = sorted([*files, tmp_path / "broken" / "SKILL.md"])
        assert sorted(discovery.discover_skills(source[library.package])) == expected
        assert sorted(asyncio.run(discovery.adiscover_skills(source[library.package]))) == expected
        assert sorted(discovery.scan_directory(tmp_path)) == expected
        assert sorted(asyncio.run(discovery.ascan_directory(tmp_path))) == expected
        assert sorted(asyncio.run(discovery.afind_skill_files(tmp_path))) == expected
        assert discovery.scan_directory(tmp_path / "missing") == []


@pytest.mark.parametrize(
    "parameter",
    ["skill_dir", "project_skill_dir", "anthropic_config_dir", "plugin_dirs", "additional_search_paths"],
)
def test_missing_folder_is_refused(theirs: Any, ours: Any, tmp_path: Path, parameter: str) -> None:
    missing = tmp_path / "missing"
    value = [missing] if parameter.endswith("s") else missing
    raised = [
        failure(library, lambda library: library.SkillManager(**{parameter: value})) for library in (theirs, ours)
    ]
    assert raised[0] == raised[1]
    assert raised[1][1]["invalid_path"] == str(missing)


def test_cache_size_must_be_positive(either: Any) -> None:
    with pytest.raises(ValueError, match="positive"):
        either.SkillManager(max_cache_size=0, **NO_DEFAULTS)


# Names.


@pytest.mark.parametrize(
    "name",
    ["", ":", "plugin:", ":pdf", *(UNKNOWN := ["pdf", "PDF_TOOLS", "pdf-tools", "plugin:x", "x:pdf"])],
)
def test_names_are_exact(theirs: Any, ours: Any, tmp_path: Path, write: Write, name: str) -> None:
    write(tmp_path / "plugin", "pdf_tools")
    messages = []
    for library in (theirs, ours):
        found = library.SkillManager(plugin_dirs=[tmp_path / "plugin"], **NO_DEFAULTS)
        found.discover()
        for action in (found.get_skill, found.load_skill, found.invoke_skill):
            with pytest.raises(library.SkillNotFoundError) as caught:
                action(name)
        messages.append(str(caught.value))
    assert name not in UNKNOWN or messages[0] == messages[1]


def test_manager_without_discovery_has_no_skills(either: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "pdf")
    found = either.SkillManager(project_skill_dir=tmp_path)
    assert (found.list_skills(), found.list_skills(include_qualified=True)) == ([], [])
    assert found.init_mode is either.InitMode.UNINITIALIZED
    assert found.clear_cache() == 0
    with pytest.raises(either.SkillNotFoundError):
        found.invoke_skill("pdf")
    with pytest.raises(either.SkillsUseError, match="not initialized"):
        asyncio.run(found.ainvoke_skill("pdf"))
    with pytest.raises(either.SkillsUseError, match="not initialized"):
        found.execute_skill_script("pdf", "fill", {})


# Plugins.


def test_skills_of_a_plugin_have_qualified_names(either: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path / "project", "pdf", "Of the project.\n")
    write_plugin(tmp_path / "a", "acme", skills=["skills/", "more", "not-there"])
    write(tmp_path / "a/skills", "pdf", "Of Acme.\n")
    write(tmp_path / "a/more", "mail")
    write(tmp_path / "a/drafts", "draft")
    found = manager(either, tmp_path / "project", plugin_dirs=[tmp_path / "a"])
    assert sorted(found.list_skills(include_qualified=True)) == ["acme:pdf", "mail", "pdf"]
    assert found.get_skill("acme:pdf").skill_path == tmp_path / "a/skills/pdf/SKILL.md"
    assert found.get_skill("acme:mail") == found.get_skill("mail")
    assert "Of Acme." in found.invoke_skill("acme:pdf")
    assert "Of the project." in found.invoke_skill("pdf")
    assert "Of Acme." in found.load_skill("acme:pdf").invoke()


def test_plugin_inside_another_source_keeps_qualified_names(either: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path / "acme", "pdf")
    found = manager(either, tmp_path, plugin_dirs=[tmp_path / "acme"])
    assert found.get_skill("acme:pdf") == found.get_skill("pdf")
    assert found.list_skills(include_qualified=True) == ["pdf"]


def test_plugin_without_a_valid_manifest_is_named_after_its_folder(either: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path / "my.plugin/anywhere", "pdf")
    write_plugin(tmp_path / "my.plugin", "other name")
    found = either.SkillManager(plugin_dirs=[tmp_path / "my.plugin"], **NO_DEFAULTS)
    found.discover()
    assert found.get_skill("my.plugin:pdf").name == "pdf"
    assert either.discover_plugin_manifest(tmp_path / "my.plugin") is None
    assert either.discover_plugin_manifest(tmp_path) is None


MANIFESTS: dict[str, dict[str, object]] = {
    "no name": {"name": None},
    "no version and no author": {"version": None, "author": None},
    "name with a space": {"name": "a b"},
    "version of two numbers": {"version": "1.0"},
    "empty description": {"description": ""},
    "long description": {"description": "x" * 1001},
    "author without a name": {"author": {}},
    "author that is a number": {"author": 1},
    "skills that are a number": {"skills": 1},
    "folder above": {"skills": ["../other"]},
    "absolute folder": {"skills": ["/etc"]},
    "drive": {"skills": ["C:skills"]},
    "empty folder": {"skills": [""]},
    "manifest version": {"manifest_version": "9"},
    "version that is a number": {"version": 1},
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_invalid_manifest_raises_what_the_original_raises(theirs: Any, ours: Any, tmp_path: Path, case: str) -> None:
    file = write_plugin(tmp_path, "acme", **MANIFESTS[case])
    original, our = (
        failure(library, lambda library: library.parse_plugin_manifest(file)) for library in (theirs, ours)
    )
    assert our[0] == original[0]
    assert {key: str(value) for key, value in our[1].items()} == {key: str(value) for key, value in original[1].items()}


def test_unreadable_manifest_raises_what_the_original_raises(theirs: Any, ours: Any, tmp_path: Path) -> None:
    file = tmp_path / "plugin.json"
    raised = [failure(library, lambda library: library.parse_plugin_manifest(file)) for library in (theirs, ours)]
    assert raised[0] == raised[1] == ("ManifestNotFoundError", {})
    for content in (b"{", b"\xff", b"[]", b'"' + b"x" * 1_000_001 + b'"'):
        file.write_bytes(content)
        original, our = (
            failure(library, lambda library: library.parse_plugin_manifest(file)) for library in (theirs, ours)
        )
        assert our[0] == original[0]
        assert our[1].get("manifest_path") == original[1].get("manifest_path")
        assert type(our[1].get("parse_error")) is type(original[1].get("parse_error"))


def test_manifest_has_the_fields_of_the_file(theirs: Any, ours: Any, tmp_path: Path) -> None:
    changes: dict[str, object] = {
        "author": "Me",
        "skills": "some/",
        "manifest_version": "0.3",
        "homepage": "https://a.b",
    }
    file = write_plugin(tmp_path, "acme", **changes, display_name="Acme", repository={"type": "git"})
    original, our = (library.parse_plugin_manifest(file) for library in (theirs, ours))
    assert {name: getattr(our, name) for name in our.__slots__} == {
        name: getattr(original, name) for name in our.__slots__
    }
