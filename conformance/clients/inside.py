"""Runs one conversation of a client with a scripted model, in a network namespace where only the loopback exists.

    unshare --net python3 inside.py JOB.json

The job names the wire format, the script, the command, its environment and folder; `{port}` in them is the model's port. What
the model saw, and what the client printed, is written to the job's `result`.
"""

import json
import pathlib
import subprocess
import sys

from model import WIRES, ScriptedModel


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
    try:
        done = subprocess.run(
            command, env=environment, cwd=job["folder"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=job["seconds"]
        )
        code, printed = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as late:
        code, printed = None, str(late)
    result = {"code": code, "printed": printed, "turns": model.turns, "others": model.others}
    pathlib.Path(job["result"]).write_text(json.dumps(result))


if __name__ == "__main__":
    main()
