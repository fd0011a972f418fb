"""A user of the first program with `skills.lock` who updates, goes back, and updates again."""

from __future__ import annotations

import contextlib
import fcntl
import http.server
import io
import os
import pty
import select
import shutil
import signal
import subprocess
import tarfile
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from build import LOCK
from home import Copy, Findings, Home, Put, by_rename
from rows import CACHE, DATA, NEW, STATE

FORWARD, BACK = f"{LOCK} → {NEW}", f"{NEW} → {LOCK}"
SKILL = "---\nname: {name}\ndescription: Knows {name}. Use when {name} is asked for.\n---\n{text}\n"
ALL: dict = {"writes": None, "removes": ("",)}
MANIFEST, LOCKED = "`skills.toml` of a project or beside the settings", "`skills.lock` beside it"
REACH = """---
name: reach
description: Asks a host. Use when a host has to be asked.
permissions: { network: [nowhere.invalid] }
---
Run scripts/ask.py.
"""
ASK = "import urllib.request\ntry:\n    urllib.request.urlopen('http://nowhere.invalid/')\nexcept OSError as error:\n    print('no answer')\n"


def skill(name: str, text: str) -> str:
    return SKILL.format(name=name, text=text)


def lay_out(home: Home) -> None:
    """A folder, an archive and a repository with skills, and two projects."""
    for name in ("alpha", "beta"):
        home.write(f"sources/folder/{name}/SKILL.md", skill(name, "first"))
    home.write("app/.git/HEAD", "ref: refs/heads/main\n")
    home.write(".agents/skills/reach/SKILL.md", REACH)
    home.write(".agents/skills/reach/scripts/ask.py", ASK)
    home.write("sources/repository/skills/gamma/SKILL.md", skill("gamma", "first"))
    git(home, "init", "--quiet", "--initial-branch=main")
    commit(home)


def git(home: Home, *words: str) -> None:
    who = ["-c", "user.name=anna", "-c", "user.email=anna@example.com", "-c", "uploadpack.allowAnySHA1InWant=true"]
    environment = {**home.environment(), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *who, *words], cwd=home.home / "sources/repository", env=environment, check=True, capture_output=True)


def commit(home: Home) -> None:
    git(home, "add", "--all")
    git(home, "commit", "--quiet", "--message", "skills")


@contextlib.contextmanager
def archive() -> Iterator[str]:
    """Serve an archive with a skill, and return its address."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        content = skill("delta", "first").encode()
        entry = tarfile.TarInfo("delta/SKILL.md")
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))

    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802
            self.send_response(200)
            self.send_header("Content-Length", str(len(packed.getvalue())))
            self.end_headers()
            self.wfile.write(packed.getvalue())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/skills.tar.gz"
        server.shutdown()


OWN = ("audit", "contents", "proposals", "locks", "installing", "skills.toml of a project", "skills.lock", "Skills", "seen")
GOES = ("proposals", "installing")
LOG, CONTENTS, NEEDED, SEEN, LOOK = "data `audit.jsonl`", "data `contents/`", "data `locks/*`", "cache `seen/*`", "cache `outdated-1.json`"
COPIES, JOURNAL, NETWORK = "Copies of repositories", "data `installing/*.json`", "state `network.jsonl` and `network.old.jsonl`"
USER_POLICY = ".config/skillfold/policy.toml"
POLICY = "`policy.toml` of the machine, the user or a project"
TOKENS = "the file of the setting `server_tokens`"


def make(home: Home, address: str) -> None:
    """Add skills of each kind of source with the old program, and let one reach a host."""
    repository = f"file://{home.home}/sources/repository"
    for source in ("../sources/folder", address, repository):
        home.answer(f"skillfold add {source} --all", ("[y/N]", "y"), folder="app", **ALL)
    home.write("app/.skillfold/policy.toml", 'format = 1\ndenied-sources = ["github.com/our-org/playground"]\n')
    home.do("vendor", folder="app", **ALL)
    home.do("outdated", folder="app", **ALL)
    home.do("config", "set", "scripts", "on", **ALL)
    home.answer("skillfold allow reach", ("[y/N]", "y"), **ALL)
    home.do("run", "reach", "scripts/ask.py", **ALL)


def holds(home: Home) -> None:
    """What both programs read in each other's files works."""
    home.do("verify", folder="app")
    home.check(LOCKED, "`verify` accepts it", "delta" in home.has("app/skills.lock"))
    home.do("install", "--frozen", "--offline", folder="app", writes=("locks",))
    home.check(MANIFEST, "`install --frozen` wants nothing else", all(name in home.has("app/skills.toml") for name in ("alpha", "beta", "gamma", "delta")))
    shown = home.do("why-installed", "gamma", folder="app")
    home.check(LOCKED, "`why-installed` says where a skill is from", "sources/repository" in shown, shown)
    home.check(LOG, "verifies", "hash chain intact" in home.do("audit", "verify"))
    with Copy(home):
        for name in ("alpha", "beta", "gamma", "delta"):
            shutil.rmtree(home.home / "app/.agents/skills" / name)
        home.files = home.tree()
        home.do("install", "--frozen", "--offline", folder="app", writes=OWN)
        home.check(CONTENTS, "`install --frozen --offline` restores every skill from the store", "first" in home.has("app/.agents/skills/delta/SKILL.md"))
        refused = home.do("add", "our-org/playground", folder="app", ends=4)
        home.check(POLICY, "its rules hold", "policy.toml" in refused and "denied-sources" in refused, refused)


