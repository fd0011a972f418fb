"""A program for skillkit runs with the layer, and prints the same."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from compat.pair import write_plugin, write_skill

PROGRAM = """
import asyncio
import logging
from pathlib import Path

from skillkit import FilePathResolver, SkillManager, SkillNotFoundError, SkillsUseError
from skillkit.core.exceptions import ConfigurationError, PathSecurityError
from skillkit.core.models import SkillSource, SourceType
from skillkit.integrations.langchain import create_langchain_tools

logging.basicConfig(level=logging.CRITICAL)
manager = SkillManager(plugin_dirs=["plugins/data-tools"], additional_search_paths=["shared"], max_cache_size=10)
manager.discover()
for source in manager.sources:
    print(source.source_type.value, source.priority, source.plugin_name, source.directory.name)
for skill in sorted(manager.list_skills(), key=lambda skill: skill.name):
    print(f"{skill.name}: {skill.description} {skill.allowed_tools} {skill.version}")
print(sorted(manager.list_skills(include_qualified=True)))
print(manager.get_skill("data-tools:csv-parser").skill_path)

text = manager.invoke_skill("code-reviewer", "Review function calculate_total()")
print(text.splitlines()[0])
print("Review function calculate_total()" in text, "$ARGUMENTS" in text, "potential bugs" in text)
assert text == manager.invoke_skill("code-reviewer", "Review function calculate_total()")
stats = manager.get_cache_stats()
print(f"{stats.hits} hits, {stats.misses} misses, {stats.hit_rate:.1%}, {stats.size}/{stats.max_size}")
print(manager.clear_cache("code-reviewer"), manager.clear_cache(), manager.init_mode.value)

for wrong in ("nonexistent", "data-tools:nonexistent", "none:csv-parser"):
    try:
        manager.invoke_skill(wrong)
    except SkillNotFoundError as error:
        print(type(error).__name__, str(error).partition(". Available")[0])
try:
    SkillManager(project_skill_dir="./missing")
except ConfigurationError as error:
    print(error.parameter_name, error.invalid_path)
loaded = manager.load_skill("code-reviewer")
print(FilePathResolver.resolve_path(loaded.base_directory, "references/style.md").read_text())
try:
    FilePathResolver.resolve_path(loaded.base_directory, "../../secret")
except PathSecurityError as error:
    print(isinstance(error, SkillsUseError))

async def main() -> None:
    manager = SkillManager(anthropic_config_dir="")
    await manager.adiscover()
    texts = await asyncio.gather(*[manager.ainvoke_skill("code-reviewer", name) for name in ("a.py", "b.py")])
    print([name in text for name, text in zip(("a.py", "b.py"), texts)], manager.init_mode.value)
    for tool in sorted(create_langchain_tools(manager), key=lambda tool: tool.name):
        print(tool.name, tool.description, "c.py" in await tool.ainvoke({"arguments": "c.py"}))

asyncio.run(main())
print(SkillSource(SourceType.PROJECT, Path("skills"), 1).source_type == "project")
"""


def run(program: str, folder: Path) -> str:
    command = [sys.executable, "-c", program]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_program_runs_unchanged_but_for_the_import(tmp_path: Path) -> None:
    review = "# Code reviewer\n\nLook for potential bugs in $ARGUMENTS.\n"
    file = write_skill(
        tmp_path / "skills",
        "code-reviewer",
        review,
        fields="allowed-tools: [Read, Grep]\nversion: '1'\n",
    )
    (file.parent / "references").mkdir()
    (file.parent / "references/style.md").write_text("Short lines.")
    write_skill(tmp_path / ".claude/skills", "git-helper")
    write_skill(tmp_path / ".claude/skills", "csv-parser", description="Parses CSV")
    write_skill(tmp_path / "shared", "notes")
    write_plugin(tmp_path / "plugins/data-tools", "data-tools")
    write_skill(tmp_path / "plugins/data-tools/skills", "csv-parser", description="Parses CSV, from the plugin")
    time.sleep(2.2)
    original = run(PROGRAM, tmp_path)
    assert len(original.splitlines()) > 20
    assert run(PROGRAM.replace("from skillkit", "from skillfold.compat.skillkit"), tmp_path) == original
