#!/usr/bin/env python3
"""Writes the plugin packages of all clients from one description, and checks them.

    python3 packaging/plugins/generate.py OUT            writes the packages below OUT, which must be empty or new
    python3 packaging/plugins/generate.py --check DIR    says what is wrong with the packages below DIR

plugin.toml is the description; the version is that of Cargo.toml. OUT is a repository to be published: it has the marketplace
files of Claude Code, Codex and Cursor, and a folder for each client. The address of the repository is the variable REPOSITORY, or
else the field `repository` in Cargo.toml; without one the packages name none. README.md says which parts were tried.
"""

import argparse
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
PLUGIN_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
SERVER_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"
HOOKS = "hooks/hooks.json"

# The manifest of each package, and the file with its servers.
MANIFESTS = {
    "agent-plugin": ("plugin.json", "mcp.json"),
    "claude-code": (".claude-plugin/plugin.json", ".mcp.json"),
    "codex": (".codex-plugin/plugin.json", ".mcp.json"),
    "cursor": (".cursor-plugin/plugin.json", "mcp.json"),
    "gemini": ("gemini-extension.json", "gemini-extension.json"),
}
# The packages that are a script.
SCRIPTS = {"opencode": "plugins/skillfold.js", "amp": "plugins/skillfold.ts"}
MARKETPLACES = {
    "claude-code": ".claude-plugin/marketplace.json",
    "codex": ".agents/plugins/marketplace.json",
    "cursor": ".cursor-plugin/marketplace.json",
}
LICENCES = ["LICENSE-MIT", "LICENSE-APACHE"]

# The fields that each client knows in its manifest. Agent Plugins and Cursor have closed schemas; the others ignore what they do
# not know, so a field that is misspelt would be lost without a word.
COMMON = {"name", "version", "description", "author", "homepage", "repository", "license", "keywords"}
FIELDS = {
    "agent-plugin": COMMON | {"$schema", "extensions"},
    "claude-code": COMMON | {"commands", "agents", "skills", "hooks", "mcpServers"},
    "codex": COMMON | {"skills", "mcpServers", "hooks", "apps", "interface"},
    "cursor": COMMON | {"displayName", "skills", "mcpServers", "hooks", "rules", "agents", "commands", "logo", "category", "tags"},
    "gemini": {"name", "version", "description", "mcpServers", "contextFileName", "excludeTools", "settings"},
}
# The events that each client sends, and the most that a hook may take in the client's unit.
EVENTS = {
    "claude-code": "PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion "
    "SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact PreModelSwitch PostModelSwitch "
    "PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted Elicitation ElicitationResult ConfigChange "
    "WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged DirectoryAdded MessageDisplay".split(),
    "codex": "PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SessionStart SessionEnd UserPromptSubmit SubagentStart "
    "SubagentStop Stop".split(),
    "cursor": "sessionStart sessionEnd stop preCompact preToolUse postToolUse postToolUseFailure beforeShellExecution "
    "afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit beforeSubmitPrompt afterAgentResponse "
    "afterAgentThought subagentStart subagentStop workspaceOpen".split(),
    "gemini": "SessionStart SessionEnd BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection BeforeTool AfterTool "
    "PreCompress Notification".split(),
}
LONGEST = {"claude-code": 30, "codex": 30, "cursor": 30, "gemini": 30_000}
# What a script may send to the hook.
SENT = {"opencode": {"UserPromptSubmit", "PostCompact"}, "amp": {"UserPromptSubmit"}}


def describe():
    """Returns the description, with what Cargo.toml says about the project."""
    description = tomllib.loads((HERE / "plugin.toml").read_text())
    cargo = tomllib.loads((HERE.parents[1] / "Cargo.toml").read_text())["workspace"]["package"]
    for field in ("version", "license", "keywords"):
        description[field] = cargo[field]
    description["repository"] = os.environ.get("REPOSITORY") or cargo.get("repository", "")
    return description


def hook_command(description, client):
    """Returns the command of the hook for a shell."""
    return " ".join([*description["hook"], client]) + description["hook_end"].get(client, "")


# Writing


