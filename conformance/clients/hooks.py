#!/usr/bin/env python3
"""Drives real clients through a conversation with our hook and our server, and shows what each prompt gets.

    python3 conformance/clients/hooks.py --skillfold target/release/skillfold --cache FOLDER [--client NAME]...

A client runs as in run.py: an empty environment, a home of its own, the loopback only, a scripted model; `skillfold setup CLIENT`
configures both. Each prompt is a process that resumes the conversation. The requests that the model got are the
proof, and FOLDER/captures keeps them. In Claude Code and Codex, over fourteen prompts:

- instructions that fit a prompt come with it, once; after the compaction, once more; other prompts get nothing;
- a skill in the client's own folder is only named, once;
- of two skills that fit alike one line says what tells them apart, and a skill that says it is not for the prompt gets only a line;
- what the model loaded from our server the hook does not give, and of what the hook gave our server only says that it is there;
- an agent has a conversation of its own: what it loads is not taken from the one that started it. Codex calls the hook for the
  prompt of an agent, so the agent gets instructions too; Claude Code does not.

Claude Code may keep its last messages when it compacts; instructions among them are there twice then. Here it keeps none that has
any. Gemini CLI, Qwen Code and Copilot CLI go through a shorter conversation, without a compaction, an agent or our server's tools.

The hook's log must then have what became of each skill, also of one that Claude Code's model loaded with the client's own tool.

The last line is one JSON object: what the prompts of each client got. It fails if one got anything else than STEPS says.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import uuid

import judge
from clients import CLIENTS, HERE, install, namespace


@dataclasses.dataclass
class Step:
    """A prompt, the skills that the hook then adds, the one that the model loads from our server, and what it gets."""

    prompt: str
    adds: tuple = ()
    loads: str = ""
    gets: str = ""
    is_compacted: bool = False
    has_agent: bool = False
    # The skill that the model loads with the client's own tool, if it has one that our hook hears.
    loads_itself: str = ""


STEPS = [
    Step("hello there", has_agent=True),
    Step("Say bonjour to Alice", adds=("french-greeting",)),
    Step("thanks, looks good"),
    # Only the agent has it.
    Step("Write the weekly report", adds=("weekly-report",)),
    Step("Please do my German tax form", adds=("tax-forms",), loads_itself="tax-forms"),
    Step("and my German tax form of last year"),
    Step("Say bonjour to Bob"),
    Step("back up the database of sqlite and the database of mysql with a dump", adds=("dumps",)),
    Step("book a courier for letters within the city", adds=("in doubt",)),
    Step("fix the failing test", loads="invoice-layout"),
    Step("Lay out an invoice for Bob"),
    Step("what comes next?", adds=("french-greeting", "invoice-layout", "weekly-report"), is_compacted=True),
    Step("Say bonjour to Carol", loads="french-greeting", gets="a note"),
    # The line was dropped too.
    Step("Say bonjour to Dan, and do my German tax form", adds=("tax-forms",)),
]
AGENT = Step("Say bonjour to the team", loads="weekly-report")
# Those that need neither an agent nor our server.
SHORT = STEPS[1:7]

# Of each skill: the folder, the description, the trigger and the instructions.
OURS = ".skillfold/skills"
SKILLS = {
    "french-greeting": (OURS, "Greets people in French", "say bonjour", "Mention the weather in Lyon."),
    "invoice-layout": (OURS, "Arranges invoices", "lay out an invoice", "Put the number above the address."),
    "weekly-report": (OURS, "Writes the report of a team", "weekly report", "Begin with the open questions."),
    "mysql-dump": (OURS, "Backs up a database of MySQL", "", "Dump MySQL."),
    "sqlite-dump": (OURS, "Backs up a database of SQLite", "", "Dump SQLite."),
    "courier": (OURS, "Books a courier for parcels. Do not use for letters within the city", "book a courier", "Weigh it."),
    "tax-forms": ("{native}", "Fills in forms of the tax office", "german tax form", "Fill in the form."),
}
# What a request has of a skill: its instructions, or the line that names it.
TEXTS = {name: text for name, (_, _, _, text) in SKILLS.items()}
TEXTS["tax-forms"] = "The skill `tax-forms` fits this request; load it first."
TEXTS["dumps"] = "sqlite-dump: or `mysql-dump` may fit"
TEXTS["in doubt"] = "courier: may fit, call load_skill: Books a courier for parcels."
# What our server says of a skill that the hook gave.
TEXTS["a note"] = "The instructions of `french-greeting` came with a prompt of this conversation"


class Conversation:
    """A client in a home of its own, where our hook and our server are configured."""

    def __init__(self, skillfold, cache, client):
        self.skillfold, self.client, self.runs = skillfold, client, []
        self.home = pathlib.Path(tempfile.mkdtemp())
        (self.home / "project").mkdir()
        for name, (folder, description, trigger, text) in SKILLS.items():
            skill = self.home / folder.replace("{native}", client.skills) / name
            skill.mkdir(parents=True)
            front = f"name: {name}\ndescription: {description}" + (f"\ntriggers: [{trigger}]" if trigger else "")
            (skill / "SKILL.md").write_text(f"---\n{front}\n---\n{text}\n")
        options = ["--yes", "--list", "both"]
        environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        command = [skillfold, "setup", client.name, *options]
        subprocess.run(command, cwd=self.home / "project", env=environment, check=True, capture_output=True)
        node = shutil.which("node") or sys.exit("error: node is not installed")
        self.isolated = namespace() or sys.exit("error: the system allows no network namespace")
        self.job = client.job(node, cache / "node_modules", self.home, "", [], self.home / "result.json")

    def run(self, arguments, prompt, script=()):
        """Runs the client once; returns what it printed, and the texts of the requests that the model got."""
        program = self.job["command"][: -1 - len(self.client.arguments)]
        job = self.job | {"command": [*program, *arguments, prompt], "script": script}
        (self.home / "job.json").write_text(json.dumps(job))
        subprocess.run([*self.isolated, sys.executable, HERE / "inside.py", self.home / "job.json"], check=True)
        done = json.loads((self.home / "result.json").read_text())
        self.runs.append({"prompt": prompt} | done)
        if done["code"] != 0:
            sys.exit(f"error: {self.client.name} ended with {done['code']} after {prompt!r}\n{done['printed'][-2000:]}")
        return done["printed"], [judge.request_text(turn) for turn in done["turns"]]

    def script(self, step, agent):
        """Returns what the model does after a prompt; `agent` is the call that starts an agent."""

        def load(step):
            return self.client.script([("load_skill", {"skill_id": step.loads})]) if step.loads else []

        return {step.prompt: [agent], AGENT.prompt: load(AGENT)} if step.has_agent else {step.prompt: load(step)}


    def logged(self):
        """Returns what the hook's log has of each skill."""
        environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        done = subprocess.run([self.skillfold, "stats", "--json"], env=environment, check=True, capture_output=True)
        counts = {skill.pop("id"): skill for skill in json.loads(done.stdout)["hook"]}
        return {name: {what: count for what, count in skill.items() if count} for name, skill in sorted(counts.items())}


