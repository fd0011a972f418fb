"""A system without Skillfold and without Rust, on whose network there is nothing but ports of our loopback.

Its files are Debian's, laid under each use anew, so that nothing that one installs is there for the next. The mounts are those of
this process alone: run.py starts itself in a mount namespace.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "conformance/registry"))
from namespace import Namespace  # noqa: E402

# What people have: a client for downloads, a shell, Python. Git is there since an agent's project is mostly a repository.
PACKAGES = "ca-certificates,curl,openssl,python3-venv,python3-pip,git,man-db,less,gcc,libc6-dev,pkg-config"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def make(folder: Path) -> Path:
    """Make the files of the system, if they are not there, and return their folder."""
    root = folder / "root"
    if (root / "home/user").is_dir():
        return root
    shutil.rmtree(root, ignore_errors=True)
    target = "$(SITE) $(CODENAME)"
    lists = subprocess.run(["apt-get", "indextargets", "--format", target, "Created-By: Packages"], check=True, capture_output=True, text=True)
    site, codename = lists.stdout.split()[:2]
    words = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", codename, root, site]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["chroot", root, "useradd", "--create-home", "--shell", "/bin/bash", "user"], check=True)
    return root


class Failed(Exception):
    """What did not work, as it was seen."""


class CleanRoot:
    """The system, between `with` and its end. Ports of the loopback that are named can be reached in it."""

    def __init__(self, base: Path, ports: list[int]) -> None:
        self.base, self.namespace = base, Namespace(ports)

    def __enter__(self) -> CleanRoot:
        self.temporary = tempfile.TemporaryDirectory(prefix="skillfold-")
        folder = Path(self.temporary.name)
        self.root = folder / "root"
        for name in ("root", "changes", "work"):
            (folder / name).mkdir()
        layers = f"lowerdir={self.base},upperdir={folder}/changes,workdir={folder}/work"
        self.mount("-t", "overlay", "-o", layers, "overlay", self.root)
        self.mount("-t", "proc", "proc", self.root / "proc")
        self.mount("--rbind", "/dev", self.root / "dev")
        (self.root / "etc/resolv.conf").unlink(missing_ok=True)
        self.namespace.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.namespace.__exit__()
        subprocess.run(["umount", "--recursive", "--lazy", self.root], check=True)
        self.temporary.cleanup()

    def mount(self, *words: object) -> None:
        subprocess.run(["mount", *map(str, words)], check=True)

    def lend(self, outside: Path, inside: str) -> None:
        """Show a folder or a file of ours in the system, to be read."""
        place = self.root / inside.lstrip("/")
        if outside.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        self.mount("--bind", outside, place)
        self.mount("-o", "remount,bind,ro", place)

    def run(self, command: str, user: str = "user", folder: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command line of a shell as a user, and return how it went, with all that it printed."""
        home = "/root" if user == "root" else f"/home/{user}"
        path = f"{home}/.local/bin:{home}/.cargo/bin:{PATH}"
        environment = {"HOME": home, "USER": user, "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb"} | variables
        # There is no sudo for root, and root does not need it.
        script = f'sudo() {{ "$@"; }}\ncd {folder or home} && {{ {command}\n}} 2>&1'
        identity = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user != "root" else []
        words = [*self.namespace.enter, "unshare", "--pid", "--fork", "--kill-child", "chroot", self.root, *identity]
        words += ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), "bash", "-c", script]
        return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def must(self, command: str, **options: str) -> str:
        """Run a command line that has to work, and return what it printed."""
        done = self.run(command, **options)
        if done.returncode:
            raise Failed(f"`{command.strip()}` ended with {done.returncode}:\n{done.stdout.strip()}")
        return done.stdout


class Person:
    """Somebody who types what the README prints. Has what `conformance/readme/run.py` asks of one."""

    def __init__(self, root: CleanRoot, prefix: str = "") -> None:
        """`prefix` stands before each `skillfold` that is typed, such as the command that starts a container."""
        self.root, self.prefix = root, prefix
        root.must("mkdir -p app/.git")

    def type(self, command: str, *, check: bool = True, **_: object) -> str:
        done = self.root.run(re.sub(r"(?<![\w.-])skillfold ", f"{self.prefix}skillfold ", command), folder="/home/user/app")
        if check and done.returncode:
            raise Failed(f"`{command}` ended with {done.returncode}:\n{done.stdout}")
        return "".join(f"{line.rstrip()}\n" for line in done.stdout.rstrip().splitlines())


def seconds(since: float) -> float:
    return time.monotonic() - since


def is_root() -> bool:
    return os.geteuid() == 0