def manifest(client, it):
    """Returns the manifest of a package."""
    fields = {"name": it["name"], "version": it["version"], "description": it["description"], "author": {"name": it["author"]}}
    if it["repository"]:
        fields |= {"homepage": it["repository"], "repository": it["repository"]}
    fields |= {"license": it["license"], "keywords": it["keywords"]}
    parts = {"skills": "./skills/", "mcpServers": "./" + MANIFESTS[client][1], "hooks": "./" + HOOKS}
    match client:
        case "agent-plugin":
            return {"$schema": PLUGIN_SCHEMA} | fields
        case "claude-code":
            # The other files are where it looks for them.
            return fields
        case "codex":
            interface = {"displayName": it["title"], "shortDescription": it["description"], "developerName": it["author"]}
            return fields | parts | {"interface": interface | {"category": "Developer Tools"}}
        case "cursor":
            return fields | {"displayName": it["title"]} | parts
        case "gemini":
            return {field: fields[field] for field in ("name", "version", "description")} | {"mcpServers": servers(client, it)}


def servers(client, it):
    """Returns our server as a client configures it."""
    command, *arguments = it["server"]
    server = {"command": command, "args": arguments}
    if client in ("agent-plugin", "claude-code", "cursor"):
        server = {"type": "stdio"} | server
    return {it["name"]: server}


def hooks(client, it):
    """Returns the file with hooks of a client."""
    command = hook_command(it, client)
    found = {}
    for event, options in it["events"][client].items():
        entry = {"command": command, "timeout": options["timeout"]}
        if client != "cursor":
            matcher = {"matcher": options["matcher"]} if "matcher" in options else {}
            entry = matcher | {"hooks": [{"type": "command"} | entry]}
        found[event] = [entry]
    return ({"version": 1} if client == "cursor" else {}) | {"hooks": found}


def marketplace(client, it):
    """Returns the file by which a client finds its package in the repository."""
    owner, source = {"name": it["author"]}, f"./{client}"
    plugin = {"name": it["name"], "source": source, "description": it["description"]}
    match client:
        case "claude-code":
            return {"name": it["name"], "description": it["description"], "owner": owner, "plugins": [plugin]}
        case "codex":
            policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
            plugin = {"name": it["name"], "source": {"source": "local", "path": source}, "policy": policy}
            plugin["category"] = "Developer Tools"
            return {"name": it["name"], "interface": {"displayName": it["title"]}, "plugins": [plugin]}
        case "cursor":
            return {"name": it["name"], "owner": owner, "metadata": {"description": it["description"]}, "plugins": [plugin]}


def script(client, it):
    """Returns the script of a client that has no file for hooks."""
    template = HERE / (client + pathlib.PurePath(SCRIPTS[client]).suffix + ".in")
    values = {"FUNCTION": (HERE / "hook.js.in").read_text(), "HOOK": json.dumps([*it["hook"], client])}
    return filled(template, it, values)


def filled(template, it, values):
    """Returns a template with its placeholders filled in."""
    values |= {"VERSION": it["version"], "LICENCE": it["license"], "REPOSITORY": it["repository"] or "REPOSITORY"}
    values |= {"TIMEOUT": str(it["script_timeout"]), "SERVER": json.dumps(it["server"])}
    text = template.read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def packages(it):
    """Returns all files: their paths and texts."""
    files = {}
    for client, (manifest_file, server_file) in MANIFESTS.items():
        files[f"{client}/{manifest_file}"] = manifest(client, it)
        if server_file != manifest_file:
            schema = {"$schema": SERVER_SCHEMA} if client == "agent-plugin" else {}
            files[f"{client}/{server_file}"] = schema | {"mcpServers": servers(client, it)}
    for client in it["events"]:
        files[f"{client}/{HOOKS}"] = hooks(client, it)
    for client, path in MARKETPLACES.items():
        files[path] = marketplace(client, it)
    files = {path: json.dumps(value, indent=2) + "\n" for path, value in files.items()}
    for client, path in SCRIPTS.items():
        files[f"{client}/{path}"] = script(client, it)
    files["README.md"] = filled(HERE / "repository.md.in", it, {})
    for name in LICENCES:
        files[name] = (HERE.parents[1] / name).read_text()
    for client in [*MANIFESTS, *SCRIPTS]:
        files[f"{client}/skills/{it['skill']}/SKILL.md"] = (HERE / it["skill"] / "SKILL.md").read_text()
    return files


def write(folder, it):
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"error: {folder} is not empty")
    for path, text in packages(it).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


# Checking


