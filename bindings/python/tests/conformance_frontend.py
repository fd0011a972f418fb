"""Answers the requests of the conformance cases, a line each: `skillfold-testkit/src/bin/conformance.rs` asks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import skillfold
from skillfold import Skills


def answer(request: dict[str, Any]) -> Any:
    folder = Path(request["folder"])
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


def main() -> None:
    for line in sys.stdin:
        try:
            given = answer(json.loads(line))
        except skillfold.SkillfoldError as error:
            given = error.failure
        sys.stdout.write(f"{json.dumps(given)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
