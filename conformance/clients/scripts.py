#!/usr/bin/env python3
"""Drives real clients whose model runs scripts and tools of skills, and shows what the model gets, and what the user is asked.

    python3 conformance/clients/scripts.py --skillfold target/release/skillfold --cache FOLDER [--client NAME]...

A client runs as in hooks.py: an empty environment, a home of its own, the loopback only, a scripted model; `skillfold setup CLIENT`
configures our server, and `relay.py` keeps what client and server say to each other. The user allows skills in a real terminal
(tmux). FOLDER/captures keeps the requests that the model got, and the screens with the forms. In Claude Code and Codex:

- the model runs a script of an allowed skill on a file of the project, by its relative path, and calls the skill's tool: by
  `call_skill_tool`, and in Claude Code under its own name, which Codex does not know;
- if the skill is not allowed, or not for the folder that the client works in, the model is told the command that allows it;
- if a script fails because the skill may not read the project, the model is told the command that lets it;
- once the user let clients ask, the client shows the question as a form, in terminals of two sizes: after a no nothing is allowed,
  after a yes the script runs. A client without a terminal answers the form itself, and does not say yes. What does not fit
  into a form is not asked.

The last line is one JSON object: what was found in each client. It fails if anything differs.
"""

import argparse
import concurrent.futures
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import judge
from clients import CLIENTS, HERE, install, namespace
from terminal import Checks, Terminal, World, wait_for

ATTEMPTS = 3
COUNT = "import sys\nname = sys.argv[1]\nprint(len(open(name).read().split()), 'words in', name)\n"
TOOL = "import json, sys\nprint(len(json.load(sys.stdin)['text'].split()), 'words')\n"
TOOLS = json.dumps(
    {
        "tools": [
            {
                "name": "count",
                "description": "Counts the words of a text.",
                "script": "scripts/tool.py",
                "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
            }
        ]
    }
)
READS = "permissions: { project: read }"
# Of each skill, what its frontmatter has besides the name and the description.
SKILLS = {
    "report": ('toolsets: ["toolsets/tools.json:tools"]', READS),
    "blind": (),
    "draft": ('toolsets: ["toolsets/tools.json:tools"]', READS),
    "greedy": (f"permissions: {{ env: [{', '.join(f'TOKEN_{number}' for number in range(18))}] }}",),
}
RUNS = "3 words in docs/a.txt\n"
SIZES = {"no": (80, 24), "yes": (120, 40)}


def refusal(skill):
    return f"Refused to run `{skill}`: it is not allowed, or changed since it was allowed: `skillfold allow {skill}`."


class ClaudeCode:
    """How Claude Code is driven."""

    # How it answers a form without a terminal, and with a no.
    without_terminal, no = "cancel", "decline"
    has_own_names = True
    # It works with a version of the protocol in which the question is the result of a call.
    is_asked_by = "input_required"
    under_form = "Esc to cancel · ↑/↓ to navigate"

    @staticmethod
    def prepare(person):
        # Its first start asks about these.
        file = person.world.home / ".claude.json"
        known = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": ["none"], "rejected": []}}
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        known["projects"] = {str(person.project): trusted}
        file.write_text(json.dumps(json.loads(file.read_text()) | known))
        # The first request would not wait for our server.
        person.job["environment"]["MCP_CONNECTION_NONBLOCKING"] = "false"
        # Its folder in /tmp may be another user's.
        person.job["environment"]["CLAUDE_CODE_TMPDIR"] = str(person.world.root)

    @staticmethod
    def arguments(person):
        return person.client.arguments

    @staticmethod
    def arguments_in_terminal(person):
        return ["--allowedTools=mcp__skillfold"]

    @staticmethod
    def search(*tools):
        """Returns the call that loads the definitions of tools; it names them only."""
        return [{"tool": "ToolSearch", "input": {"query": "select:" + ",".join(f"mcp__skillfold__{tool}" for tool in tools)}}]

    @staticmethod
    def answer(terminal, is_yes):
        if not is_yes:
            press_until(terminal, "Right", lambda screen: "❯ Decline" in screen)
        press_until(terminal, "Enter", lambda screen: "requests your input" not in screen)


class Codex:
    """How Codex is driven."""

    without_terminal, no = "decline", "decline"
    has_own_names = False
    is_asked_by = "elicitation/create"
    under_form = "enter to submit | esc to cancel"

    @staticmethod
    def prepare(person):
        person.job["files"] = {
            file: f'{text}\n[projects."{person.project}"]\ntrust_level = "trusted"\n' for file, text in person.job["files"].items()
        }

    @staticmethod
    def arguments(person):
        # Without a terminal it refuses tools that may change something, unless the user approved them beforehand.
        return ["-c", 'mcp_servers.skillfold.default_tools_approval_mode="approve"', *person.client.arguments]

    @staticmethod
    def arguments_in_terminal(person):
        # Hooks need an approval too.
        return ["--dangerously-bypass-hook-trust"]

    @staticmethod
    def search(*tools):
        return []

    @staticmethod
    def answer(terminal, is_yes):
        choice = "1. Allow" if is_yes else "2. Deny"
        if not is_yes:
            press_until(terminal, "Down", lambda screen: f"› {choice}" in screen)
        press_until(terminal, "Enter", lambda screen: "Decline this request" not in screen)


