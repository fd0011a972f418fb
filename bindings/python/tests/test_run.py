"""What running scripts and tools of skills promises."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skillfold import RefusedError, RunArgumentsError, RunError, SkillfoldError, Skills, ToolsetError, errors

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is for Linux")

TOOLS = """{"tools": [{"name": "count", "description": "Counts letters.", "script": "scripts/count.py",
 "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}]}"""


REPOSITORY = Path(__file__).parents[3]
# A name to find its process by.
SLEEPING = f"scripts/sleep-{uuid.uuid4()}.py"


@pytest.fixture
def skills(tmp_path: Path) -> Skills:
    folder = tmp_path / ".agents/skills/pdf"
    (folder / "scripts").mkdir(parents=True)
    text = "---\nname: pdf\ndescription: Fills in forms\ntoolsets: ['tools.json:tools']\n---\nCount.\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    (folder / "tools.json").write_text(TOOLS, encoding="utf-8")
    (folder / "scripts/count.py").write_text(
        "import json, sys\nprint(len(json.load(sys.stdin)['text']))\n", encoding="utf-8"
    )
    (folder / "scripts/args.py").write_text("import sys\nprint(sys.argv[1:])\nsys.exit(3)\n", encoding="utf-8")
    return Skills.discover(tmp_path, home=tmp_path)


def test_script_runs_only_if_allowed_and_unchanged(tmp_path: Path, skills: Skills) -> None:
    with pytest.raises(RefusedError) as refused:
        skills.run("pdf", "scripts/args.py")
    assert refused.value.refusal == "not_allowed"
    seen = skills.scripts("pdf")
    assert (seen.allowed, [script.path for script in seen.scripts]) == (False, ["scripts/args.py", "scripts/count.py"])
    skills.reviewer("anna").allow(seen)
    run = skills.run("pdf", "scripts/args.py", ["a b", "$(id)"])
    assert (run.result, run.exit_code, run.output) == ("exited", 3, "['a b', '$(id)']\n")

    (tmp_path / ".agents/skills/pdf/scripts/args.py").write_text("print('evil')\n", encoding="utf-8")
    with pytest.raises(RefusedError):
        skills.run("pdf", "scripts/args.py")
    with pytest.raises(SkillfoldError):
        skills.reviewer("anna").allow(seen)


def test_tools_are_called_with_checked_arguments(skills: Skills) -> None:
    skills.reviewer("anna").allow(skills.scripts("pdf"))
    [tool] = skills.scripts("pdf").tools
    assert (tool.name, tool.model_name) == ("count", "pdf__count")
    assert skills.call_tool("pdf", "count", {"text": "four"}).output.strip() == "4"
    with pytest.raises(RunArgumentsError) as invalid:
        skills.call_tool("pdf", "count", {})
    assert (invalid.value.code, isinstance(invalid.value, ValueError)) == ("invalid_arguments", True)
    with pytest.raises(ToolsetError) as unknown:
        skills.call_tool("pdf", "sum")
    assert unknown.value.code == "unknown_tool"
    with pytest.raises(RunError) as missing:
        skills.run("pdf", "scripts/none.py")
    assert (type(missing.value), missing.value.code) == (RunError, "not_a_script")


def test_every_run_failure_is_a_run_error() -> None:
    # What can end a run, by the codes of its failures.
    codes = set(
        re.findall(r'=> "([a-z_]+)"', (REPOSITORY / "crates/skillfold-run/src/error.rs").read_text(encoding="utf-8"))
    )
    assert {"sandbox_unavailable", "timeout", "cancelled", "failed_to_start"} <= codes
    for code in codes:
        error = errors.from_view(json.dumps({"error": code, "message": "m", "hint": ""}))
        assert isinstance(error, RunError), code
    assert isinstance(errors.from_view(json.dumps({"error": "timeout", "message": "m", "hint": ""})), TimeoutError)


@pytest.fixture
def sleeping(tmp_path: Path, skills: Skills) -> Skills:
    """A skill whose script sleeps for a minute."""
    script = tmp_path / ".agents/skills/pdf" / SLEEPING
    script.write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
    skills.reviewer("anna").allow(skills.scripts("pdf"))
    return Skills.discover(tmp_path, home=tmp_path, settings={"scripts": True})


def running() -> bool:
    """Tell whether a process runs the script that sleeps."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if SLEEPING.encode() in file.read_bytes():
                return True
    return False


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("by_model", [False, True])
def test_cancelled_task_ends_the_script(sleeping: Skills, by_model: bool) -> None:  # noqa: FBT001
    async def cancelled() -> None:
        if by_model:
            call = {"skill_id": "pdf", "script": SLEEPING}
            task = asyncio.ensure_future(sleeping.session().acall("run_skill_script", call))
        else:
            task = asyncio.ensure_future(sleeping.arun("pdf", SLEEPING))
        await asyncio.to_thread(until, running)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(until, lambda: not running())

    start = time.monotonic()
    asyncio.run(cancelled())
    assert time.monotonic() - start < 30


def test_interrupt_ends_the_script(sleeping: Skills) -> None:
    def interrupt() -> None:
        until(running)
        signal.raise_signal(signal.SIGINT)

    # Python has this handler from the start, unless it runs in the background of a shell, which ignores the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A signal comes to the main thread, as that of Ctrl-C does.
    thread = threading.Thread(target=interrupt)
    thread.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sleeping.run("pdf", SLEEPING)
    assert time.monotonic() - start < 30
    thread.join()
    until(lambda: not running())


def test_run_tool_is_available_only_if_enabled(tmp_path: Path, skills: Skills) -> None:
    assert "run_skill_script" not in [tool.name for tool in skills.session().tools()]
    skills.reviewer("anna").allow(skills.scripts("pdf"))
    session = Skills.discover(tmp_path, home=tmp_path, settings={"scripts": True}).session()
    assert "run_skill_script" in [tool.name for tool in session.tools()]
    answer = session.call(
        "run_skill_script", {"skill_id": "pdf", "script": "scripts/count.py", "input": '{"text": "four"}'}
    )
    assert answer.text.strip() == "4"


def test_host_can_enforce_allowed_tools(tmp_path: Path) -> None:
    text = "---\nname: git\ndescription: Commits\nallowed-tools: Read Bash(git:*)\n---\n"
    plain = "---\nname: plain\ndescription: Plain\n---\n"
    skills = Skills.discover(tmp_path, home=tmp_path, bundled={"git/SKILL.md": text, "plain/SKILL.md": plain})
    # Without its argument, a tool under rules is not allowed.
    assert [skills.check_tool("git", tool) for tool in ("Read", "Bash", "Write")] == [True, False, False]
    assert skills.tool_rules("git", "Bash") == ["git:*"]
    assert skills.check_tool("git", "Bash", "git log -3") is True
    assert skills.check_tool("git", "Bash", "git log; rm -r .") is False
    assert skills.check_tool("plain", "Write") is None


def test_packages_required_by_a_script_are_listed(tmp_path: Path, skills: Skills) -> None:
    script = tmp_path / ".agents/skills/pdf/scripts/args.py"
    script.write_text("# /// script\n# dependencies = ['six>=1']\n# ///\nprint()\n", encoding="utf-8")
    [packages] = skills.scripts("pdf").packages
    assert (packages.file, packages.names, packages.installed) == ("scripts/args.py", ["six>=1"], [])
