"""Clients of the server by HTTP that want it to hold more than it says: long introductions, sessions made and ended, slow readers."""

import http.client
import json
import pathlib
import re
import socket
import time

from ground import HELLO, PATIENCE, Web, crashed, skill

MIB = 1 << 20
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
# Just below the limit of a request.
LONG = "x" * 900_000
# What the allocator keeps for the next time, of all threads.
SLACK = 64 * MIB
# A session takes some 100,000 bytes.
SESSION = 160_000
# SECURITY.md: what the process takes at most for responses that are not sent.
UNSENT = 300 * MIB
FILE = 8 * MIB


def resident(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024


class Client:
    def __init__(self, server):
        self.link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)

    def send(self, method, message=None, session=None):
        headers = {**HEADERS, **({"Mcp-Session-Id": session} if session else {})}
        body = None if message is None else json.dumps({"jsonrpc": "2.0", **message})
        self.link.request(method, "/mcp", body, headers)
        answer = self.link.getresponse()
        return answer.status, answer.getheader("mcp-session-id"), answer.read()

    def begin(self, **introduction):
        params = {**HELLO, **introduction}
        status, session, body = self.send("POST", {"id": 1, "method": "initialize", "params": params})
        if status == 200 and b'"error"' not in body:
            self.send("POST", {"method": "notifications/initialized"}, session)
        return session, body

    def sessions(self):
        self.link.request("GET", "/metrics")
        metrics = self.link.getresponse().read().decode()
        return int(re.search(r"^skillfold_sessions (\d+)", metrics, re.MULTILINE)[1])


def introductions():
    """Yields introductions that are long somewhere."""
    client = HELLO["clientInfo"]
    yield {"clientInfo": {**client, "name": LONG}}
    yield {"clientInfo": {**client, "version": LONG}}
    yield {"clientInfo": {**client, "title": LONG}}
    yield {"clientInfo": {**client, "icons": [{"src": LONG}]}}
    yield {"capabilities": {"experimental": {"x": {"y": LONG}}}}
    yield {"_meta": {"x": LONG}}


def sessions(row, server):
    """Many sessions at once with long introductions, and then many that are ended at once."""
    client, kinds = Client(server), list(introductions())
    client.send("DELETE", None, client.begin()[0])
    before, count, begun = resident(server), row.amount(1_000, least=240), []
    for number in range(count):
        session, body = client.begin(**kinds[number % len(kinds)])
        if b'"error"' not in body:
            begun.append(session)
    held = resident(server) - before
    bound = SLACK + SESSION * len(begun)
    row.try_one(held > bound and f"{held >> 20} MiB for {len(begun)} sessions", "long introductions")
    row.control(client.sessions() == len(begun) > 0, f"{len(begun)} sessions were begun")
    for session in begun:
        client.send("DELETE", None, session)
    row.control(client.sessions() == 0, "all sessions are ended")
    before = resident(server)
    for number in range(row.amount(4_000, least=320)):
        session, body = client.begin(**kinds[2 + number % 4])
        client.send("DELETE", None, session)
    held = resident(server) - before
    row.try_one(held > SLACK and f"{held >> 20} MiB", "sessions made and ended")


def slow_readers(row, server, read):
    """Clients that ask for a long file and do not read it."""
    before, links, most = resident(server), [], 0
    for _ in range(row.amount(200, least=60)):
        link = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.sendall(read(link))
        links.append(link)
    end = time.monotonic() + 4
    while time.monotonic() < end:
        most = max(most, resident(server) - before)
        time.sleep(0.05)
    row.try_one(most > UNSENT and f"{most >> 20} MiB", f"slow readers {read.__name__}")
    row.control(most > UNSENT // 4, f"answers wait for slow readers: {most >> 20} MiB")
    for link in links:
        link.close()


def posted(body, *headers):
    lines = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in HEADERS.items()), *headers]
    text = json.dumps({"jsonrpc": "2.0", "id": 1, **body}).encode()
    return "\r\n".join([*lines, f"Content-Length: {len(text)}", "", ""]).encode() + text


def attack(row, ground, _):
    folder = skill(ground.user, "long", "Has a long file")
    (folder / "long.txt").write_bytes(b"a" * FILE)
    uri = "skill://long/long.txt"
    server = Web(ground)
    sessions(row, server)
    row.control(not crashed(server.close()), "the server ended well")

    def without_sessions(_):
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": HELLO["clientInfo"],
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        named = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: resources/read", f"Mcp-Name: {uri}"]
        return posted({"method": "resources/read", "params": {"uri": uri, "_meta": meta}}, *named)

    server = Web(ground)
    slow_readers(row, server, without_sessions)
    server.close()
    server = Web(ground)
    client = Client(server)

    def in_sessions(_):
        return posted({"method": "resources/read", "params": {"uri": uri}}, f"Mcp-Session-Id: {client.begin()[0]}")

    slow_readers(row, server, in_sessions)
    server.close()
