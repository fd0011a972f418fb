"""HTTP smuggling: two readings of one request. It is refused or read in one way, and what hides in it is never answered."""

import json
import socket

from ground import HELLO, Web, crashed, skill

CANARY = b"zq7canary"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def request(
    body, *lines, head=b"POST /mcp HTTP/1.1", host=b"Host: localhost:PORT", version=b"MCP-Protocol-Version: 2025-06-18"
):
    fixed = [head, host, b"Content-Type: application/json", b"Accept: application/json, text/event-stream", version]
    return b"\r\n".join([line for line in [*fixed, *lines] if line]) + b"\r\n\r\n" + body


def hidden(session):
    """The request that hides: it brings the canary where it is answered."""
    call = {
        "jsonrpc": "2.0",
        "id": "hidden",
        "method": "tools/call",
        "params": {"name": "load_skill", "arguments": {"skill_id": "bait"}},
    }
    body = json.dumps(call).encode()
    return request(body, b"Content-Length: %d" % len(body), b"Mcp-Session-Id: " + session)


def chunked(body, size=None):
    return (size or b"%x" % len(body)) + b"\r\n" + body + b"\r\n0\r\n\r\n"


def attacks(session):
    """Yields requests with another one behind or in them that a second reader would see."""
    inner, mine = hidden(session), b"Mcp-Session-Id: " + session
    length, ping = b"Content-Length: %d", len(PING)
    te = b"Transfer-Encoding: chunked"
    both = len(PING + inner)
    yield (
        "length and chunks, chunks end first",
        request(chunked(PING) + inner, mine, length % (len(chunked(PING)) + len(inner)), te),
    )
    yield (
        "chunks and length, chunks end first",
        request(chunked(PING) + inner, mine, te, length % (len(chunked(PING)) + len(inner))),
    )
    yield "length ends first", request(chunked(PING + inner), mine, length % 4, te)
    yield "length of nothing, and chunks", request(chunked(PING) + inner, mine, length % 0, te)
    yield "two lengths, the short one first", request(PING + inner, mine, length % ping, length % both)
    yield "two lengths, the long one first", request(PING + inner, mine, length % both, length % ping)
    yield "two lengths in a list", request(PING + inner, mine, b"Content-Length: %d, %d" % (ping, both))
    for name, value in {
        "plus": b"+%d",
        "minus": b"-%d",
        "hex": b"0x%x",
        "a dot": b"%d.0",
        "a word": b"%dx",
        "a space inside": b"%d 0",
        "an underscore": b"1_%d",
        "a list": b"%d,",
        "full width": "\uff11".encode() + b"%d",
        "a tab before": b"\x0b%d",
    }.items():
        yield f"length with {name}", request(PING + inner, mine, b"Content-Length: " + value % ping)
    yield "a length that overflows", request(PING + inner, mine, b"Content-Length: %d" % (2**64 + ping))
    yield (
        "a space before the colon",
        request(chunked(PING) + inner, mine, length % both, b"Transfer-Encoding : chunked"),
    )
    yield "a space before the length's colon", request(PING + inner, mine, b"Content-Length : %d" % ping, te)
    for name, value in {
        "identity": b"chunked, identity",
        "identity first": b"identity, chunked",
        "unknown": b"xchunked",
        "twice": b"chunked, chunked",
        "a tab": b"\x0bchunked",
        "quotes": b'"chunked"',
        "a comma": b"chunked,",
        "gzip": b"gzip",
        "a NUL": b"chunked\0",
        "nothing": b"",
    }.items():
        yield (
            f"coding with {name}",
            request(chunked(PING) + inner, mine, length % len(chunked(PING)), b"Transfer-Encoding: " + value),
        )
    yield "coding twice", request(chunked(PING) + inner, mine, te, b"Transfer-Encoding: identity", length % both)
    yield (
        "coding on the next line",
        request(chunked(PING) + inner, mine, length % both, b"Transfer-Encoding:\r\n chunked"),
    )
    yield (
        "coding behind a bare CR",
        request(chunked(PING) + inner, mine, length % both, b"X: a\rTransfer-Encoding: chunked"),
    )
    yield (
        "coding behind a bare LF",
        request(chunked(PING) + inner, mine, length % len(chunked(PING)), b"X: a\nTransfer-Encoding: chunked"),
    )
    yield "HTTP/1.0 with chunks", request(chunked(PING) + inner, mine, te, head=b"POST /mcp HTTP/1.0")
    yield "a chunk's size that overflows", request(chunked(PING, b"1000000000000000%x" % ping) + inner, mine, te)
    yield "a chunk's size with 0x", request(chunked(PING, b"0x%x" % ping) + inner, mine, te)
    yield "a chunk's size with a minus", request(chunked(PING, b"-%x" % ping) + inner, mine, te)
    yield "a chunk's size with a space inside", request(chunked(PING, b"%x 5" % ping) + inner, mine, te)
    yield "a chunk with a bare LF", request(b"%x\n" % ping + PING + b"\n0\n\n" + inner, mine, te)
    yield (
        "a chunk that is longer than it says",
        request(b"%x\r\n" % (ping - 9) + PING + b"\r\n0\r\n\r\n" + inner, mine, te),
    )
    yield (
        "a line break in a chunk's extension",
        request(b"%x;a=\n%x\r\n" % (ping, ping) + PING + b"\r\n0\r\n\r\n" + inner, mine, te),
    )
    yield "an expectation that is not kept", request(inner, mine, b"Expect: 100-nothing", length % len(inner))
    yield (
        "an upgrade",
        request(
            inner,
            mine,
            b"Connection: Upgrade",
            b"Upgrade: h2c",
            b"HTTP2-Settings: AAMAAABk",
            length % len(inner),
            head=b"GET /mcp HTTP/1.1",
        ),
    )
    yield "a GET with a body", request(inner, mine, length % len(inner), head=b"GET /healthz HTTP/1.1")
    yield "a second host", request(PING, mine, b"Host: evil.example", length % ping)
    yield "a host in the target", request(PING, mine, length % ping, head=b"POST http://evil.example/mcp HTTP/1.1")
    yield "a line break in the target", request(PING, mine, length % ping, head=b"POST /mcp\r\nX: HTTP/1.1")
    yield "a NUL in a header", request(PING, mine, b"X: a\0b", length % ping)
    yield "no colon", request(PING, mine, b"Transfer-Encoding chunked", length % ping)
    yield "HTTP/2 without asking", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + inner
    yield "HTTP/0.9", b"GET /mcp\r\n\r\n" + inner


