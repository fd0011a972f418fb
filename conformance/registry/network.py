"""What a user meets on a network: busy servers, redirects, broken bodies, proxies, tokens, unknown authorities, and none at all.

Each case has a machine of its own. Hosts with names are reached through a proxy, which is also how the tests see that one is used.
"""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import itertools
import re
import shutil
from pathlib import Path

import network_answers
import repositories
from checks import Checks
from machine import LOCK, MANIFEST, Done, Machine, installed
from network_answers import NAME, TOKEN, is_added
from servers import Authority, Files, GitHttp, GitSsh, Proxy
from sources import tar

SKILL = repositories.skill_files(f"skills/{NAME}", 1, "Fills in forms. Use it when a user asks for a form")
# A user of a private repository is who has the token.
LOGIN = ("x-access-token", TOKEN)
OWN, OTHER = "skills.example", "other.example"
NAMES = (OWN, OTHER, "github.com")


class Ground:
    """Servers of one skill, and new machines."""

    def __init__(self, stack: contextlib.ExitStack, folder: Path, binary: Path) -> None:
        self.folder, self.binary, self.numbers = folder, binary, itertools.count(1)
        for name in ("repositories", "files"):
            (folder / name).mkdir()
        for name in ("skills", "private", "example/skills", "example/private"):
            repositories.build(folder / f"repositories/{name}.git", {"v1.0.0": SKILL})
        (folder / "files/skills.tar.gz").write_bytes(tar(SKILL, "skills-1.0.0/"))
        self.authority = stack.enter_context(Authority(*NAMES))
        self.git = stack.enter_context(GitHttp(folder / "repositories", {"private": LOGIN, "example/private": LOGIN}, self.authority))
        self.ssh = stack.enter_context(GitSsh(folder / "repositories"))
        self.files = stack.enter_context(Files(folder / "files", authority=self.authority))
        # The same files, for what runs at the same time.
        self.odd_files = stack.enter_context(Files(folder / "files", authority=self.authority))

    def machine(self, **environment: str) -> Machine:
        trusted = self.authority.environment()
        own = {name: trusted[name] for name in ("GIT_SSL_CAINFO", "SSL_CERT_FILE")}
        return Machine(self.folder / f"machine-{next(self.numbers)}", self.binary, **own | environment)

    def add(self, address: str, **environment: str) -> tuple[Done, Machine]:
        """Add all of a source in a terminal, on a new machine."""
        machine = self.machine(**environment)
        return machine.type(machine.project(), "add", address, "--all"), machine

    def proxy(self, secure: str, login: tuple[str, str] | None = None) -> Proxy:
        """Return a proxy on which all names lead to a server."""
        host, port = secure.split(":")
        return Proxy({name: (host, int(port)) for name in NAMES}, login)


def run(checks: Checks, binary: Path, folder: Path) -> None:
    with contextlib.ExitStack() as stack:
        ground = Ground(stack, folder, binary)
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            # They mostly wait.
            waiting = [threads.submit(check, checks, ground) for check in network_answers.CHECKS]
            for check in (proxies, logins, tokens, leaks, without_credential, helper, authorities):
                check(checks, ground)
            if shutil.which("strace"):
                offline(checks, ground)
                quiet(checks, ground)
            else:
                checks.leave_out("where commands connect to", "strace is not installed")
            for one in waiting:
                one.result()


def proxies(checks: Checks, ground: Ground) -> None:
    git, archive = (ground.git.secure_host, "skills.git"), (ground.files.secure_host, "skills.tar.gz")
    for what, (secure, path) in {"git": git, "archive": archive}.items():
        with ground.proxy(secure, ("anna", "pw")) as proxy:
            only = {"HTTPS_PROXY": proxy.url}
            done, machine = ground.add(f"https://{OWN}/{path}", **only)
            reached = set(proxy.requests) == {("CONNECT", f"{OWN}:443")}
            used = is_added(done, machine) and reached
            checks.check(f"HTTPS_PROXY is used, with its password ({what})", used, f"{done}\n{proxy.requests}")
            proxy.requests.clear()
            for variable in ("NO_PROXY", "no_proxy"):
                done, machine = ground.add(f"https://{secure}/{path}", **only, **{variable: "internal.example,127.0.0.1"})
                direct = is_added(done, machine) and not proxy.requests
                checks.check(f"A host of {variable} is reached without the proxy ({what})", direct, f"{done}\n{proxy.requests}")
            wrong = proxy.url.replace(":pw@", ":other@")
            done, machine = ground.add(f"https://{OWN}/{path}", HTTPS_PROXY=wrong)
            told = done.code != 0 and "hint: " in done.said and "other@" not in done.said
            checks.check(f"A proxy that refuses is an error, and its password is not shown ({what})", told, done)