def access(home: Home, name: str) -> None:
    """Add a token of a server, which the old program knows nothing of."""
    home.do("access", "--file", "tokens.toml", "add", name, writes=("the file of the setting",))
    listed = home.do("access", "--file", "tokens.toml")
    home.check(TOKENS, "lists every token", all(f"build-{number}" in listed for number in range(int(name[-1]) + 1)), listed)


def goes_on(home: Home, text: str) -> None:
    """Update, add and remove with the lock that the other program wrote."""
    home.write("sources/repository/skills/gamma/SKILL.md", skill("gamma", text))
    commit(home)
    seen(home)
    looks = [path for path in home.files if "/outdated" in path]
    home.check(LOOK, "each program has a file of its own", len(looks) >= (2 if NEW in home.direction else 1), looks)
    home.do("update", "gamma", folder="app", writes=OWN, ends=None)
    name = next((row["name"] for row in home.data("proposals", folder="app", ends=None).get("proposals", []) if "gamma" in row["name"]), "none")
    home.answer(f"skillfold approve {name}", ("[y/N]", "y"), folder="app", writes=OWN, removes=(*GOES, "skills.lock"))
    home.check(LOCKED, "an update is approved, and the other skills stay", text in home.has("app/.agents/skills/gamma/SKILL.md")
               and all(f'name = "{name}"' in home.has("app/skills.lock") for name in ("alpha", "beta", "delta")))
    home.do("verify", folder="app")
    home.check(COPIES, "are used and fetched", any(f"{CACHE}/git/" in path for path in home.files))
    home.check(NEEDED, "has what the lock needs", any(f"{DATA}/locks/" in path for path in home.files))
    before = home.has(f"{STATE}/network.jsonl")
    home.do("run", "reach", "scripts/ask.py", writes=("network",))
    home.check(NETWORK, "a connection is appended", home.has(f"{STATE}/network.jsonl").startswith(before) and len(home.has(f"{STATE}/network.jsonl")) > len(before))


def seen(home: Home) -> None:
    """Look for newer versions under a policy that wants them to be a week old."""
    before = {path: content.decode() for path, content in home.files.items() if "/seen/" in path}
    home.write(USER_POLICY, 'format = 1\nminimum-age = "7 days"\n')
    home.files = home.tree()
    held = home.do("outdated", folder="app", writes=("seen",), ends=None)
    home.check(POLICY, "`minimum-age` holds back a new commit", "minimum-age" in held, held)
    after = {path: home.has(path) for path in home.files if "/seen/" in path}
    is_kept = all(after.get(path, "").startswith(text) for path, text in before.items())
    home.check(SEEN, "keeps when each version was seen first, and adds a new one", is_kept and after != before, after)
    (home.home / USER_POLICY).unlink()
    home.files = home.tree()
    home.do("outdated", folder="app", ends=None)


def interrupted(home: Home, other: tuple[str, Path], own: tuple[str, Path]) -> None:
    """What another program was killed over while it installed is finished by this one."""
    for number in range(40):
        home.write(f"sources/many/part-{number}/SKILL.md", skill(f"part-{number}", "first"))
    with Copy(home):
        home.update(*other)
        tries = (kill_adding(home) for _ in range(20))
        left = any(tries)
        home.update(*own)
        home.do("install", folder="app", writes=OWN, removes=(*GOES, "skills.lock", "skills.toml of a project"), ends=None)
        home.check(JOURNAL, "what the other program was killed over is finished", left and not any("/installing/" in path for path in home.files), left)
        home.do("verify", folder="app")


def kill_adding(home: Home) -> bool:
    """Add many skills at a terminal, and kill the program once it has begun to install. Return whether something is left to finish."""
    journal = home.home / DATA / "installing"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["skillfold", "add", "../sources/many", "--all"], cwd=home.home / "app", env=home.environment(), stdin=theirs, stdout=theirs,
        stderr=theirs, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    os.write(ours, b"y\n" * 50)
    end = time.monotonic() + 60
    while process.poll() is None and not any(journal.glob("*.json")) and time.monotonic() < end:
        # What is printed has to be read, or the program waits.
        if select.select([ours], [], [], 0.001)[0]:
            with contextlib.suppress(OSError):
                os.read(ours, 1 << 16)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    os.close(ours)
    return any(journal.glob("*.json"))


def journey(findings: Findings, old: Path, new: Path, keep: bool, put: Put = by_rename) -> None:
    home = Home("lock", findings, put)
    lay_out(home)
    with archive() as address:
        home.begin(LOCK, old, "first use")
        make(home, address)
        for round_, text in enumerate(("second", "third")):
            home.begin(NEW, new, FORWARD)
            holds(home)
            access(home, f"build-{round_}")
            interrupted(home, (LOCK, old), (NEW, new))
            goes_on(home, f"{text} by the new one")
            written = home.tree()
            home.begin(LOCK, old, BACK)
            holds(home)
            home.check(TOKENS, "is left", f"[tokens.build-{round_}]" in home.has("tokens.toml"))
            interrupted(home, (NEW, new), (LOCK, old))
            home.check(LOCKED, "is as the new program wrote it", all(home.files.get(path) == written[path] for path in ("app/skills.lock", "app/skills.toml")))
            if round_ == 0:
                goes_on(home, f"{text} by the old one")
        home.begin(NEW, new, FORWARD)
        holds(home)
    if not keep:
        home.remove()