class Check:
    """Looks for faults in packages. Each has the file and what is wrong."""

    def __init__(self, folder, it):
        self.folder, self.it, self.faults = folder, it, []

    def run(self):
        """Returns the faults."""
        wanted = set(packages(self.it))
        found = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}
        found = {path for path in found if not path.startswith(".git/")}
        for path in sorted(wanted - found):
            self.fault(path, "is missing")
        for path in sorted(found - wanted):
            self.fault(path, "is in no package")
        for client in MANIFESTS:
            self.check_manifest(client)
            self.check_servers(client)
        for client in EVENTS:
            self.check_hooks(client)
        for client in MARKETPLACES:
            self.check_marketplace(client)
        for client in SCRIPTS:
            self.check_script(client)
        for client in [*MANIFESTS, *SCRIPTS]:
            self.check_skill(client)
        return self.faults

    def fault(self, path, what):
        self.faults.append(f"{path} {what}")

    def expect(self, path, name, value, wanted):
        if value != wanted:
            self.fault(path, f"has {name} {json.dumps(value)}, not {json.dumps(wanted)}")

    def read(self, path):
        """Returns the text of a file, or None; a missing one was reported."""
        try:
            return (self.folder / path).read_text()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            self.fault(path, f"cannot be read: {error}")
            return None

    def read_json(self, path):
        """Returns the object in a file, or None."""
        text = self.read(path)
        if text is None:
            return None
        try:
            value = json.loads(text)
        except ValueError as error:
            self.fault(path, f"is not JSON: {error}")
            return None
        if not isinstance(value, dict):
            self.fault(path, "is not an object")
            return None
        return value

    def check_manifest(self, client):
        path = f"{client}/{MANIFESTS[client][0]}"
        fields = self.read_json(path)
        if fields is None:
            return
        for field in sorted(set(fields) - FIELDS[client]):
            self.fault(path, f"has the field `{field}`, which the client does not know")
        for field in ("name", "version", "description"):
            self.expect(path, field, fields.get(field), self.it[field])
        if not re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?", str(fields.get("name"))):
            self.fault(path, "has a name that is not of small letters, digits and hyphens")
        if client == "agent-plugin":
            self.expect(path, "$schema", fields.get("$schema"), PLUGIN_SCHEMA)
        if client in ("codex", "cursor"):
            for field in ("skills", "mcpServers", "hooks"):
                self.check_path(path, field, fields.get(field), self.folder / client)

    def check_path(self, path, field, value, base):
        """A path in a manifest is relative to the package, and there."""
        if not isinstance(value, str) or not value.startswith("./") or ".." in value:
            self.fault(path, f"has {field} {json.dumps(value)}, which is not a path that starts with `./`")
        elif not (base / value).exists():
            self.fault(path, f"has {field} `{value}`, which does not exist")

    def check_servers(self, client):
        path = f"{client}/{MANIFESTS[client][1]}"
        fields = self.read_json(path)
        if fields is None:
            return
        if client == "agent-plugin":
            self.expect(path, "$schema", fields.get("$schema"), SERVER_SCHEMA)
            self.expect(path, "the fields", sorted(fields), ["$schema", "mcpServers"])
        self.expect(path, "mcpServers", fields.get("mcpServers"), servers(client, self.it))

    def check_hooks(self, client):
        path = f"{client}/{HOOKS}"
        fields = self.read_json(path)
        if fields is None:
            return
        # Codex refuses a file with other fields, and Cursor one without a version.
        self.expect(path, "the fields", sorted(fields), ["hooks", "version"] if client == "cursor" else ["hooks"])
        events = fields.get("hooks")
        if not isinstance(events, dict):
            self.fault(path, "has no events")
            return
        for event in sorted(set(events) - set(EVENTS[client])):
            self.fault(path, f"has the event `{event}`, which the client does not send")
        for event in sorted(set(self.it["events"][client]) - set(events)):
            self.fault(path, f"does not listen to `{event}`")
        for event, groups in events.items():
            for entry in self.entries(path, client, event, groups):
                self.check_entry(path, client, event, entry)

    def entries(self, path, client, event, groups):
        """Yields the commands of an event, which other clients than Cursor put into groups."""
        for group in groups if isinstance(groups, list) else [groups]:
            if client == "cursor":
                yield group
                continue
            inner = group.get("hooks") if isinstance(group, dict) else None
            if not isinstance(inner, list) or not inner:
                self.fault(path, f"has no command for `{event}`")
                continue
            wanted = self.it["events"][client].get(event, {}).get("matcher")
            self.expect(path, f"for `{event}` the matcher", group.get("matcher"), wanted)
            yield from inner

    def check_entry(self, path, client, event, entry):
        if not isinstance(entry, dict):
            self.fault(path, f"has {json.dumps(entry)} for `{event}`, which is not a command")
            return
        if client != "cursor":
            self.expect(path, f"for `{event}` the type", entry.get("type"), "command")
        command = hook_command(self.it, client)
        self.expect(path, f"for `{event}` the command", entry.get("command"), command)
        timeout = entry.get("timeout")
        if not isinstance(timeout, int) or not LONGEST[client] / 10 <= timeout <= LONGEST[client]:
            self.fault(path, f"has for `{event}` the timeout {json.dumps(timeout)}, in a unit of {LONGEST[client]} for 30 seconds")

    def check_marketplace(self, client):
        path = MARKETPLACES[client]
        fields = self.read_json(path)
        if fields is None:
            return
        self.expect(path, "name", fields.get("name"), self.it["name"])
        if client != "codex" and not (isinstance(fields.get("owner"), dict) and fields["owner"].get("name")):
            self.fault(path, "names no owner")
        plugins = fields.get("plugins")
        if not isinstance(plugins, list) or len(plugins) != 1 or not isinstance(plugins[0], dict):
            self.fault(path, "does not have exactly one plugin")
            return
        self.expect(path, "a plugin with the name", plugins[0].get("name"), self.it["name"])
        if "version" in plugins[0]:
            self.expect(path, "a plugin with the version", plugins[0]["version"], self.it["version"])
        source = plugins[0].get("source")
        if isinstance(source, dict):
            source = source.get("path")
        self.check_path(path, "source", source, self.folder)
        if isinstance(source, str) and not (self.folder / source / MANIFESTS[client][0]).is_file():
            self.fault(path, f"has source `{source}`, where there is no {MANIFESTS[client][0]}")

    def check_script(self, client):
        path = f"{client}/{SCRIPTS[client]}"
        text = self.read(path)
        if text is None:
            return
        version = re.search(r"^// Skillfold (\S+):", text, re.MULTILINE)
        self.expect(path, "version", version and version[1], self.it["version"])
        commands = {"HOOK": [*self.it["hook"], client]} | ({"SERVER": self.it["server"]} if client == "opencode" else {})
        for name, wanted in commands.items():
            found = re.search(rf"^const {name} = (\[.*\])$", text, re.MULTILINE)
            self.expect(path, f"the command {name}", found and json.loads(found[1]), wanted)
        sent = set(re.findall(r'hook_event_name: "(\w+)"', text))
        for event in sorted(sent - SENT[client]):
            self.fault(path, f"sends the event `{event}`, which the hook does not know")
        for event in sorted(SENT[client] - sent):
            self.fault(path, f"does not send `{event}`")
        placeholder = re.search(r"@[A-Z]+@", text)
        if placeholder:
            self.fault(path, f"has the placeholder `{placeholder[0]}`")
        problem = syntax_error(text)
        if problem:
            self.fault(path, f"is not JavaScript: {problem}")

    def check_skill(self, client):
        path = f"{client}/skills/{self.it['skill']}/SKILL.md"
        text = self.read(path)
        if text is None:
            return
        found = re.match(r"---\nname: (.+)\ndescription: (.+)\n---\n+\S", text)
        if not found:
            self.fault(path, "does not begin with name, description and instructions")
            return
        self.expect(path, "name", found[1], self.it["skill"])
        if len(found[2]) > 1024:
            self.fault(path, f"has a description of {len(found[2])} characters; the limit is 1024")
        if len(text) > self.it["skill_characters"]:
            self.fault(path, f"has {len(text)} characters; the limit is {self.it['skill_characters']}")


@functools.cache
def syntax_error(text):
    """Returns what Node says about a script, or None if it is well formed or there is no Node."""
    node = shutil.which("node")
    if not node:
        return None
    with tempfile.TemporaryDirectory() as folder:
        # The scripts have no types, so that one in TypeScript is JavaScript too.
        file = pathlib.Path(folder) / "script.mjs"
        file.write_text(text)
        done = subprocess.run([node, "--check", file], capture_output=True, text=True)
    errors = [line for line in done.stderr.splitlines() if "Error" in line]
    return None if done.returncode == 0 else (errors or ["node --check failed"])[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", metavar="OUT", type=pathlib.Path, nargs="?")
    parser.add_argument("--check", metavar="DIR", type=pathlib.Path)
    chosen = parser.parse_args()
    if (chosen.out is None) == (chosen.check is None):
        parser.error("give a folder to write to, or --check with a folder")
    it = describe()
    if chosen.out:
        write(chosen.out, it)
    folder = chosen.out or chosen.check
    faults = Check(folder, it).run()
    for fault in faults:
        print(f"error: {fault}")
    if not faults:
        print(f"{len(packages(it))} files in {folder}, nothing to report")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
