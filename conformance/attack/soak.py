"""Requests for minutes while files are edited: no answer is an error, torn between two versions, or older than the file."""

import http.client
import json
import queue
import random
import re
import threading
import time

from ground import HELLO, PATIENCE, Server, Web, crashed, skill

LONG_SECONDS = 220
SKILLS = 40
# Lists follow the files by word of the system, 200 ms after a change; the machine may be busy. Files are read each time.
GRACE = 5.0
VERSION = re.compile(rb"v(\d+)v")
BATCH = 25


class Files:
    """Skills that are edited, with the versions that were written of each."""

    def __init__(self, root):
        self.root, self.edits = root, 0
        self.written = [[] for _ in range(SKILLS)]
        for number in range(SKILLS):
            self.edit(number)

    def edit(self, number):
        """Writes the next version, whole at any time; every line of it has the number of the version."""
        version = len(self.written[number]) + 1
        mark = f"v{version}v"
        skill(self.root, f"s{number:02}", f"Number{number} of version {mark}", f"{mark} text of number{number}\n" * 60)
        self.written[number].append(time.monotonic())
        self.edits += 1

    def least(self, number, age=0.0):
        """Returns the version that was there so many seconds ago."""
        moment, times = time.monotonic() - age, self.written[number]
        version = len(times)
        while version > 1 and times[version - 1] > moment:
            version -= 1
        return version


def questions(rng, files):
    """Returns a request, the number of its skill, and the oldest version that may be answered."""
    number = rng.randrange(SKILLS)
    who = f"s{number:02}"
    tool, arguments, age = rng.choice(
        [
            ("load_skill", {"skill_id": who}, 0.0),
            ("load_skill", {"skill_id": who, "arguments": "x"}, 0.0),
            ("read_skill_resource", {"skill_id": who, "path": "SKILL.md"}, 0.0),
            ("search_skills", {"query": f"number{number}"}, GRACE),
            ("list_skills", {"query": who}, GRACE),
        ]
    )
    return {"name": tool, "arguments": arguments}, number, files.least(number, age), age > 0


def judge(answer, number, least, is_list):
    """Says what is wrong with an answer."""
    if b'"result"' not in answer or b'"isError":true' in answer:
        return f"error: {answer[:200]!r}"
    if is_list:
        answer = b" ".join(re.findall(rb"Number%d of version v\d+v" % number, answer))
    versions = {int(version) for version in VERSION.findall(answer)}
    if len(versions) != 1:
        return f"torn: {sorted(versions)}: {answer[:200]!r}"
    return f"stale: {versions} where {least} was written" if min(versions) < least else None


def by_stdio(row, ground, files, end, seed):
    rng, server, number = random.Random(seed), Server(ground), 0
    while time.monotonic() < end:
        asked, lines = {}, []
        for _ in range(BATCH):
            number += 1
            params, who, least, is_list = questions(rng, files)
            asked[number] = (params, who, least, is_list)
            lines.append(
                json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()
            )
        server.send(b"\n".join(lines))
        while asked:
            try:
                line = server.lines.get(timeout=PATIENCE)
            except queue.Empty:
                line = None
            if line is None:
                row.fail("no answer", f"{len(asked)} requests")
                server.close()
                return
            found = re.match(rb'\{"jsonrpc":"2.0","id":(\d+),', line)
            if found is None:
                continue
            params, *wanted = asked.pop(int(found[1]))
            row.try_one(judge(line, *wanted), f"stdio {params}")
    row.control(not crashed(server.close()), "the server on stdio ended well")


def by_http(row, ground, files, end, seed):
    rng, server = random.Random(seed), Web(ground)
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    def post(message):
        link.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), headers)
        answer = link.getresponse()
        return answer, answer.read()

    answer, _ = post({"id": 0, "method": "initialize", "params": HELLO})
    headers.update({"Mcp-Session-Id": answer.getheader("mcp-session-id"), "MCP-Protocol-Version": "2025-06-18"})
    post({"method": "notifications/initialized"})
    while time.monotonic() < end:
        params, *wanted = questions(rng, files)
        try:
            answer, body = post({"id": 1, "method": "tools/call", "params": params})
            wrong = judge(body, *wanted) if answer.status == 200 else f"status {answer.status}: {body[:200]!r}"
        except (OSError, http.client.HTTPException) as error:
            link.close()
            wrong = f"{type(error).__name__}: {error}"
        row.try_one(wrong, f"http {params}")
    row.control(not crashed(server.close()), "the server on HTTP ended well")


def attack(row, ground, _):
    files, rng = Files(ground.user), random.Random(6)
    # The rows of the threads are put together at the end.
    parts = [type(row)(row.name, row.part) for _ in range(3)]
    end = time.monotonic() + LONG_SECONDS * row.part
    threads = [
        threading.Thread(target=work, args=(part, ground, files, end, seed))
        for seed, (part, work) in enumerate(zip(parts, [by_stdio, by_stdio, by_http]))
    ]
    for thread in threads:
        thread.start()
    while time.monotonic() < end:
        files.edit(rng.randrange(SKILLS))
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    for part in parts:
        row.tries += part.tries
        row.failed += part.failed
    row.control(
        judge(b'"result" v1v v2v', 0, 1, False) and judge(b'"result" v1v', 0, 2, False),
        "torn and stale answers are seen",
    )
    return f"{files.edits} edits in {LONG_SECONDS * row.part:.0f} s"
