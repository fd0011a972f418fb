"""The package gives the same JSON as every other frontend: `conformance/cases` of the repository."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import skillfold
from skillfold import Skills

REPOSITORY = Path(__file__).parents[3]
CASES = sorted(path for path in (REPOSITORY / "conformance/cases").iterdir() if path.is_dir())


def answer(request: dict[str, Any], folder: Path) -> Any:
    skills = Skills.discover(
        folder, home=folder / "person", settings=request.get("settings"), cache=False, lenient=True
    )
    arguments = request.get("arguments") or {}
    for_user = skills.for_user()
    match request["call"]:
        case "list":
            if request.get("arguments") is None:
                return skills.list()
            arguments["after"] = arguments.pop("cursor", None)
            return skills.list(**{"limit": 1_000, **arguments})
        case "show":
            return skills.show(arguments["id"])
        case "load":
            envelope = arguments.get("envelope", "plain")
            return for_user.render(arguments["id"], arguments.get("arguments", ""), envelope=envelope)
        case "files":
            limit = arguments.get("limit", 1_000)
            return for_user.files(arguments["id"], after=arguments.get("cursor"), limit=limit)
        case "read":
            start, end = arguments.get("range", "..").split("..")
            stop = int(end) if end else None
            return for_user.read(arguments["id"], arguments["path"], start=int(start or 0), end=stop)
        case "prompt":
            return skills.prompt(arguments["request"])
        case "why":
            ids = [arguments["skill"]] if "skill" in arguments else []
            return skills.why(arguments["request"], *ids)
        case "search":
            return skills.search(arguments["request"])
        case "check":
            return skills.check()
        case "test":
            return skills.evaluate(*([arguments["id"]] if "id" in arguments else []))
        case "stats":
            return skillfold.stats(folder / arguments["file"], outcomes=arguments.get("every"))
        case "doctor":
            return skills.doctor()
        case "settings":
            return skills.settings()
    raise AssertionError(request["call"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_conformance_case_passes(case: Path, tmp_path: Path) -> None:
    request = json.loads((case / "request.json").read_text(encoding="utf-8"))
    if (case / "input").exists():
        shutil.copytree(case / "input", tmp_path, dirs_exist_ok=True)
    if "skills" in request:
        shutil.copytree(REPOSITORY / request["skills"], tmp_path / "person/.agents/skills", dirs_exist_ok=True)
    try:
        given = answer(request, tmp_path.resolve())
    except skillfold.SkillfoldError as error:
        given = error.failure
    text = json.dumps(given, ensure_ascii=False).replace(str(tmp_path.resolve()), "INPUT")
    if request["call"] in ("prompt", "why"):
        # The path of the input is part of what is counted.
        text = re.sub(r'tokens": \d+', 'tokens": 0', text)
    given, expected = json.loads(text), json.loads((case / "expected.json").read_text(encoding="utf-8"))
    if request["call"] == "load" and given.get("text", "").count("INPUT") > 1:
        # The path of the input is in the instructions, which are counted.
        given["tokens"] = expected["tokens"]
    assert given == expected


def test_conformance_cases_exist() -> None:
    assert len(CASES) > 40
