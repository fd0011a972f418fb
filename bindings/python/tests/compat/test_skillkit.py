"""Invocation, cache and tools are the same in skillkit 0.4.0 and in the layer.

Each test runs with both libraries, or compares their results.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.pair import Write, manager

# Invocation.


@pytest.mark.parametrize("arguments", ["", "report.pdf", "a  b\nc", "$ARGUMENTS", "\\1 {x} ${y} %s"])
def test_arguments_are_filled_in_like_the_original(
    theirs: Any,
    ours: Any,
    tmp_path: Path,
    write: Write,
    corrected: Callable[[str], str],
    arguments: str,
) -> None:
    write(tmp_path, "fill", "\n# Fill in $ARGUMENTS\n\nThen `$ARGUMENTS`, $arguments, ${ARGUMENTS}, $$ARGUMENTS.\n")
    original = manager(theirs, tmp_path).invoke_skill("fill", arguments)
    expected = corrected(original)
    assert arguments in expected
    found = manager(ours, tmp_path)
    assert found.invoke_skill("fill", arguments) == expected
    assert asyncio.run(found.ainvoke_skill("fill", arguments)) == expected
    assert found.load_skill("fill").invoke(arguments) == expected
    assert asyncio.run(found.load_skill("fill").ainvoke(arguments)) == expected
    skill = found.load_skill("fill")
    assert ours.process_skill_content(skill.content, skill.base_directory, arguments) == expected


def test_text_without_arguments_or_placeholder_is_the_file(
    theirs: Any,
    ours: Any,
    tmp_path: Path,
    write: Write,
    corrected: Callable[[str], str],
) -> None:
    write(tmp_path, "plain", "# Ä\n\n\tKeep  it.  \n\n---\n\nNo line feed")
    assert manager(ours, tmp_path).invoke_skill("plain") == corrected(manager(theirs, tmp_path).invoke_skill("plain"))
    assert manager(ours, tmp_path).load_skill("plain").content == "# Ä\n\n\tKeep  it.  \n\n---\n\nNo line feed"


def test_processors_can_be_composed(theirs: Any, ours: Any) -> None:
    context = {"arguments": "x", "base_directory": "/skills/a", "skill_name": "a"}
    for content in ("Do $ARGUMENTS.", "Do $ARGUMENTS, or ${this}."):
        texts = []
        for library in (theirs, ours):

            class Upper(library.ContentProcessor):  # type: ignore[misc, name-defined]
                def process(self, content: str, context: dict[str, Any]) -> str:
                    return f"{content.upper()} {context['skill_name']}"

            steps = [library.ArgumentSubstitutionProcessor(), Upper()]
            texts.append(library.CompositeProcessor(steps).process(content, context))
        assert texts[0] == texts[1]
    with pytest.raises(TypeError):
        ours.ContentProcessor()


@pytest.mark.parametrize("arguments", [None, "", "  ", " a \t b\n\nc ", "A"])
def test_arguments_are_normalized_like_the_original(theirs: Any, ours: Any, arguments: str | None) -> None:
    assert ours.normalize_arguments(arguments) == theirs.normalize_arguments(arguments)


def test_text_keeps_placeholders_without_arguments(ours: Any, theirs: Any) -> None:
    assert theirs.process_skill_content("$ARGUMENTS", Path("/a"), None).endswith("\n\n$ARGUMENTS")
    assert ours.process_skill_content("$ARGUMENTS", Path("/a"), None).endswith("\n\n$ARGUMENTS")


def test_arguments_over_a_megabyte_are_refused(either: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "pdf")
    found = manager(either, tmp_path)
    assert "ä" * 500_000 in found.invoke_skill("pdf", "ä" * 500_000)
    for action in (found.invoke_skill, lambda name, arguments: found.load_skill(name).invoke(arguments)):
        with pytest.raises(either.SizeLimitExceededError):
            action("pdf", "ä" * 500_001)


def test_loaded_skill_keeps_its_content(either: Any, tmp_path: Path, write: Write) -> None:
    file = write(tmp_path, "pdf", "Old.\n")
    skill = manager(either, tmp_path).load_skill("pdf")
    assert "Old." in skill.content
    file.unlink()
    assert "Old." in skill.invoke()
    assert skill.base_directory == tmp_path / "pdf"


def test_skillfold_fields_withhold_nothing(either: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "pdf", fields="default_enabled: false\ndisable-model-invocation: true\n")
    found = manager(either, tmp_path)
    assert "Do it." in found.invoke_skill("pdf")
    assert "Do it." in found.load_skill("pdf").invoke()


def test_skill_whose_file_is_missing_raises(either: Any, tmp_path: Path, write: Write) -> None:
    file = write(tmp_path, "pdf")
    skill = manager(either, tmp_path).load_skill("pdf")
    file.unlink()
    with pytest.raises(either.ContentLoadError):
        skill.invoke()
    with pytest.raises(either.ContentLoadError):
        asyncio.run(skill.ainvoke())


def test_skill_built_from_any_file_can_be_invoked(either: Any, tmp_path: Path) -> None:
    file = tmp_path / "instructions.md"
    file.write_text("Greet $ARGUMENTS.")
    skill = either.Skill(metadata=either.SkillMetadata("greet", "Greets", file), base_directory=tmp_path)
    assert skill.invoke("Ada").endswith("\n\nGreet Ada.")
    assert skill.content == "Greet $ARGUMENTS."


def test_async_calls_return_the_same(either: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "greet", "Greet $ARGUMENTS.\n")

    async def run() -> list[str]:
        found = either.SkillManager(project_skill_dir=tmp_path, anthropic_config_dir="")
        await found.adiscover()
        assert found.init_mode is either.InitMode.ASYNC
        texts = await asyncio.gather(*[found.ainvoke_skill("greet", name) for name in ("Ada", "Bob")])
        assert await found.aclear_cache("greet") == 2
        return list(texts)

    assert [text.rsplit("\n\n", 1)[-1].strip().splitlines()[-1] for text in asyncio.run(run())] == [
        "Greet Ada.",
        "Greet Bob.",
    ]


# The cache.


def stats(found: Any) -> tuple[int, int, int, int, float]:
    numbers = found.get_cache_stats()
    return numbers.size, numbers.max_size, numbers.hits, numbers.misses, numbers.hit_rate


def test_cache_counts_like_the_original(theirs: Any, ours: Any, settled: Path) -> None:
    steps: list[Callable[[Any], object]] = [
        lambda found: found.invoke_skill("greet", "Ada") and None,
        lambda found: found.invoke_skill("greet", "Ada") and None,
        lambda found: found.invoke_skill("greet", "Bob") and None,
        lambda found: found.invoke_skill("bye") and None,
        lambda found: found.clear_cache("greet"),
        lambda found: found.clear_cache("unknown"),
        lambda found: found.clear_cache("greet"),
        lambda found: found.invoke_skill("greet", "Ada") and None,
        lambda found: found.discover(),
        lambda found: found.invoke_skill("greet", "Ada") and None,
        lambda found: found.load_skill("greet").invoke("Ada") and None,
        lambda found: found.clear_cache(),
        lambda found: found.clear_cache(),
    ]
    original, our = manager(theirs, settled), manager(ours, settled)
    assert stats(our) == stats(original) == (0, 100, 0, 0, 0.0)
    for number, step in enumerate(steps):
        assert step(our) == step(original), number
        assert stats(our) == stats(original), number
    assert stats(our)[2:4] == (2, 4)


def test_cache_drops_the_least_recently_used(theirs: Any, ours: Any, settled: Path) -> None:
    original, our = manager(theirs, settled, max_cache_size=2), manager(ours, settled, max_cache_size=2)
    for arguments in ("a", "b", "a", "c", "a", "b", "b"):
        for found in (original, our):
            found.invoke_skill("greet", arguments)
        assert stats(our) == stats(original), arguments
    assert stats(our)[:4] == (2, 2, 3, 4)


def test_changed_file_is_read_again(either: Any, tmp_path: Path, write: Write) -> None:
    file = write(tmp_path, "pdf", "Old.\n")
    found = manager(either, tmp_path)
    assert "Old." in found.invoke_skill("pdf")
    write(tmp_path, "pdf", "New.\n")
    os.utime(file, (file.stat().st_atime, file.stat().st_mtime + 10))
    assert "New." in found.invoke_skill("pdf")


def test_content_cache_works_like_the_original(theirs: Any, ours: Any) -> None:
    async def run(library: Any) -> list[object]:
        cache = library.ContentCache(max_size=2)
        await cache.put("a", "1", "first", 1.0)
        await cache.put("b", "1", "second", 1.0)
        found = [await cache.get("a", "1", 1.0), await cache.get("c", "1", 1.0)]
        await cache.put("a", "2", "third", 1.0)
        found += [await cache.get("b", "1", 1.0), await cache.get("a", "2", 2.0), await cache.get("a", "2", 1.0)]
        found += [await cache.clear("a"), await cache.clear("x"), await cache.clear()]
        numbers = cache.get_stats()
        return [*found, numbers.size, numbers.max_size, numbers.hits, numbers.misses, numbers.hit_rate]

    assert asyncio.run(run(ours)) == asyncio.run(run(theirs))
    with pytest.raises(ValueError, match="positive"):
        ours.ContentCache(0)


# Paths.


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "link/x", "loop"])
def test_paths_outside_the_skill_are_refused(either: Any, tmp_path: Path, path: str) -> None:
    base = tmp_path / "skill"
    base.mkdir()
    (base / "link").symlink_to(tmp_path)
    (base / "loop").symlink_to("../loop")
    with pytest.raises(either.PathSecurityError):
        either.FilePathResolver.resolve_path(base, path)


def test_paths_inside_the_skill_are_resolved(either: Any, tmp_path: Path) -> None:
    for path in ("forms.md", "a/../forms.md", "./a/b", ""):
        resolved = either.FilePathResolver.resolve_path(tmp_path, path)
        assert resolved == (tmp_path / path).resolve()


# Values.


def test_values_are_checked_like_the_original(either: Any, tmp_path: Path) -> None:
    source, kinds = either.SkillSource, either.SourceType
    for arguments in ((kinds.PROJECT, tmp_path / "x", 1), (kinds.PROJECT, tmp_path, 0), (kinds.PLUGIN, tmp_path, 1)):
        with pytest.raises(ValueError, match=r"exist|positive|plugin_name"):
            source(*arguments)
    name = either.QualifiedSkillName
    assert name.parse("pdf") == name(None, "pdf")
    assert name.parse("acme:a:b") == name("acme", "a:b")
    for wrong in ("", ":", "acme:", ":pdf"):
        with pytest.raises(ValueError, match="empty"):
            name.parse(wrong)


# Scripts.


def test_scripts_are_listed_like_the_original(theirs: Any, ours: Any, tmp_path: Path, write: Write) -> None:
    folder = write(tmp_path, "pdf").parent
    paths = [
        "scripts/fill.py",
        "scripts/deep/a.sh",
        "scripts/x.JS",
        "scripts/y.rb",
        "scripts/z.pl",
        "scripts/w.ps1",
        "top.bat",
    ]
    ignored = [
        "scripts/.hidden.py",
        "scripts/venv/x.py",
        "scripts/__pycache__/x.py",
        "lib/x.py",
        "scripts/x.ts",
        "scripts/data.json",
    ]
    for path in [*paths, *ignored, "scripts/1/2/3/4/in.py", "scripts/1/2/3/4/5/out.py"]:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x = 1\n")
    (folder / "scripts/link.py").symlink_to("fill.py")
    listed = []
    for library in (theirs, ours):
        scripts = manager(library, tmp_path).load_skill("pdf").scripts
        listed.append(
            sorted((script.name, str(script.path), script.script_type, script.description) for script in scripts),
        )
        assert sorted(map(str, library.ScriptDetector().detect_scripts(folder))) == sorted(map(str, scripts))
        assert library.ScriptDetector().detect_scripts(tmp_path / "missing") == []
    assert listed[0] == listed[1]
    assert sorted(path for _, path, *_ in listed[1]) == sorted([*paths, "scripts/1/2/3/4/in.py"])


DESCRIBED = {
    "one-line.py": ('"""Fills in a form."""\nimport sys\n', "Fills in a form."),
    "below-the-quotes.py": ('#!/usr/bin/env python3\n\n"""\nFills in\n  a form.\n"""\n', "Fills in a form."),
    "other-quotes.py": ("'''Fills in a form.'''\n", "Fills in a form."),
    "comment.py": ("# Fills in\n#\n\n# a form.\nimport sys\n# Not this.\n", "Fills in a form."),
    "below-code.py": ("import sys\n# Fills in a form.\n", "Fills in a form."),
    "shell.sh": ("#!/bin/sh\r\n## Fills in a form.\r\nset -e\r\n", "Fills in a form."),
    "ruby.rb": ("# Fills in a form.\n", "Fills in a form."),
    "perl.pl": ("#!/usr/bin/perl\n# Fills in a form.\n", "Fills in a form."),
    "slashes.js": ("\n// Fills in\n/* a form. */\nrun(); // Not this.\n", "Fills in a form."),
    "below-code.js": ("run();\n// Not this.\n", ""),
    "windows.ps1": ("# Not this.\n", ""),
    "empty.py": ("", ""),
    "long.sh": (f"# {'x' * 600}\n", "x" * 500),
    "far-below.sh": ("\n" * 50 + "# Not this.\n", ""),
}


@pytest.mark.parametrize("name", DESCRIBED)
def test_scripts_are_described_like_the_original(either: Any, tmp_path: Path, name: str) -> None:
    content, description = DESCRIBED[name]
    (tmp_path / name).write_text(content, newline="")
    [script] = either.ScriptDetector().detect_scripts(tmp_path)
    assert script.description == description


def test_script_limits_match_the_original(either: Any, tmp_path: Path) -> None:
    (tmp_path / "scripts/deep").mkdir(parents=True)
    for path in ("scripts/fill.py", "scripts/deep/sign.py"):
        (tmp_path / path).write_text("\n# Fills in a form.\n")
    [script] = either.ScriptDetector(max_depth=1, max_lines_for_description=1).detect_scripts(tmp_path)
    assert (script.path, script.description) == (Path("scripts/fill.py"), "")
    assert either.ScriptDetector(max_depth=0).detect_scripts(tmp_path) == []
    assert either.ScriptDescriptionExtractor(max_chars=5).extract(tmp_path / script.path) == "Fills"
    assert either.ScriptDescriptionExtractor().extract(tmp_path / "missing.py") == ""
    assert either.ScriptDescriptionExtractor().extract(tmp_path / "scripts") == ""


def test_script_tools_are_named_like_the_original(theirs: Any, ours: Any) -> None:
    for skill, name in (("PDF_Tools", "Fill"), ("a.b", "x"), ("a", "x-y"), ("a" * 58, "x"), ("a" * 57, "x")):
        results: list[object] = []
        for library in (theirs, ours):
            script = library.ScriptMetadata(name, Path("scripts/x.py"), "python", "")
            try:
                results.append(script.get_fully_qualified_name(skill))
            except library.ToolIDValidationError as error:
                results.append(vars(error))
        assert results[0] == results[1]


def test_script_result_has_the_properties_of_the_original(either: Any) -> None:
    done = either.ScriptExecutionResult("out", "", 0, 1.0, Path("x"))
    assert (done.success, done.timeout, done.signaled) == (True, False, False)
    late = either.ScriptExecutionResult("", "Timeout", 124, 1.0, Path("x"), signal="SIGKILL", signal_number=9)
    assert (late.success, late.timeout, late.signaled) == (False, True, True)


def test_missing_scripts_and_skills_raise_different_errors(either: Any, tmp_path: Path, write: Write) -> None:
    write(tmp_path, "pdf")
    found = manager(either, tmp_path)
    with pytest.raises(either.SkillNotFoundError):
        found.execute_skill_script("mail", "fill", {})
    with pytest.raises(either.ScriptNotFoundError):
        found.execute_skill_script("pdf", "fill", {})


# LangChain.


def test_langchain_tools_match_the_original(
    theirs: Any,
    ours: Any,
    tmp_path: Path,
    write: Write,
    corrected: Callable[[str], str],
) -> None:
    write(tmp_path, "greet", "Greet $ARGUMENTS.\n")
    write(tmp_path, "bye")
    original, our = (
        {tool.name: tool for tool in library.create_langchain_tools(manager(library, tmp_path))}
        for library in (theirs, ours)
    )
    assert sorted(our) == sorted(original) == ["bye", "greet"]
    for name, tool in our.items():
        assert type(tool) is type(original[name])
        assert tool.description == original[name].description
        schemas = [one.args_schema.model_json_schema() for one in (tool, original[name])]
        assert [{**schema, "description": ""} for schema in schemas] == [{**schemas[0], "description": ""}] * 2
    for arguments in ({"arguments": " Ada "}, {}):
        expected = corrected(original["greet"].invoke(arguments))
        assert our["greet"].invoke(arguments) == expected
        assert asyncio.run(our["greet"].ainvoke(arguments)) == expected


def test_langchain_agent_gets_the_instructions(ours: Any, tmp_path: Path, write: Write) -> None:
    agents = pytest.importorskip("langchain.agents")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            assert [tool.name for tool in tools] == ["greet"]
            return self

    write(tmp_path, "greet", "Greet $ARGUMENTS.\n")
    call = {"name": "greet", "args": {"arguments": "Ada"}, "id": "1"}
    model = Scripted(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("Hello Ada")]))
    agent = agents.create_agent(model, ours.create_langchain_tools(manager(ours, tmp_path)))
    messages = agent.invoke({"messages": [("user", "Greet Ada")]})["messages"]
    assert messages[-2].content == f"Base directory for this skill: {tmp_path / 'greet'}\n\nGreet Ada.\n"
    assert messages[-1].content == "Hello Ada"
