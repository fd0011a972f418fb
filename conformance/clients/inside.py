"""Runs one conversation of a client with a scripted model, in a network namespace where only the loopback exists.

    unshare --net python3 inside.py JOB.json

The job names the wire format, the script, the command, its environment and folder; `{port}` in them is the model's port. What
the model saw, and what the client printed, is written to the job's `result`. A job with `terminal` gives the client the terminal
that this runs in, and ends the client after the script.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

from model import WIRES, ScriptedModel


SECONDS_TO_SHOW = 1


def in_terminal(model, command, seconds, **options):
    """Runs a client in this terminal until the script is over, and returns its exit code, or None if it was ended."""
    client = subprocess.Popen(command, **options)
    end = time.monotonic() + seconds
    while client.poll() is None and time.monotonic() < end:
        if model.is_over.wait(0.1):
            time.sleep(SECONDS_TO_SHOW)
            break
    code = client.poll()
    client.terminate()
    try:
        client.wait(3)
    except subprocess.TimeoutExpired:
        client.kill()
    return code


def main():
    job = json.loads(pathlib.Path(sys.argv[1]).read_text())
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    model = ScriptedModel(WIRES[job["wire"]], job["script"], job["marker"])

    def filled(text):
        return text.replace("{port}", str(model.port))

    for path, text in job.get("files", {}).items():
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(path).write_text(filled(text))
    command = [filled(word) for word in job["command"]]
    environment = {name: filled(value) for name, value in job["environment"].items()}
    options = {"env": environment, "cwd": job["folder"]}
    try:
        if job.get("terminal"):
            code, printed = in_terminal(model, command, job["seconds"], **options), ""
        else:
            options |= {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": job["seconds"]}
            done = subprocess.run(command, **options)
            code, printed = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as late:
        code, printed = None, str(late)
    result = {"code": code, "printed": printed, "turns": model.turns, "others": model.others}
    # Whoever waits for the file finds all of it.
    part = pathlib.Path(job["result"] + ".part")
    part.write_text(json.dumps(result))
    os.replace(part, job["result"])


if __name__ == "__main__":
    main()
