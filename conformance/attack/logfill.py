"""A model that proposes the same change again and again: the log stays small, and the user's commands still work."""

import json

from ground import Server, crashed, skill, whole

DIFF = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -5,2 +5,2 @@\n line one\n-line two\n+line 2\n"
# One proposal and nine repetitions, each of at most some kilobytes.
MAX_LOG_BYTES = 200_000


def attack(row, ground, _):
    skill(ground.user, "s", "Has two lines", "line one\nline two\n")
    settings = ground.home / ".config" / "skillfold"
    settings.mkdir(parents=True)
    (settings / "config.toml").write_text('proposals = "on"\n', encoding="utf-8")
    log = ground.home / ".local" / "share" / "skillfold" / "audit.jsonl"
    count = row.amount(2_000, least=200)
    # As long a name as is accepted, and longer ones.
    for length in (250, 5_000, 900_000):
        server = Server(ground, greet=False)
        client = {"name": "n" * length, "version": "1"}
        server.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        server.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())
        for number in range(count if length == 250 else 3):
            # Each of these bytes takes six in JSON.
            meta = {"threadId": "t" * 256}
            call = {"skill_id": "s", "diff": DIFF, "justification": "\x01" * 8192, "evidence": str(number)}
            params = {"name": "propose_skill_update", "arguments": call, "_meta": meta}
            answer = server.ask("tools/call", params)
            if length > 256 and answer is None:
                break
            if length == 250:
                good = answer is not None and not whole(answer).get("result", {}).get("isError", True)
                row.try_one(not good and f"refused: {answer!r:.200}", f"proposal {number}")
        row.control(not crashed(server.close()), "the server ended well")
    size = log.stat().st_size
    row.try_one(size > MAX_LOG_BYTES and f"{size} bytes", "size of the log")
    project = ground.folder / "other"
    (project / ".git").mkdir(parents=True)
    skill(project / ".agents" / "skills", "p", "In a project")
    for command in (
        ["trust", str(project), "--yes"],
        ["trust", "--remove", str(project)],
        ["proposals"],
        ["audit", "verify"],
    ):
        done = ground.run(*command, where=project)
        row.try_one(done.code != 0 and f"exit {done.code}: {done.err[-200:]!r}", " ".join(command[:2]))
