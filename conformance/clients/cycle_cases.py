"""What a user of each client has before `skillfold setup`: settings with comments, other servers and hooks, and odd spacing."""

import dataclasses
import json

# The server of the settings fails at once, so that no client waits for it.
OTHER = "/bin/false"


@dataclasses.dataclass
class Case:
    """The settings of a client, and how its user starts a skill by name."""

    # The files below the home, and in each the text that an editor replaces, and with what.
    files: dict
    edits: dict
    # The prompt that starts a skill by name, what must be in the request then, and what `setup` says about it.
    start: str
    started: str
    said: str
    # The files that the client needs to start.
    least: dict = dataclasses.field(default_factory=dict)
    # The file that the client rewrites whenever it starts.
    rewritten: str = ""
    # Where a plugin's skill is put; a client that needs more than its files installs them by commands.
    plugin: dict = dataclasses.field(default_factory=dict)
    commands: tuple = ()
    # Arguments and environment that take the place of a scripted model in the settings.
    arguments: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)


PLUGIN_SKILL = "---\nname: tea-notes\ndescription: Notes about tea, glimly\n---\nWrite down the tea.\n"
MODEL = '{name="scripted",base_url="http://127.0.0.1:{port}/v1",wire_api="responses",env_key="SCRIPTED_KEY"}'
MARKET = {"name": "market", "owner": {"name": "me"}, "plugins": [{"name": "tea", "source": "./tea", "description": "Tea"}]}

CASES = {
    "claude-code": Case(
        files={
            ".claude.json": '{"numStartups": 3, "mcpServers": {"other": {"type": "stdio", "command": "%s", "args": []}}}' % OTHER,
            ".claude/settings.json": '{\n\t"permissions": { "allow": ["Bash(ls:*)"] },\n\t"hooks": {\n\t\t"UserPromptSubmit": [\n'
            '\t\t\t{ "hooks": [ { "type": "command", "command": "true" } ] }\n\t\t],\n\t\t"Stop": [{"hooks": [\n'
            '\t\t\t{"type": "command", "command": "true"}]}]\n\t},\n\t"skillOverrides": { "old-notes": "off" },\n\t"env": {"A": "1"}\n}',
        },
        edits={".claude/settings.json": ('"env": {"A": "1"}', '"env": {"A": "1",\n\t\t"B": "2"}')},
        start="/{name} Alice",
        started="ARGUMENTS: Alice",
        said="`/NAME` still starts a skill",
        rewritten=".claude.json",
        plugin={
            "market/.claude-plugin/marketplace.json": json.dumps(MARKET),
            "market/tea/.claude-plugin/plugin.json": '{"name": "tea", "version": "1.0.0", "description": "Tea"}',
            "market/tea/skills/tea-notes/SKILL.md": PLUGIN_SKILL,
            "market/tea/commands/brew.md": "---\ndescription: Brews tea\n---\nBrew it.\n",
        },
        commands=(["plugin", "marketplace", "add", "{home}/market"], ["plugin", "install", "tea@market"]),
    ),
    "codex": Case(
        files={
            ".codex/config.toml": '# mine\nmodel_reasoning_effort = "low"   # cheap\n\n[mcp_servers.other]\ncommand = "%s"\n'
            'args = [ ]\n\n[skills]\n# the list\nmax_context_tokens = 4000\n\n[tui]\ntheme = "dark"\n' % OTHER,
            ".codex/hooks.json": '{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "true", "timeout": 5}]}]}}\n',
        },
        edits={
            ".codex/config.toml": ('[tui]\ntheme = "dark"\n', '[tui]\ntheme = "light" # now\n'),
            ".codex/hooks.json": ('"timeout": 5', '"timeout": 6'),
        },
        start="${name} Alice",
        started="<name>{name}</name>",
        said="`$NAME` still starts a skill",
        arguments=("--dangerously-bypass-hook-trust", "-c", 'model="scripted"', "-c", 'model_provider="scripted"')
        + ("-c", f"model_providers.scripted={MODEL}"),
    ),
    "gemini": Case(
        files={
            ".gemini/settings.json": '{\n    // mine\n    "security": {"auth": {"selectedType": "gemini-api-key"}},\n'
            '    "mcpServers": {"other": {"command": "%s"}},\n    "hooks": {"BeforeAgent": [{"hooks": [{"name": "log", '
            '"type": "command", "command": "true"}]}]},\n    "skills": {"disabled": ["old-notes"]},\n    "ui": {"theme": "Default"}\n}\n' % OTHER
        },
        least={".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'},
        edits={".gemini/settings.json": ("    // mine\n", "    // mine, and an editor's\n")},
        # Without the name of the argument it drops the words: it fills only arguments that are required.
        start="/{name} --arguments=Alice",
        started="ARGUMENTS: Alice",
        said="`/NAME` starts a skill through our server",
    ),
    "opencode": Case(
        files={
            ".config/opencode/opencode.jsonc": '{\n  // mine\n  "$schema": "https://opencode.ai/config.json",\n  "mcp": {"other": '
            '{"type": "local", "command": ["%s"], "enabled": false,},},\n  "permission": {"bash": "ask"},\n  "autoupdate": false,\n}\n' % OTHER
        },
        edits={".config/opencode/opencode.jsonc": ('"autoupdate": false,', '"autoupdate": true, // now\n  "share": "disabled",')},
        start="--command {name}",
        started="\n\nAlice",
        said="`/NAME` still starts a skill",
    ),
    "qwen": Case(
        files={
            ".qwen/settings.json": '{\n  // mine\n  "mcpServers": {"other": {"command": "%s"}},\n  "hooks": {"UserPromptSubmit": '
            '[{"hooks": [{"type": "command", "command": "true"}]}]},\n  "skills": {"disabled": ["old-notes"]},\n'
            '  "ui": {\n    "theme": "Default"\n  },\n  "$version": 4\n}\n' % OTHER
        },
        edits={".qwen/settings.json": ('"theme": "Default"', '"theme": "Ayu", // now\n    "hideTips": true')},
        start="/{name} Alice",
        started="ARGUMENTS: Alice",
        said="`/NAME` starts a skill through our server",
        plugin={
            ".qwen/extensions/tea/qwen-extension.json": '{"name": "tea", "version": "1.0.0"}',
            ".qwen/extensions/tea/skills/tea-notes/SKILL.md": PLUGIN_SKILL,
        },
    ),
    "copilot-cli": Case(
        files={
            ".copilot/mcp-config.json": '{"mcpServers": {"other": {"type": "local", "command": "%s", "args": [], "tools": ["*"]}}}' % OTHER,
            ".copilot/settings.json": '{\n  // mine\n  "theme": "dark",\n  "disabledSkills": ["old-notes"]\n}\n',
        },
        edits={".copilot/settings.json": ('"theme": "dark"', '"theme": "light",\n  "banner": "never"')},
        # Its own way works in its terminal only; the hook gives a skill that a prompt names.
        start="/{name} Alice",
        started='<skill_context id="{name}">',
        said="it no longer starts them by name",
        plugin={
            "market/tea/.claude-plugin/plugin.json": '{"name": "tea", "version": "1.0.0", "description": "Tea"}',
            "market/tea/skills/tea-notes/SKILL.md": PLUGIN_SKILL,
        },
        commands=(["plugin", "install", "{home}/market/tea"],),
    ),
}
