#!/usr/bin/env python3
"""Installs our plugin in real clients as a user does, and shows what of it reaches a model.

    python3 conformance/clients/plugins.py --skillfold target/release/skillfold --cache FOLDER [--package NAME]...

packaging/plugins/generate.py writes the packages. They are put into a git repository, which a server on the loopback offers as a
marketplace to Claude Code and Codex; Gemini CLI and opencode get their folder. `agent-plugin` is the package for all clients, in
Codex. The client runs as in run.py: an empty environment, a home of its own, the loopback only, a scripted model that calls
`load_skill` and `search_skills`. `skillfold` is on its PATH. The captured requests are the proof: FOLDER/captures has them. The last
line is one JSON object: for each package whether the hook's answer, our tools and the skill `using-skillfold` reached the model, and
whether the tools answered. It fails if that is not as expected.
"""

import argparse
import dataclasses
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

import judge
from clients import CLIENTS, HERE, install, namespace

PACKAGING = HERE.parents[1] / "packaging/plugins"
ATTEMPTS = 3
PORT = 8765
MARKETPLACE = f"http://127.0.0.1:{PORT}/skillfold.git"
# The same, with the package for all clients.
PORTABLE = f"http://127.0.0.1:{PORT}/portable.git"
PROMPT = "Say bonjour to Alice"
# The hook gives the first, and a search finds it. The model loads the second, which is in the project: the server has to know where
# that is.
GIVEN, LOADED = "Greet in French, and mention the weather in Lyon.", "Fill in every field of the form."
SKILLS = {
    ".skillfold/skills/french-greeting": "---\nname: french-greeting\ndescription: Greets people in French\n"
    f"triggers: [say bonjour]\n---\n{GIVEN}\n",
    "project/.skillfold/skills/tax-forms": "---\nname: tax-forms\ndescription: Fills in forms of the German tax office\n"
    f"---\n{LOADED}\n",
}
# What a client lists of the skill in the plugin.
DESCRIPTION = "How to work with the skills that Skillfold offers."
CALLS = [("load_skill", {"skill_id": "tax-forms"}), ("search_skills", {"query": "greets people in French"})]


@dataclasses.dataclass
class Way:
    """How a client takes a package."""

    client: str
    # Its commands; `{out}` is the folder of all packages.
    commands: list = dataclasses.field(default_factory=list)
    # A folder of a package that is copied to a place below the home instead.
    copied: tuple = ()
    # How the model calls our tools.
    prefix: str = ""
    first: tuple = ()
    call: dict = dataclasses.field(default_factory=dict)
    # What the client is started with, if it is not as in run.py.
    arguments: tuple = ()
    # What the package does not do.
    lacks: tuple = ()


SERVER = "mcp__plugin_skillfold_skillfold"
# A hook of Codex is skipped without a word until its user approved it in the terminal.
CODEX = ("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust")
WAYS = {
    "claude-code": Way(
        client="claude-code",
        commands=[
            ["plugin", "validate", "--strict", "{out}"],
            ["plugin", "validate", "--strict", "{out}/claude-code"],
            ["plugin", "marketplace", "add", MARKETPLACE],
            ["plugin", "install", "skillfold@skillfold"],
        ],
        # Our server may be connected only after the first answer.
        first=({"tool": "ToolSearch", "input": {"query": f"select:{SERVER}__load_skill,{SERVER}__search_skills"}},),
        prefix=f"{SERVER}__",
        arguments=("--allowedTools", SERVER, "-p"),
    ),
    "codex": Way(
        client="codex",
        commands=[["plugin", "marketplace", "add", MARKETPLACE], ["plugin", "add", "skillfold@skillfold"]],
        call={"item": {"namespace": "mcp__skillfold"}},
        arguments=CODEX,
    ),
    "agent-plugin": Way(
        client="codex",
        commands=[["plugin", "marketplace", "add", PORTABLE], ["plugin", "add", "skillfold@skillfold"]],
        call={"item": {"namespace": "mcp__skillfold"}},
        arguments=CODEX,
        # Its format has no hooks, and its server works in the folder of the plugin.
        lacks=("hook", "project"),
    ),
    "gemini": Way(
        client="gemini",
        commands=[["extensions", "validate", "{out}/gemini"], ["extensions", "install", "{out}/gemini", "--consent"]],
        prefix="mcp_skillfold_",
    ),
    "opencode": Way(client="opencode", copied=("opencode", ".config/opencode"), prefix="skillfold_"),
}