def logins(checks: Checks, ground: Ground) -> None:
    """A token of the environment opens a private repository, and is kept nowhere."""
    with ground.proxy(ground.git.secure_host) as proxy:
        own = {"HTTPS_PROXY": proxy.url, "SKILLFOLD_TOKEN_SKILLS_EXAMPLE": TOKEN}
        done, machine = ground.add(f"https://{OWN}/private.git", **own)
        checks.check("SKILLFOLD_TOKEN_… opens a private repository over https", is_added(done, machine), done)
        kept = [str(path) for path in machine.folder.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
        kept += [] if TOKEN not in done.said else ["the terminal"]
        checks.none("A token is in no file of the machine and not on the terminal", kept)
        done, machine = ground.add(f"https://{OWN}/private.git", **own | {"SKILLFOLD_TOKEN_SKILLS_EXAMPLE": "wrong"})
        told = done.code not in (0, None) and "hint: " in done.said
        checks.check("A wrong token is refused, and the message has a way out", told, done)
        for name in ("GH_TOKEN", "GITHUB_TOKEN"):
            ground.git.forget_requests()
            done, machine = ground.add("example/private", HTTPS_PROXY=proxy.url, **{name: TOKEN})
            expected = "Basic " + base64.b64encode(":".join(LOGIN).encode()).decode()
            sent = {request.authorization for request in ground.git.requests()}
            # Git asks without it first.
            is_sent = is_added(done, machine) and sent == {"", expected}
            checks.check(f"{name} is sent to github.com, where it is asked for", is_sent, f"{sent}\n{done}")
        ground.git.forget_requests()
        done, machine = ground.add("example/skills", HTTPS_PROXY=proxy.url, GH_TOKEN=TOKEN)
        sent = {request.authorization for request in ground.git.requests()}
        checks.check("A public repository is not told the token", is_added(done, machine) and sent == {""}, f"{sent}\n{done}")
    done, machine = ground.add(ground.git.secure_url("private"), SKILLFOLD_TOKEN_127_0_0_1=TOKEN)
    checks.check("A token is for its host on any port", is_added(done, machine), done)


def tokens(checks: Checks, ground: Ground) -> None:
    ground.files.forget_requests()
    address = ground.files.secure_odd("plain", "skills.tar.gz")
    done, machine = ground.add(address, SKILLFOLD_TOKEN_127_0_0_1=TOKEN, SKILLFOLD_TOKEN_OTHER_EXAMPLE="another", GH_TOKEN="theirs")
    sent = [request.authorization for request in ground.files.requests()]
    only_own = is_added(done, machine) and set(sent) == {f"Bearer {TOKEN}"}
    checks.check("An archive's host gets its token and no other", only_own, f"{done}\n{sent}")
    ground.files.forget_requests()
    address = ground.files.secure_odd("plain", "skills.tar.gz")
    done, machine = ground.add(address, SKILLFOLD_TOKEN_OTHER_EXAMPLE=TOKEN, GH_TOKEN=TOKEN)
    sent = [request.authorization for request in ground.files.requests()]
    checks.check("Other hosts get no token", is_added(done, machine) and set(sent) == {""}, f"{done}\n{sent}")
    with_password = ground.git.secure_url("private").replace("://", f"://{LOGIN[0]}:{TOKEN}@")
    done, machine = ground.add(with_password)
    unkept = TOKEN not in done.said and not any((machine.project() / name).exists() for name in (MANIFEST, LOCK))
    refused = done.code not in (0, None) and unkept
    checks.check("An address with a password is refused, and the password not repeated", refused, done)


def leaks(checks: Checks, ground: Ground) -> None:
    """A redirect to another host does not bring it the token."""
    with ground.proxy(ground.files.answers["https"].base.removeprefix("https://")) as proxy:
        proxy.names[OTHER] = ("127.0.0.1", int(ground.git.secure_host.split(":")[1]))
        target = f"https://{OTHER}/skills.git/info/refs?service=git-upload-pack"
        path = ground.files.secure_odd("to", "skills.git", location=target).split("/", 3)[3]
        ground.git.forget_requests()
        done, machine = ground.add(f"https://{OWN}/{path}", HTTPS_PROXY=proxy.url, SKILLFOLD_TOKEN_SKILLS_EXAMPLE=TOKEN)
        sent = [request.authorization for request in ground.git.requests()]
        checks.check("Git's redirect to another host does not bring it the token", not any(sent), f"{sent}\n{done}")


def without_credential(checks: Checks, ground: Ground) -> None:
    """A private repository ends with an explanation; nothing asks, in a terminal or in a window."""
    asked = ground.folder / "asked"
    ask = ground.folder / "ask"
    ask.write_text(f"#!/bin/sh\ntouch {asked}\necho secret\n")
    ask.chmod(0o755)
    windows = {"GIT_ASKPASS": str(ask), "SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}
    machine = ground.machine(**windows)
    (machine.home / ".gitconfig").write_text(f"[core]\n\taskPass = {ask}\n")
    done = machine.type(machine.project(), "add", ground.git.secure_url("private"), "--all", seconds=30)
    checks.check("A private repository without a credential is an error, soon", done.code not in (0, None), done)
    checks.check("It asks for nothing", not asked.exists() and not re.search(r"^(Username|Password)", done.out, re.MULTILINE), done)
    checks.check("It names the variable of the token", "SKILLFOLD_TOKEN_127_0_0_1" in done.said, done)
    machine = ground.machine(**windows)
    done = machine.type(machine.project(), "add", ground.ssh.url("skills"), "--all", seconds=30)
    told = done.code not in (0, None) and "hint: " in done.said and "(yes/no" not in done.out
    checks.check("A host that ssh does not know is an error, soon, and nothing is asked", told and not asked.exists(), done)


def helper(checks: Checks, ground: Ground) -> None:
    """The user's own credential helper is asked."""
    machine = ground.machine()
    url = ground.git.secure_url("private")
    store = machine.home / "credentials"
    store.write_text(url.replace("://", f"://{LOGIN[0]}:{TOKEN}@").rpartition("/")[0] + "\n")
    (machine.home / ".gitconfig").write_text(f"[credential]\n\thelper = store --file={store}\n")
    done = machine.type(machine.project(), "add", url, "--all")
    checks.check("A credential helper opens a private repository", is_added(done, machine), done)
    wanted = (machine.project() / MANIFEST).read_text() if is_added(done, machine) else ""
    checks.check("The manifest has the address without it", TOKEN not in wanted, wanted)


def authorities(checks: Checks, ground: Ground) -> None:
    for what, address in (("git", ground.git.secure_url("skills")), ("archive", ground.files.secure_url("skills.tar.gz"))):
        machine = Machine(ground.folder / f"unknown-{what}", ground.binary)
        done = machine.type(machine.project(), "add", address, "--all")
        told = done.code not in (0, None) and "certificate" in done.said.lower() and "hint: " in done.said
        checks.check(f"A certificate of an unknown authority is refused ({what})", told and not installed(machine.project()), done)


def offline(checks: Checks, ground: Ground) -> None:
    """Messages say what is missing, and nothing connects."""
    _, first = ground.add(ground.git.secure_url("skills"))
    project = first.project()
    archived = first.project("archived")
    first.type(archived, "add", ground.files.secure_url("skills.tar.gz"), "--all")
    for what, original in (("git", project), ("archive", archived)):
        machine = ground.machine()
        for file in (MANIFEST, LOCK):
            shutil.copy(original / file, machine.project())
        done, connections = traced(machine, machine.project(), "install", "--frozen", "--offline")
        told = done.code not in (0, None) and NAME in done.said and "--offline" in done.said
        checks.check(f"`--offline` says which skill is missing and how to get it ({what})", told, done)
        checks.none(f"`--offline` connects to nothing ({what})", connections)
    for shown in ("install --frozen --offline", "install --offline", "verify", f"why-installed {NAME}", "vendor", "list", ""):
        done, connections = traced(first, project, *shown.split())
        wrong = connections if done.code == 0 else [str(done)]
        checks.none(f"`{f'skillfold {shown}'.strip()}` connects to nothing", wrong)


def quiet(checks: Checks, ground: Ground) -> None:
    """All commands that fetch ask for what they need, from whom they need it, and tell nobody else."""
    machine = ground.machine()
    project = machine.project()
    ports = {int(host.split(":")[1]) for host in (ground.git.secure_host, ground.files.secure_host)}
    ground.git.forget_requests()
    ground.files.forget_requests()
    wrong: list[str] = []
    for folder, words in (
        (project, ["add", ground.git.secure_url("skills"), "--all"]),
        (machine.project("second"), ["add", ground.files.secure_url("skills.tar.gz"), "--all"]),
        (project, ["outdated"]), (project, ["update"]), (project, ["install"]), (project, ["remove", NAME]),
    ):  # fmt: skip
        done, connections = traced(machine, folder, *words)
        wrong += [f"{' '.join(words)}: {done}"] if done.code != 0 else []
        wrong += [f"{' '.join(words)}: {one}" for one in connections if not is_to(one, ports)]
    checks.none("Every command succeeds and connects to the sources alone", wrong)
    asked = {(request.method, request.path.partition("?")[0]) for request in [*ground.git.requests(), *ground.files.requests()]}
    expected = {("GET", "/skills.git/info/refs"), ("POST", "/skills.git/git-upload-pack"), ("GET", "/skills.tar.gz")}
    checks.check("The servers are asked for the sources and nothing else", asked == expected, asked)
    agents = {request.user_agent for request in [*ground.git.requests(), *ground.files.requests()]}
    plain = all(re.fullmatch(r"(skillfold|git)/[\w.~+-]+", agent) for agent in agents)
    checks.check("Requests name the program and its version and nothing else", plain, agents)


def traced(machine: Machine, project: Path, *words: object) -> tuple[Done, list[str]]:
    """Run a command, and return to which addresses of a network it or a child of it connected."""
    trace = machine.folder / "trace"
    before = ("strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", str(trace))
    done = machine.type(project, *words, before=before)
    lines = trace.read_text(errors="replace").splitlines()
    return done, [line for line in lines if "sa_family=AF_INET" in line]


def is_to(line: str, ports: set[int]) -> bool:
    """Return whether a connection is to one of the ports of this machine."""
    found = re.search(r"sin_port=htons\((\d+)\), sin_addr=inet_addr\(\"127\.0\.0\.1\"\)", line)
    return found is not None and int(found[1]) in ports
