"""A machine of a user: a home that knows nothing else, projects, and the command run with and without a terminal."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import os
import pty
import resource
import select
import shutil
import signal
import subprocess
import termios
import threading
import time
import tomllib
from pathlib import Path

from processes import SERVER_FOLDERS, descendants

# What takes longer hangs; the computer may be busy.
PATIENCE = 120
QUESTION = b"[y/N]"
SKILLS = ".agents/skills"
MANIFEST, LOCK = "skills.toml", "skills.lock"


@dataclasses.dataclass
class Done:
    """A command that ended."""

    # `None` if it had to be killed.
    code: int | None
    out: str
    # Empty with a terminal, where all is in `out`.
    err: str
    seconds: float
    # User and system, with all children.
    cpu: float
    # The most memory that the command had, and that a child had, in KiB; 0 if not measured.
    own_kib: int = 0
    child_kib: int = 0

    @property
    def said(self) -> str:
        return self.out + self.err

    def __str__(self) -> str:
        return f"exit {self.code}: {self.said.strip()[-1500:]}"


class Machine:
    """A home, folders of its own for settings, data and caches, and projects, all below one folder."""

    def __init__(self, folder: Path, binary: Path, within: tuple[str, ...] = (), **environment: str) -> None:
        """Make the folders. Commands run as arguments of `within`, such as `nsenter …`, if it is given."""
        self.folder, self.binary, self.within = folder, binary, within
        self.home = folder / "home"
        self.data, self.cache, self.settings, self.state = (folder / name for name in ("data", "cache", "settings", "state"))
        for path in (self.home, self.data, self.cache, self.settings, self.state, folder / "tmp"):
            path.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.data),
            "XDG_CACHE_HOME": str(self.cache),
            "XDG_CONFIG_HOME": str(self.settings),
            "XDG_STATE_HOME": str(self.state),
            "TMPDIR": str(folder / "tmp"),
            "PATH": os.environ["PATH"] + SERVER_FOLDERS,
            "LANG": "C.UTF-8",
            "USER": "anna",
            "TERM": "xterm-256color",
            "NO_COLOR": "1",
            "RUST_BACKTRACE": "0",
            **environment,
        }

    @property
    def store(self) -> Path:
        return self.data / "skillfold"

    def project(self, name: str = "app") -> Path:
        """Return a project's folder, and make it if it is not there."""
        path = self.folder / "projects" / name
        (path / ".git").mkdir(parents=True, exist_ok=True)
        return path

    def command(self, words: tuple[object, ...], before: tuple[str, ...]) -> list[str]:
        return [*self.within, *before, str(self.binary), *map(str, words)]

    def run(self, project: Path, *words: object, before: tuple[str, ...] = (), seconds: float = PATIENCE, **more: str) -> Done:
        """Run the command as a script does: without a terminal. `before` is a program that starts it."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with Watched(self.command(words, before), project, self.environment | more, options, seconds) as watched:
            out, err = watched.process.communicate()
        return watched.done(out.decode(errors="replace"), err.decode(errors="replace"))

    def type(
        self, project: Path, *words: object, answer: str = "y", before: tuple[str, ...] = (), seconds: float = PATIENCE,
        measure: bool = False, **more: str,
    ) -> Done:  # fmt: skip
        """Run the command in a terminal, and answer each question."""
        ours, theirs = pty.openpty()
        options = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "preexec_fn": lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)}
        command = self.command(words, before)
        with Watched(command, project, self.environment | more, options, seconds, measure) as watched:
            os.close(theirs)
            out = converse(ours, watched.process, answer)
        os.close(ours)
        return watched.done(out.decode(errors="replace").replace("\r\n", "\n"), "")

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def converse(terminal: int, process: subprocess.Popen[bytes], answer: str) -> bytes:
    """Answer each question on a terminal until the process has ended, and return what it printed."""
    said, asked, rest = b"", 0, False
    while True:
        if not select.select([terminal], [], [], 0.05)[0]:
            if rest:
                return said
            rest = process.poll() is not None
            continue
        try:
            read = os.read(terminal, 1 << 16)
        except OSError:
            return said
        if not read:
            return said
        said += read
        questions = said.count(QUESTION, asked)
        if questions:
            asked = said.rindex(QUESTION) + 1
            os.write(terminal, f"{answer}\n".encode() * questions)


class Watched:
    """A process, its time, and, if measured, the memory of it and of its children. It is killed with all of them if late."""

    def __init__(
        self, command: list[str], folder: Path, environment: dict[str, str], options: dict, seconds: float, measure: bool = False
    ) -> None:
        self.start = time.monotonic()
        self.own_kib = self.child_kib = 0
        self.is_late = False
        self.process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **options)
        self.ended = threading.Event()
        self.cpu_before = children_cpu()
        threads = [threading.Thread(target=self.kill_late, args=(seconds,), daemon=True)]
        if measure:
            threads.append(threading.Thread(target=self.measure, daemon=True))
        for thread in threads:
            thread.start()

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.wait()
        self.seconds = time.monotonic() - self.start
        # Right if nothing else runs at the same time.
        self.cpu = children_cpu() - self.cpu_before
        self.ended.set()

    def kill_late(self, seconds: float) -> None:
        if self.ended.wait(seconds):
            return
        self.is_late = True
        kill_tree(self.process.pid)

    def measure(self) -> None:
        own = self.process.pid
        while not self.ended.wait(0.01):
            for number in descendants({own}):
                if number == own:
                    self.own_kib = max(self.own_kib, most_memory(number))
                else:
                    self.child_kib = max(self.child_kib, most_memory(number))

    def done(self, out: str, err: str) -> Done:
        code = None if self.is_late else self.process.returncode
        return Done(code, out, err, self.seconds, self.cpu, self.own_kib, self.child_kib)


def children_cpu() -> float:
    """Return the seconds, of user and system, of all processes that ended; `os.times` counts hundredths."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kill_tree(root: int) -> None:
    for number in descendants({root}):
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def most_memory(number: int) -> int:
    """Return the most memory that a process has had, in KiB."""
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def digest(files: dict[str, bytes]) -> str:
    """Return the digest of a skill as the documentation defines it."""
    whole = hashlib.sha256()
    for path, content in sorted((path.encode(), content) for path, content in files.items()):
        whole.update(path + b"\0" + hashlib.sha256(content).digest() + b"\n")
    return f"sha256:{whole.hexdigest()}"


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the regular files below a folder; anything else is there with its kind as content, so that no digest fits."""
    found = {}
    for parent, folders, names in os.walk(folder, onerror=None):
        for name in [*names, *(name for name in folders if os.path.islink(os.path.join(parent, name)))]:
            path = Path(parent, name)
            plain = path.is_file() and not path.is_symlink()
            found[path.relative_to(folder).as_posix()] = path.read_bytes() if plain else b"\0not a file"
    return found


def installed(project: Path) -> dict[str, str]:
    """Return the digest of each installed skill by name."""
    folder = project / SKILLS
    # A folder that is being made has a name with a dot in front.
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) if folder.exists() else []
    return {name: digest(files_in(folder / name)) for name in names}


def locked(project: Path) -> dict[str, dict]:
    """Return each skill of the lock by name."""
    path = project / LOCK
    if not path.exists():
        return {}
    return {skill["name"]: skill for skill in tomllib.loads(path.read_text()).get("skill", [])}


def wanted(project: Path) -> dict[str, dict]:
    """Return each skill of the manifest by name."""
    path = project / MANIFEST
    return tomllib.loads(path.read_text()).get("skills", {}) if path.exists() else {}
