#!/usr/bin/env python3
"""Does what the README says, as a new user with an empty home and nothing but what was built.

    conformance/readme/run.py --skillfold target/release/skillfold [--wheel skillfold.whl] [--rust TARGET_FOLDER]

Every `console` block is typed as printed and must print what is printed. Then each everyday task is done once: its commands, and how
long they took, are printed as a table. `--wheel` adds the Python package, `--rust` the library, built in that target folder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """Return the code blocks of the README in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


class User:
    """A person with an empty home, a project in it, and the command."""

    def __init__(self, folder: Path, command: Path) -> None:
        self.home = folder / "user"
        self.app = self.home / "app"
        (self.app / ".git").mkdir(parents=True)
        (self.home / "bin").mkdir()
        shutil.copy2(command, self.home / "bin" / "skillfold")
        self.environment = {"HOME": str(self.home), "PATH": f"{self.home}/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        self.tasks: list[tuple[str, str, float]] = []

    def type(self, command: str, *, folder: Path | None = None, check: bool = True, stdin: str = "") -> str:
        """Run a command in a shell and return all that it prints."""
        run = subprocess.run(
            ["sh", "-c", f"{{ {command}; }} 2>&1"],
            cwd=folder or self.app, env=self.environment, input=stdin, capture_output=True, text=True, check=False,
        )
        if check and run.returncode:
            sys.exit(f"`{command}` ended with {run.returncode}:\n{run.stdout}")
        lines = run.stdout.replace(str(self.home), "/home/user").rstrip().splitlines()
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def task(self, name: str, *commands: str, folder: Path | None = None, stdin: str = "") -> str:
        """Do an everyday task, and note how long it took."""
        start = time.monotonic()
        printed = "".join(self.type(command, folder=folder, stdin=stdin) for command in commands)
        self.tasks.append((name, "; ".join(commands), time.monotonic() - start))
        return printed


def sessions(user: User) -> None:
    """Type the sessions of the README."""
    found = blocks("console")
    if not found:
        sys.exit("The README has no session")
    for block in found:
        for part in re.split(r"(?m)^\$ ", block)[1:]:
            command, _, expected = part.partition("\n")
            printed = user.type(command, check=False)
            if printed != expected:
                sys.exit(f"`{command}` prints\n{printed}\nbut the README says\n{expected}")


def everyday(user: User) -> None:
    """Set up a client, write a skill, find out why it does not fire, test it, serve it."""
    (user.home / ".codex").mkdir()
    user.task("set up a client", "skillfold setup codex --yes")
    settings = (user.home / ".codex" / "config.toml").read_text()
    expect("skillfold" in settings and "serve" in settings, "the server in the client's configuration", settings)
    user.task("prepare a project and trust it", "skillfold init --trust")
    user.task("write a skill", 'skillfold new tea --description "Brews tea. Use when somebody wants a cup of tea."')
    skill = user.app / ".agents" / "skills" / "tea"
    text = (skill / "SKILL.md").read_text()
    (skill / "SKILL.md").write_text(text[: text.index("\n# ")] + "\nBoil the water, and wait four minutes.\n")
    why = user.task("find out why a skill does not fire", 'skillfold why "Bake a cake" --skill tea')
    expect("needs 60 %" in why, "how far the skill was", why)
    (skill / "evals").mkdir()
    (skill / "evals" / "eval_queries.json").write_text('[{"query": "Brew me a cup of tea", "should_trigger": true}]')
    tested = user.task("check and test it", "skillfold check tea", "skillfold test tea")
    expect("nothing to report" in tested and "1 of 1 right" in tested, "a clean skill", tested)
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(user.app), "prompt": "Brew me a cup of tea"}
    answer = user.task("bring it to a prompt", "skillfold hook --client codex", stdin=json.dumps(event))
    expect("The skill `tea` fits this request" in answer, "the skill for the prompt", answer)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "readme", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "load_skill", "arguments": {"skill_id": "tea"}}},
    ]
    served = user.task("run a server", "skillfold serve", stdin="".join(json.dumps(it) + "\n" for it in messages))
    expect("wait four minutes" in served, "the skill from the server", served)
    undone = user.task("take it out of the client again", "skillfold setup codex --undo --yes")
    expect(not (user.home / ".codex" / "config.toml").exists(), "the folder as it was before", undone)


def python(user: User, wheel: Path) -> None:
    """Install the wheel and run the README's Python example."""
    environment = user.home / "venv"
    venv.create(environment, with_pip=True)
    user.environment["PATH"] = f"{environment}/bin:{user.environment['PATH']}"
    user.task("install the Python package", f"pip install --quiet --no-index {wheel.resolve()}")
    (user.app / "example.py").write_text(blocks("python")[0])
    user.task("embed it in Python", "python example.py")
    version = user.type("skillfold --version", folder=user.home)
    expect(version.startswith("skillfold "), "the command from the wheel", version)


def rust(user: User, target: Path) -> None:
    """Run the README's Rust example in a crate of its own."""
    crate = user.home / "rust"
    (crate / "src").mkdir(parents=True)
    example = blocks("rust")[0].replace("# Ok::<(), skillfold::core::Error>(())", "Ok(())")
    body = "".join(f"    {line}\n" for line in example.splitlines() if not line.startswith("use "))
    uses = "".join(f"{line}\n" for line in example.splitlines() if line.startswith("use "))
    (crate / "src" / "main.rs").write_text(f"{uses}\nfn main() -> Result<(), skillfold::core::Error> {{\n{body}}}\n")
    (crate / "Cargo.toml").write_text(
        '[package]\nname = "readme"\nversion = "0.1.0"\nedition = "2024"\n\n[workspace]\n\n'
        f'[dependencies]\nskillfold = {{ path = "{ROOT}/crates/skillfold" }}\n'
    )
    shutil.copy2(ROOT / "Cargo.lock", crate / "Cargo.lock")
    cargo = {name: value for name, value in os.environ.items() if name.startswith(("CARGO_HOME", "RUSTUP", "HOME", "PATH"))}
    start = time.monotonic()
    run = subprocess.run(["cargo", "run", "--quiet"], cwd=crate, env={**cargo, "CARGO_TARGET_DIR": str(target.resolve())}, check=False)
    expect(run.returncode == 0, "the README's Rust example", "")
    user.tasks.append(("embed it in Rust", "cargo run", time.monotonic() - start))


def expect(holds: bool, what: str, printed: str) -> None:
    if not holds:
        sys.exit(f"There is not {what}:\n{printed}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--skillfold", type=Path, required=True)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--rust", type=Path, metavar="TARGET_FOLDER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        user = User(Path(folder), options.skillfold)
        sessions(user)
        everyday(user)
        if options.wheel:
            python(user, options.wheel)
        if options.rust:
            rust(user, options.rust)
        print("| task | commands | seconds |\n|---|---|--:|")
        for name, commands, seconds in user.tasks:
            shown = commands.replace(str(options.wheel and options.wheel.resolve()), "skillfold.whl")
            print(f"| {name} | `{shown}` | {seconds:.2f} |")


if __name__ == "__main__":
    main()
