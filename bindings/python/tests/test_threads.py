"""Threads run at the same time, and an embedder or a callback may call back into Python."""

from __future__ import annotations

import functools
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import skillfold
from skillfold import Skills, views

SKILL = "---\nname: skill-{0}\ndescription: Does {0}\ntriggers: [job {0}]\n---\nDo.\n"
FILES = {f"skill-{number}/SKILL.md": SKILL.format(number) for number in range(50)}


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def test_threads_share_skills_and_a_session(tmp_path: Path) -> None:
    skills = Skills.discover(tmp_path, bundled=FILES, home=tmp_path)
    shared, errors = skills.session(), []

    def work(number: int) -> None:
        try:
            own = skills.session()
            for _ in range(20):
                assert f"skill-{number}" in [one.id for one in own.turn(f"job {number}").decisions]
                assert skills.load(f"skill-{number}").body == "Do.\n"
                shared.turn(f"job {number}")
                skills.refresh()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert shared.turns == 160


SLOW = """
import sys, threading, time
from skillfold import Skills

counted, done = 0, threading.Event()

def count():
    global counted
    while not done.is_set():
        counted += 1
        time.sleep(0.001)

thread = threading.Thread(target=count)
thread.start()
before = counted
skills = Skills.discover(sys.argv[1], home=sys.argv[1], cache=False)
after = counted
done.set()
thread.join()
print(len(skills), after - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="strace delays system calls on Linux")
def test_another_thread_runs_while_the_disk_is_slow(tmp_path: Path) -> None:
    assert shutil.which("strace"), "this test needs strace"
    for number in range(3):
        file = tmp_path / f".agents/skills/skill-{number}/SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(FILES[f"skill-{number}/SKILL.md"], encoding="utf-8")
    # Every listing of the folder of skills waits for a second.
    delay = ["-e", "inject=getdents64:delay_enter=1000000", "-P", str(tmp_path / ".agents/skills")]
    command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=getdents64", *delay, sys.executable, "-c", SLOW]
    result = subprocess.run([*command, str(tmp_path)], check=True, capture_output=True, text=True)
    found, counted = map(int, result.stdout.split())
    assert found == 3
    # About 900 in an undisturbed second; none if the call kept the others waiting.
    assert counted > 100


class Meaning:
    """An embedder that knows two topics, and calls back into the skills."""

    id = "two-topics"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [[1.0, 0.0] if "ocean" in text or "sea" in text else [0.0, 1.0] for text in texts]


def test_callable_embeds_requests_and_skills(tmp_path: Path) -> None:
    files = {
        "waves/SKILL.md": "---\nname: waves\ndescription: All about the ocean\n---\nSwim.\n",
        "hills/SKILL.md": "---\nname: hills\ndescription: All about mountains\n---\nClimb.\n",
    }
    meaning = Meaning()
    skills = Skills.discover(tmp_path, bundled=files, home=tmp_path, embedder=meaning)
    assert [one.id for one in skills.search("sea").found][:1] == ["waves"]
    assert "sea" in meaning.texts
    assert skills.search_problem is None


def test_failing_embedder_is_reported_and_word_search_still_works(tmp_path: Path) -> None:
    def broken(_: list[str]) -> list[list[float]]:
        raise RuntimeError("the model is gone")

    skills = Skills.discover(tmp_path, bundled=FILES, home=tmp_path, embedder=broken)
    found = skills.search("skill-7")
    assert found.found[0].id == "skill-7"
    assert "the model is gone" in (found.problem or "")


@pytest.mark.parametrize(
    "vectors",
    [[], [[1.0]] * 99, [[]], [[1.0], [1.0, 2.0]], [[float("nan")]], [[float("inf")]], "text", [["a"]], None],
    ids=repr,
)
def test_vectors_of_the_wrong_shape_are_reported(tmp_path: Path, vectors: object) -> None:
    def wrong(texts: list[str]) -> object:
        return vectors * len(texts) if isinstance(vectors, list) and len(vectors) == 1 else vectors

    skills = Skills.discover(tmp_path, bundled=FILES, home=tmp_path, embedder=("wrong", wrong))  # type: ignore[arg-type]
    found = skills.search("skill-7")
    assert found.found[0].id == "skill-7"
    assert "Embedder `wrong` failed" in (found.problem or "")


def test_embedder_must_name_its_model(tmp_path: Path) -> None:
    for unnamed in (lambda texts: texts, Meaning().__call__, functools.partial(print), "model"):
        with pytest.raises(TypeError, match="Name the embedder's model"):
            Skills.discover(tmp_path, home=tmp_path, embedder=unnamed)  # type: ignore[arg-type]


def test_interrupted_embedder_raises(tmp_path: Path) -> None:
    def interrupted(_: list[str]) -> list[list[float]]:
        raise KeyboardInterrupt

    skills = Skills.discover(tmp_path, bundled=FILES, home=tmp_path, embedder=interrupted)
    with pytest.raises(KeyboardInterrupt):
        skills.search("skill-7")
    with pytest.raises(KeyboardInterrupt):
        skills.session().turn("something that needs a search")


def test_reentrant_embedder_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    skills: Skills
    refused: list[str] = []

    def nested(texts: list[str]) -> list[list[float]]:
        assert "skill-7" in skills
        for use in (lambda: skills.search("again"), skills.session):
            with pytest.raises(skillfold.InvalidError) as raised:
                use()
            refused.append(str(raised.value))
        return [[1.0, 0.5]] * len(texts)

    skills = Skills.discover(tmp_path, bundled=FILES, home=tmp_path, embedder=nested)
    assert skills.search("skill-7").found[0].id == "skill-7"
    assert refused
    assert all("an embedder cannot use the skills" in one for one in refused)


def test_folder_is_watched_until_closed(tmp_path: Path) -> None:
    root = tmp_path / ".agents/skills"
    root.mkdir(parents=True)
    changes: list[views.Changes] = []
    with Skills.discover(tmp_path, home=tmp_path, cache=False).watch(0.2, changes.append) as skills:
        (root / "late").mkdir()
        (root / "late/SKILL.md").write_text("---\nname: late\ndescription: Comes late\n---\nHi.\n", encoding="utf-8")
        wait_for(lambda: "late" in skills)
        wait_for(lambda: any("late" in change.added for change in changes))
        assert "late" in str(skills.session().listing())
    skills.close()
    shutil.rmtree(root / "late")
    time.sleep(0.5)
    assert "late" in skills
    assert skills.refresh().removed == ["late"]


def test_callback_may_use_the_skills_and_its_errors_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[sys.UnraisableHookArgs] = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)
    root = tmp_path / ".agents/skills"
    root.mkdir(parents=True)
    skills = Skills.discover(tmp_path, home=tmp_path, cache=False)
    seen: list[int] = []

    def on_change(_: views.Changes) -> None:
        seen.append(len(skills.refresh()) + len(skills))
        raise RuntimeError("not my day")

    skills.watch(0.2, on_change)
    (root / "late").mkdir()
    (root / "late/SKILL.md").write_text("---\nname: late\ndescription: Comes late\n---\nHi.\n", encoding="utf-8")
    wait_for(lambda: bool(seen))
    skills.close()
    assert [str(one.exc_value) for one in reported] == ["not my day"]


def test_settings_that_become_invalid_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = tmp_path / ".config/skillfold/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("", encoding="utf-8")
    skills = Skills.discover(tmp_path, home=tmp_path, bundled=FILES, cache=False)
    with caplog.at_level(logging.WARNING, "skillfold"), skills.watch(0.2):
        settings.write_text('style = "rainbow"\n', encoding="utf-8")
        wait_for(lambda: "rainbow" in caplog.text)
    assert len(skills) == 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forked_child_can_close_and_restart_watching(tmp_path: Path) -> None:
    program = """
