"""The clients: how each is installed, configured and started, and where it looks for skills itself."""

import dataclasses
import json
import pathlib
import subprocess


@dataclasses.dataclass
class Client:
    """A client."""

    name: str
    # The package of npm, with its version, and the script or program that starts it.
    package: str
    program: str
    # The wire format of the model, and how the client introduces itself to a server.
    wire: str
    info: dict
    # Where the client finds skills by itself, below the home.
    skills: str
    arguments: list
    environment: dict
    # The client's configuration below the home, and what it needs besides our server.
    file: str = ""
    before: str = ""
    after: str = ""
    settings: dict = dataclasses.field(default_factory=dict)
    # What only requests of the conversation have; some clients ask the model about other things too.
    marker: str = ""
    # How the model calls one of our tools, and what it must do first.
    first: tuple = ()
    # A call of the client's own that changes nothing, for a second request in which our server is connected.
    neutral: tuple = ()
    call: dict = dataclasses.field(default_factory=dict)
    prefix: str = ""

    def script(self, calls):
        """Returns the script of a model that makes calls of our tools."""
        return [*self.first, *({"tool": self.prefix + tool, "input": given, **self.call} for tool, given in calls)]

    def job(self, node, modules, home, prompt, script, result):
        """Returns what `inside.py` runs."""
        path = home / self.file
        text = path.read_text() if self.file and path.exists() else ""
        if self.file.endswith(".json"):
            text = text or "{}"
        if self.settings:
            text = json.dumps(json.loads(text) | self.settings)
        text = self.before + text + self.after
        program = [str(modules / self.program)]
        if self.program.endswith("js"):
            program.insert(0, str(node))
        return {
            "wire": self.wire,
            "marker": self.marker,
            "script": script,
            "command": [*program, *self.arguments, prompt],
            "environment": {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), **self.environment},
            "files": {str(home / self.file): text} if self.file else {},
            "folder": str(home / "project"),
            "seconds": 120,
            "result": str(result),
        }


