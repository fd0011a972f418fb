"""A project's settings file: whatever it says, nothing of the person's is another, and nothing is trusted by it."""

import itertools
import json

from ground import crashed, skill

CANARY = b"zq7canary"
# What each key could be set to, to the gain of the project.
VALUES = {
    "precedence": ['"claude-code"', '["project"]', '["bundled", "plugin"]', '"openclaw"'],
    "default_roots": ["false", '"off"', "0"],
    "enable": ['["*"]', '["user:off"]', '["off"]', '"off"'],
    "trusted": ['["."]', '["/"]', '["~"]', '[".."]', '"."', '["*"]'],
    "trust_project": ["true", '"true"', "1", '"yes"', "[true]"],
    "links": ['"refuse"', '"strict"', '"FOLLOW"'],
    "hidden": ['"search"', "true"],
    "max_depth": ["99", "0", "-1", '"50"'],
    "profile": ['"spec"'],
    "arguments": ['"claude-code"', '"goose"'],
    "strict": ["true", '"true"'],
    "freshness": ['"snapshot"'],
    "cache_entries": ["0", "99999999"],
    "cache_bytes": ["0", "9999999999999", "1e99"],
    "disclosure": ['"catalog"', '"triggered"'],
    "style": ['"bullets"', '"tiers"', '"xml"'],
    "matching": ['"keyword"', '"semantic"'],
    "model": ['"."', '"/"', '"model"'],
    "max_per_request": ["0", "999"],
    "breadcrumb": ['"off"', "false"],
    "fallback": ['"show_all"', '"ask_user"'],
    "log_content": ["true", '"on"'],
    "watch": ['"off"', "false"],
    "poll_seconds": ["0", "1"],
    "index": ['"off"', "false"],
    "agents": ["{ a = { sees = ['*'], uses_skills = ['off', 'evil'] } }", "[{ id = 'a' }]"],
    "roots": [
        '["../outside"]',
        '["/"]',
        '["~"]',
        '["~/.ssh"]',
        '["linked"]',
        '["OUTSIDE"]',
        '[{ path = ".", scope = "user" }]',
        '[{ path = ".agents/skills", scope = "bundled" }]',
        '[{ path = ".agents/skills", plugin = "acme" }]',
        '["user=.agents/skills"]',
        '["bundled=."]',
        '["acme=."]',
        '["more/../../outside"]',
        '["./linked/."]',
        '["\\u002e./outside"]',
        '["more\\u0000"]',
        '["file:../outside"]',
        '["${HOME}"]',
        '["$HOME/.agents"]',
        '["OUTSIDE/../outside"]',
    ],
    "disable": [
        '["user:*"]',
        '["user:pdf"]',
        '["*:pdf"]',
        '["personal:pdf"]',
        '["bundled:*"]',
        '["plugin:*"]',
        '["USER:pdf"]',
        '["user:~/.agents/skills/pdf"]',
        '["**"]',
        '["user:"]',
        '["pdf"]',
        '["*"]',
    ],
}
UNKNOWN = [
    ("allow_all", "true"),
    ("include", '["~/.config/skillfold/config.toml"]'),
    ("env", "{ SKILLFOLD_TRUST_PROJECT = 'true' }"),
    ("home", '"."'),
    ("SKILLFOLD_TRUST_PROJECT", "true"),
    ("project", "{ trust = true }"),
    ("user", "{ trusted = ['.'] }"),
    ("profiles", "{ default = { trust_project = true } }"),
]


def forms(key, value):
    """Yields ways to write a key and its value."""
    yield "plain", f"{key} = {value}\n"
    yield "quoted", f'"{key}" = {value}\n'
    yield "escaped", f'"\\u{ord(key[0]):04x}{key[1:]}" = {value}\n'
    yield "other case", f"{key.upper()} = {value}\n"
    yield "with hyphens", f"{key.replace('_', '-')} = {value}\n"
    yield "in a table", f"[skillfold]\n{key} = {value}\n"
    yield "in the person's table", f"[user]\n{key} = {value}\n"
    yield "dotted", f"skillfold.{key} = {value}\n"
    yield "as a table", f"[{key}]\nvalue = {value}\n"
    yield "behind good ones", f'disable = ["evil"]\nroots = ["more"]\n{key} = {value}\n'
    yield "twice", f"{key} = {value}\n{key} = {value}\n"
    yield "with a mark", f"\ufeff{key} = {value}\r\n"
    yield "before what is broken", f"{key} = {value}\n]]]\n"


