"""Makes system calls of `skillfold` fail, one after the other, and looks whether skills are lost.

Usage: python3 run.py --skillfold target/debug/skillfold [--step N] [--most N] [--errors EIO,ESTALE] [--only list|load|serve]

Linux alone; needs `strace`, and the right to trace a process of one's own. Three things are tried:

list    `skillfold list --json` with the n-th call of each kind failing, for each error, for n = 1, 2, ... until no call is
        hit any more. It must not panic, and if it exits with 0 it has all skills or says on stderr what it could not read.
        A `list` without a fault afterwards has all skills.
load    `skillfold load pdf` in the same way: it exits with 0 and the whole text, or says why not.
serve   `skillfold serve` on stdio; a skill is changed while the n-th call of the thread that follows the files fails. At no
        time does `list_skills` have fewer skills, and when the fault is over the change is seen.

The last line is one JSON object with the counts; the exit code is 1 if anything went wrong.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ERRORS = ["EMFILE", "EIO", "ESTALE", "EINTR", "ENOMEM"]
CALLS = ["openat", "openat2", "getdents64", "read", "pread64", "statx", "newfstatat"]
# A call that is not hit within this time is not made.
PATIENCE = 3.0


def skill(root, folder, description="first"):
    path = root / folder
    path.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {path.name}\ndescription: {description}\n---\nThe text of {path.name}.\n"
    # As editors do: the file is whole at any time.
    new = path / "SKILL.md.new"
    new.write_text(text, encoding="utf-8")
    new.rename(path / "SKILL.md")


def lay_out(folder, links):
    """Makes a home and a project with skills; returns the environment of the command."""
    home, project = folder / "home", folder / "app"
    for name in ["pdf", "mail", "group/sheet", "group/deep/chart", "pulse"]:
        skill(home / ".agents" / "skills", name)
    for number in range(20):
        skill(home / ".claude" / "skills" / "many", f"s{number:02}")
    skill(project / ".claude" / "skills", "deploy")
    (project / ".git").mkdir()
    config = home / ".config" / "skillfold"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('trust_project = true\npoll_seconds = 0\n', encoding="utf-8")
    if links:
        (home / ".agents" / "skills" / "z-linked").symlink_to(home / ".claude" / "skills" / "many" / "s00")
        (project / ".claude" / "skills" / "theirs").symlink_to(home / ".agents" / "skills" / "group")
    return {"HOME": str(home), "PATH": os.environ["PATH"], "RUST_BACKTRACE": "0"}


class Counts:
    def __init__(self):
        self.faults = {"list": 0, "load": 0, "serve": 0}
        self.refused = 0
        self.reported = 0
        self.wrong = []

    def fail(self, what, why):
        self.wrong.append(f"{what}: {why}")
        print(f"wrong: {what}: {why}", file=sys.stderr)


def is_panic(code, stderr):
    return code == 101 or code < 0 or "panicked" in stderr


def try_command(arguments, expect, binary, folder, options, counts):
    """Runs a command with each of its calls failing; `expect` reads from its output what must be there."""
    name = arguments[0]
    environment = lay_out(folder, links=True)
    run = lambda prefix: subprocess.run(  # noqa: E731
        prefix + [binary, *arguments], cwd=folder / "app", env=environment, capture_output=True, text=True, timeout=120
    )
    whole = expect(run([]).stdout)
    assert whole, f"{name} prints nothing without a fault"
    log = folder / "strace.log"
    for error in options.errors:
        for call in CALLS:
            for number in range(1, options.most + 1, options.step):
                what = f"{name}, {call} number {number} fails with {error}"
                log.write_text("")
                done = run(
                    ["strace", "-f", "-o", str(log), "-e", f"trace={call}"]
                    + ["-e", f"inject={call}:error={error}:when={number}"]
                )
                if "INJECTED" not in log.read_text(errors="replace"):
                    break
                counts.faults[name] += 1
                if is_panic(done.returncode, done.stderr):
                    counts.fail(what, f"exit {done.returncode}: {done.stderr[-300:]}")
                elif done.returncode != 0:
                    counts.refused += 1
                    if '"error"' not in done.stdout and not done.stderr.strip():
                        counts.fail(what, f"exit {done.returncode} without a word")
                elif expect(done.stdout) == whole:
                    pass
                elif name == "list" and ("SF519" in done.stderr or "SF705" in done.stderr):
                    counts.reported += 1
                else:
                    counts.fail(what, f"exit 0, not whole, and without a word: {done.stderr[-300:]}")
            if expect(run([]).stdout) != whole:
                counts.fail(f"{name} after {call} failed with {error}", "something is lost")


def find_ids(text):
    """Returns the ids of a listing, wherever they stand in it."""
    try:
        value = json.loads(text)
    except ValueError:
        return []
    found = set()

    def look(value):
        if isinstance(value, dict):
            if isinstance(value.get("id"), str):
                found.add(value["id"])
            for below in value.values():
                look(below)
        elif isinstance(value, list):
            for below in value:
                look(below)

    look(value)
    return sorted(found)


class Client:
    """A client of a server on stdio; messages are lines of JSON."""

    def __init__(self, binary, folder, environment):
        self.errors = open(folder / "stderr.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [binary, "serve", "--structured"],
            cwd=folder / "app",
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        self.answers, self.notices, self.number = {}, [], 0
        self.arrived = threading.Condition()
        threading.Thread(target=self.receive, daemon=True).start()
        about = {"name": "faults", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def receive(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.arrived:
                if "id" in message and "method" not in message:
                    self.answers[message["id"]] = message
                else:
                    self.notices.append(message.get("method"))
                self.arrived.notify_all()

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        number = self.number
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        with self.arrived:
            if not self.arrived.wait_for(lambda: number in self.answers, timeout=60):
                raise TimeoutError(method)
            return self.answers.pop(number)

    def skills(self):
        """Returns each skill's description by id."""
        found, cursor = {}, None
        while True:
            arguments = {"cursor": cursor} if cursor else {}
            answer = self.ask("tools/call", {"name": "list_skills", "arguments": arguments})
            listing = answer["result"]["structuredContent"]
            for one in listing["skills"]:
                found[one["id"]] = one["description"]
            cursor = listing.get("next")
            if not cursor:
                return found

    def follower(self):
        """Returns the thread that follows the files."""
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == "skillfold-watch":
                return int(task.name)
        raise RuntimeError("no thread follows the files")

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(timeout=30)
        self.errors.seek(0)
        return code, self.errors.read()


