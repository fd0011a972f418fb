"""The ground of an attack: a home and a project of their own, the command and the server in them, and the count."""

import collections
import json
import os
import pathlib
import pty
import queue
import select
import subprocess
import sys
import tempfile
import threading
import time

Done = collections.namedtuple("Done", "code out err")
# What takes longer hangs; the machine may be busy.
PATIENCE = 60
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "attack", "version": "1"},
}


class Row:
    """Counts tries and what failed of them."""

    def __init__(self, name, part):
        self.name, self.part, self.tries, self.failed, self.said = name, part, 0, 0, []

    def amount(self, long, least=1):
        """Returns how many tries this run makes of something that the long form does so often."""
        return max(least, -(-int(long * self.part * 1000) // 1000))

    def some(self, things, least=1):
        """Returns this run's part of some tries, spread evenly over them."""
        things = list(things)
        count = min(len(things), self.amount(len(things), least))
        return [things[number * len(things) // count] for number in range(count)]

    def try_one(self, wrong, what):
        """Counts a try; `wrong` says what was wrong with it, and is empty or `None` where it held."""
        self.tries += 1
        if wrong:
            self.fail(wrong, what)

    def control(self, holds, what):
        """Fails where something that is allowed did not come about: then the tries around it prove nothing."""
        if not holds:
            self.fail("the control does not hold", what)

    def fail(self, wrong, what):
        self.failed += 1
        self.said.append(f"{what}: {wrong}")
        if self.failed <= 20:
            print(f"failed: {self.name}: {what}: {wrong}"[:600], file=sys.stderr, flush=True)


class Ground:
    """A home and a project in an empty folder, and an environment that knows nothing else."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, pathlib.Path(folder)
        self.home, self.project = self.folder / "home", self.folder / "app"
        self.user, self.own = self.home / ".agents" / "skills", self.project / ".agents" / "skills"
        for path in [self.user, self.project / ".git"]:
            path.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "HOME": str(self.home),
            "PATH": "/usr/bin:/bin",
            "RUST_BACKTRACE": "0",
            "SKILLFOLD_NO_HOME_LOOKUP": "1",
        }

    def run(self, *arguments, more=None, prepare=None, where=None, seconds=PATIENCE, text=b""):
        """Runs the command with a text on stdin; the code is `None` where it did not end."""
        try:
            done = subprocess.run(
                [self.binary, *arguments],
                cwd=where or self.project,
                env={**self.environment, **(more or {})},
                input=text,
                capture_output=True,
                timeout=seconds,
                preexec_fn=prepare,
            )
        except subprocess.TimeoutExpired as late:
            return Done(None, late.stdout or b"", late.stderr or b"")
        return Done(done.returncode, done.stdout, done.stderr)

    def at_terminal(self, *arguments, answer=b"y\n", more=None, prepare=None, where=None):
        """Runs the command at a terminal and answers its first question."""
        child, terminal = pty.fork()
        if child == 0:
            try:
                os.chdir(where or self.project)
                if prepare:
                    prepare()
                environment = {**self.environment, "TERM": "xterm", "NO_COLOR": "1", **(more or {})}
                os.execve(self.binary, [self.binary, *arguments], environment)
            finally:
                os._exit(97)
        said, end = b"", time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    said += os.read(terminal, 1 << 16)
                except OSError:
                    break
            if answer and b"[y/N]" in said:
                os.write(terminal, answer)
                answer = None
        else:
            os.kill(child, 9)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(terminal)
        return Done(code, said.replace(b"\r", b""), b"")

    def json(self, *arguments, **options):
        """Runs the command with `--json`; returns its document, or nothing where there is none."""
        return whole(self.run(*arguments, "--json", **options).out)


def whole(text):
    """Returns the JSON document that a text is, or nothing."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def crashed(done):
    """Says what is wrong with how a command ended, whatever it was asked: it hung, was killed, or panicked."""
    if done.code is None:
        return "it did not end"
    if done.code not in range(6):
        return f"exit {done.code}: {done.err[-200:]!r}"
    return f"panic: {done.err[-200:]!r}" if b"panicked" in done.err else None


def skill(root, folder, description, body="Do it.\n", name=None, fields=""):
    """Writes a skill as editors do: the file is whole at any time."""
    path = pathlib.Path(root) / folder
    path.mkdir(parents=True, exist_ok=True)
    name = json.dumps(name or path.name)
    text = f"---\nname: {name}\ndescription: {json.dumps(description)}\n{fields}---\n{body}"
    new = path / ".SKILL.md.new"
    new.write_bytes(text.encode("utf-8", "surrogateescape"))
    new.rename(path / "SKILL.md")
    return path


def write(path, text, mode=None):
    """Writes a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if mode is not None:
        path.chmod(mode)


class Server:
    """`skillfold serve` on stdio, spoken to in bytes."""

    def __init__(self, ground, *options, greet=True, more=None):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [ground.binary, "serve", *options],
            cwd=ground.project,
            env={**ground.environment, **(more or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        self.lines, self.number, self.seen = queue.Queue(), 0, []
        threading.Thread(target=self.receive, daemon=True).start()
        if greet:
            self.hello = self.ask("initialize", HELLO)
            self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())

    def receive(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, line):
        """Sends a line; says whether the server still listens."""
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
            return True
        except OSError:
            return False

    def ask(self, method, params=None):
        """Asks, and returns the answer's line; `None` where none came. Other lines are kept in `seen`."""
        self.number += 1
        asked = f"probe-{self.number}"
        message = {"jsonrpc": "2.0", "id": asked, "method": method}
        if params is not None:
            message["params"] = params
        self.send(json.dumps(message).encode("utf-8", "surrogatepass"))
        return self.wait(asked)

    def wait(self, asked):
        mark = json.dumps(asked).encode()
        while True:
            try:
                line = self.lines.get(timeout=PATIENCE)
            except queue.Empty:
                return None
            if line is None:
                return None
            answer = whole(line) if mark in line else None
            if isinstance(answer, dict) and answer.get("id") == asked:
                return line
            self.seen.append(line)

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def close(self):
        """Ends the server as a client does; returns how it ended."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            code = self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = None
        self.errors.seek(0)
        said = self.errors.read()
        self.errors.close()
        return Done(code, b"".join(self.seen), said)


class Web:
    """`skillfold serve` by HTTP on a free port, without a token."""

    def __init__(self, ground, *options):
        self.process = subprocess.Popen(
            [ground.binary, "serve", "--http", "0", "--no-token", *options],
            cwd=ground.project,
            env=ground.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for line in self.process.stderr:
            if line.startswith(b"Listening on "):
                break
        else:
            raise RuntimeError("the server did not start")
        self.port = int(line.split(b":")[-1].split(b"/")[0])
        self.said = []
        self.reader = threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def close(self):
        self.process.terminate()
        try:
            code = self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = None
        self.reader.join(PATIENCE)
        return Done(code, b"", b"".join(self.said))


def files_below(folder):
    """Returns the content and the mode of every file below a folder."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_symlink():
            found[path] = os.readlink(path)
        elif path.is_file():
            found[path] = (path.read_bytes(), path.stat().st_mode & 0o7777)
    return found
