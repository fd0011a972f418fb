"""The installers of others and the clients, unmodified from npm, on a user's machine; and what a client's model sees of a skill.

The packages are kept in `~/.cache/skillfold-ci/clients`, as those of `conformance/clients`, whose scripted model this uses.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

from machine import Done, Machine

CLIENTS = Path(__file__).resolve().parent.parent / "clients"
# Behind this folder, which has modules of the same names.
sys.path.append(str(CLIENTS))

import clients  # noqa: E402

# The script of each program below the folder of packages.
SCRIPTS = {
    "skills": "skills/bin/cli.mjs",
    "plugins": "plugins/dist/index.js",
    "claude": "@anthropic-ai/claude-code/cli-wrapper.cjs",
    "codex": "@openai/codex/bin/codex.js",
}
CLIENT_OF = {client.name: client for client in clients.CLIENTS if client.name in ("claude-code", "codex")}
# `skills` needs a newer Node than many machines have.
PACKAGES = {name.partition("@")[0]: name for name in ("skills@1.7.4", "plugins@1.3.4", "node@24.21.0")}
# A thousand skills take minutes.
SECONDS = 1800
# What is not on the loopback is not there.
ALONE = {
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,127.0.0.2,localhost",
    "DO_NOT_TRACK": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}


class Foreign:
    """The programs of others, and how they are run."""

    def __init__(self, folder: Path) -> None:
        """Install the packages that are missing, and put the programs into a folder.

        Raises `OSError` or `CalledProcessError` if npm cannot."""
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skillfold-ci/clients"
        packages = [types.SimpleNamespace(package=package) for package in PACKAGES.values()]
        self.modules = clients.install(cache, [*CLIENT_OF.values(), *packages])
        self.node = self.modules / ".bin/node"
        self.programs = folder / "programs"
        self.programs.mkdir(parents=True)
        for name, script in SCRIPTS.items():
            path = self.programs / name
            path.write_text(f'#!/bin/sh\nexec "{self.node}" "{self.modules / script}" "$@"\n')
            path.chmod(0o755)

    def run(self, machine: Machine, project: Path, program: str, *words: object) -> Done:
        """Run a program of others on a machine."""
        path = f"{self.programs}:{machine.environment['PATH']}"
        trusted = {"NODE_EXTRA_CA_CERTS": machine.environment.get("SSL_CERT_FILE", "")}
        theirs = Machine(machine.folder, self.programs / program, **machine.environment | ALONE | trusted | {"PATH": path})
        return theirs.run(project, *words, seconds=SECONDS)

    def converse(self, machine: Machine, project: Path, client: str, script: list[dict]) -> list[dict]:
        """Run a conversation of a client in a project, without a network; return the requests that its model got."""
        isolated = clients.namespace()
        if isolated is None:
            raise OSError("the system allows no network namespace")
        result = machine.folder / "result.json"
        job = CLIENT_OF[client].job(self.node, self.modules, machine.home, "What can you do?", script, result)
        job["folder"] = str(project)
        if client == "codex":
            # Its own sandbox is not there on every machine, and is not what is tested.
            job["command"].insert(-1, "--dangerously-bypass-approvals-and-sandbox")
        (machine.folder / "job.json").write_text(json.dumps(job))
        subprocess.run([*isolated, sys.executable, CLIENTS / "inside.py", machine.folder / "job.json"], check=True)
        for path in job["files"]:
            # Each conversation writes its model into it.
            Path(path).unlink()
        done = json.loads(result.read_text())
        if done["code"] != 0:
            raise RuntimeError(f"{client} ended with {done['code']}: {done['printed'][-2000:]}")
        return done["turns"]


def foreign(checks, folder: Path) -> Foreign | None:  # noqa: ANN001
    """Install the programs of others, or say that they are left out."""
    if shutil.which("npm") is None:
        checks.leave_out("the programs of others", "npm is not installed")
        return None
    try:
        return Foreign(folder)
    except (OSError, subprocess.CalledProcessError) as error:
        checks.leave_out("the programs of others", error)
        return None


def seen_texts(turns: list[dict]) -> str:
    """Return all texts of the requests, as the model reads them."""
    found: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, str):
            found.append(value)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(inner)

    walk(turns)
    return "\n".join(found)