def claude(conversation):
    # The first request would not wait for our server.
    conversation.job["environment"]["MCP_CONNECTION_NONBLOCKING"] = "false"
    task = {"description": "greet", "prompt": AGENT.prompt, "subagent_type": "general-purpose", "run_in_background": False}
    session = str(uuid.uuid4())
    for at, step in enumerate(STEPS):
        named = ["--resume" if at else "--session-id", session, *conversation.client.arguments]
        if step.is_compacted:
            conversation.run(named, "/compact")
        script = conversation.script(step, {"tool": "Agent", "input": task})
        if step.loads_itself:
            script = {step.prompt: [{"tool": "Skill", "input": {"skill": step.loads_itself}}]}
        yield step, conversation.run(named, step.prompt, script)[1]


def codex(conversation):
    # Hooks need an approval, which only its terminal asks for.
    options = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    agent = {"tool": "spawn_agent", "input": {"message": AGENT.prompt}, "item": {"namespace": "multi_agent_v1"}}
    resume = []
    for step in STEPS:
        # It compacts before a prompt if the conversation is longer than this.
        limit = ["-c", "model_auto_compact_token_limit=1"] if step.is_compacted else []
        script = conversation.script(step, agent)
        printed, requests = conversation.run(["exec", *resume, *options, *limit], step.prompt, script)
        yield step, requests
        # `--last` would be the agent.
        resume = ["resume", re.search("session id: (.*)", printed)[1]]


def gemini(conversation):
    for at, step in enumerate(SHORT):
        resume = ["--resume", "latest"] if at else []
        yield step, conversation.run([*resume, *conversation.client.arguments], step.prompt)[1]


def qwen(conversation):
    for at, step in enumerate(SHORT):
        resume = ["--continue"] if at else []
        yield step, conversation.run([*resume, *conversation.client.arguments], step.prompt)[1]


