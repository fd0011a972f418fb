#!/usr/bin/env python3
"""Compares what our commands say about a client with what the model of that client got.

    python3 conformance/clients/truth.py --skillfold target/release/skillfold --cache FOLDER [--client NAME]... [--prompts N]

A client runs as in run.py, once for each prompt, in a home of its own; by turns it is set up with our list beside its own, and
with ours alone. Of the request that its model got, this must be as said:

- the client's own list has the skills that `skillfold list --client` finds there, and no other;
- our list is the text of `skillfold prompt --client`, whole, and has the skills that `list` finds there, and no other;
- the hook added the text of `skillfold prompt REQUEST --client`, or nothing, with the instructions of the skills that are given;
- `skillfold why --client` and `skillfold report --client` say the same outcome of each skill, `report` the same places, and `report`
  and `skillfold doctor --client` the same costs.

opencode calls our hook by a plugin, which is installed as packaging/plugins/generate.py writes it. The last line is one JSON object: how
many prompts were compared in each client. It fails on any difference.
"""

import argparse
import dataclasses
import html
import html.parser
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import judge
import run
from clients import CLIENTS, HERE

PACKAGING = HERE.parents[1] / "packaging/plugins"
OURS = ".skillfold/skills"
# Of each skill: whether the client finds it too, the description with a word of its own, the trigger and the instructions.
SKILLS = {
    "french-greeting": (True, "Greets people in French, quuxly", "say bonjour", "Mention the weather in Lyon."),
    "invoice-layout": (True, "Arranges invoices, frobly", "lay out an invoice", "Put the number above the address."),
    "weekly-report": (False, "Writes the report of a team, zorply", "weekly report", "Begin with the open questions."),
    "tax-forms": (True, "Fills in forms of the tax office, blixly", "german tax form", "Fill in the form."),
    "release-notes": (False, "Writes notes about a release, wumply", "release notes", "List what breaks first."),
    "by-hand": (True, "Starts only by hand, snarkly", "", "Wait for the user."),
}
PROMPTS = [
    "Say bonjour to Alice",
    "Hello",
    "Lay out an invoice for Bob",
    "Write the weekly report",
    "Please do my German tax form",
    "Write the release notes",
    "What is 12 times 12?",
    "Greet my guests in French",
    "Arrange the invoices of May",
    "thanks, looks good",
    "Say bonjour to Carol and write the weekly report",
    "Which forms does the tax office want?",
]


def word(name):
    """Returns the word that only a skill's description has."""
    return SKILLS[name][1].rsplit(" ", 1)[1]


def lay_out(home, client):
    for name, (is_native, description, trigger, text) in SKILLS.items():
        folder = home / (client.skills if is_native else OURS) / name
        folder.mkdir(parents=True)
        front = f"name: {name}\ndescription: {description}"
        front += f"\ntriggers: [{trigger}]" if trigger else "\ndisable-model-invocation: true"
        (folder / "SKILL.md").write_text(f"---\n{front}\n---\n{text}\n")


