"""Repositories that attack by what is in their skills, marketplaces and plugins."""

from __future__ import annotations

import json

from attacks import BAD, GOOD, add_root, add_tree, tree_of
from repositories import skill

# Contents of skills, marketplaces and plugins.

# Of `SKILL.md`, with what is wrong; archives have them too.
CONTENTS: tuple[tuple[str, bytes, str], ...] = (
    ("empty", b"", "is empty"),
    ("no-frontmatter", b"# Bad\n", "has no frontmatter"),
    ("open", b"---\nname: bad\ndescription: x\n", "has frontmatter that does not end"),
    ("not-utf-8", b"---\nname: bad\ndescription: caf\xe9\n---\n", "is not UTF-8"),
    ("utf-16", BAD.decode().encode("utf-16"), "is UTF-16"),
    ("zero", BAD + b"\0", "contains a zero byte"),
    ("anchors", b"---\nname: bad\na: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in range(98, 108)) + b"description: *k\n---\n", "grows without end by its aliases"),
    ("deep", b"---\nname: bad\ndescription: " + b"[" * 50_000 + b"\n---\n", "has 50,000 nested lists"),
    ("large", b"---\nname: bad\ndescription: x\nmore: " + b"y" * (8 << 20) + b"\n---\n", "has frontmatter of 8 MiB"),
    ("long-description", b"---\nname: bad\ndescription: " + b"word " * 20_000 + b"\n---\n", "has a description of 100,000 characters"),
    ("name-path", b"---\nname: ../../escape\ndescription: x\n---\n", "has a name that leads out"),
    ("name-absolute", b"---\nname: /srv/escape\ndescription: x\n---\n", "has a name that is an absolute path"),
    ("name-option", b"---\nname: --help\ndescription: x\n---\n", "has a name that is an option"),
    ("name-device", b"---\nname: con\ndescription: x\n---\n", "has a name that is a device of Windows"),
    ("name-other", GOOD, "has the name of another skill"),
    ("terminal", b'---\nname: bad\ndescription: "\\e[2J\\e]0;title\\a"\n---\n', "has a description that controls the terminal"),
    ("override", "---\nname: bad\ndescription: \u202edneirf\n---\n".encode(), "has a description that is shown backwards"),
    ("twice", b"---\nname: bad\nname: good\ndescription: x\n---\n", "has two names"),
    ("type", b"---\nname: [bad]\ndescription: {a: b}\n---\n", "has a list as its name"),
    ("code", b"---\nname: !!python/object/apply:os.system ['touch @MARK@']\ndescription: x\n---\n", "has a name that runs a command in some readers"),
)  # fmt: skip
for slug, content, wrong in CONTENTS:
    add_tree("skill", slug, f"SKILL.md {wrong}", tree_of({"SKILL.md": content}))


def market(source: object, name: object = "plugin", **more: object) -> dict:
    listed = {"name": "test-market", "owner": {"name": "Anna"}, "plugins": [{"name": name, "source": source}], **more}
    return {".claude-plugin": {"marketplace.json": json.dumps(listed)}, "skills": {"good": {"SKILL.md": GOOD}}}


for slug, source, wrong in (
    ("parent", "../../escape", "leads out of the repository"),
    ("inside-out", "./plugins/../../escape", "leads out of the repository by a way inside"),
    ("absolute", "/etc", "is an absolute path"),
    ("itself", "./", "is the marketplace itself"),
    ("backslash", ".\\..\\..\\escape", "leads out on Windows"),
    ("missing", "./plugins/missing", "does not exist"),
    ("option", {"source": "url", "url": "--upload-pack=touch @MARK@"}, "is an option that runs a command"),
    ("ext", {"source": "url", "url": "ext::sh -c touch% @MARK@"}, "runs a command"),
    ("file", {"source": "url", "url": "file:///etc"}, "is a local folder"),
    ("ssh-option", {"source": "url", "url": "ssh://-oProxyCommand=touch @MARK@/x"}, "is an option of ssh"),
    ("ref-option", {"source": "url", "url": "https://skills.example/x.git", "ref": "--upload-pack=touch @MARK@"}, "has a ref that is an option"),
    ("github-path", {"source": "github", "repo": "../../escape"}, "has a GitHub repository that leads out"),
    ("subfolder", {"source": "git-subdir", "url": "https://skills.example/x.git", "path": "../.."}, "has a folder that leads out"),
    ("npm", {"source": "npm", "package": "file:/etc"}, "has an npm package that is a local folder"),
    ("metadata", {"source": "url", "url": "http://169.254.169.254/latest/meta-data"}, "is a cloud's metadata service"),
    ("type", 17, "is a number"),
):  # fmt: skip
    add_tree("market", f"source-{slug}", f"A plugin's source {wrong}", market(source))
add_tree("market", "name-path", "A plugin's name leads out", market("./skills", "../../escape"))
add_tree("market", "name-terminal", "A plugin's name controls the terminal", market("./skills", "\x1b[2J"))
add_tree("market", "name-official", "The marketplace claims an official name", market("./skills", **{"name": "claude-plugins-official"}))
for slug, content, wrong in (
    ("empty", b"", "is empty"),
    ("text", b"not JSON", "is not JSON"),
    ("deep", b"[" * 100_000, "has 100,000 nested lists"),
    ("twice", b'{"name":"a","name":"b","plugins":[],"plugins":17}', "has each key twice"),
    ("number", b'{"name":' + b"9" * 100_000 + b"}", "has a number of 100,000 digits"),
    ("not-utf-8", b'{"name":"\xff"}', "is not UTF-8"),
    ("many", json.dumps({"name": "m", "owner": {"name": "a"}, "plugins": [{"name": f"p{n}", "source": "./"} for n in range(20_000)]}).encode(), "lists the repository itself 20,000 times"),
):  # fmt: skip
    add_root("market", slug, f"marketplace.json {wrong}", {".claude-plugin": {"marketplace.json": content}})
    add_root("plugin", slug, f"plugin.json {wrong}", {"plugin.json": content})
SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
for slug, plugin, wrong in (
    ("name-path", {"$schema": SCHEMA, "name": "../../escape"}, "has a name that leads out"),
    ("schema", {"$schema": "https://evil.example/schema.json", "name": "a"}, "has a schema that nobody knows"),
    ("schema-local", {"$schema": "file:///etc/passwd", "name": "a"}, "has a schema that is a local file"),
    ("skills", {"$schema": SCHEMA, "name": "a", "skills": ["../../escape", "/etc"]}, "names folders that lead out"),
    ("hooks", {"$schema": SCHEMA, "name": "a", "extensions": {"com.openai": {"hooks": "../../hooks.json"}}}, "names hooks that lead out"),
):  # fmt: skip
    add_root("plugin", slug, f"plugin.json {wrong}", {"plugin.json": json.dumps(plugin)})