def wait(is_so, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_so():
            return True
        time.sleep(0.01)
    return is_so()


def try_serve(binary, folder, options, counts, links):
    environment = lay_out(folder, links)
    root = folder / "home" / ".agents" / "skills"
    client = Client(binary, folder, environment)
    every = set(client.skills())
    assert len(every) >= 26, every
    # Everything has to be watched before changes are told.
    time.sleep(1.5)
    log, change = folder / "strace.log", 0
    kind = "with links" if links else "without links"

    def is_whole(what):
        lost = every - set(client.skills())
        if lost:
            counts.fail(what, f"the model was shown a listing without {sorted(lost)}")
        return not lost

    for error in options.errors:
        for call in CALLS:
            for number in range(1, options.most + 1, options.step):
                what = f"serve {kind}, {call} number {number} fails with {error}"
                log.write_text("")
                tracer = subprocess.Popen(
                    ["strace", "-p", str(client.follower()), "-o", str(log), "-e", f"trace={call}"]
                    + ["-e", f"inject={call}:error={error}:when={number}"],
                    stderr=subprocess.PIPE,
                    text=True,
                )
                tracer.stderr.readline()
                change += 1
                skill(root, "pulse", f"change {change}")
                is_hit = wait(lambda: "INJECTED" in log.read_text(errors="replace") or is_seen(client, change), PATIENCE)
                is_hit = is_hit and "INJECTED" in log.read_text(errors="replace")
                for _ in range(5):
                    is_whole(what)
                    time.sleep(0.02)
                tracer.send_signal(signal.SIGINT)
                tracer.wait(timeout=30)
                tracer.stderr.close()
                if not is_hit:
                    break
                counts.faults["serve"] += 1
            # Without the fault, what changed is seen, and nothing is lost.
            change += 1
            skill(root, "pulse", f"change {change}")
            what = f"serve {kind}, after {call} failed with {error}"
            if not wait(lambda: is_seen(client, change), 30):
                counts.fail(what, "a change was not seen within 30 s")
            is_whole(what)
    code, said = client.close()
    if is_panic(code, said):
        counts.fail(f"serve {kind}", f"exit {code}: {said[-300:]}")


def is_seen(client, change):
    return client.skills().get("pulse", "").endswith(f"change {change}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skillfold", required=True)
    parser.add_argument("--step", type=int, default=1, help="tries each so many-th call")
    parser.add_argument("--most", type=int, default=1000, help="calls of one kind that are tried at most")
    parser.add_argument("--errors", default=",".join(ERRORS), type=lambda text: text.split(","))
    parser.add_argument("--only", choices=["list", "load", "serve"])
    options = parser.parse_args()
    if shutil.which("strace") is None:
        print("strace is not installed; no fault can be made", file=sys.stderr)
        return 2
    binary = str(pathlib.Path(options.skillfold).resolve())
    counts = Counts()
    for arguments, expect in [(["list", "--json"], find_ids), (["load", "pdf"], str.strip)]:
        if options.only in [None, arguments[0]]:
            with tempfile.TemporaryDirectory() as folder:
                try_command(arguments, expect, binary, pathlib.Path(folder), options, counts)
    if options.only in [None, "serve"]:
        for links in [False, True]:
            with tempfile.TemporaryDirectory() as folder:
                try_serve(binary, pathlib.Path(folder), options, counts, links)
    print(
        json.dumps(
            {
                "faults_list": counts.faults["list"],
                "faults_load": counts.faults["load"],
                "faults_serve": counts.faults["serve"],
                "exits_with_an_error": counts.refused,
                "exits_with_a_report": counts.reported,
                "wrong": len(counts.wrong),
            }
        )
    )
    return 1 if counts.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
