#!/usr/bin/env python3
"""What a person sees: every command in a real terminal (tmux), 80 and 120 columns wide, with 68 and with 3,000 skills.

    conformance/screens/run.py --skillfold target/release/skillfold [--update]

Compares the screens with the files beside this script, and fails if the terminal had to wrap a line, unless a word of it is wider
than the terminal. `--update` writes the files. Needs tmux.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORLD = Path(tempfile.gettempdir()) / "skillfold-screens"
ROWS = 50
SERVERS = itertools.count()
NUMBERS = (68, 3000)
WIDTHS = (80, 120)
COMMANDS = [
    "skillfold",
    "skillfold list",
    "skillfold list --scope project",
    "skillfold search deploy the invoice service",
    "skillfold show deploy-invoice-1",
    "skillfold load deploy-invoice-1",
    "skillfold files deploy-invoice-1",
    "skillfold prompt 'Deploy the invoice service' > /dev/null",
    "skillfold why 'Deploy the invoice service'",
    "skillfold why 'Bake a cake'",
    "skillfold why 'Bake a cake' --skill deploy-invoice-1",
    "skillfold check",
    "skillfold check broken-colon-5",
    "skillfold test",
    "skillfold overlap --limit 5",
    "skillfold trust < /dev/null",
    "skillfold doctor",
    "skillfold config",
    "skillfold config --explain",
    "skillfold setup vscode --project --dry-run",
    "skillfold setup < /dev/null",
    "skillfold stats",
    "skillfold nonsense",
    "skillfold show deploy-invoic-1",
    "skillfold --help",
    "skillfold help check",
    "skillfold help serve",
]
VERBS = ["deploy", "review", "test", "write", "translate", "plan", "draw", "measure", "migrate", "explain"]
NOUNS = ["invoice", "report", "database", "website", "contract", "schema", "slides", "calendar", "container", "novel", "budget"]
WIDE = "部署、监控和管理云平台上的服务，并把结果写成一份简短的报告。"


def skill(number: int) -> tuple[str, str]:
    """Return the folder and the file of a skill; every few have something that a person should see."""
    verb, noun = VERBS[number % len(VERBS)], NOUNS[number % len(NOUNS)]
    name = f"{verb}-{noun}-{number + 1}"
    description = f"{verb.capitalize()}s the {noun} of a team. Use when somebody asks to {verb} the {noun} number {number + 1}."
    extra, body = "", f"# {verb.capitalize()} the {noun}\n\n1. Look at the {noun}.\n2. {verb.capitalize()} it.\n"
    match number % 17:
        case 3:
            description = WIDE
        case 4:
            name = f"broken-colon-{number + 1}"
            description = f"Use when: somebody asks for the {noun} number {number + 1}"
        case 7:
            return f"no-frontmatter-{number + 1}", f"# {verb} the {noun}\n"
        case 8:
            body += "\nRead [the rules](references/rules.md) and [the terms](references/terms.md).\n"
        case 9:
            name = f"{verb}-{number + 1}-the-{noun}-of-the-whole-department-and-its-suppliers"[:64].rstrip("-")
        case 10:
            extra = "disable-model-invocation: true\n"
        case 11:
            extra = f"triggers: [{verb} that {noun} {number + 1}]\nallowed-tools: Bash(git:*) Read\n"
        case 12:
            extra = "colour: blue\n"
    return name, f"---\nname: {name}\ndescription: {description}\n{extra}---\n{body}"


def make_world(number: int) -> None:
    """Make a home with skills and a project with a few more, which is not trusted."""
    shutil.rmtree(WORLD, ignore_errors=True)
    home, app = WORLD / "home", WORLD / "home" / "app"
    for index in range(number):
        name, text = skill(index)
        # One in twenty is the project's, and takes the name of one of the user's.
        if index % 20 == 19:
            root, name = app, skill(index - 19)[0]
            text = re.sub(r"(?m)^name: .*$", f"name: {name}", text)
        else:
            root = home
        folder = root / ".agents" / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text)
        if index % 23 == 0:
            (folder / "scripts").mkdir()
            (folder / "scripts" / "run.sh").write_text("echo done\n")
    (app / ".git").mkdir(parents=True)
    (home / ".codex").mkdir()
    queries = home / ".agents" / "skills" / "deploy-invoice-1" / "evals"
    queries.mkdir()
    (queries / "eval_queries.json").write_text('[{"query": "Deploy invoice number 1 for the team", "should_trigger": true}]\n')


def tmux(*words: str, folder: Path, server: str) -> str:
    """Run tmux with a server of its own in an empty environment."""
    environment = {"HOME": str(WORLD / "home"), "PATH": f"{folder}:/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8"}
    run = subprocess.run(
        ["tmux", "-L", server, "-f", "/dev/null", *words], env=environment, check=True, capture_output=True, text=True
    )
    return run.stdout


def screen(command: str, columns: int, folder: Path) -> tuple[str, list[str]]:
    """Return the lines that a command leaves on the terminal, and those that the terminal had to wrap; text of a skill is as it is."""
    done = WORLD / "done"
    done.unlink(missing_ok=True)
    server = f"screens-{os.getpid()}-{next(SERVERS)}"
    script = f"clear; {command}; touch {done}; sleep 600"
    size = ["-x", str(columns), "-y", str(ROWS)]
    tmux("new-session", "-d", *size, "-c", str(WORLD / "home" / "app"), f"sh -c {shlex.quote(script)}", folder=folder, server=server)
    until = time.monotonic() + 120
    while not done.exists():
        if time.monotonic() > until:
            sys.exit(f"{command} did not end in 120 seconds")
        time.sleep(0.02)
    time.sleep(0.1)
    shown = tmux("capture-pane", "-p", folder=folder, server=server)
    joined = tmux("capture-pane", "-p", "-J", "-S", "-", folder=folder, server=server)
    tmux("kill-server", folder=folder, server=server)
    # The text of a skill and the difference of a file are shown as they are.
    is_exact = "load" in command or "setup" in command
    lines = [] if is_exact else joined.splitlines()
    wrapped = [line for line in lines if width(line.rstrip()) > columns and not has_long_word(line, columns)]
    return shown.rstrip().replace(str(WORLD / "home"), "/home/user").replace(str(folder), "/usr/bin") + "\n", wrapped


def has_long_word(line: str, columns: int) -> bool:
    return any(width(word) > columns - 20 for word in line.split(" "))


def width(text: str) -> int:
    """Return the columns of a text."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--skillfold", type=Path, required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    folder = WORLD / "bin"
    failures = 0
    for number in NUMBERS:
        make_world(number)
        folder.mkdir()
        shutil.copy2(options.skillfold, folder / "skillfold")
        # A file that has just changed is not kept in the cache.
        time.sleep(2.5)
        # The index is built once, so that no screen depends on how long that takes.
        subprocess.run(
            [folder / "skillfold", "search", "report"], env={"HOME": str(WORLD / "home")}, cwd=WORLD / "home" / "app", check=True, capture_output=True
        )
        for columns in WIDTHS:
            text = ""
            for command in COMMANDS:
                shown, wrapped = screen(command, columns, folder)
                text += f"$ {command}\n{shown}\n"
                for line in wrapped:
                    failures += 1
                    print(f"wrapped at {columns} columns by `{command}`: {line}")
            file = HERE / f"{number}-skills-{columns}-columns.txt"
            if options.update:
                file.write_text(text)
            elif not file.exists() or file.read_text() != text:
                failures += 1
                old = file.read_text() if file.exists() else ""
                difference = difflib.unified_diff(old.splitlines(), text.splitlines(), file.name, "now", lineterm="")
                print("\n".join(list(difference)[:60]))
    shutil.rmtree(WORLD, ignore_errors=True)
    screens = len(NUMBERS) * len(WIDTHS) * len(COMMANDS)
    print(f"{screens} screens, {failures} failures" + ("; run with --update and read the difference" if failures else ""))
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