class Failed(Exception):
    """A client did not install the plugin, or had no conversation."""


def git_server(folder):
    """Serves git repositories below a folder over HTTP, as git's own program for it does."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            self.serve()

        def do_POST(self):
            self.serve()

        def serve(self):
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            environment = {
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "GIT_PROJECT_ROOT": folder,
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": self.headers.get("content-type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
            }
            done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True)
            head, _, body = done.stdout.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for name, value in fields.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def run_commands(path):
    """Runs commands of a client in the network namespace, where it reaches the marketplace."""
    job = json.loads(path.read_text())
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    git_server(job["repositories"])
    steps = []
    for command in job["commands"]:
        # Gemini CLI asks whether the folder is trusted.
        options = {"env": job["environment"], "cwd": job["folder"], "input": "y\n", "timeout": job["seconds"], "text": True}
        try:
            done = subprocess.run(command, **options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            steps.append({"command": command, "code": done.returncode, "printed": done.stdout})
        except subprocess.TimeoutExpired as late:
            steps.append({"command": command, "code": None, "printed": str(late)})
        if steps[-1]["code"] != 0:
            break
    pathlib.Path(job["result"]).write_text(json.dumps(steps))


def publish(out, repositories):
    """Puts the packages into bare repositories."""
    options = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"]
    # The configuration of whoever runs this is left out.
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(repositories)}

    def git(folder, *arguments):
        subprocess.run(["git", *options, *arguments], cwd=folder, env=environment, check=True)

    work = repositories / "work"
    shutil.copytree(out, work)
    git(work, "init", "-q")
    marketplace = work / ".agents/plugins/marketplace.json"
    for name, folder in (("skillfold", "codex"), ("portable", "agent-plugin")):
        marketplace.write_text(marketplace.read_text().replace("./codex", f"./{folder}"))
        git(work, "add", "--all", "--force")
        git(work, "commit", "-q", "-m", name)
        git(repositories, "clone", "-q", "--bare", work, f"{name}.git")


class Runner:
    """Runs a client with a package, in a home of its own."""

    def __init__(self, skillfold, cache, modules, package):
        self.cache, self.modules, self.package, self.way = cache, modules, package, WAYS[package]
        self.client = next(client for client in CLIENTS if client.name == self.way.client)
        self.node = shutil.which("node") or sys.exit("error: node is not installed")
        self.isolated = namespace() or sys.exit("error: the system allows no network namespace")
        self.home = pathlib.Path(tempfile.mkdtemp())
        (self.home / "bin").mkdir()
        (self.home / "bin/skillfold").symlink_to(skillfold)
        # opencode installs a package for plugins; without a network it tries for a minute otherwise.
        (self.home / ".npmrc").write_text("fetch-retries=0\n")
        for folder, text in SKILLS.items():
            (self.home / folder).mkdir(parents=True)
            (self.home / folder / "SKILL.md").write_text(text)
        trust = [skillfold, "trust", "--yes"]
        subprocess.run(trust, cwd=self.home / "project", env={"HOME": str(self.home)}, check=True, capture_output=True)

    def job(self, script, result):
        """Returns what inside.py runs, and how many of the first words of its command are the program."""
        job = self.client.job(self.node, self.modules, self.home, PROMPT, script, self.home / result)
        job["environment"]["PATH"] = f"{self.home}/bin:" + job["environment"]["PATH"]
        return job, len(job["command"]) - len(self.client.arguments) - 1

    def install(self, out, repositories):
        """Installs the plugin."""
        if self.way.copied:
            package, place = self.way.copied
            shutil.copytree(out / package, self.home / place)
            return
        job, length = self.job([], "installed.json")
        program = job["command"][:length]
        job["commands"] = [[*program, *(word.replace("{out}", str(out)) for word in words)] for words in self.way.commands]
        job["repositories"] = str(repositories)
        (self.home / "job.json").write_text(json.dumps(job))
        subprocess.run([*self.isolated, sys.executable, __file__, "--commands", self.home / "job.json"], check=True)
        for step in json.loads((self.home / "installed.json").read_text()):
            words = " ".join(step["command"][length:])
            if step["code"] != 0:
                raise Failed(f"{self.package}: {words} ended with {step['code']}\n{step['printed']}")
            print(f"{self.package}: {words}: {step['printed'].strip().splitlines()[-1]}", flush=True)

    def converse(self):
        """Returns the requests that the model got."""
        script = [*self.way.first, *({"tool": self.way.prefix + tool, "input": given, **self.way.call} for tool, given in CALLS)]
        job, length = self.job(script, "result.json")
        job["command"] = [*job["command"][:length], *(self.way.arguments or self.client.arguments), PROMPT]
        (self.home / "job.json").write_text(json.dumps(job))
        for _ in range(ATTEMPTS):
            subprocess.run([*self.isolated, sys.executable, HERE / "inside.py", self.home / "job.json"], check=True)
            done = json.loads((self.home / "result.json").read_text())
            if judge.is_connected(done["turns"], script):
                break
        captures = self.cache / "captures"
        captures.mkdir(exist_ok=True)
        (captures / f"{self.package}-plugin.json").write_text(judge.kept(done["turns"]))
        if done["code"] != 0 or not done["turns"]:
            raise Failed(f"{self.package} ended with {done['code']}\n{done['printed'][-3000:]}")
        return done["turns"]

    def close(self):
        shutil.rmtree(self.home, ignore_errors=True)


def tool_names(value):
    """Yields the names of tools in a request, whatever its wire format."""
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        yield value["name"]
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from tool_names(inner)


def judge_client(turns, way):
    """Says what of the plugin reached the model."""
    first, last = judge.request_text(turns[0]), turns[-1]
    names = set(tool_names(last["tools"]))
    answers = list(judge.results(last))[len(way.first) :]
    return {
        "hook": GIVEN in first,
        "tools": all(way.prefix + tool in names for tool, _ in CALLS),
        "skill": "using-skillfold" in first and DESCRIPTION in first,
        "project": len(answers) > 0 and judge.has_text(answers[0], LOADED),
        "search": len(answers) > 1 and judge.has_text(answers[1], "french-greeting"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skillfold", type=pathlib.Path)
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument("--package", action="append", choices=list(WAYS))
    parser.add_argument("--commands", type=pathlib.Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.commands:
        return run_commands(chosen.commands)
    if not chosen.skillfold or not chosen.cache:
        parser.error("--skillfold and --cache are required")
    skillfold, cache, wanted = chosen.skillfold.resolve(), chosen.cache.resolve(), chosen.package or list(WAYS)
    modules = install(cache, [client for client in CLIENTS if client.name in {WAYS[package].client for package in wanted}])
    figures, wrong = {}, []
    with tempfile.TemporaryDirectory() as folder:
        out, repositories = pathlib.Path(folder, "out"), pathlib.Path(folder, "repositories")
        subprocess.run([sys.executable, PACKAGING / "generate.py", out], check=True)
        publish(out, repositories)
        for package in wanted:
            runner = Runner(skillfold, cache, modules, package)
            try:
                runner.install(out, repositories)
                figures[package] = judge_client(runner.converse(), runner.way)
            except Failed as failure:
                figures[package] = {}
                wrong.append(str(failure))
            finally:
                runner.close()
    for package, found in figures.items():
        wrong += [f"{package}: {part} is {value}" for part, value in found.items() if value == (part in WAYS[package].lacks)]
    for line in wrong:
        print(f"error: {line}")
    print(json.dumps(figures))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
