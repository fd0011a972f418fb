"""What clients do with the configuration that `setup` wrote: they start the server, and call the hook."""

from __future__ import annotations

import json
import shlex
import tomllib

from home import Home

# Configurations as their users have them; the hook's file of Codex does not exist.
CONFIGURATIONS = {
    ".claude.json": '{\n  "numStartups": 42,\n  "mcpServers": {\n    "github": { "command": "npx", "args": ["-y", "server"] }\n  },\n'
    '  "projects": { "/srv/app": {} }\n}\n',
    ".claude/settings.json": '{\n\t"model": "opus",\n\t"hooks": {\n\t\t"UserPromptSubmit": [\n\t\t\t'
    '{ "hooks": [{ "type": "command", "command": "true" }] }\n\t\t]\n\t}\n}',
    ".codex/config.toml": 'model = "gpt-5"\n\n[mcp_servers.github] # mine\ncommand = "npx"\n',
    ".gemini/settings.json": '{"ui": {"theme": "dark"}, "mcpServers": {"a": {"command": "a"}}}\n',
}
CLIENTS = ("claude-code", "codex", "gemini")
HOOKS = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
EVENTS = {"gemini": "BeforeAgent"}
HEARD = ("conversation", "learned", "hook.jsonl")


def configurations(home: Home) -> dict[str, bytes]:
    """Return what is in the clients' configurations."""
    return {path: content for path, content in home.tree().items() if path.split("/")[0] in (".claude.json", ".claude", ".codex", ".gemini")}


def hook(home: Home, client: str, event: str, **fields: object) -> str:
    """Call the hook for an event as the client's configuration says."""
    entries = json.loads(home.has(HOOKS[client]))["hooks"].get(event, [])
    commands = [it["command"] for entry in entries for it in entry.get("hooks", []) if "skillfold" in it.get("command", "")]
    asked = json.dumps({"hook_event_name": event, "session_id": f"{client}-1", "cwd": str(home.home / "app"), **fields})
    return "".join(home.do("-c", command, folder="app", stdin=asked, writes=HEARD, program="sh") for command in commands)


def prompt(home: Home, client: str, text: str, conversation: str = "1") -> str:
    """Type a prompt into a client, and return what the hook adds to it."""
    return hook(home, client, EVENTS.get(client, "UserPromptSubmit"), prompt=text, session_id=f"{client}-{conversation}")


def serve(home: Home, client: str, tool: str, **arguments: object) -> str:
    """Call a tool of the server as the client's configuration starts it."""
    if client == "codex":
        server = tomllib.loads(home.has(".codex/config.toml"))["mcp_servers"]["skillfold"]
    else:
        server = json.loads(home.has(".claude.json" if client == "claude-code" else ".gemini/settings.json"))["mcpServers"]["skillfold"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": client, "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    ]
    typed = "".join(json.dumps(message) + "\n" for message in messages)
    command = shlex.join([server["command"], *server["args"]])
    # A pipe that stays open until the answer is there, as a client's does.
    printed = home.do("-c", f"(cat; sleep 2) | {command}", folder="app", stdin=typed, writes=HEARD, program="sh")
    answers = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    found = [it for it in answers if it.get("id") == 2]
    return "\n".join(block.get("text", "") for block in found[0]["result"]["content"]) if found and "result" in found[0] else printed