import os, sys
from skillfold import Skills
skills = Skills.discover(sys.argv[1], home=sys.argv[1], cache=False).watch(0.05)
child = os.fork()
if child == 0:
    skills.close()
    skills.watch(0.05).close()
    print("child", flush=True)
    sys.exit(0)
print(os.waitpid(child, 0)[1], flush=True)
"""
    command = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.stdout, result.stderr, result.returncode) == ("child\n0\n", "", 0)


def test_interpreter_exit_waits_for_a_running_callback(tmp_path: Path) -> None:
    program = """
import sys, time
from skillfold import Skills
root = sys.argv[1]
started = []
def slow(changes):
    started.append(1)
    time.sleep(1)
    print("heard", flush=True)
skills = Skills.discover(root, home=root, cache=False).watch(0.05, slow)
import pathlib
file = pathlib.Path(root, ".agents/skills/late/SKILL.md")
file.parent.mkdir(parents=True)
file.write_text("---\\nname: late\\ndescription: Late\\n---\\n")
while not started:
    time.sleep(0.01)
"""
    command = [sys.executable, "-X", "faulthandler", "-c", program, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.stdout.splitlines()[:1], result.stderr, result.returncode) == (["heard"], "", 0)


def test_interpreter_exits_while_watcher_and_embedder_are_busy(tmp_path: Path) -> None:
    program = """
import sys, time
from skillfold import Skills
def slow(texts):
    time.sleep(0.05)
    return [[1.0, 0.5]] * len(texts)
files = {f"s{n}/SKILL.md": f"---\\nname: s{n}\\ndescription: Does {n}\\n---\\n" for n in range(200)}
skills = Skills.discover(sys.argv[1], home=sys.argv[1], bundled=files, embedder=slow)
skills.watch(0.01, lambda changes: None)
skills._native.call('"prepare_search"')
print("done")
"""
    command = [sys.executable, "-X", "faulthandler", "-c", program, str(tmp_path)]
    result = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert result.stdout == "done\n"
    assert result.stderr == ""
