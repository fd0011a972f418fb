#!/usr/bin/env python3
"""What a person sees: every command in a real terminal (tmux), 80 and 120 columns wide, with 68 and with 3,000 skills. Some ask for a
skill: keys are pressed, and the terminal must be as it was afterwards.

    conformance/screens/run.py --skillfold target/release/skillfold [--update]

Compares the screens with the files beside this script, and fails if the terminal had to wrap a line, unless a word of it is wider
than the terminal. `--update` writes the files. Needs tmux.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORLD = Path(tempfile.gettempdir()) / "skillfold-screens"
ROWS = 50
CHOICE_ROWS = 16
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
# What is typed on the list of a command that asks for a skill: text, keys as tmux names them, or a signal.
CHOICES = {
    "skillfold show": ["invoice", "Down", "Enter"],
    "skillfold files": ["deploy the invoice number 1", "BSpace", "Enter"],
    "skillfold why 'Bake a cake' --skill": ["team", "PageDown", "Up", "Enter"],
    "skillfold load": ["novel", "Escape"],
    "skillfold load > /dev/null": ["C-c"],
    "skillfold show --color never": ["SIGTERM"],
}
KEYS = {"Up", "Down", "PageDown", "BSpace"}
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
        case 5 if number == 39:
            body += "\nWork on the \u202eniam\u202c branch.\n"
        case 7:
            return f"not-text-{number + 1}", f"\0 {verb} the {noun}\n"
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


def start(command: str, columns: int, rows: int, folder: Path) -> tuple[str, Path]:
    """Start a command in a terminal, and return its server and the file that is there when the command has ended."""
    done = WORLD / "done"
    done.unlink(missing_ok=True)
    server = f"screens-{os.getpid()}-{next(SERVERS)}"
    script = f"clear; {command}; touch {done}; sleep 600"
    size = ["-x", str(columns), "-y", str(rows)]
    tmux("new-session", "-d", *size, "-c", str(WORLD / "home" / "app"), f"sh -c {shlex.quote(script)}", folder=folder, server=server)
    return server, done


def wait(what: str, is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not is_so():
        if time.monotonic() > until:
            sys.exit(f"{what}: not in 120 seconds")
        time.sleep(0.02)


def choice(command: str, keys: list[str], columns: int, folder: Path) -> str:
    """Return the list of a command before the last key, and what the command leaves on the terminal, which must be as it was."""
    lasting = f'before=$(stty -g); {command}; echo "exit $?"; test "$before" = "$(stty -g)" || echo The terminal is not as it was'
    server, done = start(lasting, columns, CHOICE_ROWS, folder)
    pane = functools.partial(tmux, "capture-pane", "-p", folder=folder, server=server)

    def wait_for(typed: str) -> None:
        wait(command, lambda: pane().splitlines()[0] == f"Which skill? {typed}".rstrip())

    typed = ""
    for key in keys[:-1]:
        wait_for(typed)
        tmux("send-keys", "-t", ":", *([key] if key in KEYS else ["-l", key]), folder=folder, server=server)
        typed = typed[:-1] if key == "BSpace" else typed if key in KEYS else key
    wait_for(typed)
    time.sleep(0.2)
    listed = pane()
    if keys[-1].startswith("SIG"):
        shell = tmux("display-message", "-p", "#{pane_pid}", folder=folder, server=server).strip()
        child = subprocess.run(["pgrep", "-P", shell], check=True, capture_output=True, text=True).stdout
        os.kill(int(child), signal.Signals[keys[-1]])
    else:
        tmux("send-keys", "-t", ":", keys[-1], folder=folder, server=server)
    wait(command, done.exists)
    time.sleep(0.1)
    left = pane()
    tmux("kill-server", folder=folder, server=server)
    return f"{listed.rstrip()}\n[{keys[-1]}]\n{anonymous(left, folder)}"


def anonymous(shown: str, folder: Path) -> str:
    return shown.rstrip().replace(str(WORLD / "home"), "/home/user").replace(str(folder), "/usr/bin") + "\n"


def screen(command: str, columns: int, folder: Path) -> tuple[str, list[str]]:
    """Return the lines that a command leaves on the terminal, and those that the terminal had to wrap; text of a skill is as it is."""
    server, done = start(command, columns, ROWS, folder)
    wait(command, done.exists)
    time.sleep(0.1)
    shown = tmux("capture-pane", "-p", folder=folder, server=server)
    joined = tmux("capture-pane", "-p", "-J", "-S", "-", folder=folder, server=server)
    tmux("kill-server", folder=folder, server=server)
    # The text of a skill and the difference of a file are shown as they are.
    is_exact = "load" in command or "setup" in command
    lines = [] if is_exact else joined.splitlines()
    wrapped = [line for line in lines if width(line.rstrip()) > columns and not has_long_word(line, columns)]
    return anonymous(shown, folder), wrapped


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
            for command, keys in CHOICES.items():
                typed = "".join(f"[{key}]\n" for key in keys[:-1])
                text += f"$ {command}\n{typed}{choice(command, keys, columns, folder)}\n"
            file = HERE / f"{number}-skills-{columns}-columns.txt"
            if options.update:
                file.write_text(text)
            elif not file.exists() or file.read_text() != text:
                failures += 1
                old = file.read_text() if file.exists() else ""
                difference = difflib.unified_diff(old.splitlines(), text.splitlines(), file.name, "now", lineterm="")
                print("\n".join(list(difference)[:60]))
    shutil.rmtree(WORLD, ignore_errors=True)
    screens = len(NUMBERS) * len(WIDTHS) * (len(COMMANDS) + len(CHOICES))
    print(f"{screens} screens, {failures} failures" + ("; run with --update and read the difference" if failures else ""))
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
