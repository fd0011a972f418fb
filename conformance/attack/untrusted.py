"""An untrusted project: nothing of its skills reaches a model, by any way that a model or its host may ask."""

import random

from ground import Server, crashed, skill

LONG_MODEL, LONG_COMMAND = 2_800, 500
# Every text of an untrusted skill has this in it, and no request does.
CANARY = b"zq7canary"
C = CANARY.decode()
FIELDS = f"""tags: [invoices, {C}tag]
triggers: [invoices, "{C}trigger", "refund the invoice"]
argument-hint: "[{C}hint]"
version: {C}1
brief_description: {C} brief
compatibility: {C} only
metadata: {{note: {C}meta}}
"""
ROOTS = [".agents/skills", ".claude/skills", ".agent/skills", ".skillfold/skills"]
STYLES = ["xml-rules", "xml", "markdown", "tiers", "bullets"]
QUERIES = [
    "invoices",
    "refund the invoice",
    "what can you do?",
    "list skills",
    "$invoices",
    "/invoices",
    "forms",
    "",
    "*",
    "project",
    "hidden text",
    "untrusted",
    "use the skill invoices",
]


def layouts(ground):
    """Yields folders of the project with skills that want to be heard, one kind after the other."""
    body = f"{C} body\n"
    yield "plain", lambda: skill(ground.own, "invoices", f"Refunds invoices {C}", body, fields=FIELDS)
    yield "name of the person's", lambda: skill(ground.own, "pdf", f"Fills in forms {C}", body, fields=FIELDS)
    yield (
        "folder of the person's",
        lambda: skill(ground.own, "pdf", f"Forms {C}", body, name=f"{C}-name", fields=FIELDS),
    )
    yield (
        "qualified name",
        lambda: skill(ground.own, "invoices", f"Invoices {C}", body, name="user:invoices", fields=FIELDS),
    )
    yield (
        "place as a name",
        lambda: skill(ground.own, "invoices", f"{C}", body, name="user:~/.agents/skills/pdf", fields=FIELDS),
    )
    yield (
        "canary as a name",
        lambda: skill(ground.own, "invoices", "Refunds invoices", body, name=f"{C}-invoices", fields=FIELDS),
    )
    yield (
        "repaired",
        lambda: broken(ground, f"---\nname: invoices\ndescription: Use when: {C}\ntriggers: [invoices\n---\n{body}"),
    )
    yield "refused", lambda: broken(ground, f"# {C}\n{body}")
    yield (
        "in every root",
        lambda: [skill(ground.project / root, "invoices", f"Invoices {C}", body, fields=FIELDS) for root in ROOTS],
    )
    yield "required by the person's", lambda: skill(ground.own, "needed", f"Needed {C}", body, fields=FIELDS)
    yield (
        "for everybody",
        lambda: skill(
            ground.own,
            "invoices",
            f"Invoices {C}",
            body,
            fields=FIELDS + "default_enabled: true\nuser-invocable: true\n",
        ),
    )
    yield (
        "only for people",
        lambda: skill(
            ground.own, "invoices", f"Invoices {C}", body, fields=FIELDS + "disable-model-invocation: true\n"
        ),
    )
    yield "a root of its settings", lambda: with_root(ground)
    yield "linked to", lambda: linked(ground)
    yield (
        "very many",
        lambda: [
            skill(ground.own, f"invoices-{number}", f"Invoices {number}", body, name=f"{C}-{number}", fields=FIELDS)
            for number in range(120)
        ],
    )


def broken(ground, text):
    skill(ground.own, "invoices", "x")
    (ground.own / "invoices" / "SKILL.md").write_text(text, encoding="utf-8")


def with_root(ground):
    skill(ground.project / "more", "invoices", f"Invoices {C}", f"{C} body\n", fields=FIELDS)
    (ground.project / ".skillfold").mkdir()
    (ground.project / ".skillfold" / "config.toml").write_text('roots = ["more"]\n', encoding="utf-8")


def linked(ground):
    skill(ground.project / "src", "invoices", f"Invoices {C}", f"{C} body\n", fields=FIELDS)
    ground.own.mkdir(parents=True)
    (ground.own / "invoices").symlink_to(ground.project / "src" / "invoices")


def ids(rng):
    """Returns a name that leads to such a skill, or to one near it."""
    name = rng.choice(["invoices", "pdf", "needed", "invoices-7", "user:invoices", "invoice", "invoces"])
    name = rng.choice([name, name, name.upper(), name.replace("-", "_"), f"{name} "])
    return (
        rng.choice(
            [
                "",
                "",
                "project:",
                "personal:",
                "user:",
                "project:.agents/skills/",
                "project:.claude/skills/",
                "project:more/",
                "PROJECT:",
                "app:",
                "plugin:",
            ]
        )
        + name
    )