def lay_out(ground):
    skill(ground.user, "pdf", "Fills in forms")
    skill(ground.user, "off", "Is switched off")
    skill(ground.user, ".hidden-one", f"Hidden {CANARY.decode()}", name="hidden-one")
    skill(ground.own, "evil", "Evil", f"{CANARY.decode()}\n")
    skill(ground.project / "more", "evil-too", "More")
    outside = skill(ground.folder / "outside", "outsider", f"Outside {CANARY.decode()}")
    (ground.project / "linked").symlink_to(outside.parent)
    (ground.project / ".skillfold").mkdir()
    own = ground.home / ".config" / "skillfold"
    own.mkdir(parents=True)
    # As the person wants it, with values that are not the default.
    (own / "config.toml").write_text('disable = ["off"]\nmax_depth = 4\n', encoding="utf-8")
    return own / "config.toml", ground.project / ".skillfold" / "config.toml"


def rows(document):
    """Returns what counts, without what a project may set: its roots, and which of its own skills are off."""
    if document is None:
        return None
    mine = lambda row: row["key"] == "disable" and row.get("value", "").startswith("project:") or row["key"] == "roots"  # noqa: E731
    return [(row["key"], row.get("value"), row.get("origin")) for row in document["settings"] if not mine(row)]


def mine(document):
    """Returns the person's skills and how they stand."""
    return [(one["id"], one["status"], one["root"]) for one in document["skills"] if one["scope"] != "project"]


def judge(ground, before):
    """Says what is wrong once the project's file is there."""
    done = ground.run("config", "--json")
    seen = ground.run("list", "--json")
    for one in (done, seen):
        if crashed(one):
            return crashed(one)
    if seen.code != 0:
        return f"the project stops the person's work: exit {seen.code}"
    if rows(json.loads(done.out)) != before[0]:
        return f"settings differ: {sorted(set(rows(json.loads(done.out))) ^ set(before[0]), key=str)}"
    catalog = json.loads(seen.out)
    if mine(catalog) != before[1]:
        return f"the person's skills differ: {mine(catalog)}"
    trusted = [
        one["id"]
        for one in catalog["skills"]
        if one["scope"] == "project" and one["status"] not in ("untrusted", "disabled")
    ]
    if trusted:
        return f"trusted: {trusted}"
    if CANARY in seen.out:
        return "a skill from outside is listed"
    told = ground.run("load", "evil")
    if told.code not in (3, 4) or CANARY in told.out + told.err:
        return f"load gave it: exit {told.code}"
    return None


def attack(row, ground, _):
    own, theirs = lay_out(ground)
    as_wanted = own.read_text(encoding="utf-8")
    before = rows(ground.json("config")), mine(ground.json("list"))
    row.control(before[1] and ("off", "disabled", "~/.agents/skills") in before[1], "the person's skills are there")
    tries = []
    for key, values in itertools.chain(VALUES.items(), ((key, [value]) for key, value in UNKNOWN)):
        for value in values:
            tries += [
                (f"{key} = {value}, {way}", text.replace("OUTSIDE", str(ground.folder / "outside")))
                for way, text in forms(key, value)
            ]
    for what, text in row.some(tries):
        theirs.write_text(text, encoding="utf-8")
        row.try_one(judge(ground, before), what)
    theirs.unlink()
    whole_files(row, ground, before, theirs)
    controls(row, ground, own, as_wanted, before)


def whole_files(row, ground, before, theirs):
    """The file itself is something else."""
    text = b'trust_project = true\ntrusted = ["/"]\n'
    good = ground.folder / "outside" / "config.toml"
    good.write_bytes(text)
    for what, content in {
        "too long": text + b"#" * (2 << 20),
        "not UTF-8": text + b"# \xff",
        "NUL": text + b"\0",
        "UTF-16": text.decode().encode("utf-16"),
    }.items():
        theirs.write_bytes(content)
        row.try_one(judge(ground, before), what)
    theirs.unlink()
    for what, target in {
        "link": good,
        "link to the person's": ground.home / ".config/skillfold/config.toml",
        "device": "/dev/zero",
        "loop": theirs,
    }.items():
        theirs.symlink_to(target)
        row.try_one(judge(ground, before), what)
        theirs.unlink()


def controls(row, ground, own, as_wanted, before):
    """The same in the user's file does count."""
    for key, value in [
        ("trust_project", "true"),
        ("trusted", '["~/../app"]'),
        ("links", '"refuse"'),
        ("enable", '["off"]'),
        ("hidden", '"search"'),
        ("roots", '["~/../outside"]'),
    ]:
        own.write_text(as_wanted + f"{key} = {value}\n", encoding="utf-8")
        row.control(judge(ground, before), f"{key} = {value} counts in the user's file")
    own.write_text(as_wanted, encoding="utf-8")
