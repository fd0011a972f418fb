"""What our server says to a client: its instructions and the answers of its tools, asked for without the client."""

import json
import re
import subprocess

# An entry of a listing: with tags, or one line.
ENTRY = re.compile(
    r"<skill>\s*<id>(?P<id>[^<]*)</id>\s*(?:<description>(?P<description>[^<]*)</description>\s*)?</skill>"
    r"|^- (?:\*\*)?(?P<line_id>[^\s:*]+(?::[^\s:*]+)*)(?:\*\*)?(?:: *(?P<line_description>.*))?$",
    re.MULTILINE,
)


class Server:
    """`skillfold serve` over stdio, in a home."""

    def __init__(self, skillfold, home, info):
        command, environment = [str(skillfold), "serve"], {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        pipe = subprocess.PIPE
        folder = home / "project"
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        self.number = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
        self.instructions = self.ask("initialize", hello).get("instructions", "")
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.tools = self.ask("tools/list", {})["tools"]

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, parameters):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.number and "method" not in answer:
                return answer["result"]
        raise EOFError("the server ended")

    def call(self, tool, given):
        """Returns the text of a tool's answer."""
        blocks = self.ask("tools/call", {"name": tool, "arguments": given})["content"]
        return "\n".join(block["text"] for block in blocks if block["type"] == "text")

    def entries(self):
        """Returns the entries of the listing: id, description, and where each ends in the instructions."""
        found = ENTRY.finditer(self.instructions)
        return [(one["id"] or one["line_id"], one["description"] or one["line_description"] or "", one.end()) for one in found]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)