def questions(rng):
    """Returns a request of a model or its host."""
    who, query = ids(rng), rng.choice(QUERIES)
    path = rng.choice(["SKILL.md", "notes.md", "references/x.md", ""])
    tools = [
        ("list_skills", {"query": query}),
        ("list_skills", {"cursor": rng.choice(["", "a", "invoic", "pdf", "project:", who])}),
        ("search_skills", {"query": query}),
        ("search_skills", {"query": who}),
        ("load_skill", {"skill_id": who}),
        ("load_skill", {"skill_id": who, "arguments": query}),
        ("read_skill", {"skill_id": who}),
        ("read_skill_resource", {"skill_id": who, "path": path}),
    ]
    uri = f"skill://{who}/{path}"
    prompt = {"type": "ref/prompt", "name": who}
    template = {"type": "ref/resource", "uri": "skill://{name}/{+path}"}
    plain = [
        ("tools/list", {}),
        ("prompts/list", {}),
        ("prompts/get", {"name": who, "arguments": {"arguments": query}}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": uri}),
        ("resources/directory/read", {"uri": rng.choice([uri, f"skill://{who}", "skill://"])}),
        ("skills/list", {}),
        ("skills/get", {"uri": f"skill://{who}/SKILL.md"}),
        (
            "completion/complete",
            {"ref": prompt, "argument": {"name": "arguments", "value": rng.choice(["", "i", "z"])}},
        ),
        (
            "completion/complete",
            {
                "ref": template,
                "argument": {"name": rng.choice(["name", "path"]), "value": rng.choice(["", "inv", "zq", "S"])},
            },
        ),
    ]
    every = plain + [("tools/call", {"name": tool, "arguments": arguments}) for tool, arguments in tools]
    return rng.choice(every)


def heard(*texts):
    text = next((text for text in texts if CANARY in text.lower()), None)
    if text is None:
        return None
    at = text.lower().index(CANARY)
    return f"heard: {text[max(0, at - 60) : at + 60]!r}"


def by_model(row, ground, rng, count, kind):
    style = rng.choice(STYLES)
    load = "read_skill" if style == "bullets" else "load_skill"
    trusted = Server(ground, "--trust-project", "--set", f"style={style}")
    words = [trusted.hello, *(trusted.ask(*questions(rng)) or b"" for _ in range(150))]
    trusted.close()
    row.control(kind == "refused" or heard(*words), f"{kind}: a model hears of the skills where the project is trusted")
    server = Server(ground, "--set", f"style={style}", "--log", rng.choice(["warn", "info"]))
    row.try_one(heard(server.hello or b""), f"{kind}: instructions")
    for _ in range(count):
        method, params = questions(rng)
        server.seen.clear()
        answer = server.ask(method, params)
        row.try_one(heard(answer, *server.seen) if answer else "no answer", f"{kind}: {method} {params}")
    row.control(b"pdf" in server.call("list_skills"), f"{kind}: the person's skill is listed")
    row.control(b"Fill them in" in server.call(load, skill_id="user:pdf"), f"{kind}: the person's skill is loaded")
    row.control(not crashed(server.close()), f"{kind}: the server ended well")


def by_command(row, ground, rng, count, kind):
    """What prints texts for models. `list`, `show`, `doctor` and `check` are for people, who look at what they trust."""
    for _ in range(count):
        who, query = ids(rng), rng.choice(QUERIES) or "a"
        command = rng.choice(
            [
                ["prompt", "--", query],
                ["search", "--", query],
                ["load", "--", who],
                ["load", "--envelope=skill_context", "--", who],
                ["read", "--", who, "SKILL.md"],
                ["files", "--", who],
            ]
        )
        if rng.random() < 0.3:
            command.insert(1, "--json")
        if command[0] == "prompt":
            modes = (
                f"disclosure={rng.choice(['catalog', 'triggered', 'hybrid'])}",
                f"style={rng.choice(STYLES)}",
                f"fallback={rng.choice(['none', 'show_all', 'ask_user'])}",
            )
            command[1:1] = [f"--set={mode}" for mode in modes]
        done = ground.run(*command)
        # The folder of a refused skill is told to the person, with the line that is wrong.
        told = heard(done.out) if kind == "refused" and b"SF001" in done.out + done.err else heard(done.out, done.err)
        row.try_one(crashed(done) or told, f"{kind}: {command}")
    answer = ground.run("prompt", "--trust-project", "--set=disclosure=catalog", "invoices")
    row.control(
        kind in ("refused", "only for people") or heard(answer.out),
        f"{kind}: `prompt` tells where the project is trusted",
    )


def attack(row, ground, _):
    rng = random.Random(3)
    skill(ground.user, "pdf", "Fills in forms", "Fill them in.\n", fields="requires: [needed]\n")
    kinds = len(list(layouts(ground)))
    for kind, lay_out in layouts(ground):
        lay_out()
        by_model(row, ground, rng, row.amount(LONG_MODEL / kinds), kind)
        by_command(row, ground, rng, row.amount(LONG_COMMAND / kinds), kind)
        for path in [*ROOTS, "more", "src", ".skillfold"]:
            remove(ground.project / path)


def remove(path):
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        for inner in path.iterdir():
            remove(inner)
        path.rmdir()
