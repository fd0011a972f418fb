"""What differs from skillkit 0.4.0: each test shows the original's behaviour and ours."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from compat.pair import Write, manager
from skillfold import Skills


def names(found: Any) -> list[str]:
    return sorted(skill.name for skill in found.list_skills())


# The text.


def test_frontmatter_is_not_in_the_text(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "pdf", "Do it.\n")
    frontmatter = "---\nname: pdf\ndescription: pdf does it\n---\n"
    original, our = manager(theirs, tmp_path), manager(ours, tmp_path)
    assert original.load_skill("pdf").content == f"{frontmatter}Do it.\n"
    assert our.load_skill("pdf").content == "Do it.\n"
    assert frontmatter in original.invoke_skill("pdf")
    assert our.invoke_skill("pdf") == f"Base directory for this skill: {tmp_path / 'pdf'}\n\nDo it.\n"


def test_header_is_one_line_without_a_class_name(theirs: Any, ours: Any) -> None:
    context = {"base_directory": "/skills/pdf"}
    original, our = (library.BaseDirectoryProcessor().process("Do it.", context) for library in (theirs, ours))
    assert "FilePathResolver.resolve_path" in original
    assert our == "Base directory for this skill: /skills/pdf\n\nDo it."


def test_longer_word_is_not_a_placeholder(theirs: Any, ours: Any) -> None:
    original, our = (library.process_skill_content("$ARGUMENTSX", Path("/a"), "x") for library in (theirs, ours))
    assert original.endswith("\n\nxX")
    assert our.endswith("\n\n$ARGUMENTSX\n\nARGUMENTS: x\n")


@pytest.mark.parametrize(
    ("body", "original", "our"),
    [
        ("$ARGUMENTS, $$ARGUMENTS", "x, $ARGUMENTS", "x, $x"),
        ("$ARGUMENTS, ${ARGUMENTS}", "x, x", "x, ${ARGUMENTS}"),
        ("Do it.", "Do it.\n\nx", "Do it.\n\nARGUMENTS: x\n"),
    ],
)
def test_loaded_skill_fills_in_arguments_like_the_manager(
    theirs: Any,
    ours: Any,
    tmp_path: Path,
    write: Write,
    body: str,
    original: str,
    our: str,
) -> None:
    write(tmp_path, "pdf", body)
    assert manager(theirs, tmp_path).load_skill("pdf").invoke("x").endswith(f"\n{original}")
    assert manager(ours, tmp_path).load_skill("pdf").invoke("x").endswith(f"\n{our}")
    assert manager(ours, tmp_path).invoke_skill("pdf", "x").endswith(f"\n{our}")


def test_appended_arguments_follow_one_blank_line(
    theirs: Any,
    ours: Any,
    tmp_path: Path,
    write: Write,
) -> None:
    write(tmp_path, "pdf", "Do it.\n")
    original, our = manager(theirs, tmp_path), manager(ours, tmp_path)
    assert original.invoke_skill("pdf", "x").endswith("Do it.\n\n\nARGUMENTS: x")
    assert our.invoke_skill("pdf", "x").endswith("Do it.\n\nARGUMENTS: x\n")
    assert original.invoke_skill("pdf", "  ").endswith("Do it.\n\n\nARGUMENTS:   ")
    assert our.invoke_skill("pdf", "  ").endswith("\n\nDo it.\n")


def test_none_counts_as_no_arguments(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "pdf", "Do $ARGUMENTS.\n")
    assert manager(theirs, tmp_path).invoke_skill("pdf", None).endswith("Do $ARGUMENTS.\n")
    assert manager(ours, tmp_path).invoke_skill("pdf", None).endswith("Do .\n")


def test_line_endings_are_kept(theirs: Any, ours: Any, tmp_path: Path) -> None:
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf" / "SKILL.md").write_bytes(b"---\r\nname: pdf\r\ndescription: x\r\n---\r\nDo it.\r\n")
    assert manager(theirs, tmp_path).invoke_skill("pdf").endswith("\nDo it.\n")
    assert manager(ours, tmp_path).invoke_skill("pdf").endswith("\nDo it.\r\n")


# Metadata.


@pytest.mark.parametrize(
    "field",
    ["allowed-tools: Read, Grep", "allowed-tools: Read Grep", "allowed_tools: [Read, Grep]"],
)
def test_tools_are_read_in_all_spellings(theirs: Any, ours: Any, tmp_path: Path, write: Write, field: str) -> None:
    file = write(tmp_path, "pdf", fields=f"{field}\n")
    assert theirs.SkillParser().parse_skill_file(file).allowed_tools == ()
    assert ours.SkillParser().parse_skill_file(file).allowed_tools == ("Read", "Grep")


def test_numbers_are_read_as_strings(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "pdf", fields="version: 1.10\n")
    write(tmp_path, "123")
    assert manager(theirs, tmp_path).get_skill("pdf").version is None
    assert manager(ours, tmp_path).get_skill("pdf").version == "1.10"
    assert names(manager(theirs, tmp_path)) == ["pdf"]
    assert names(manager(ours, tmp_path)) == ["123", "pdf"]


def test_yaml_aliases_are_text_and_the_first_duplicate_field_wins(
    theirs: Any,
    ours: Any,
    tmp_path: Path,
    write: Write,
) -> None:
    file = write(tmp_path, "pdf", description="&text Fills in forms", fields="version: a\nversion: b\n")
    original, our = (library.SkillParser().parse_skill_file(file) for library in (theirs, ours))
    assert (original.description, original.version) == ("Fills in forms", "b")
    assert (our.description, our.version) == ("&text Fills in forms", "a")


def test_misspelt_fields_are_read(theirs: Any, ours: Any, tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text("---\nname: pdf\nDescription: x\n---\n")
    with pytest.raises(theirs.MissingRequiredFieldError):
        theirs.SkillParser().parse_skill_file(file)
    assert ours.SkillParser().parse_skill_file(file).description == "x"


def test_name_that_is_a_path_is_refused(theirs: Any, ours: Any, tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text("---\nname: ../pdf\ndescription: x\n---\n")
    assert theirs.SkillParser().parse_skill_file(file).name == "../pdf"
    with pytest.raises(ours.MissingRequiredFieldError):
        ours.SkillParser().parse_skill_file(file)


# Discovery.


def test_nested_skill_is_a_file_of_the_outer_skill(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "outer")
    write(tmp_path / "outer" / "examples", "inner")
    assert names(manager(theirs, tmp_path)) == ["inner", "outer"]
    assert names(manager(ours, tmp_path)) == ["outer"]


def test_skill_file_is_named_exactly_skill_md_and_is_not_a_link(
    theirs: Any, ours: Any, tmp_path: Path, write: Write
) -> None:
    file = write(tmp_path, "pdf")
    file.rename(file.with_name("skill.md"))
    write(tmp_path, "node_modules")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "SKILL.md").symlink_to(write(tmp_path / "node_modules", "mail"))
    assert names(manager(theirs, tmp_path)) == ["mail", "node_modules", "pdf"]
    assert names(manager(ours, tmp_path)) == []


def test_instructions_are_not_read_by_discovery(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    file = write(tmp_path, "pdf")
    file.write_bytes(file.read_bytes() + b"\xff")
    assert names(manager(theirs, tmp_path)) == []
    found = manager(ours, tmp_path)
    assert names(found) == ["pdf"]
    with pytest.raises(ours.ContentLoadError, match="UTF-8"):
        found.invoke_skill("pdf")


def test_sixth_search_path_is_searched(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    folders = [write(tmp_path / str(number), f"skill-{number}").parent for number in range(6)]
    options = {"project_skill_dir": "", "anthropic_config_dir": "", "additional_search_paths": folders}
    with pytest.raises(ValueError, match="positive"):
        theirs.SkillManager(**options)
    found = ours.SkillManager(**options)
    found.discover()
    assert [source.priority for source in found.sources] == [5, 4, 3, 2, 1, 1]
    assert len(found.list_skills()) == 6


def test_skills_are_in_order_of_sources_and_paths(ours: Any, tmp_path: Path, write: Write) -> None:
    for name in ("z", "a", "m"):
        write(tmp_path / "project", name)
    write(tmp_path / "more", "b")
    found = manager(ours, tmp_path / "project", additional_search_paths=[tmp_path / "more"])
    assert [skill.name for skill in found.list_skills()] == ["a", "m", "z", "b"]


# Sync, async and the cache.


def test_sync_and_async_calls_may_be_mixed(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "pdf")

    async def both(library: Any) -> object:
        found = manager(library, tmp_path)
        await found.adiscover()
        assert found.init_mode is library.InitMode.ASYNC
        found.discover()
        return await found.ainvoke_skill("pdf") == found.invoke_skill("pdf")

    with pytest.raises(theirs.AsyncStateError):
        asyncio.run(both(theirs))
    assert asyncio.run(both(ours)) is True


def test_sync_call_in_a_running_loop_uses_the_cache(theirs: Any, ours: Any, settled: Path) -> None:
    async def hits(library: Any) -> tuple[int, int]:
        found = manager(library, settled)
        for _ in range(2):
            found.invoke_skill("greet", "Ada")
        return found.get_cache_stats().hits, found.get_cache_stats().misses

    assert asyncio.run(hits(theirs)) == (0, 0)
    assert asyncio.run(hits(ours)) == (1, 1)


def test_whitespace_in_arguments_is_significant(theirs: Any, ours: Any, settled: Path) -> None:
    original, our = manager(theirs, settled), manager(ours, settled)
    for found in (original, our):
        found.invoke_skill("greet", "Ada  Lovelace")
    assert original.invoke_skill("greet", "Ada Lovelace").endswith("Greet Ada  Lovelace.\n")
    assert our.invoke_skill("greet", "Ada Lovelace").endswith("Greet Ada Lovelace.\n")
    assert (original.get_cache_stats().size, our.get_cache_stats().size) == (1, 2)


def test_file_with_an_older_mtime_is_read_again(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    file = write(tmp_path, "pdf", "New.\n")
    original, our = manager(theirs, tmp_path), manager(ours, tmp_path)
    for found in (original, our):
        assert "New." in found.invoke_skill("pdf")
    write(tmp_path, "pdf", "Old.\n")
    os.utime(file, (1, 1))
    assert "New." in original.invoke_skill("pdf")
    assert "Old." in our.invoke_skill("pdf")


def test_content_cache_misses_for_a_file_with_an_older_mtime(theirs: Any, ours: Any) -> None:
    async def get(library: Any) -> object:
        cache = library.ContentCache()
        await cache.put("pdf", "", "New.", 2.0)
        return await cache.get("pdf", "", 1.0)

    assert asyncio.run(get(theirs)) == "New."
    assert asyncio.run(get(ours)) is None


def test_recently_written_file_is_read_on_each_call(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "pdf")
    original, our = manager(theirs, tmp_path), manager(ours, tmp_path)
    for found in (original, our):
        found.invoke_skill("pdf")
        found.invoke_skill("pdf")
    assert (original.get_cache_stats().hits, original.get_cache_stats().misses) == (1, 1)
    assert (our.get_cache_stats().hits, our.get_cache_stats().misses) == (0, 2)
    assert (original.clear_cache(), our.clear_cache()) == (1, 1)


def test_two_names_of_one_skill_share_the_cache(theirs: Any, ours: Any, settled: Path) -> None:
    sizes = []
    for library in (theirs, ours):
        found = library.SkillManager(project_skill_dir="", anthropic_config_dir="", plugin_dirs=[settled])
        found.discover()
        assert found.invoke_skill("bye") == found.invoke_skill(f"{settled.name}:bye")
        sizes.append((found.get_cache_stats().size, found.clear_cache("bye"), found.get_cache_stats().size))
    assert sizes == [(2, 1, 1), (1, 1, 0)]


def test_missing_or_broken_file_raises_the_documented_error(
    theirs: Any,
    ours: Any,
    tmp_path: Path,
    write: Write,
) -> None:
    file = write(tmp_path, "pdf")
    original, our = manager(theirs, tmp_path), manager(ours, tmp_path)
    file.write_text("---\nname: pdf\n---\nNo description.\n")
    assert "No description." in original.invoke_skill("pdf")
    # It may be half written.
    with pytest.raises(ours.ContentLoadError):
        our.invoke_skill("pdf")
    file.unlink()
    with pytest.raises(FileNotFoundError):
        original.invoke_skill("pdf")
    with pytest.raises(ours.ContentLoadError):
        our.invoke_skill("pdf")
    with pytest.raises(ours.ContentLoadError):
        our.load_skill("pdf").invoke()


# Errors.


def test_errors_carry_their_context(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "pdf")
    path = {"requested_path": "../x", "base_directory": str(tmp_path)}
    script = {"script_name": "fill", "skill_name": "pdf"}
    for library, expected in ((theirs, (dict.fromkeys(path), dict.fromkeys(script))), (ours, (path, script))):
        with pytest.raises(library.PathSecurityError) as outside:
            library.FilePathResolver.resolve_path(tmp_path, "../x")
        with pytest.raises(library.ScriptNotFoundError) as missing:
            manager(library, tmp_path).execute_skill_script("pdf", "fill", {})
        assert (vars(outside.value), vars(missing.value)) == expected


def test_suspicious_arguments_are_not_logged(
    theirs: Any,
    ours: Any,
    tmp_path: Path,
    write: Write,
    caplog: pytest.LogCaptureFixture,
) -> None:
    write(tmp_path, "pdf")
    for library, count in ((theirs, 1), (ours, 0)):
        caplog.clear()
        manager(library, tmp_path).load_skill("pdf").invoke("../x")
        assert [record.levelname for record in caplog.records].count("WARNING") == count


# Scripts.


DESCRIBED = {
    "first-line.py": ('"""Fills in a form.\n\nAnd signs it.\n"""\n', "And signs it.", "Fills in a form. And signs it."),
    "not-closed.py": ('"""Fills in\na form.\n', "a form.", "Fills in a form."),
    "shebang.js": ("#!/usr/bin/env node\n// Fills in a form.\n", "", "Fills in a form."),
    "jsdoc.js": ("/**\n * Fills in a form.\n */\nrun();\n", "* Fills in a form.", "Fills in a form."),
    "no-comment.js": ('const start = "/*";\nrun();', '"; run();', ""),
}


