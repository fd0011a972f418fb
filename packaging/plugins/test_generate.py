#!/usr/bin/env python3
"""Shows that every fault of a package is found, and that the scripts behave whatever the hook does.

    python3 packaging/plugins/test_generate.py

Needs Node for the scripts. A fake `skillfold` on the PATH stands for the hook.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
import generate

NODE = shutil.which("node")


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)


class Faults(Folder):
    def setUp(self):
        super().setUp()
        self.it = generate.describe()
        generate.write(self.folder, self.it)

    def faults(self):
        return generate.Check(self.folder, self.it).run()

    def assert_fault(self, path, what):
        """There is one fault, with this file and this text."""
        found = self.faults()
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(path + " "), found)
        self.assertIn(what, found[0])

    def replace(self, path, old, new, count=-1):
        file = self.folder / path
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new, count))

    def change(self, path, change):
        file = self.folder / path
        value = json.loads(file.read_text())
        change(value)
        file.write_text(json.dumps(value))

    def test_generated_packages_are_valid(self):
        self.assertEqual(self.faults(), [])

    def test_every_missing_file_is_reported(self):
        for path in generate.packages(self.it):
            text = (self.folder / path).read_text()
            (self.folder / path).unlink()
            self.assertIn(f"{path} is missing", self.faults())
            (self.folder / path).write_text(text)

    def test_unexpected_file_is_reported(self):
        (self.folder / "cursor/hooks/hooks-old.json").write_text("{}")
        self.assert_fault("cursor/hooks/hooks-old.json", "is in no package")

    def test_invalid_json_is_reported_for_every_file(self):
        for path in generate.packages(self.it):
            if path.endswith(".json"):
                text = (self.folder / path).read_text()
                for broken in (text[:-3], text + "}", "[]", ""):
                    (self.folder / path).write_text(broken)
                    self.assertTrue(any(fault.startswith(f"{path} is not ") for fault in self.faults()), (path, broken))
                (self.folder / path).write_text(text)

    def test_binary_file_is_reported(self):
        (self.folder / "claude-code/.mcp.json").write_bytes(b"\xff\xfe{}")
        self.assert_fault("claude-code/.mcp.json", "cannot be read")

    def test_version_mismatch_in_any_package_is_reported(self):
        for client, (path, _) in generate.MANIFESTS.items():
            with self.subTest(client):
                self.change(f"{client}/{path}", lambda value: value.update(version="9.9.9"))
                self.assert_fault(f"{client}/{path}", 'has version "9.9.9"')
                self.change(f"{client}/{path}", lambda value: value.update(version=self.it["version"]))
        for client, path in generate.SCRIPTS.items():
            with self.subTest(client):
                self.replace(f"{client}/{path}", f"// Skillfold {self.it['version']}:", "// Skillfold 9.9.9:")
                self.assert_fault(f"{client}/{path}", 'has version "9.9.9"')
                self.replace(f"{client}/{path}", "// Skillfold 9.9.9:", f"// Skillfold {self.it['version']}:")

    def test_version_of_another_release_is_reported(self):
        self.it["version"] = "9.9.9"
        self.assertEqual(len([fault for fault in self.faults() if "version" in fault]), 7)

    def test_wrong_plugin_name_is_reported(self):
        self.change("gemini/gemini-extension.json", lambda value: value.update(name="skilfold"))
        self.assert_fault("gemini/gemini-extension.json", 'has name "skilfold"')

    def test_unknown_field_is_reported(self):
        self.change("cursor/.cursor-plugin/plugin.json", lambda value: value.update(mcp_servers="./mcp.json"))
        self.assert_fault("cursor/.cursor-plugin/plugin.json", "`mcp_servers`, which the client does not know")

    def test_hooks_in_the_portable_manifest_are_reported(self):
        self.change("agent-plugin/plugin.json", lambda value: value.update(hooks="./hooks/hooks.json"))
        self.assert_fault("agent-plugin/plugin.json", "`hooks`, which the client does not know")

    def test_wrong_schema_version_is_reported(self):
        self.replace("agent-plugin/plugin.json", "1.0.0", "2.0.0")
        self.assert_fault("agent-plugin/plugin.json", "has $schema")

    def test_missing_path_is_reported(self):
        self.change("codex/.codex-plugin/plugin.json", lambda value: value.update(hooks="./hooks.json"))
        self.assert_fault("codex/.codex-plugin/plugin.json", "`./hooks.json`, which does not exist")

    def test_path_outside_the_package_is_reported(self):
        self.change("codex/.codex-plugin/plugin.json", lambda value: value.update(skills="../claude-code/skills"))
        self.assert_fault("codex/.codex-plugin/plugin.json", "is not a path that starts with `./`")

    def test_wrong_server_is_reported(self):
        for path in ("claude-code/.mcp.json", "codex/.mcp.json", "cursor/mcp.json", "agent-plugin/mcp.json", "gemini/gemini-extension.json"):
            with self.subTest(path):
                self.replace(path, '"serve"', '"server"')
                self.assert_fault(path, "has mcpServers")
                self.replace(path, '"server"', '"serve"')

    def test_unknown_event_is_reported(self):
        for client, event in (("claude-code", "UserPromptSubmitted"), ("gemini", "UserPromptSubmit"), ("cursor", "BeforeSubmitPrompt")):
            with self.subTest(client):
                path = f"{client}/{generate.HOOKS}"
                first = next(iter(self.it["events"][client]))
                self.change(path, lambda value: value["hooks"].update({event: value["hooks"][first]}))
                self.assert_fault(path, f"has the event `{event}`, which the client does not send")
                self.change(path, lambda value: value["hooks"].pop(event))

    def test_missing_event_is_reported(self):
        self.change("codex/hooks/hooks.json", lambda value: value["hooks"].pop("SessionStart"))
        self.assert_fault("codex/hooks/hooks.json", "does not listen to `SessionStart`")

    def test_wrong_hook_command_is_reported(self):
        for wrong in ("skillfold hook --client codex", "skillfold hook", "skillfold hok --client claude-code"):
            with self.subTest(wrong):
                path = "claude-code/hooks/hooks.json"
                before = (self.folder / path).read_text()
                self.replace(path, "skillfold hook --client claude-code", wrong, 1)
                self.assert_fault(path, f'has for `UserPromptSubmit` the command "{wrong}"')
                (self.folder / path).write_text(before)

    def test_hook_that_blocks_prompts_without_the_command_is_reported(self):
        self.replace("gemini/hooks/hooks.json", "; exit 0", "", 1)
        self.assert_fault("gemini/hooks/hooks.json", "has for `BeforeAgent` the command")

    def test_timeout_in_the_wrong_unit_is_reported(self):
        self.replace("gemini/hooks/hooks.json", "10000", "10", 1)
        self.assert_fault("gemini/hooks/hooks.json", "the timeout 10")
        self.replace("gemini/hooks/hooks.json", ": 10\n", ": 10000\n", 1)
        self.replace("codex/hooks/hooks.json", ": 10\n", ": 10000\n", 1)
        self.assert_fault("codex/hooks/hooks.json", "the timeout 10000")

    def test_wrong_matcher_is_reported(self):
        self.replace("claude-code/hooks/hooks.json", "clear|compact", "startup")
        self.assert_fault("claude-code/hooks/hooks.json", 'has for `SessionStart` the matcher "startup"')

    def test_field_that_codex_rejects_is_reported(self):
        self.change("codex/hooks/hooks.json", lambda value: value.update(version=1))
        self.assert_fault("codex/hooks/hooks.json", "has the fields")

    def test_malformed_hooks_are_reported(self):
        path = "claude-code/hooks/hooks.json"
        for hooks in (None, [], {"UserPromptSubmit": None}, {"UserPromptSubmit": [{}]}, {"UserPromptSubmit": [{"hooks": ["x"]}]}):
            self.change(path, lambda value: value.update(hooks=hooks))
            self.assertTrue(self.faults(), hooks)

    def test_incomplete_marketplace_is_reported(self):
        path = generate.MARKETPLACES["claude-code"]
        before = (self.folder / path).read_text()
        self.change(path, lambda value: value.pop("owner"))
        self.assert_fault(path, "names no owner")
        (self.folder / path).write_text(before)
        self.change(path, lambda value: value["plugins"].clear())
        self.assert_fault(path, "does not have exactly one plugin")
        (self.folder / path).write_text(before)
        self.change(path, lambda value: value["plugins"][0].update(source="./codex"))
        self.assert_fault(path, "where there is no .claude-plugin/plugin.json")
        (self.folder / path).write_text(before)
        self.change(path, lambda value: value["plugins"][0].update(version="9.9.9"))
        self.assert_fault(path, 'a plugin with the version "9.9.9"')

    def test_skill_over_the_limit_is_reported(self):
        path = f"claude-code/skills/{self.it['skill']}/SKILL.md"
        with (self.folder / path).open("a") as skill:
            skill.write("More words. " * 20)
        self.assert_fault(path, f"the limit is {self.it['skill_characters']}")

    def test_misnamed_skill_or_missing_frontmatter_is_reported(self):
        path = f"amp/skills/{self.it['skill']}/SKILL.md"
        self.replace(path, f"name: {self.it['skill']}", "name: other")
        self.assert_fault(path, 'has name "other"')
        (self.folder / path).write_text("# Using Skillfold\n")
        self.assert_fault(path, "does not begin with name")

    def test_script_with_a_wrong_command_event_or_placeholder_is_reported(self):
        path = "opencode/plugins/skillfold.js"
        for old, new, what in (
            ('"--client", "opencode"', '"--client", "amp"', "has the command HOOK"),
            ('"serve"', '"server"', "has the command SERVER"),
            ('"PostCompact"', '"PostCompact2"', "sends the event `PostCompact2`"),
            ("5000", "@TIMEOUT@", "`@TIMEOUT@`"),
        ):
            with self.subTest(new):
                before = (self.folder / path).read_text()
                self.replace(path, old, new)
                self.assertTrue(any(fault.startswith(path) and what in fault for fault in self.faults()), self.faults())
                (self.folder / path).write_text(before)

    @unittest.skipUnless(NODE, "needs Node")
    def test_invalid_javascript_is_reported(self):
        for client, path in generate.SCRIPTS.items():
            with self.subTest(client):
                with (self.folder / client / path).open("a") as script:
                    script.write("}\n")
                found = self.faults()
                self.assertTrue(any(f"{client}/{path} is not JavaScript: SyntaxError" in fault for fault in found), found)

    def test_command_writes_checks_and_fails(self):
        command = [sys.executable, generate.__file__]
        out = self.folder / "new"
        done = subprocess.run([*command, out], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(subprocess.run([*command, "--check", out], capture_output=True).returncode, 0)
        self.assertEqual(subprocess.run([*command, out], capture_output=True).returncode, 1, "the folder is not empty")
        (out / "codex/.mcp.json").unlink()
        done = subprocess.run([*command, "--check", out], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: codex/.mcp.json is missing\n", done.stdout)

    def test_repository_url_is_written(self):
        os.environ["REPOSITORY"] = "https://example.com/skillfold"
        self.addCleanup(os.environ.pop, "REPOSITORY")
        files = generate.packages(generate.describe())
        self.assertEqual(json.loads(files["codex/.codex-plugin/plugin.json"])["homepage"], "https://example.com/skillfold")
        self.assertIn("marketplace add https://example.com/skillfold`", files["README.md"])


# Calls the plugin once with a prompt and prints what it adds; then, in opencode, says that the conversation was compacted.
DRIVERS = {
    "opencode": """
        import { Skillfold } from "./script.mjs"
        const hooks = await Skillfold({ directory: "/project" })
        const config = { mcp: { other: {} } }
        await hooks.config(config)
        const part = (id, text, more) => ({ id, sessionID: "ses_1", messageID: "msg_1", type: "text", text, ...more })
        const parts = [part("prt_2", "say bonjour"), part("prt_1", "to Alice"), part("prt_3", "not typed", { synthetic: true })]
        await hooks["chat.message"]({ sessionID: "ses_1" }, { message: { id: "msg_1", sessionID: "ses_1" }, parts })
        if (process.argv[2]) await hooks.event({ event: { type: process.argv[2], properties: { sessionID: "ses_1" } } })
        await hooks["chat.message"](undefined, undefined)
        await hooks.event({ event: undefined })
        console.log(JSON.stringify({ added: parts.slice(3), config }))
    """,
    "amp": """
        import plugin from "./script.mjs"
        let handler
        const system = { workspaceRoot: "file:///project" }
        const helpers = { filePathFromURI: (uri) => new URL(uri).pathname }
        plugin({ on: (name, given) => (handler = name === "agent.start" && given), system, helpers })
        const added = await handler({ message: "say bonjour", thread: { id: "T-1" }, id: 1 })
        const odd = await handler(undefined)
        console.log(JSON.stringify({ added, odd }))
    """,
}


@unittest.skipUnless(NODE, "needs Node")
class Scripts(Folder):
    def run_script(self, client, fake, *arguments):
        """Runs a script with a fake hook, which is a program of a shell, or none; returns what it printed, the events that the hook
        got, and the seconds."""
        it = generate.describe()
        (self.folder / "script.mjs").write_text(generate.script(client, it))
        (self.folder / "driver.mjs").write_text(DRIVERS[client])
        events = self.folder / "events"
        events.write_text("")
        program = self.folder / "bin/skillfold"
        program.parent.mkdir(exist_ok=True)
        program.unlink(missing_ok=True)
        if fake is not None:
            program.write_text(f'#!/bin/sh\n{fake.replace("EVENTS", str(events))}\n')
            program.chmod(0o755)
        environment = {"PATH": f"{program.parent}:/usr/bin:/bin"}
        started = time.monotonic()
        command = [NODE, self.folder / "driver.mjs", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout), [json.loads(line) for line in events.read_text().splitlines()], time.monotonic() - started

    # Notes the event and its arguments, and answers.
    ANSWER = 'printf \'{"arguments": "%s", "event": %s}\\n\' "$*" "$(cat)" >> EVENTS; printf "Use the skill.\\n"'

    def test_opencode_appends_the_answer_to_the_prompt(self):
        printed, events, _ = self.run_script("opencode", self.ANSWER)
        part = {"id": "prt_3s", "sessionID": "ses_1", "messageID": "msg_1", "type": "text", "text": "Use the skill.", "synthetic": True}
        self.assertEqual(printed["added"], [part])
        event = {"hook_event_name": "UserPromptSubmit", "session_id": "ses_1", "cwd": "/project", "prompt": "say bonjour\nto Alice"}
        self.assertEqual(events, [{"arguments": "hook --client opencode", "event": event}])

    def test_opencode_gets_the_server(self):
        printed, _, _ = self.run_script("opencode", self.ANSWER)
        server = {"type": "local", "command": ["skillfold", "serve"], "enabled": True}
        self.assertEqual(printed["config"], {"mcp": {"other": {}, "skillfold": server}})

    def test_opencode_forwards_compaction(self):
        _, events, _ = self.run_script("opencode", self.ANSWER, "session.compacted")
        event = {"hook_event_name": "PostCompact", "session_id": "ses_1", "cwd": "/project"}
        self.assertEqual(events[1:], [{"arguments": "hook --client opencode", "event": event}])
        _, events, _ = self.run_script("opencode", self.ANSWER, "session.idle")
        self.assertEqual(len(events), 1)

    def test_amp_adds_the_answer(self):
        printed, events, _ = self.run_script("amp", self.ANSWER)
        self.assertEqual(printed, {"added": {"message": {"content": "Use the skill."}}, "odd": {}})
        event = {"hook_event_name": "UserPromptSubmit", "session_id": "T-1", "cwd": "/project", "prompt": "say bonjour"}
        self.assertEqual(events, [{"arguments": "hook --client amp", "event": event}])

    def test_nothing_is_added_if_the_hook_is_silent_or_fails(self):
        failures = {
            "silent": "cat > /dev/null",
            "fails": "cat > /dev/null; echo text; exit 3",
            "reads nothing": "exit 0",
            "kills itself": "echo text; kill -9 $$",
            "is missing": None,
        }
        for name, fake in failures.items():
            for client, nothing in (("opencode", []), ("amp", {})):
                with self.subTest(f"{client}: {name}"):
                    printed, _, seconds = self.run_script(client, fake)
                    self.assertEqual(printed["added"], nothing)
                    self.assertLess(seconds, 4)

    def test_nothing_is_added_after_five_seconds(self):
        # The shell that runs the fake is killed; what it started holds the pipe open, which must not matter.
        for client, nothing in (("opencode", []), ("amp", {})):
            with self.subTest(client):
                printed, _, seconds = self.run_script(client, "echo text; sleep 20; echo more")
                self.assertEqual(printed["added"], nothing)
                self.assertTrue(4.5 < seconds < 10, seconds)


if __name__ == "__main__":
    unittest.main()
