"""What the drivers of the terminal share: a user with nothing but the command, their terminal (tmux), a server with a client,
and the page that shows what is seen on the way.

A driver sets `world`: an empty folder under a fixed path, so that the same is seen each time.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

WAIT_SECONDS = 60


class World:
    """A user's home, and a folder with the command."""

    def __init__(self, name: str, skillfold: Path) -> None:
        self.root = Path(tempfile.gettempdir()) / f"skillfold-{name}"
        self.home, self.bin = self.root / "home", self.root / "bin"
        shutil.rmtree(self.root, ignore_errors=True)
        self.bin.mkdir(parents=True)
        self.home.mkdir()
        shutil.copy(skillfold, self.bin / "skillfold")
        os.environ["PATH"] = f"{self.bin}:{os.environ['PATH']}"

    def write(self, path: str, text: str) -> None:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def environment(self) -> dict[str, str]:
        """The environment of a user who has nothing but the command."""
        return {"HOME": str(self.home), "PATH": f"{self.bin}:/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8", "USER": "anna"}

    def run(self, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Run the command as a script or an agent's shell does: without a terminal."""
        command = ["skillfold", *words]
        return subprocess.run(command, cwd=self.home, env=self.environment(), capture_output=True, text=True, **options)

    def remove(self) -> None:
        shutil.rmtree(self.root)


class Server:
    """A running server on stdio, and a client that calls its tools as a model does."""

    def __init__(self, world: World, form_answer: str | None = None) -> None:
        """Start it. With `form_answer`, the client shows forms and answers them so."""
        self.forms: list[str] = []
        self.form_answer = form_answer
        self.process = subprocess.Popen(
            ["skillfold", "serve"],
            cwd=world.home,
            env=world.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.number = 0
        self.notices: list[str] = []
        client = {"name": "claude-code", "version": "2.1.0"}
        capabilities = {"elicitation": {}} if form_answer else {}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict) -> dict:
        """Send a request and return the answer to it."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        assert self.process.stdout
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("method") == "elicitation/create":
                self.forms.append(answer["params"]["message"])
                self.send({"jsonrpc": "2.0", "id": answer["id"], "result": {"action": self.form_answer, "content": {}}})
            elif "method" in answer:
                self.notices.append(answer["method"])
            elif answer.get("id") == self.number:
                return answer
        raise SystemExit("the server ended")

    def call(self, tool: str, /, **arguments: object) -> str:
        """Call a tool and return its text, or the error."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer:
            return "error: " + answer["error"]["message"]
        return "\n".join(block.get("text", "") for block in answer["result"]["content"])

    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.ask("tools/list", {})["result"]["tools"]]

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(timeout=30)


class Terminal:
    """A real terminal in which a person types."""

    def __init__(self, world: World, columns: int, rows: int = 40, *variables: str) -> None:
        self.server = f"skillfold-{os.getpid()}-{time.monotonic_ns()}"
        shell = shlex.join(["env", "-i", *[f"{key}={value}" for key, value in world.environment().items()], *variables, "sh"])
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(world.home), shell)
        self.type("PS1='$ '; clear", "Enter")

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-L", self.server, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def type(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def screen(self) -> str:
        lines = self.tmux("capture-pane", "-p").split("\n")
        return "\n".join(line.rstrip() for line in lines).rstrip("\n") + "\n"

    def settled(self) -> str:
        """Return the screen when it has been drawn."""
        last = ""
        while (screen := self.screen()) != last:
            last = screen
            time.sleep(0.4)
        return last

    def wait(self, text: str) -> str:
        """Wait until a text is on the screen, and return the screen."""
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            if text in (screen := self.screen()):
                return screen
            time.sleep(0.05)
        raise SystemExit(f"not on the screen: {text!r}\n{self.screen()}")

    def close(self) -> None:
        self.tmux("kill-server")


class Checks:
    def __init__(self) -> None:
        self.done = 0

    def __call__(self, what: str, is_so: bool, seen: object = "") -> None:
        if not is_so:
            raise SystemExit(f"not so: {what}\n{seen}")
        self.done += 1


def stable(world: World, screen: str) -> str:
    """Take out what differs between two runs."""
    screen = re.sub(r"\d{8}T\d{6}Z", "20261117T072000Z", screen)
    screen = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-11-17T07:20:00Z", screen)
    screen = re.sub(r"\b[0-9a-f]{12}\b", "0123456789ab", screen)
    return screen.replace(str(world.root), "/world")


def wait_for(is_so: Callable[[], bool]) -> bool:
    """Wait until something is so."""
    end = time.monotonic() + WAIT_SECONDS
    while not is_so() and time.monotonic() < end:
        time.sleep(0.1)
    return is_so()


def compare(world: World, page: Path, screens: dict[str, str], is_update: bool) -> None:
    """Compare the screens with the blocks of the page, which a comment names: `<!-- screen: NAME -->`."""
    old = page.read_text()
    left = {name: re.sub(r"\n{3,}", "\n\n", stable(world, screen)) for name, screen in screens.items()}

    def block(match: re.Match[str]) -> str:
        return f"{match[1]}```text\n{left.pop(match[2])}```\n"

    new = re.sub(r"(<!-- screen: (\S+) -->\n\n)```text\n.*?```\n", block, old, flags=re.DOTALL)
    if left:
        raise SystemExit(f"{page.name} has no place for {', '.join(left)}")
    if is_update:
        page.write_text(new)
    elif old != new:
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), page.name, "seen", lineterm="")
        raise SystemExit("\n".join(lines))
