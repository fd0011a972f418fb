#!/usr/bin/env python3
"""A toolset that is an MCP server: one JSON message a line on standard input and output, logs on standard error."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from scripts.greet import LANGUAGES, greet  # noqa: E402

TOOL = {
    "name": "greetings",
    "description": "Greets a person in every language that is known, one line each",
    "inputSchema": {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "Who is greeted"}},
        "required": ["name"],
        "additionalProperties": False,
    },
}


def answer(method, params):
    """Return the result of a request. Raise `LookupError` for a method or a tool that the server does not have."""
    if method == "initialize":
        server = {"name": "hello-extended", "version": "1.0.0"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        if params.get("name") != TOOL["name"]:
            raise LookupError(f"Unknown tool: {params.get('name')}")
        return call(params.get("arguments") or {})
    raise LookupError(f"Method not found: {method}")


def call(arguments):
    try:
        lines = [f"{language}: {greet([arguments.get('name', '')], language)}" for language in LANGUAGES]
    except ValueError as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {"content": [{"type": "text", "text": "\n".join(lines)}]}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue  # a notification has no answer
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = answer(message["method"], message.get("params") or {})
        except LookupError as error:
            reply["error"] = {"code": -32601, "message": str(error)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
