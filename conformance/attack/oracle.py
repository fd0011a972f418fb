"""An oracle: no tool or method answers differently for a skill that is hidden from models and for one that does not exist."""

import re

from ground import Server, crashed, skill

DIFF = "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-x\n+y\n"
HIDDEN = {
    "only for people": "people-only",
    "disabled": "off-skill",
    "untrusted": "untrusted-skill",
    "broken": "broken-skill",
    "untrusted and broken": "shattered-skill",
}
# Prompts are what people start.
FOR_PEOPLE = ["prompts/get", "completion/complete"]


def lay_out(ground):
    skill(ground.user, "visible", "Is seen")
    skill(ground.user, "people-only", "Only for people", fields="disable-model-invocation: true\n")
    skill(ground.user, "off-skill", "Disabled")
    skill(ground.own, "untrusted-skill", "Untrusted")
    for root, name in [(ground.user, "broken-skill"), (ground.own, "shattered-skill")]:
        skill(root, name, "x")
        (root / name / "SKILL.md").write_text("not text: \0\n", encoding="utf-8")
    settings = ground.home / ".config" / "skillfold"
    settings.mkdir(parents=True)
    (settings / "config.toml").write_text(
        'proposals = "on"\nscripts = "on"\ndisable = ["off-skill"]\n', encoding="utf-8"
    )


def questions(name):
    """Yields every request that names a skill."""
    content = f"---\nname: {name}\ndescription: d\n---\nx\n"
    uri = f"skill://{name}/SKILL.md"
    tools = [
        ("load_skill", {"skill_id": name}),
        ("load_skill", {"skill_id": f"user:{name}"}),
        ("load_skill", {"skill_id": f"project:{name}"}),
        ("read_skill", {"skill_id": name}),
        ("read_skill_resource", {"skill_id": name, "path": "SKILL.md"}),
        ("search_skills", {"query": name}),
        ("list_skills", {"query": name}),
        ("list_skills", {"cursor": name}),
        ("propose_skill_update", {"skill_id": name, "diff": DIFF, "justification": "j"}),
        # The second time it waits already.
        ("propose_new_skill", {"skill_id": name, "content": content, "justification": "j"}),
        ("propose_new_skill", {"skill_id": name, "content": content, "justification": "j"}),
        ("propose_new_skill", {"skill_id": name, "content": "x", "justification": "j"}),
        ("run_skill_script", {"skill_id": name, "script": "a.sh"}),
        ("call_skill_tool", {"skill_id": name, "tool": "x", "arguments": {}}),
    ]
    for tool, arguments in tools:
        yield "tools/call", {"name": tool, "arguments": arguments}
    yield "prompts/get", {"name": name}
    yield "resources/read", {"uri": uri}
    yield "resources/directory/read", {"uri": f"skill://{name}"}
    yield "skills/get", {"uri": uri}
    yield (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "arguments", "value": ""}},
    )


def absent(name):
    """Returns a name that nothing has, as long and in the same place of the order, but near to none: no suggestion is the same."""
    return name[0] + ("zqxjvkw" * 3)[: len(name) - 1]


def plain(answer, name):
    """Returns an answer without the name, the number of the request and the time."""
    text = (answer or b"no answer").decode().replace(name, "NAME")
    return re.sub(r"\d{8}T\d{6}Z|\"probe-\d+\"", "", text)


def attack(row, ground, _):
    lay_out(ground)
    server = Server(ground)
    for kind, hidden in HIDDEN.items():
        for (method, params), (_, other) in zip(questions(hidden), questions(absent(hidden))):
            if kind == "only for people" and method in FOR_PEOPLE:
                continue
            found = plain(server.ask(method, params), hidden)
            none = plain(server.ask(method, other), absent(hidden))
            wrong = None if found == none else f"{found[:250]} and {none[:250]}"
            row.try_one(wrong, f"{kind}: {method} {params.get('name')}")
    seen = b"".join(server.ask(method, params) or b"" for method, params in questions("visible"))
    row.control(b"Do it." in seen and b"There is a skill" in seen, "a skill that is not hidden is given and known")
    row.control(not crashed(server.close()), "the server ended well")
