"""A home with the settings of cycle_cases.py, a client's skills and our program; what runs in it, and what is there."""

import dataclasses
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import judge
import run
from clients import HERE
from cycle_cases import CASES

# Of each skill: the description with a word of its own, and the instructions.
SKILLS = {
    "french-greeting": ("Greets people in French, quuxly", "Mention the weather in Lyon."),
    "invoice-layout": ("Arranges invoices, frobly", "Put the number above the address."),
    "tax-forms": ("Fills in forms of the tax office, blixly", "Fill in the form."),
}
NEW = {"weekly-report": ("Writes the report of a team, zorply", "Begin with the open questions.")}


class Home:
    """A home with a client's settings, its skills, and the program."""

    def __init__(self, bench, client, files):
        self.bench, self.case, self.files = bench, CASES[client.name], files
        settings = {"OPENCODE_CONFIG_CONTENT": json.dumps(client.settings)} if client.name == "opencode" else {}
        self.client = dataclasses.replace(
            client,
            file="",
            settings={},
            before="",
            after="",
            arguments=[*client.arguments, *self.case.arguments],
            environment=client.environment | settings,
        )
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="cycle-"))
        (self.path / "project").mkdir()
        self.program = self.path / "bin/skillfold"
        self.program.parent.mkdir()
        shutil.copy(bench.skillfold, self.program)
        for name, text in files.items():
            self.write(name, text)
        self.add(SKILLS)

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def add(self, skills):
        for name, (description, text) in skills.items():
            self.write(f"{self.client.skills}/{name}/SKILL.md", f"---\nname: {name}\ndescription: {description}\n---\n{text}\n")

    def remove(self, name):
        shutil.rmtree(self.path / self.client.skills / name)

    def skillfold(self, *arguments, given=""):
        """Runs our command; returns what it printed."""
        environment = {"HOME": str(self.path), "PATH": "/usr/bin:/bin"}
        command = [self.program, *arguments]
        done = subprocess.run(command, cwd=self.path / "project", env=environment, input=given, capture_output=True, text=True)
        if done.returncode != 0:
            raise run.ClientFailed(f"skillfold {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-800:]}")
        return done.stdout + done.stderr

    def setup(self, *options):
        return self.skillfold("setup", self.client.name, "--yes", *options)

    def settings(self):
        """Returns the settings that are there, and whatever `setup` created beside them."""
        names = {*self.case.files, ".copilot/hooks/skillfold-cli.json", ".codex/hooks.json", ".claude/settings.local.json"}
        return {name: (self.path / name).read_bytes().decode() for name in sorted(names) if (self.path / name).exists()}

    def converse(self, name, prompt=run.SMALL_TALK, script=None, options=()):
        """Runs one conversation; returns what the model read of its longest request. Some clients ask about other things after it."""
        client = dataclasses.replace(self.client, arguments=[*self.client.arguments, *options])
        script = list(client.neutral) if script is None else script
        turns = self.bench.converse(client, self.path, script, f"cycle-{name}", prompt)
        results = max((list(judge.results(turn)) for turn in turns), key=len)
        self.answers = [html.unescape("\n".join(judge.texts(result))) for result in results]
        return max((lines(judge.request_text(turn)) for turn in turns), key=len)

    def run_client(self, arguments):
        """Runs another command of the client."""
        job = self.client.job(self.bench.node, self.bench.modules, self.path, "", [], self.path / "result.json")
        program = job["command"][: -1 - len(self.client.arguments)]
        (self.path / "job.json").write_text(json.dumps(job | {"command": [*program, *arguments]}))
        subprocess.run([*self.bench.isolated, sys.executable, HERE / "inside.py", self.path / "job.json"], check=True)

    def printed(self):
        return json.loads((self.path / "result.json").read_text())["printed"]

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)


def lines(text):
    return html.unescape("\n".join(line.strip() for line in text.splitlines()))


def bytes_of(path):
    own = [path / ".local", path / ".cache"]
    files = (file for file in path.rglob("*") if file.is_file() and not any(file.is_relative_to(folder) for folder in own))
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def follow_file(text):
    """Does what `restore.txt` says. White space does not matter: some clients write their files again."""
    created = {}
    for step in re.split(r"\n== .*\n", text)[1:]:
        if match := re.match(r"In (.*), take out the following(, and delete it if nothing else is in it)?:\n\n(.*)", step, re.DOTALL):
            path = pathlib.Path(match[1])
            left = path.read_text()
            for part in match[3].strip().split("\n\nand:\n\n"):
                part = r"\s*".join(re.escape(letter) for letter in re.sub(r"\s", "", part))
                left = re.sub(part, "", left)
            path.write_text(left)
            created[path] = created.get(path) or bool(match[2])
        elif match := re.match(r"In (.*), set `(.*)` to (.*)\.\n", step):
            path, key = pathlib.Path(match[1]), match[2].rsplit(".", 1)[-1]
            path.write_text(re.sub(rf'("?{re.escape(key)}"? ?[:=] ?)[^,\s}}]*', rf"\g<1>{match[3]}", path.read_text()))
        else:
            raise run.ClientFailed(f"restore.txt says nothing that can be done: {step!r}")
    for path, is_created in created.items():
        left = path.read_text()
        if is_created and left.strip(" \n{}") == "":
            path.unlink()
        elif path.suffix == ".json":
            # A comma that is left over.
            path.write_text(re.sub(r",(\s*)(?=[}\],])", r"\1", re.sub(r"([{\[]\s*),", r"\1", left)))
