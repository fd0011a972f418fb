"""Malformed JSON-RPC: no crash, every line is a whole message, and a good request behind it is answered."""

import copy
import http.client
import json
import random

from ground import HELLO, Server, Web, crashed, skill, whole

LONG = 12_800
CALLS = [
    ("ping", None),
    ("tools/list", {}),
    ("tools/call", {"name": "list_skills", "arguments": {"query": "forms"}}),
    ("tools/call", {"name": "search_skills", "arguments": {"query": "forms"}}),
    ("tools/call", {"name": "load_skill", "arguments": {"skill_id": "pdf", "arguments": "a"}}),
    ("tools/call", {"name": "read_skill_resource", "arguments": {"skill_id": "pdf", "path": "SKILL.md", "start": 0}}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "pdf", "arguments": {"arguments": "a"}}),
    ("resources/list", {}),
    ("resources/read", {"uri": "skill://pdf/SKILL.md"}),
    ("resources/directory/read", {"uri": "skill://pdf"}),
    ("skills/list", {}),
    ("skills/get", {"uri": "skill://pdf/SKILL.md"}),
    ("resources/templates/list", {}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "pdf"}, "argument": {"name": "arguments", "value": ""}},
    ),
    ("initialize", HELLO),
]
NOTICES = [
    ("notifications/cancelled", {"requestId": 1, "reason": "x"}),
    ("notifications/progress", {"progressToken": 1, "progress": 1}),
    ("notifications/initialized", {}),
]
VALUES = [
    None,
    True,
    -1,
    0,
    2**63,
    -(2**64),
    0.5,
    "",
    "x",
    "\0",
    "\u202e\x1b[2J",
    "a" * 5000,
    [],
    {},
    [[]],
    {"": {"": []}},
    [None] * 99,
]
# Values that the library cannot write, put in as text.
RAW = [
    b"1e999",
    b"-0",
    b"NaN",
    b'"\\ud800"',
    b'"\\u0000"',
    b"1" * 400,
    b'"\xff\xfe"',
    b"'x'",
    b"tru",
    b"",
    b"[" * 200,
    b'{"a":' * 200,
]
ODD = [
    b"", b" ", b"\t", b"\r", b"\0", b"\0" * 999, b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b"null", b"true", b"0", b'""', b"[]", b"{}", b"[{}]",
    b"[[[]]]", b"[1,2,3]", b"}{", b"{]", b'{"jsonrpc"', b"{'jsonrpc':'2.0'}", b"garbage", b"GET / HTTP/1.1", b"Content-Length: 5\r\n\r\n{}",
    b"[" * 100_000, b'{"a":' * 50_000, b"[" * 5_000 + b"]" * 5_000, b'"' + b"a" * 1_500_000 + b'"', b'{"id":"' + b"\\u0041" * 50_000,
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"nope"}', b'{"jsonrpc":"2.0","id":1,"result":{}}',
    b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}', b'{"jsonrpc":"2.0","error":1}', b'{"jsonrpc":"2.0","id":{},"method":[]}',
]  # fmt: skip


def nodes(value, place=()):
    """Yields the place of every value inside a value."""
    yield place
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in below:
        yield from nodes(inner, (*place, key))


def changed(message, place, with_):
    """Returns the message with the value at a place given to a function, which may take it out by `KeyError`."""
    message = copy.deepcopy(message)
    holder = message
    for key in place[:-1]:
        holder = holder[key]
    try:
        holder[place[-1]] = with_(holder[place[-1]])
    except KeyError:
        del holder[place[-1]]
    return message


def take_out(_):
    raise KeyError


def malformed(rng, message):
    """Returns the bytes of a message with something wrong in it."""
    text = json.dumps(message).encode()
    place = rng.choice([place for place in nodes(message) if place])
    at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    way = rng.randrange(12)
    if way == 0:
        return json.dumps(changed(message, place, lambda _: rng.choice(VALUES))).encode()
    if way == 1:
        return json.dumps(changed(message, place, take_out)).encode()
    if way == 2:
        marked = json.dumps(changed(message, place, lambda _: "MARK")).encode()
        return marked.replace(b'"MARK"', rng.choice(RAW))
    if way == 3:
        return json.dumps(changed(message, place, lambda value: [value])).encode()
    if way == 4:
        return json.dumps(changed(message, place, lambda value: {"x": value})).encode()
    if way == 5:
        return text[:at]
    if way == 6:
        return text[:at] + bytes([rng.choice([b for b in range(256) if b != 10])]) + text[at + 1 :]
    if way == 7:
        return text[:at] + text[to:]
    if way == 8:
        return text[:to] + text[at:]
    if way == 9:
        return text[:at] + rng.choice(RAW) + text[at:]
    if way == 10:
        return b"[" + b",".join([text] * rng.randrange(1, 4)) + b"]"
    return rng.choice(ODD)