def install_plugin(home, skillfold):
    """Installs our plugin in opencode; its own list of servers stays as `skillfold setup` wrote it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, PACKAGING / "generate.py", folder]
        subprocess.run(command, check=True, capture_output=True)
        plugins = pathlib.Path(folder) / "opencode/plugins"
        shutil.copytree(plugins, home / ".config/opencode/plugins")
    (home / "bin").mkdir()
    (home / "bin/skillfold").symlink_to(skillfold)
    # It installs a package for plugins; without a network it tries for a minute otherwise.
    (home / ".npmrc").write_text("fetch-retries=0\n")


class Tables(html.parser.HTMLParser):
    """The tables of a page: rows of texts, by caption. The parts of a table that is folded are one table."""

    def __init__(self, page):
        super().__init__()
        self.found, self.path = {}, []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "rect"):
            self.path.append(tag)
        if tag == "caption":
            self.caption = ""
        elif tag == "tr" and "tbody" in self.path:
            self.found.setdefault(self.caption, []).append([])
        elif tag in ("th", "td") and "tbody" in self.path:
            self.found[self.caption][-1].append("")
        elif tag == "li" and "tbody" in self.path and self.found[self.caption][-1][-1]:
            self.found[self.caption][-1][-1] += "; "

    def handle_endtag(self, tag):
        if tag in self.path:
            while self.path.pop() != tag:
                pass

    def handle_data(self, data):
        if "caption" in self.path:
            self.caption += data
        elif "tbody" in self.path and ("th" in self.path or "td" in self.path):
            self.found[self.caption][-1][-1] += data


class Said:
    """What our commands say about a client."""

    def __init__(self, skillfold, home, client, prompt):
        def run(*arguments):
            command = [skillfold, *arguments, "--client", client.name]
            environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
            return subprocess.run(command, cwd=home / "project", env=environment, check=True, capture_output=True, text=True).stdout

        def ask(*arguments):
            return json.loads(run(*arguments, "--json"))

        self.places = ask("list")["client"]["places"]
        listed = ask("prompt")
        self.instructions = listed["instructions"].strip()
        self.own_tokens = listed["own_tokens"]
        self.tokens = self.own_tokens + listed["tokens"] + listed["tool_tokens"]
        self.cost = [self.own_tokens, listed["tokens"], listed["tool_tokens"], self.tokens, listed["own_tokens_without"]]
        added = ask("prompt", prompt)
        self.added = (added.get("text") or "").strip()
        self.added_tokens = added["added_tokens"]
        self.outcomes = {one["id"]: one["outcome"] for one in added["decisions"]}
        self.why = {one["id"]: one["outcome"] for one in ask("why", prompt)["matched"]}
        self.doctor = ask("doctor")["clients"]
        self.report = Tables(run("report", "-", "--request", prompt)).found


def number(text):
    return int(text.replace(",", ""))


def disagreements(said, client):
    """Yields where our commands differ from each other."""
    if said.why != said.outcomes:
        yield f"`why` says {said.why}, `prompt` {said.outcomes}"
    doctor = [(one["client"], one["tokens"]) for one in said.doctor]
    if doctor != [(client.name, said.tokens)]:
        yield f"`doctor` says {doctor}, `prompt` {said.tokens} tokens"
    [row] = said.report["Tokens of skills in every request, by client"]
    if [number(cell) for cell in row[1:6]] != said.cost:
        yield f"`report` says the costs {row}, `prompt` {said.cost}"
    places = {row[0]: row[-1] for row in said.report["Tokens of each skill by level, the largest first"]}
    if places != said.places:
        yield f"`report` says {places}, `list` {said.places}"
    [row] = said.report["Requests: tokens now, and without Skillfold"]
    outcomes = {}
    for part in row[1].split("; ") if row[1] != "none" else []:
        outcome, ids = part.split(": ")
        outcomes |= {name: outcome for name in ids.replace(" and ", ", ").split(", ")}
    if outcomes != said.outcomes or number(row[2]) != said.tokens + said.added_tokens:
        yield f"`report` says {row}, `prompt` {said.outcomes} and {said.tokens} + {said.added_tokens} tokens"


def differences(said, request):
    """Yields where a request differs from what was said."""
    text = html.unescape("\n".join(line.strip() for line in judge.request_text(request).splitlines()))
    for part, what in [(said.instructions, "our list"), (said.added, "what the hook adds")]:
        part = "\n".join(line.strip() for line in part.splitlines())
        if part not in text:
            yield f"{what} is not in the request: {part!r}"
        text = text.replace(part, "")
    for name, (_, _, _, instructions) in SKILLS.items():
        place = said.places.get(name, "nowhere")
        if (place == "own list") != (word(name) in text):
            yield f"{name}: said {place}, but its description is {'not ' * (word(name) not in text)}in the rest of the request"
        if (place == "our list") != (word(name) in said.instructions):
            yield f"{name}: said {place}, but its description is {'not ' * (word(name) not in said.instructions)}in our list"
        if (said.outcomes.get(name) == "given") != (instructions in said.added):
            yield f"{name}: said {said.outcomes.get(name)}, but the hook adds {said.added!r}"
        if instructions in text:
            yield f"{name}: its instructions are there, though the hook was said not to add them"


def converse(bench, client, home, name, prompt):
    """Returns the requests of a conversation. A client that did not end in time, on a busy machine, runs once more."""
    try:
        return bench.converse(client, home, list(client.neutral), name, prompt)
    except run.ClientFailed as failure:
        print(f"again: {failure}")
        return bench.converse(client, home, list(client.neutral), name, prompt)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skillfold", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--client", action="append", choices=[client.name for client in CLIENTS])
    parser.add_argument("--prompts", type=int, default=len(PROMPTS))
    chosen = parser.parse_args()
    clients = [client for client in CLIENTS if not chosen.client or client.name in chosen.client]
    bench = run.Bench(chosen.skillfold.resolve(), chosen.cache.resolve(), clients)
    compared, wrong = {}, []
    for client in clients:
        if client.name == "codex":
            # It asks the user about a new hook.
            client = dataclasses.replace(client, arguments=[*client.arguments, "--dangerously-bypass-hook-trust"])
        for number, prompt in enumerate(PROMPTS[: chosen.prompts]):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                home = pathlib.Path(folder)
                (home / "project").mkdir()
                lay_out(home, client)
                bench.setup(client, home, ["both", "ours"][number % 2])
                if client.name == "opencode":
                    install_plugin(home, bench.skillfold)
                    client = dataclasses.replace(client, environment=client.environment | {"PATH": f"{home}/bin:/usr/bin:/bin"})
                said = Said(bench.skillfold, home, client, prompt)
                turns = converse(bench, client, home, f"truth-{number}", prompt)
                found = [*disagreements(said, client), *differences(said, turns[-1])]
            wrong += [f"{client.name}, {prompt!r}: {difference}" for difference in found]
            print(f"{client.name}, {prompt!r}: {said.outcomes or 'nothing'}, {len(found)} differences", flush=True)
        compared[client.name] = min(chosen.prompts, len(PROMPTS))
    for line in wrong:
        print(f"error: {line}")
    print(json.dumps(compared))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
