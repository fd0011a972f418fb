#!/usr/bin/env python3
"""Git repositories for the tests of the registry, the same ids each time.

    python3 conformance/registry/repositories.py --check

Repositories of skills, of a marketplace and of an Agent Plugin; `hostile.py` has those that attack. `--check` builds all twice,
compares the ids, and clones each. Needs nothing but git.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

Tree = dict[str, bytes]
PERSON = "Anna Example <anna@example.com>"
# The first commit; each later one is a day later.
START, DAY = 1_700_000_000, 86_400
VERSIONS = ("v1.0.0", "v1.1.0", "v2.0.0-beta.1", "v2.0.0")
EXECUTABLE = (".sh", ".py")


@dataclasses.dataclass(frozen=True)
class Repository:
    """A bare repository."""

    path: Path
    # The commit of each tag, and of `main`.
    tags: dict[str, str]
    # The files of each tag.
    files: dict[str, Tree]

    @property
    def name(self) -> str:
        return self.path.name.removesuffix(".git")

    @property
    def head(self) -> str:
        return self.tags[list(self.tags)[-1]]

    def skills(self, tag: str) -> dict[str, str]:
        """Return the folders of the skills of a tag, by the name of the skill."""
        folders = (path.removesuffix("/SKILL.md") for path in self.files[tag] if path.endswith("/SKILL.md"))
        return {folder.rpartition("/")[2]: folder for folder in sorted(folders)}


def environment() -> dict[str, str]:
    """Return an environment in which git has no settings."""
    # Nothing here has to outlive a crash of the system.
    once = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsync", "GIT_CONFIG_VALUE_0": "none"}
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **once}


def build(path: Path, versions: dict[str, Tree]) -> Repository:
    """Build a bare repository with one commit and tag per version; every second tag is annotated."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", "--bare", "--template=", "-b", "main", path], check=True, env=environment())
    stream, before = [], {}
    for number, (tag, files) in enumerate(versions.items()):
        when = f"{PERSON} {START + number * DAY} +0000"
        stream.append(f"commit refs/heads/main\nmark :{number + 1}\nauthor {when}\ncommitter {when}\n".encode() + data(tag.encode()))
        stream += [f"D {quoted(path_of_file)}\n".encode() for path_of_file in sorted(before.keys() - files.keys())]
        for name, content in sorted(files.items()):
            if before.get(name) != content:
                mode = "100755" if name.endswith(EXECUTABLE) else "100644"
                stream.append(f"M {mode} inline {quoted(name)}\n".encode() + data(content))
        if number % 2:
            stream.append(f"tag {tag}\nfrom :{number + 1}\ntagger {when}\n".encode() + data(f"Release {tag}\n".encode()))
        else:
            stream.append(f"reset refs/tags/{tag}\nfrom :{number + 1}\n\n".encode())
        before = files
    marks = path / "marks"
    command = ["git", "-C", path, "fast-import", "--quiet", "--done", f"--export-marks={marks.resolve()}"]
    subprocess.run(command, input=b"".join([*stream, b"done\n"]), check=True, env=environment())
    commits = dict(line.split() for line in marks.read_text().splitlines())
    marks.unlink()
    tags = {tag: commits[f":{number}"] for number, tag in enumerate(versions, 1)}
    return Repository(path, tags, versions)


def data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def skill(name: str, description: str, body: str = "Follow the guide in references/guide.md.") -> bytes:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n{body}\n".encode()


def skill_files(folder: str, number: int, description: str) -> Tree:
    """Return the files of one skill: its instructions, a reference, a script and an image."""
    name = folder.rpartition("/")[2]
    noise = random.Random(number)
    return {
        f"{folder}/SKILL.md": skill(name, description),
        f"{folder}/references/guide.md": f"# Guide {number}\n\nCafé, naïve, 日本語.\n".encode() * (1 + number % 20),
        f"{folder}/scripts/run.sh": f"#!/bin/sh\necho {name}\n".encode(),
        f"{folder}/assets/image.png": b"\x89PNG\r\n\x1a\n" + noise.randbytes(200 + number % 1000),
    }


def skills_repository(path: Path, count: int = 10) -> Repository:
    """Build a repository of `skills/skill-0000`, `skills/skill-0001` and so on, at least three, with four versions.

    `v1.1.0` has another description of every third skill and one skill more, `v2.0.0-beta.1` a skill less and one renamed,
    `v2.0.0` another image and script of every fifth.
    """
    names = [f"skills/skill-{number:04}" for number in range(count)]
    first = {"README.md": b"# Skills\n", "LICENSE": b"MIT\n"}
    for number, name in enumerate(names):
        first |= skill_files(name, number, f"Does task {number}. Use it when a user asks for task {number}")
    second = dict(first)
    for name in names[::3]:
        second[f"{name}/SKILL.md"] = skill(name[7:], "Does its task better. Use it when a user asks for the task")
    second |= skill_files("skills/added", count, "Does one more task. Use it when a user asks for one more")
    gone, renamed = f"{names[1]}/", f"{names[2]}/"
    third = {file: content for file, content in second.items() if not file.startswith((gone, renamed))}
    third |= skill_files("skills/renamed", 2, "Does task 2 under a new name. Use it when a user asks for task 2")
    fourth = dict(third)
    for number in range(0, count, 5):
        fourth[f"{names[number]}/assets/image.png"] = random.Random(-number - 1).randbytes(5000)
        fourth[f"{names[number]}/scripts/run.sh"] = b"#!/bin/sh\necho changed\n"
    return build(path, dict(zip(VERSIONS, (first, second, third, fourth))))