def copilot(conversation):
    named = ["--session-id", str(uuid.uuid4()), *conversation.client.arguments]
    for step in SHORT:
        yield step, conversation.run(named, step.prompt)[1]


# Of each client: how it is driven, what stands above the answer of a hook if anything does, and what an agent gets for its prompt.
DRIVERS = {
    "claude-code": (claude, "hook additional context:", ()),
    "codex": (codex, "Context for the request above", ("french-greeting",)),
    "gemini": (gemini, "\n<hook_context>", ()),
    "qwen": (qwen, "\n<qwen:user-prompt-submit-context>", ()),
    "copilot-cli": (copilot, "", ()),
}

# What the hook's log then has of each skill. Codex calls the hook for the prompt of its agent, and no hook hears what it loads.
ONCE = {"hits": 1, "given": 1}
IGNORED = {name: {"suggested": 1, "ignored": 1} for name in ("courier", "mysql-dump", "sqlite-dump")}
LOGGED_SHORT = {"french-greeting": ONCE, "tax-forms": {"named": 1}, "weekly-report": ONCE}
LOGGED = {
    "claude-code": LOGGED_SHORT | IGNORED | {"invoice-layout": {"missed": 1}, "tax-forms": {"hits": 1, "named": 2, "loaded": 1}},
    "codex": LOGGED_SHORT
    | IGNORED
    | {"french-greeting": {"hits": 2, "given": 2}, "invoice-layout": {"missed": 1}, "tax-forms": {"named": 2}},
}


def difference(text, before):
    """Returns of which skills a text has more than the one before, each as often as it has; and which it lost."""
    found = []
    for name, part in TEXTS.items():
        more = text.count(part) - before.count(part)
        found += [name] * more if more >= 0 else [f"{name} lost"]
    return tuple(found)


def judge_steps(steps, mark, agent_adds):
    """Judges the requests of each step; returns what each prompt got, and what is wrong."""
    found, wrong, last = {}, [], ""

    def check(step, texts, before):
        if not texts:
            wrong.append(f"{step.prompt!r} did not reach the model")
            return
        added, loaded = difference(texts[0], before), difference(texts[-1], texts[0])
        answers = texts[0].count(mark) - before.count(mark) if mark else min(1, len(added))
        if added or loaded:
            found[step.prompt] = {"added": added, "loaded": loaded}
        gets = step.gets or step.loads
        expected = step.adds, (gets,) if gets else ()
        if (added, loaded) != expected or answers != bool(step.adds):
            wrong.append(f"{step.prompt!r} got {added} in {answers} answers, and {loaded} from the server; expected {expected}")

    for step, requests in steps:
        own = [text for text in requests if step.prompt in text]
        check(step, own, "" if step.is_compacted else last)
        if step.has_agent:
            agent = [text for text in requests if AGENT.prompt in text and step.prompt not in text]
            check(dataclasses.replace(AGENT, adds=agent_adds), agent, "")
        last = own[-1] if own else ""
    return found, wrong


def judge_client(skillfold, cache, client):
    driver, mark, agent_adds = DRIVERS[client.name]
    conversation = Conversation(skillfold, cache, client)
    try:
        found, wrong = judge_steps(driver(conversation), mark, agent_adds)
        logged, expected = conversation.logged(), LOGGED.get(client.name, LOGGED_SHORT)
        if logged != expected:
            wrong.append(f"the log has {logged}; expected {expected}")
        return found, wrong
    finally:
        (cache / "captures").mkdir(exist_ok=True)
        (cache / "captures" / f"{client.name}-hooks.json").write_text(judge.kept(conversation.runs))
        shutil.rmtree(conversation.home, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skillfold", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--client", action="append", choices=list(DRIVERS))
    chosen = parser.parse_args()
    skillfold, cache = chosen.skillfold.resolve(), chosen.cache.resolve()
    clients = [client for client in CLIENTS if client.name in (chosen.client or DRIVERS)]
    install(cache, clients)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        judged = list(pool.map(lambda client: judge_client(skillfold, cache, client), clients))
    for client, (_, wrong) in zip(clients, judged):
        for line in wrong:
            print(f"error: {client.name}: {line}")
    print(json.dumps({client.name: found for client, (found, _) in zip(clients, judged)}))
    sys.exit(1 if any(wrong for _, wrong in judged) else 0)


if __name__ == "__main__":
    main()
