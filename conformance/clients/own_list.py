#!/usr/bin/env python3
"""Shows what a client lists by itself, without Skillfold: broken files, equal names, and skills of a project.

    python3 conformance/clients/own_list.py --cache FOLDER [--client NAME]

Prints a line of JSON for each client: the skills that were named in the requests of its model, what was said about them, and how
many lines the client printed about files of skills. A client is one of `clients.py`, in its pinned version, with a scripted model.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from clients import CLIENTS, HERE, install, namespace

USER = {
    "own-whole": "---\nname: own-whole\ndescription: LISTED whole\n---\nBody\n",
    "own-colon": "---\nname: own-colon\ndescription: Use when: LISTED colon\n---\nBody\n",
    "own-quote": '---\nname: own-quote\ndescription: "LISTED quote\n---\nBODY quote\n',
    "own-bare": "LISTED bare\n",
    "own-twice": "---\nname: own-twice\ndescription: LISTED twice-user\n---\nBody\n",
}
PROJECT = {
    "own-twice": "---\nname: own-twice\ndescription: LISTED twice-project\n---\nBody\n",
    "own-cloned": "---\nname: own-cloned\ndescription: LISTED cloned\n---\nBody\n",
}
MARKS = ["LISTED whole", "LISTED colon", "LISTED quote", "BODY quote", "LISTED bare", "LISTED twice-user", "LISTED twice-project", "LISTED cloned"]


def try_client(client, modules, home):
    """Runs one conversation, and returns what the model and the user saw."""
    (home / "project/.git").mkdir(parents=True)
    for root, skills in [(home, USER), (home / "project", PROJECT)]:
        for name, text in skills.items():
            path = root / client.skills / name / "SKILL.md"
            path.parent.mkdir(parents=True)
            path.write_text(text)
    node = shutil.which("node") or sys.exit("error: node is not installed")
    alone = namespace() or sys.exit("error: no network namespace can be made")
    job = home / "job.json"
    job.write_text(json.dumps(client.job(node, modules, home, "hello", [], home / "result.json")))
    subprocess.run([*alone, sys.executable, HERE / "inside.py", job], check=True)
    result = json.loads((home / "result.json").read_text())
    seen = json.dumps(result["turns"])
    said = [line for line in result["printed"].splitlines() if "SKILL.md" in line]
    return {
        "client": client.package,
        "named": [name for name in {**USER, **PROJECT} if name in seen],
        "described": [mark for mark in MARKS if mark in seen],
        "lines about files": len(said),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True, type=pathlib.Path)
    parser.add_argument("--client", action="append", help="by default Claude Code and Codex")
    options = parser.parse_args()
    names = options.client or ["claude-code", "codex"]
    clients = [client for client in CLIENTS if client.name in names]
    modules = install(options.cache, clients)
    for client in clients:
        with tempfile.TemporaryDirectory() as home:
            print(json.dumps(try_client(client, modules, pathlib.Path(home))))


if __name__ == "__main__":
    main()