TOOLS = ("load_skill", "read_skill_resource", "search_skills")
CLIENTS = [
    Client(
        name="claude-code",
        package="@anthropic-ai/claude-code@2.1.325",
        program="@anthropic-ai/claude-code/cli-wrapper.cjs",
        wire="anthropic",
        info={"name": "claude-code", "version": "2.1.325"},
        skills=".claude/skills",
        arguments=["--allowedTools", "mcp__skillfold", "-p"],
        environment={
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        # It names the tools of servers only, and loads them on request.
        first=({"tool": "ToolSearch", "input": {"query": "select:" + ",".join(f"mcp__skillfold__{tool}" for tool in TOOLS)}},),
        neutral=({"tool": "ToolSearch", "input": {"query": "select:WebSearch"}},),
        prefix="mcp__skillfold__",
    ),
    Client(
        name="codex",
        package="@openai/codex@0.166.0",
        program="@openai/codex/bin/codex.js",
        wire="responses",
        info={"name": "codex-mcp-client", "version": "0.166.0"},
        skills=".agents/skills",
        arguments=["exec", "--skip-git-repo-check"],
        # Its end waits five seconds for names of hosts; a proxy that is not there answers at once.
        environment={"SCRIPTED_KEY": "none", "HTTPS_PROXY": "http://127.0.0.1:9"},
        file=".codex/config.toml",
        before='model = "scripted"\nmodel_provider = "scripted"\n\n',
        after='\n[model_providers.scripted]\nname = "scripted"\nbase_url = "http://127.0.0.1:{port}/v1"\n'
        'wire_api = "responses"\nenv_key = "SCRIPTED_KEY"\n',
        call={"item": {"namespace": "mcp__skillfold"}},
    ),
    Client(
        name="gemini",
        package="@google/gemini-cli@0.61.0",
        program="@google/gemini-cli/bundle/gemini.js",
        wire="gemini",
        info={"name": "gemini-cli-mcp-client", "version": "0.61.0"},
        skills=".agents/skills",
        # Without a model it asks another one which to take.
        arguments=["--skip-trust", "-m", "gemini-2.5-flash", "-y", "-p"],
        environment={"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:{port}", "GEMINI_API_KEY": "none"},
        file=".gemini/settings.json",
        settings={"security": {"auth": {"selectedType": "gemini-api-key"}}},
        prefix="mcp_skillfold_",
    ),
    Client(
        name="opencode",
        package="opencode-ai@1.18.33",
        program="opencode-linux-x64/bin/opencode",
        wire="chat",
        info={"name": "opencode", "version": "1.18.33"},
        skills=".agents/skills",
        arguments=["run"],
        environment={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        file=".config/opencode/opencode.json",
        settings={
            "model": "scripted/scripted",
            "small_model": "scripted/scripted",
            "provider": {
                "scripted": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "scripted",
                    "options": {"baseURL": "http://127.0.0.1:{port}/v1", "apiKey": "none"},
                    "models": {"scripted": {"name": "scripted", "tool_call": True, "attachment": True}},
                }
            },
        },
        prefix="skillfold_",
    ),
    Client(
        name="qwen",
        package="@qwen-code/qwen-code@0.24.4",
        program="@qwen-code/qwen-code/cli.js",
        wire="chat",
        info={"name": "qwen-cli-mcp-client-skillfold", "version": "0.24.4"},
        skills=".qwen/skills",
        arguments=["--auth-type", "openai", "-y", "-p"],
        environment={"OPENAI_BASE_URL": "http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "none", "OPENAI_MODEL": "scripted"},
        file=".qwen/settings.json",
        marker="run_shell_command",
        prefix="mcp__skillfold__",
    ),
    Client(
        name="copilot-cli",
        package="@github/copilot@1.0.102",
        program="@github/copilot-linux-x64/copilot",
        wire="chat",
        info={"name": "copilot-cli", "version": "1.0.102"},
        skills=".agents/skills",
        arguments=["--allow-all-tools", "-p"],
        # A provider of one's own needs no account.
        environment={
            "COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:{port}/v1",
            "COPILOT_MODEL": "scripted",
            "COPILOT_OFFLINE": "true",
        },
        file=".copilot/mcp-config.json",
        prefix="skillfold-",
    ),
]


def install(cache, clients):
    """Installs the packages of some clients, and what counts tokens, into a folder of npm; returns its modules."""
    packages = {*(client.package for client in clients), "gpt-tokenizer@4.0.0"}
    # npm keeps what it installed, with exact versions, in this file.
    known = cache / "package.json"
    if not known.exists():
        cache.mkdir(parents=True, exist_ok=True)
        known.write_text('{"private": true}\n')
    installed = json.loads(known.read_text()).get("dependencies", {})
    missing = sorted(packages - {f"{name}@{version}" for name, version in installed.items()})
    if missing:
        command = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--save-exact", *missing]
        subprocess.run(command, cwd=cache, check=True)
    return cache / "node_modules"


def count_tokens(node, modules, texts):
    """Returns the tokens of each text in the encoding o200k_base."""
    program = (
        "const {countTokens} = require('gpt-tokenizer/cjs/encoding/o200k_base');"
        "const texts = JSON.parse(require('fs').readFileSync(0));"
        "console.log(JSON.stringify(texts.map(text => countTokens(text, {disallowedSpecial: new Set()}))));"
    )
    command = [str(node), "-e", program]
    done = subprocess.run(command, cwd=modules.parent, input=json.dumps(texts), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def namespace():
    """Returns the command that runs another in a network namespace of its own, or None if the system refuses it. All that
    it starts ends with it."""
    own = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    for options in (own, ["--map-root-user", *own]):
        if subprocess.run(["unshare", *options, "true"], capture_output=True).returncode == 0:
            return ["unshare", *options]
    return None


HERE = pathlib.Path(__file__).resolve().parent