def as_json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def marketplace_repository(path: Path, plugins: int = 3, elsewhere: str = "https://skills.example/skills.git") -> Repository:
    """Build a marketplace (`.claude-plugin/marketplace.json`) of plugins with two skills each.

    Three more plugins are elsewhere: in a git repository, in a folder of one, and on GitHub.
    """
    versions = {}
    for version in ("1.0.0", "1.1.0"):
        files = {"README.md": b"# Marketplace\n"}
        listed: list[dict] = []
        for number in range(plugins):
            name = f"plugin-{number}"
            about = {"name": name, "description": f"Does the tasks of group {number}", "version": version}
            listed.append({**about, "source": f"./plugins/{name}", "category": "tests"})
            files[f"plugins/{name}/.claude-plugin/plugin.json"] = as_json({**about, "author": {"name": "Anna Example"}})
            for letter in "ab":
                folder = f"plugins/{name}/skills/{name}-{letter}"
                files |= skill_files(folder, number, f"Does task {letter} of group {number}, version {version}")
        listed += [
            {"name": "in-git", "source": {"source": "url", "url": elsewhere, "ref": "v1.0.0"}},
            {"name": "in-folder", "source": {"source": "git-subdir", "url": elsewhere, "path": "skills", "ref": "v1.0.0"}},
            {"name": "on-github", "source": {"source": "github", "repo": "example/skills", "ref": "v1.0.0"}},
        ]
        owner = {"name": "Anna Example", "email": "anna@example.com"}
        files[".claude-plugin/marketplace.json"] = as_json({"name": "test-market", "owner": owner, "plugins": listed})
        versions[f"v{version}"] = files
    return build(path, versions)


def agent_plugin_repository(path: Path, skills: int = 3) -> Repository:
    """Build a plugin of the specification Agent Plugins 1.0: `plugin.json`, `mcp.json` and `skills/`."""
    schemas = "https://agent-plugins.org/schemas/1.0.0"
    versions = {}
    for version in ("1.0.0", "1.1.0"):
        plugin = {
            "$schema": f"{schemas}/plugin.schema.json",
            "name": "test-plugin",
            "version": version,
            "description": "Does the tasks of tests",
            "author": {"name": "Anna Example", "email": "anna@example.com"},
            "license": "MIT",
            "keywords": ["tests"],
        }
        server = {"type": "stdio", "command": "test-server", "args": ["serve"]}
        files = {
            "plugin.json": as_json(plugin),
            "mcp.json": as_json({"$schema": f"{schemas}/mcp.schema.json", "mcpServers": {"test": server}}),
        }
        for number in range(skills):
            files |= skill_files(f"skills/task-{number}", number, f"Does task {number}, version {version}")
        versions[f"v{version}"] = files
    return build(path, versions)


BUILDERS: dict[str, Callable[[Path], Repository]] = {
    "skills-3": lambda path: skills_repository(path, 3),
    "skills-200": lambda path: skills_repository(path, 200),
    "marketplace": marketplace_repository,
    "agent-plugin": agent_plugin_repository,
}


def check(folder: Path) -> None:
    for name, builder in BUILDERS.items():
        start = time.perf_counter()
        one = builder(folder / f"{name}.git")
        seconds = time.perf_counter() - start
        if one.tags != builder(folder / f"{name}-again.git").tags:
            raise SystemExit(f"not so: {name} has the same ids each time")
        for command in (["fsck", "--strict", "--no-dangling"], ["clone", "-q", ".", folder / f"{name}-clone"]):
            subprocess.run(["git", "-C", one.path, *command], check=True, env=environment(), capture_output=True)
        for path, content in one.files[list(one.tags)[-1]].items():
            if (folder / f"{name}-clone" / path).read_bytes() != content:
                raise SystemExit(f"not so: {name}: {path} has the content that was written")
        counts = ", ".join(f"{tag} {len(one.skills(tag))}" for tag in one.tags)
        print(f"{name}: built in {1000 * seconds:.0f} ms, head {one.head[:12]}, skills: {counts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", required=True, help="build all and clone them")
    parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skillfold-check-") as folder:
        check(Path(folder))


if __name__ == "__main__":
    main()
