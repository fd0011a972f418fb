#!/usr/bin/env python3
"""Compares what our commands say about a client with what the model of that client got.

    python3 conformance/clients/truth.py --skillfold target/release/skillfold --cache FOLDER [--client NAME]... [--prompts N]

A client runs as in run.py, once for each prompt, in a home of its own; by turns it is set up with our list beside its own, and
with ours alone. Of the request that its model got, this must be as said:

- the client's own list has the skills that `skillfold list --client` finds there, and no other;
- our list is the text of `skillfold prompt --client`, whole;
- the hook added the text of `skillfold prompt REQUEST --client`, or nothing, and `skillfold why --client` names the same skills.

The last line is one JSON object: how many prompts were compared in each client. It fails on any difference.
"""

import argparse
import dataclasses
import html
import json
import pathlib
import subprocess
import sys
import tempfile

import judge
import run
from clients import CLIENTS

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


class Said:
    """What our commands say about a client."""

    def __init__(self, skillfold, home, client, prompt):
        def ask(*arguments):
            command = [skillfold, *arguments, "--client", client.name, "--json"]
            environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
            done = subprocess.run(command, cwd=home / "project", env=environment, check=True, capture_output=True)
            return json.loads(done.stdout)

        self.places = ask("list")["client"]["places"]
        self.instructions = ask("prompt")["instructions"].strip()
        added = ask("prompt", prompt)
        # In opencode the hook is a plugin, which `setup` does not install.
        self.added = "" if client.name == "opencode" else (added.get("text") or "").strip()
        self.outcomes = {one["id"]: one["outcome"] for one in added["decisions"]}
        self.why = [one["id"] for one in ask("why", prompt)["matched"]]


def differences(said, request):
    """Yields where a request differs from what was said."""
    text = html.unescape("\n".join(line.strip() for line in judge.request_text(request).splitlines()))
    for part, what in [(said.instructions, "our list"), (said.added, "what the hook adds")]:
        part = "\n".join(line.strip() for line in part.splitlines())
        if part not in text:
            yield f"{what} is not in the request: {part!r}"
        text = text.replace(part, "")
    for name in SKILLS:
        place = said.places.get(name, "nowhere")
        if (place == "own list") != (word(name) in text):
            yield f"{name}: said {place}, but its description is {'not ' * (word(name) not in text)}in the rest of the request"
        if SKILLS[name][3] in text:
            yield f"{name}: its instructions are there, though the hook was said not to add them"
    if sorted(said.why) != sorted(said.outcomes):
        yield f"`why` names {said.why}, `prompt` {sorted(said.outcomes)}"


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
                said = Said(bench.skillfold, home, client, prompt)
                turns = bench.converse(client, home, list(client.neutral), f"truth-{number}", prompt)
                found = list(differences(said, turns[-1]))
            wrong += [f"{client.name}, {prompt!r}: {difference}" for difference in found]
            print(f"{client.name}, {prompt!r}: {said.outcomes or 'nothing'}, {len(found)} differences", flush=True)
        compared[client.name] = min(chosen.prompts, len(PROMPTS))
    for line in wrong:
        print(f"error: {line}")
    print(json.dumps(compared))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