def is_message(line):
    """Says whether a line is a message of the protocol, whole."""
    value = whole(line)
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0" or not line.endswith(b"\n"):
        return False
    if "method" in value:
        return isinstance(value["method"], str)
    error = value.get("error")
    if error is None:
        return "result" in value and "id" in value
    return "result" not in value and isinstance(error.get("code"), int) and isinstance(error.get("message"), str)


def messages(rng):
    number = 0
    while True:
        method, params = rng.choice(CALLS + NOTICES)
        number += 1
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        if method.startswith("notifications"):
            del message["id"]
        yield message


def on_stdio(row, ground, rng, count):
    server = Server(ground)
    for method, params in CALLS:
        row.control(b'"result"' in (server.ask(method, params) or b""), f"{method} is answered")
    seeds = messages(rng)
    for _ in range(count):
        bad = malformed(rng, next(seeds)).replace(b"\n", b" ")
        server.seen.clear()
        server.send(bad)
        good = server.call("load_skill", skill_id="pdf")
        torn = [line for line in [*server.seen, good or b""] if not is_message(line)]
        wrong = (
            "no answer to a good request"
            if b"Fill them in" not in (good or b"")
            else f"torn: {torn[0][:200]!r}"
            if torn
            else None
        )
        row.try_one(wrong, f"stdio {bad[:300]!r}")
        if wrong:
            server.close()
            server = Server(ground)
    row.control(not crashed(server.close()), "the server ended well")


def before_the_handshake(row, ground, rng, count):
    """The first line is malformed. The server may leave, but in order, or greet who greets it."""
    seeds = messages(rng)
    for _ in range(count):
        bad = malformed(rng, next(seeds)).replace(b"\n", b" ")
        server = Server(ground, greet=False)
        server.send(bad)
        server.ask("initialize", HELLO)
        done = server.close()
        torn = [line for line in server.seen if not is_message(line)]
        row.try_one(crashed(done) or (f"torn: {torn[0][:200]!r}" if torn else None), f"first {bad[:300]!r}")


def on_http(row, ground, rng, count):
    server = Web(ground)
    kind = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    seeds, greeting = messages(rng), {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    good = {
        "jsonrpc": "2.0",
        "id": "good",
        "method": "tools/call",
        "params": {"name": "load_skill", "arguments": {"skill_id": "pdf"}},
    }
    link, headers = None, {}

    def post(body):
        link.request("POST", "/mcp", body, {**kind, **headers})
        answer = link.getresponse()
        return answer, answer.read()

    before = row.tries
    while row.tries - before < count:
        if link is None:
            link, headers = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60), {}
            answer, _ = post(json.dumps(greeting))
            headers = {"Mcp-Session-Id": answer.getheader("mcp-session-id"), "MCP-Protocol-Version": "2025-06-18"}
            post(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        message = next(seeds)
        # A second greeting would begin another session.
        bad = malformed(rng, message if message["method"] != "initialize" else greeting)
        # What is too long is refused while it is still being sent.
        if len(bad) > 1 << 20:
            continue
        try:
            answer, body = post(bad)
            wrong = (
                None
                if 200 <= answer.status < 500 and is_whole_answer(answer, body)
                else f"{answer.status}: {body[:200]!r}"
            )
            if answer.will_close:
                link.close()
                link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            _, body = post(json.dumps(good))
            wrong = wrong or (None if b"Fill them in" in body else f"no answer to a good request: {body[:200]!r}")
        except (OSError, http.client.HTTPException) as error:
            wrong, link = f"{type(error).__name__}: {error}", None
        row.try_one(wrong, f"http {bad[:300]!r}")
    row.control(not crashed(server.close()), "the server ended well")


def is_whole_answer(answer, body):
    """Says whether an answer by HTTP is whole: JSON messages, events of such, or plain words of a refusal."""
    kind = answer.getheader("content-type") or ""
    if kind.startswith("text/event-stream"):
        data = [line.partition(b":")[2].strip() for line in body.splitlines() if line.startswith(b"data:")]
        return body.endswith(b"\n") and all(is_message(line + b"\n") for line in data if line)
    if kind.startswith("application/json"):
        return whole(body) is not None
    return answer.status >= 400 or not body


def attack(row, ground, _):
    skill(ground.user, "pdf", "Fills in forms", "Fill them in.\n")
    rng = random.Random(1)
    on_stdio(row, ground, rng, row.amount(LONG * 0.6))
    before_the_handshake(row, ground, rng, row.amount(LONG * 0.05))
    on_http(row, ground, rng, row.amount(LONG * 0.35))
