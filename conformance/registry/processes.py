"""What the servers of this folder share: programs of the system, processes that end with this one, and free ports."""

from __future__ import annotations

import concurrent.futures
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

WAIT_SECONDS = 20
# The package of each program.
PROGRAMS = {"nginx": "nginx-light", "fcgiwrap": "fcgiwrap", "sshd": "openssh-server", "ssh": "openssh-client", "openssl": "openssl", "git": "git"}
# Where servers are installed; the `PATH` of many users lacks it.
SERVER_FOLDERS = ":/usr/local/sbin:/usr/sbin:/sbin"

# A process that is to end with its parent ends with the thread that started it, so one thread starts all of them.
STARTER = concurrent.futures.ThreadPoolExecutor(max_workers=1)


def find(program: str) -> str | None:
    return shutil.which(program, path=os.environ.get("PATH", os.defpath) + SERVER_FOLDERS)


def program(name: str) -> str:
    path = find(name)
    if path is None:
        raise SystemExit(f"error: `{name}` is not installed\nhint: apt-get install {PROGRAMS[name]}")
    return path


def install() -> list[str]:
    """Install the programs that are missing, and return those that cannot be installed here."""
    packages = [PROGRAMS[name] for name in PROGRAMS if find(name) is None]
    if packages and shutil.which("apt-get"):
        as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
        # With this run level, the packages start no services.
        quiet = [*as_root, "env", "RUNLEVEL=1", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
        for command in (["update"], ["install", "--no-install-recommends", *packages]):
            try:
                subprocess.run([*quiet, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            except FileNotFoundError:
                break
    return [name for name in PROGRAMS if find(name) is None]


def listener(host: str = "127.0.0.1") -> socket.socket:
    """Return a listening socket on a free port."""
    return socket.create_server((host, 0), backlog=128)


def hold_port(host: str = "127.0.0.1") -> socket.socket:
    """Return a socket with a free port, which a server may take as well: nobody else gets it until the socket is closed."""
    held = socket.socket()
    # Two sockets may have one port if both say so and only one listens.
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((host, 0))
    return held


def port(bound: socket.socket) -> int:
    return bound.getsockname()[1]


def descendants(roots: set[int]) -> set[int]:
    """Return the processes and all that they started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = set(roots)
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


class Server:
    """Processes in a temporary folder that is theirs, between `with` and its end.

    They run as the current user, also if that is root, and need no rights that another user lacks.
    """

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self):  # noqa: ANN204
        self.temporary = tempfile.TemporaryDirectory(prefix="skillfold-")
        self.folder = Path(self.temporary.name)
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.temporary.cleanup()

    def start(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        running = {process.pid for process in self.processes if process.poll() is None}
        for number in descendants(running) if running else ():
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for process in self.processes:
            process.wait()
        self.processes.clear()

    def environment(self) -> dict[str, str]:
        """Return the environment of the server's processes."""
        path = os.environ.get("PATH", os.defpath) + SERVER_FOLDERS
        return {"HOME": str(self.folder), "PATH": path, "LANG": "C.UTF-8"}

    def launch(self, *command: object, **options: object) -> subprocess.Popen[bytes]:
        """Start a process that ends when this one ends, however that happens."""
        words = ["setpriv", "--pdeathsig", "KILL", "--", *map(str, command)]
        environment = self.environment() | options.pop("env", {})
        with (self.folder / "messages").open("ab") as messages:
            options = {"stdin": subprocess.DEVNULL, "stdout": messages, "stderr": messages, **options}
            process = STARTER.submit(subprocess.Popen, words, env=environment, start_new_session=True, **options).result()
        self.processes.append(process)
        return process

    def wait_for(self, process: subprocess.Popen[bytes], answers) -> None:  # noqa: ANN001
        """Wait until a process answers."""
        end = time.monotonic() + WAIT_SECONDS
        while not answers():
            if process.poll() is not None or time.monotonic() > end:
                messages = (self.folder / "messages").read_text(errors="replace")
                raise RuntimeError(f"{type(self).__name__} did not start: {messages}")
            time.sleep(0.005)