DRIVERS = {"claude-code": ClaudeCode, "codex": Codex}


def press_until(terminal, key, is_so):
    """Presses a key, again if the client did not take it, until the screen is as it should be."""
    for _ in range(10):
        terminal.type(key)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            if is_so(terminal.screen()):
                return
            time.sleep(0.05)
    raise SystemExit(f"{key} changes nothing:\n{terminal.screen()}")


class Person:
    """A user with one client, whose skills have scripts."""

    def __init__(self, skillfold, cache, client):
        self.client, self.driver, self.cache = client, DRIVERS[client.name], cache
        self.check, self.runs, self.found = Checks(), [], {}
        self.world = World(f"scripts-{client.name}", skillfold)
        for name, lines in SKILLS.items():
            front = "\n".join([f"name: {name}", f"description: Counts words for the {name}.", *lines])
            files = {"SKILL.md": f"---\n{front}\n---\nCount words with scripts/count.py.\n", "scripts/count.py": COUNT}
            if "toolsets" in front:
                files |= {"scripts/tool.py": TOOL, "toolsets/tools.json": TOOLS}
            for path, text in files.items():
                self.world.write(f".skillfold/skills/{name}/{path}", text)
        self.world.write("project/docs/a.txt", "one two three\n")
        self.world.write("other/docs/a.txt", "one two\n")
        self.project = self.world.home / "project"
        self.skillfold("config", "set", "scripts", "on")
        self.skillfold("setup", client.name, "--yes", "--list", "both")
        self.relay()
        node = shutil.which("node") or sys.exit("error: node is not installed")
        self.isolated = namespace() or sys.exit("error: the system allows no network namespace")
        self.result = self.world.root / "result.json"
        self.job = client.job(node, cache / "node_modules", self.world.home, "", [], self.result)
        self.program = self.job["command"][: -1 - len(client.arguments)]
        self.driver.prepare(self)

    def skillfold(self, *words):
        done = self.world.run(*words)
        self.check(f"skillfold {' '.join(words)}", done.returncode == 0, done)
        return done.stdout

    def relay(self):
        """Puts the relay between the client and the server."""
        relay = self.world.bin / "relay"
        shutil.copy(HERE / "relay.py", relay)
        relay.chmod(0o755)
        file = self.world.home / (self.client.file or ".claude.json")
        text, server = file.read_text(), f'{self.world.bin}/skillfold"'
        self.check("the client starts our server", text.count(server) == 1, text)
        file.write_text(text.replace(server, f'{relay}"'))

    def wire(self):
        """Returns what client and server said so far: who, and the message."""
        log = self.world.bin / "wire.jsonl"
        lines = log.read_text().splitlines() if log.exists() else []
        return [(line["from"], line["message"]) for line in map(json.loads, lines)]

    def forms(self):
        """Returns the questions that the server asked so far, with how each was asked and answered."""
        questions, answers, wire = [], [], self.wire()
        for sender, message in wire:
            result = message.get("result") or {}
            if sender == "server" and message.get("method") == "elicitation/create":
                questions.append((message["params"]["message"], "elicitation/create"))
            elif sender == "server" and "inputRequests" in result:
                questions.append((result["inputRequests"]["allow"]["params"]["message"], result["resultType"]))
            elif sender == "client" and "action" in result:
                answers.append(result["action"])
            elif sender == "client" and "inputResponses" in (message.get("params") or {}):
                answers.append(message["params"]["inputResponses"]["allow"]["action"])
        return questions, answers

    def allowed(self):
        """Returns the ids of the allowed skills."""
        listed = json.loads(self.skillfold("allow", "--list", "--json"))["skills"]
        return sorted(pathlib.Path(row["folder"]).name for row in listed)

    def calls(self, *calls):
        return [{"tool": self.client.prefix + tool, "input": given, **self.client.call} for tool, given in calls]

    def run_script(self, skill):
        return self.calls(("run_skill_script", {"skill_id": skill, "script": "scripts/count.py", "arguments": ["docs/a.txt"]}))

    def load(self, skill):
        return self.calls(("load_skill", {"skill_id": skill}))

    def prepared(self, script):
        """Returns a script that begins with what the client needs to know our tools."""
        return [*self.driver.search("load_skill", "run_skill_script", "call_skill_tool"), *script]

    def answers(self, turns, script):
        """Returns what the model got for each call of a script."""
        found = list(judge.results(turns[-1])) if turns else []
        return found[len(self.prepared([])) :] if len(found) == len(script) else []

    def converse(self, calls, folder=None, options=(), is_known=judge.is_connected):
        """Runs a conversation without a terminal; returns what the model got for each call. A client that was too slow to
        know our tools before the model called one runs again."""
        script = self.prepared(calls)
        command = [*self.program, *options, *self.driver.arguments(self), "Count the words"]
        job = self.job | {"command": command, "script": script, "folder": str(folder or self.project)}
        (self.world.root / "job.json").write_text(json.dumps(job))
        for _ in range(ATTEMPTS):
            subprocess.run([*self.isolated, sys.executable, HERE / "inside.py", self.world.root / "job.json"], check=True)
            done = json.loads(self.result.read_text())
            self.runs.append(done)
            self.check("the client ends well", done["code"] == 0, done["printed"][-2000:])
            if is_known(done["turns"], script):
                break
        answers = self.answers(done["turns"], script)
        self.check("every call has an answer", len(answers) == len(calls), judge.kept(done["turns"][-1:])[-4000:])
        return answers

    def gets(self, what, answer, text):
        self.check(what, judge.has_text(answer, text), answer)

    def allow(self, skill):
        terminal = Terminal(self.world, 80, 24, "NO_COLOR=1")
        try:
            terminal.type(f"cd {shlex.quote(str(self.project))}; clear; skillfold allow {skill}", "Enter")
            terminal.wait("[y/N]")
            terminal.type("y", "Enter")
            terminal.wait("Allowed: ")
        finally:
            terminal.close()

    def let_clients_ask(self):
        terminal = Terminal(self.world, 80, 24, "NO_COLOR=1")
        try:
            terminal.type("clear; skillfold allow --ask-in-clients on", "Enter")
            terminal.wait("[y/N]")
            terminal.type("y", "Enter")
            terminal.wait("Clients may ask")
        finally:
            terminal.close()

    def answer_form(self, name):
        """Runs a conversation in a terminal, whose user answers the form; returns what the model got, and the form's text."""
        script = self.prepared(self.run_script("draft"))
        command = [*self.program, *self.driver.arguments_in_terminal(self), "Count the words"]
        environment = self.job["environment"] | {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
        job = self.job | {"command": command, "script": script, "terminal": True, "environment": environment}
        file = self.world.root / "job.json"
        file.write_text(json.dumps(job))
        self.result.unlink(missing_ok=True)
        columns, rows = SIZES[name]
        terminal = Terminal(self.world, columns, rows)
        try:
            terminal.type(shlex.join([*self.isolated, sys.executable, str(HERE / "inside.py"), str(file)]), "Enter")
            if self.client.name == "codex":
                # Its own question, whether this tool may be called at all.
                terminal.wait('run tool "run_skill_script"?')
                press_until(terminal, "Enter", lambda screen: "Run the tool and continue" not in screen)
            terminal.wait("Let `draft` run")
            # The last line.
            screen = terminal.wait(self.driver.under_form)
            (self.cache / "captures" / f"{self.client.name}-form-{columns}x{rows}.txt").write_text(screen)
            self.driver.answer(terminal, name == "yes")
            self.check("the conversation ends", wait_for(self.result.exists), terminal.screen())
        finally:
            terminal.close()
        done = json.loads(self.result.read_text())
        self.runs.append(done)
        question = self.forms()[0][-1][0]
        for line in question.split("\n"):
            self.check(f"the form shows {line!r} at {columns}x{rows}", line in screen, screen)
        answers = self.answers(done["turns"], script)
        self.check("the call has an answer", len(answers) == 1, judge.kept(done["turns"][-1:])[-4000:])
        return answers[0], question

    def close(self):
        captures = self.cache / "captures"
        captures.mkdir(exist_ok=True)
        (captures / f"{self.client.name}-scripts.json").write_text(judge.kept(self.runs))
        wire = self.world.bin / "wire.jsonl"
        if wire.exists():
            shutil.copy(wire, captures / f"{self.client.name}-scripts-wire.jsonl")
        self.world.remove()


def run_allowed(person):
    """The model runs what the user allowed beforehand, and is told how the rest is allowed."""
    person.allow("report")
    person.allow("blind")
    script = [
        *person.load("report"),
        *person.run_script("report"),
        *person.calls(("call_skill_tool", {"skill_id": "report", "tool": "count", "arguments": {"text": "a b c d"}})),
        *person.run_script("draft"),
        *person.run_script("blind"),
    ]
    loaded, ran, called, refused, failed = person.converse(script)
    person.gets("a loaded skill names its scripts", loaded, "`run_skill_script` runs these scripts of the skill: scripts/count.py")
    person.gets("and its tools", loaded, "`call_skill_tool` calls its tool `count`")
    person.gets("a script gets a file of the project by a relative path", ran, RUNS)
    person.gets("a tool is called", called, "4 words")
    person.gets("the model is told how a skill is allowed", refused, refusal("draft"))
    person.gets("the model gets what a script said", failed, "No such file or directory: 'docs/a.txt'")
    note = "`docs/a.txt` is in your project, which this skill may not read: `skillfold allow blind --project read`"
    person.gets("and what lets it read the file", failed, note)
    person.check("nothing else is allowed", person.allowed() == ["blind", "report"], person.allowed())


def knows_the_rest(turns, script):
    """Returns whether the client knew our tools, but for the last."""
    return judge.is_connected(turns[:-1], script[:-1])


def call_by_own_name(person):
    """The model calls a tool under its own name."""
    own = person.calls(("report__count", {"text": "a b"}))
    if person.driver.has_own_names:
        script = [*person.load("report"), *person.run_script("report"), *person.driver.search("report__count"), *own]
        person.gets("a tool is called by its own name", person.converse(script)[-1], "2 words")
    else:
        script = [*person.load("report"), *own]
        unknown = person.converse(script, is_known=knows_the_rest)[-1]
        person.gets("the client does not know the tool's own name", unknown, "unsupported call")


def work_elsewhere(person):
    """A skill that is allowed for one project does not run in another."""
    other = person.world.home / "other"
    refused = person.converse(person.run_script("report"), other)[0]
    person.gets("the model is told where the skill is not allowed", refused, "it is not allowed in ~/other yet: `skillfold allow report`")
    if person.client.name == "codex":
        ran = person.converse(person.run_script("report"), other, ["-C", str(person.project)])[0]
        person.gets("the project is the folder that the client was told to work in", ran, RUNS)


def ask_without_terminal(person):
    """A client without a terminal answers the form, and does not say yes."""
    before = len(person.forms()[0])
    person.check("no form before the user let clients ask", before == 0, person.forms())
    person.let_clients_ask()
    refused, too_long = person.converse([*person.run_script("draft"), *person.run_script("greedy")])
    person.gets("nothing runs without a user", refused, refusal("draft"))
    person.gets("what does not fit into a form is not asked", too_long, refusal("greedy"))
    questions, answers = person.forms()
    person.check("only what fits was asked", [by for _, by in questions] == [person.driver.is_asked_by], questions)
    person.check("the client answers the form itself", answers == [person.driver.without_terminal], answers)
    person.check("nothing else is allowed", person.allowed() == ["blind", "report"], person.allowed())


def ask_in_terminal(person):
    """The user answers the form in the client: first no, then yes."""
    refused, question = person.answer_form("no")
    person.check("the form says what it is about", "It asks for read access to the project ~/project." in question, question)
    person.gets("the model is told after a no", refused, refusal("draft"))
    person.check("a no allows nothing", person.allowed() == ["blind", "report"], person.allowed())
    ran, _ = person.answer_form("yes")
    person.gets("the script runs after a yes", ran, RUNS)
    person.check("a yes allows it", person.allowed() == ["blind", "draft", "report"], person.allowed())
    answers = person.forms()[1][-2:]
    person.check("the client passed on what the user said", answers == [person.driver.no, "accept"], answers)
    log = (person.world.home / ".local/share/skillfold/audit.jsonl").read_text()
    person.check("the log says that a client gave it", '"how":"client"' in log, log)
    asked = len(person.forms()[0])
    person.gets("the next run works", person.converse(person.run_script("draft"))[0], RUNS)
    person.check("and asks nothing", len(person.forms()[0]) == asked)


def judge_client(skillfold, cache, client):
    person = Person(skillfold, cache, client)
    try:
        for step in (run_allowed, call_by_own_name, work_elsewhere, ask_without_terminal, ask_in_terminal):
            step(person)
        questions, answers = person.forms()
        return {
            "checks": person.check.done,
            "own_names": person.driver.has_own_names,
            "asked_by": person.driver.is_asked_by,
            "without_terminal": answers[0],
            "forms": len(questions),
        }
    finally:
        person.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skillfold", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--client", action="append", choices=list(DRIVERS))
    chosen = parser.parse_args()
    skillfold, cache = chosen.skillfold.resolve(), chosen.cache.resolve()
    clients = [client for client in CLIENTS if client.name in (chosen.client or DRIVERS)]
    install(cache, clients)
    (cache / "captures").mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        judged = list(pool.map(lambda client: judge_client(skillfold, cache, client), clients))
    print(json.dumps({client.name: found for client, found in zip(clients, judged)}))


if __name__ == "__main__":
    main()
