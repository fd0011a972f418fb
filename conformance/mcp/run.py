#!/usr/bin/env python3
"""Runs the official conformance suite, clients and inspector against `skillfold serve`.

    python3 conformance/mcp/run.py --skillfold target/release/skillfold --cache FOLDER

What they need is installed into FOLDER. A check that fails and is not in `not-applicable.json` is
an error, and so is one that is listed there and does not fail.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import node as npm
CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
TYPESCRIPT_CLIENT = "@modelcontextprotocol/client@2.4.0"
PYTHON_CLIENT = "mcp==2.3.0"
VERSIONS = ["2025-11-25", "2026-07-28"]
EXTENSION = ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"]
# What the inspector asks for, and what is in the answer.
INSPECTED = {
    "tools/list": "read_skill_resource",
    "tools/call --tool-name list_skills --tool-arg query=welcome": "welcome",
    "tools/call --tool-name search_skills --tool-arg query=form": "pdf-forms",
    "tools/call --tool-name load_skill --tool-arg skill_id=welcome --tool-arg arguments=Ada": "Say hello to Ada.",
    "tools/call --tool-name read_skill_resource --tool-arg skill_id=pdf-forms --tool-arg path=references/fields.md": "# Fields",
    "prompts/list": "person-only",
    "prompts/get --prompt-name welcome --prompt-args arguments=Ada": "Say hello to Ada.",
    "resources/read --uri skill://pdf-forms/SKILL.md": "text/markdown",
}
# More than one page of fifty.
FILLERS = 60


def install(cache):
    """Returns node, the folder of npm's packages, and a Python with the client."""
    program, modules = npm.install(cache / "npm", [CONFORMANCE, INSPECTOR, TYPESCRIPT_CLIENT])
    python = cache / "python" / "bin" / "python"
    if not python.exists():
        venv.create(cache / "python", with_pip=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PYTHON_CLIENT]
    subprocess.run(pip, check=True)
    return program, modules, python


def fillers(folder):
    """Makes enough skills for a second page."""
    for number in range(FILLERS):
        skill = folder / f"zz-filler-{number:02}"
        skill.mkdir(parents=True)
        text = f"---\nname: {skill.name}\ndescription: Fills page number {number}\n---\nNothing to do.\n"
        (skill / "SKILL.md").write_text(text)


class Server:
    """`skillfold serve` by HTTP, on a port that was free."""

    def __init__(self, command, folder):
        environment = {"HOME": str(folder), "PATH": os.environ.get("PATH", "")}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
        self.url = None
        for line in self.process.stderr:
            if line.startswith("Listening on "):
                self.url = line.removeprefix("Listening on ").strip()
                break
        if self.url is None:
            sys.exit("error: the server did not start")

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=10)


def suite(node, program, url, folder):
    """Runs all scenarios; returns the checks that did not succeed, and how many did."""
    runs = [["--suite", "all", "--spec-version", version] for version in VERSIONS]
    runs += [["--scenario", scenario] for scenario in EXTENSION]
    failed, passed, scenarios = {}, 0, set()
    for number, options in enumerate(runs):
        output = folder / f"run-{number}"
        command = [node, program, "server", "--url", url, "-o", output, *options]
        # Its exit code counts what does not apply as well.
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        found = sorted(output.glob("**/checks.json"))
        if not found:
            sys.exit(f"error: the suite wrote no checks\n{done.stdout}\n{done.stderr}")
        for checks in found:
            # server-NAME-TIME
            scenario = checks.parent.name.removeprefix("server-")[:-25]
            scenarios.add(scenario)
            for check in json.loads(checks.read_text()):
                if check["status"] in ("FAILURE", "WARNING"):
                    failed[f"{scenario}/{check['id']}"] = check.get("errorMessage", "")
                elif check["status"] == "SUCCESS":
                    passed += 1
    return failed, passed, scenarios


def clients(node, modules, python, url, serve, folder):
    """Runs the clients; returns what did not get what it asked for."""
    # Imports are looked for beside the script.
    script = modules.parent / "client.mjs"
    shutil.copyfile(HERE / "client.mjs", script)
    inspector = [node, modules / ".bin" / "mcp-inspector", "--cli"]
    verify = ["--method", "skills/list", "--verify", "--require-digests"]
    runs = {
        "the Python client": [python, HERE / "client.py", url, folder / "more", *serve],
        "the TypeScript client": [node, script, url, folder / "more", *serve],
        "the inspector over HTTP": [*inspector, url, "--transport", "http", *verify],
        "the inspector over stdio": [*inspector, *serve, *verify],
    }
    wrong = []
    environment = npm.with_node(node, HOME=str(folder))
    for way, server in {"HTTP": [url, "--transport", "http"], "stdio": serve}.items():
        for asked, wanted in INSPECTED.items():
            command = [*inspector, *server, "--method", *asked.split(" ")]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
            if done.returncode != 0 or wanted not in done.stdout:
                wrong.append(f"the inspector over {way}: {asked}: {done.returncode}\n{done.stdout[-1000:]}\n{done.stderr[-1000:]}")
        print(f"Inspector over {way}: {len(INSPECTED)} questions asked")
    for name, command in runs.items():
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        lines = [line for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.endswith(": passed") or line.startswith("Verified ")]
        print("\n".join(lines or [f"{name}: nothing to show"]))
        if done.returncode != 0 or not lines:
            wrong.append(f"{name} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return wrong


def judge(failed):
    """Compares what failed with what does not apply; returns what is wrong."""
    listed = json.loads((HERE / "not-applicable.json").read_text())
    known = {check for group in listed for check in group["checks"]}
    wrong = [f"failed: {check}: {why}" for check, why in sorted(failed.items()) if check not in known]
    wrong += [f"listed as not applicable, and does not fail: {check}" for check in sorted(known - failed.keys())]
    return wrong, len(known)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--skillfold", type=pathlib.Path, required=True)
    arguments.add_argument("--cache", type=pathlib.Path, required=True)
    chosen = arguments.parse_args()
    skillfold = chosen.skillfold.resolve()
    node, modules, python = install(chosen.cache.resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        fillers(folder / "more")
        serve = [skillfold, "serve", "--structured", "--root", HERE / "skills", "--root", folder / "more", "--set", "arguments=claude-code"]
        server = Server([*serve, "--http", "0", "--no-token"], folder)
        try:
            failed, passed, scenarios = suite(node, modules / "@modelcontextprotocol/conformance/dist/index.js", server.url, folder)
            silent = clients(node, modules, python, server.url, serve, folder)
        finally:
            code = server.stop()
    wrong, listed = judge(failed)
    wrong += silent
    if code != 0:
        wrong.append(f"the server ended with {code} when it was told to stop")
    for line in wrong:
        print(f"error: {line}")
    summary = {"scenarios": len(scenarios), "passed": passed, "not_applicable": listed, "wrong": len(wrong)}
    print(json.dumps(summary))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