@pytest.mark.parametrize("name", DESCRIBED)
def test_description_of_a_script_is_its_whole_first_comment(theirs: Any, ours: Any, tmp_path: Path, name: str) -> None:
    content, original, our = DESCRIBED[name]
    (tmp_path / name).write_text(content)
    # The original has a space for each line past the end of the file.
    assert theirs.ScriptDescriptionExtractor().extract(tmp_path / name).rstrip() == original
    assert ours.ScriptDescriptionExtractor().extract(tmp_path / name) == our


def test_linked_scripts_folder_is_not_followed(theirs: Any, ours: Any, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/fill.py").write_text("")
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf/scripts").symlink_to(tmp_path / "elsewhere")
    assert len(theirs.ScriptDetector().detect_scripts(tmp_path / "pdf")) == 1
    assert ours.ScriptDetector().detect_scripts(tmp_path / "pdf") == []


def test_scripts_are_listed_in_order(ours: Any, tmp_path: Path) -> None:
    (tmp_path / "scripts/a").mkdir(parents=True)
    for path in ("a.py", "scripts/b.py", "scripts/a/c.py", "scripts/a.py"):
        (tmp_path / path).write_text("")
    listed = [script.path.as_posix() for script in ours.ScriptDetector().detect_scripts(tmp_path)]
    assert listed == ["scripts/a/c.py", "scripts/a.py", "scripts/b.py", "a.py"]


def test_description_reads_only_the_head_of_a_script(ours: Any, tmp_path: Path) -> None:
    (tmp_path / "long.sh").write_text("x" * 65_536 + "\n# Not this.\n")
    assert ours.ScriptDescriptionExtractor().extract(tmp_path / "long.sh") == ""


# What waits.


def with_script(folder: Path, write: Write) -> None:
    script = write(folder, "pdf").parent / "scripts" / "fill.py"
    script.parent.mkdir()
    script.write_text('"""Fills in a form."""\nprint(input())\n')


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of what may run is the user's."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)


def allow(folder: Path) -> None:
    skills = Skills.discover(roots=[folder])
    skills.reviewer("anna").allow(skills.scripts("pdf"))


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is for Linux")
def test_script_runs_only_if_the_user_has_allowed_it(ours: Any, tmp_path: Path, write: Write) -> None:
    with_script(tmp_path, write)
    found = manager(ours, tmp_path)
    [tool] = ours.create_script_tools(found.load_skill("pdf"), found)
    with pytest.raises(ours.ScriptError, match="not allowed to run"):
        found.execute_skill_script("pdf", "fill", {})
    with pytest.raises(Exception, match="not allowed to run"):
        tool.invoke({"arguments": {}})
    allow(tmp_path)
    assert found.execute_skill_script("pdf", "fill", {}).success
    (tmp_path / "pdf/scripts/fill.py").write_text("print('changed')\n", encoding="utf-8")
    with pytest.raises(ours.ScriptError, match="changed since"):
        found.execute_skill_script("pdf", "fill", {})


def test_no_script_runs_if_a_passphrase_is_required(
    ours: Any, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_script(tmp_path, write)
    allow(tmp_path)
    monkeypatch.setenv("SKILLFOLD_APPROVAL_REQUIRES", "passphrase")
    with pytest.raises(ours.ScriptError, match="require a passphrase"):
        manager(ours, tmp_path).execute_skill_script("pdf", "fill", {})


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is for Linux")
def test_scripts_run_in_a_sandbox_with_verbatim_arguments(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    with_script(tmp_path, write)
    allow(tmp_path)
    assert manager(theirs, tmp_path).execute_skill_script("pdf", "fill", {"Page": 1}).stdout == '{"page": 1}\n'
    found = manager(ours, tmp_path)
    result = found.execute_skill_script("pdf", "fill", {"Page": 1})
    assert (result.stdout, result.exit_code, result.success) == ('{"Page": 1}\n', 0, True)
    skill = found.load_skill("pdf")
    [tool] = ours.create_script_tools(skill, found)
    assert tool.name == "pdf__fill"
    assert tool.invoke({"arguments": {"Page": 1}}) == '{"Page": 1}\n'


def run_script(module: Any, folder: Path, write: Write, text: str, **limits: int) -> Any:
    write(folder, "pdf")
    (folder / "pdf/scripts").mkdir(exist_ok=True)
    (folder / "pdf/scripts/fill.py").write_text(text, encoding="utf-8")
    if module.package != "skillkit":
        allow(folder)
    skill = manager(module, folder).load_skill("pdf")
    return module.ScriptExecutor(**limits).execute(Path("scripts/fill.py"), {}, skill.base_directory, skill.metadata)


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is for Linux")
def test_failing_or_timed_out_script_is_a_result(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    for module in (theirs, ours):
        failed = run_script(module, tmp_path, write, "import sys; sys.exit('no form')\n")
        assert (failed.exit_code, failed.stderr, failed.success) == (1, "no form\n", False)
        late = run_script(module, tmp_path, write, "import time; time.sleep(9)\n", timeout=1)
        assert (late.exit_code, late.timeout, late.signaled) == (124, True, False)
        killed = run_script(module, tmp_path, write, "import os; os.kill(os.getpid(), 11)\n")
        assert (killed.exit_code, killed.signal, killed.signal_number) == (-11, "SIGSEGV", 11)


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is for Linux")
def test_script_cannot_access_the_host(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    text = f"import os; print(os.path.exists({str(secret)!r}), 'SKILL_NAME' in os.environ)\n"
    assert run_script(theirs, tmp_path, write, text).stdout == "True True\n"
    assert run_script(ours, tmp_path, write, text).stdout == "False False\n"
    skill = manager(ours, tmp_path).load_skill("pdf")
    with pytest.raises(ours.PathSecurityError):
        ours.ScriptExecutor().execute(secret, {}, skill.base_directory, skill.metadata)


def test_script_tools_are_created_only_on_request(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    with_script(tmp_path, write)
    write(tmp_path, "mail")
    original, our = manager(theirs, tmp_path), manager(ours, tmp_path)
    for found in (original, our):
        assert [script.description for script in found.load_skill("pdf").scripts] == ["Fills in a form."]
    assert sorted(tool.name for tool in theirs.create_langchain_tools(original)) == ["mail", "pdf", "pdf__fill"]
    assert sorted(tool.name for tool in ours.create_langchain_tools(our)) == ["mail", "pdf"]
    assert ours.create_script_tools(our.load_skill("mail"), our) == []


def test_user_only_skill_is_not_a_model_tool(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "deploy", fields="disable-model-invocation: true\n")
    original, our = manager(theirs, tmp_path), manager(ours, tmp_path)
    assert [tool.name for tool in theirs.create_langchain_tools(original)] == ["deploy"]
    assert ours.create_langchain_tools(our) == []
    assert names(our) == ["deploy"]
    assert "Do it." in our.invoke_skill("deploy")
