#!/usr/bin/env python3
"""Tools as an MCP server: echo '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}' | python3 server.py"""

import json
import sys

TOOL = {
    "name": "count-words",
    "description": "Counts the words of a text",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The text to count"}},
        "required": ["text"],
        "additionalProperties": False,
    },
}


def answer(method, params):
    if method == "initialize":
        server = {"name": "text", "version": "1.0.0"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return call(params.get("name"), params.get("arguments") or {})
    raise LookupError(f"Method not found: {method}")


def call(name, arguments):
    text = arguments.get("text")
    if name != TOOL["name"] or not isinstance(text, str):
        message = f"Call {TOOL['name']} with a string `text`"
        return {"content": [{"type": "text", "text": message}], "isError": True}
    return {"content": [{"type": "text", "text": f"{len(text.split())} words"}]}


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