def say(port, data, seconds=2.0):
    """Sends bytes, and returns all that comes back until the server closes or is silent."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
        link.sendall(data.replace(b"PORT", b"%d" % port))
        link.settimeout(seconds)
        parts = []
        try:
            while part := link.recv(65536):
                parts.append(part)
        except OSError:
            pass
        return b"".join(parts)


def judge(said):
    statuses = [
        line.split()[1] for line in said.split(b"\r\n") if line.startswith(b"HTTP/1.") and len(line.split()) > 1
    ]
    if CANARY in said:
        return f"what was hidden was answered: {said[:300]!r}"
    if sum(status != b"100" for status in statuses) > 1:
        return f"{len(statuses)} answers: {statuses}"
    return None


def greet(server):
    body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}).encode()
    head = say(server.port, request(body, b"Connection: close", b"Content-Length: %d" % len(body), version=b"")).lower()
    return head.partition(b"mcp-session-id:")[2].split(b"\r\n")[0].strip()


def attack(row, ground, _):
    skill(ground.user, "bait", "Is asked for in hiding", CANARY.decode() + "\n")
    server = Web(ground)
    session = greet(server)
    honest = request(PING, b"Mcp-Session-Id: " + session, b"Content-Length: %d" % len(PING)) + hidden(session)
    said = say(server.port, honest)
    row.control(
        said.count(b"HTTP/1.1 200") == 2 and CANARY in said,
        f"two honest requests on one connection are answered: {said[:200]!r}",
    )
    for name, data in row.some(attacks(session), least=25):
        row.try_one(judge(say(server.port, data, seconds=1.0)), name)
    said = say(server.port, honest)
    row.control(said.count(b"HTTP/1.1 200") == 2 and CANARY in said, "the server answers afterwards")
    row.control(not crashed(server.close()), "the server ended well")
