"""Starts every server and uses it with the system's git, curl's stand-in of Python, and ssh: `servers.py --check`."""

from __future__ import annotations

import base64
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from processes import descendants
from repositories import skills_repository
from servers import Authority, Files, GitHttp, GitSsh, Proxy

FOLDER = Path(__file__).resolve().parent


def say(what: str, is_so: bool, seen: object = "") -> None:
    if not is_so:
        raise SystemExit(f"not so: {what}\n{seen}")
    print(f"  works: {what}")


@contextmanager
def timed(server):  # noqa: ANN001, ANN201
    start = time.perf_counter()
    with server as running:
        started = time.perf_counter()
        yield running
        stop = time.perf_counter()
    stopped = time.perf_counter()
    name = type(server).__name__
    print(f"{name}: started in {1000 * (started - start):.0f} ms, stopped in {1000 * (stopped - stop):.0f} ms")


def git(home: Path, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run git as a user without settings."""
    clean = {"HOME": str(home), "PATH": os.environ["PATH"], "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TEMPLATE_DIR": ""}
    command = ["git", "-c", "user.name=anna", "-c", "user.email=anna@example.com", *map(str, words)]
    return subprocess.run(command, env=clean | environment, cwd=home, capture_output=True, text=True, timeout=120)


def check_git(home: Path, server: str, url: str, **environment: str) -> None:
    """Clone, clone partially, and push."""
    full, part = home / f"{server}-full", home / f"{server}-part"
    done = git(home, "clone", "-q", url, full, **environment)
    say(f"{server}: clone", done.returncode == 0 and (full / "skills/skill-0000/SKILL.md").exists(), done.stderr)
    done = git(home, "clone", "-q", "--filter=blob:none", "--no-checkout", "--depth=1", url, part, **environment)
    missing = git(home, "-C", part, "rev-list", "--objects", "--missing=print", "HEAD").stdout.count("\n?")
    say(f"{server}: partial clone, {missing} blobs left out", done.returncode == 0 and missing > 0, done.stderr)
    done = git(home, "-C", part, "cat-file", "-p", "HEAD:skills/skill-0000/SKILL.md", **environment)
    say(f"{server}: one blob later", done.stdout.startswith("---\n"), done.stderr)
    (full / "new.bin").write_bytes(os.urandom(3 << 20))
    git(home, "-C", full, "add", ".")
    git(home, "-C", full, "commit", "-qm", "more")
    done = git(home, "-C", full, "push", "-q", "origin", f"HEAD:refs/heads/{server}", **environment)
    say(f"{server}: push of 3 MiB", done.returncode == 0, done.stderr)
    commit = git(home, "-C", full, "rev-parse", "HEAD~1").stdout.strip()
    bare = home / f"{server}.git"
    git(home, "init", "-q", "--bare", bare)
    done = git(home, "-C", bare, "fetch", "-q", "--depth=1", url, commit, **environment)
    say(f"{server}: fetch of one commit", done.returncode == 0, done.stderr)


def get(url: str, context: ssl.SSLContext | None = None, **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(url, headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(request, timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def fails(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=0.5) as answer:
            answer.read()
            return False
    except Exception:  # noqa: BLE001
        return True


def check_files(files: Files, context: ssl.SSLContext) -> None:
    say("files", get(files.url("a.tar")) == (200, b"a" * 1000))
    say("files over HTTPS", get(files.secure_url("a.tar"), context) == (200, b"a" * 1000))
    say("ranges", get(files.url("a.tar"), Range="bytes=10-19") == (206, b"a" * 10))
    say("private files", get(files.url("team/b.tar"))[0] == 401)
    login = "Basic " + base64.b64encode(b"anna:secret").decode()
    say("private files with a login", get(files.url("team/b.tar"), Authorization=login) == (200, b"b"))
    limited = files.odd("limited", "a.tar")
    say("429, then 200", [get(limited)[0] for _ in range(2)] == [429, 200])
    unavailable = files.odd("unavailable", "a.tar")
    say("503 twice, then 200", [get(unavailable)[0] for _ in range(3)] == [503, 503, 200])
    say("redirects", get(files.odd("redirect", "a.tar", hops=4))[0] == 200)
    say("a redirect loop", get(files.odd("loop", "a.tar"))[0] == 302)
    files.forget_requests()
    get(files.odd("elsewhere", "a.tar"), Authorization="Bearer token")
    first, second = files.requests()
    seen = (first.authorization, second.host.startswith("127.0.0.2:"), second.authorization)
    say(f"a redirect to another host (Python's client sent it `{seen[2]}`)", seen[:2] == ("Bearer token", True), seen)
    say("gzip on the way", get(files.odd("gzip", "a.tar"))[1][:2] == b"\x1f\x8b")
    say("a short body", fails(files.odd("short", "a.tar")))
    say("a long body", len(get(files.odd("long", "a.tar"))[1]) == 900)
    say("a reset connection", fails(files.odd("reset", "a.tar")))
    say("a stalled body", fails(files.odd("stalled", "a.tar")))
    say("a silent server", fails(files.odd("silent", "a.tar")))
    start = time.perf_counter()
    get(files.secure_odd("slow", "a.tar", size=500, pause=0.1), context)
    say("a slow body", time.perf_counter() - start > 0.1)
    with urllib.request.urlopen(files.odd("endless", "a.tar"), timeout=5) as answer:
        say("an endless body, 64 MiB of it", sum(len(answer.read(1 << 20)) for _ in range(64)) == 64 << 20)
    say("a bomb of 1 GiB", len(get(files.odd("bomb", "a.tar"))[1]) < 2 << 20)


def check_proxy(home: Path, http: GitHttp, authority: Authority) -> None:
    address = http.secure_host.split(":")
    with timed(Proxy({"skills.example": (address[0], int(address[1]))}, login=("anna", "pw"))) as proxy:
        environment = proxy.environment() | authority.environment()
        done = git(home, "clone", "-q", "https://skills.example/skills.git", home / "tunnel", **environment)
        say("git over HTTPS through the proxy", done.returncode == 0 and set(proxy.hosts) == {"skills.example:443"}, done.stderr)
        done = git(home, "clone", "-q", http.url("skills"), home / "forwarded", **environment)
        say("git over HTTP through the proxy", done.returncode == 0 and http.host in proxy.hosts, done.stderr)
        done = git(home, "ls-remote", "https://example.com/", **environment)
        say("the proxy does not leave the loopback", done.returncode != 0 and "502" in done.stderr, done.stderr)


def left_after_kill(root: Path) -> int:
    """Kill a process that runs all servers, and return how many of its processes are left."""
    script = f"""
import sys; sys.path.insert(0, {str(FOLDER)!r})
from pathlib import Path
from servers import *
root = Path({str(root)!r})
with GitHttp(root), GitSsh(root), Files(root):
    print("running", flush=True)
    sys.stdin.read()
"""
    # Its temporary folders stay behind, so they are put into one that is removed.
    with tempfile.TemporaryDirectory(prefix="s") as temporary:
        environment = os.environ | {"TMPDIR": temporary}
        test = subprocess.Popen([sys.executable, "-c", script], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        test.stdout.readline()
        servers = descendants({test.pid}) - {test.pid}
        test.send_signal(signal.SIGKILL)
        test.wait()
        end = time.monotonic() + 2
        while (left := [number for number in servers if is_running(number)]) and time.monotonic() < end:
            time.sleep(0.01)
        print(f"  killed: {len(servers)} processes of servers, {len(left)} left")
        return len(left)


def is_running(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="skillfold-check-") as temporary:
        home = Path(temporary)
        root, files = home / "repositories", home / "files"
        skills = skills_repository(root / "skills.git", 50)
        skills_repository(root / "private.git", 3)
        (files / "team").mkdir(parents=True)
        (files / "a.tar").write_bytes(b"a" * 1000)
        (files / "team/b.tar").write_bytes(b"b")
        with timed(Authority("skills.example")) as authority:
            with timed(GitHttp(root, {"private": ("anna", "secret")}, authority)) as http:
                check_git(home, "http", http.url("skills"))
                check_git(home, "https", http.secure_url("skills"), **authority.environment())
                done = git(home, "ls-remote", http.secure_url("skills"))
                say("https: refused without the authority", "certificate" in done.stderr, done.stderr)
                done = git(home, "ls-remote", http.url("private"))
                say("http: a private repository wants a login", done.returncode != 0, done.stdout)
                with_login = http.url("private").replace("://", "://anna:secret@")
                done = git(home, "ls-remote", with_login)
                say("http: and opens with it", done.returncode == 0, done.stderr)
                print(f"  recorded: {len(http.requests())} requests, {http.bytes_sent()} bytes sent")
                check_proxy(home, http, authority)
            with timed(GitSsh(root)) as ssh:
                command = {"GIT_SSH_COMMAND": ssh.git_ssh_command}
                check_git(home, "ssh", ssh.url("skills"), **command)
                done = git(home, "ls-remote", ssh.short_url("skills"), **command)
                say("ssh: the short form", done.stdout.count("refs/tags/") >= len(skills.tags), done.stderr)
                done = subprocess.run([*ssh.git_ssh_command.split(), "127.0.0.1", "id"], capture_output=True, text=True)
                say("ssh: nothing but git", done.returncode == 128 and "refused: id" in done.stderr, done.stderr)
                ssh.known_hosts.write_text("")
                done = git(home, "ls-remote", ssh.url("skills"), **command)
                say("ssh: an unknown host is refused", done.returncode != 0 and "verification failed" in done.stderr, done.stderr)
            with timed(Files(files, {"team/": ("anna", "secret")}, authority)) as served:
                check_files(served, ssl.create_default_context(cafile=str(authority.file)))
        say("servers end with a test that is killed", left_after_kill(root) == 0)
