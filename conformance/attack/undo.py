"""`setup` and then `--undo`: every file is as it was, byte for byte; what is refused is not touched."""

import json

from ground import crashed, files_below

JSON = {
    "claude-code": (".claude.json", ".mcp.json", "mcpServers"),
    "claude-desktop": (".config/Claude/claude_desktop_config.json", None, "mcpServers"),
    "cursor": (".cursor/mcp.json", ".cursor/mcp.json", "mcpServers"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json", "mcpServers"),
    "opencode": (".config/opencode/opencode.json", "opencode.json", "mcp"),
    "vscode": (".config/Code/User/mcp.json", ".vscode/mcp.json", "servers"),
    "windsurf": (".codeium/windsurf/mcp_config.json", None, "mcpServers"),
    "zed": (".config/zed/settings.json", ".zed/settings.json", "context_servers"),
}


def json_kinds(key):
    """Yields kinds of files that a client of JSON may have."""
    other = {"command": "x", "args": ["a"]}
    plain = {"theme": "dark", key: {"other": other}, "last": [1, 2, {"a": None}]}
    two = json.dumps(plain, indent=2)
    yield "none", None
    yield "empty", ""
    yield "blank", " \n\t\n"
    yield "{}", "{}"
    yield "{} and a line end", "{}\n"
    yield "{ } on lines", "{\n}\n"
    yield "{\\n\\n}", "{\n\n\n}"
    yield "one line", json.dumps(plain)
    yield "narrow", json.dumps(plain, separators=(",", ":"))
    yield "two spaces", two
    yield "two spaces and a line end", two + "\n"
    yield "four spaces", json.dumps(plain, indent=4) + "\n\n\n"
    yield "tabs", json.dumps(plain, indent="\t") + "\n"
    yield "CRLF", two.replace("\n", "\r\n") + "\r\n"
    yield "mixed line ends", two.replace("\n", "\r\n", 3) + "\n"
    yield "mark of byte order", "\ufeff" + two + "\n"
    yield "no servers", json.dumps({"a": 1}, indent=2)
    yield "empty servers", json.dumps({key: {}}, indent=2)
    yield "empty servers on lines", f'{{\n  "{key}": {{\n  }}\n}}\n'
    yield "servers first", json.dumps({key: {"a": other, "b": other}, "z": 1}, indent=2)
    yield "comments", f'// head\n{{\n  // of it\n  "{key}": {{ /* none */ }}, // end\n  "a": 1\n}}\n// foot\n'
    yield "comma at the end", f'{{\n  "{key}": {{\n    "other": {{"command": "x"}},\n  }},\n}}\n'
    yield "other scripts", json.dumps({"é": "日本 \U0001f600", key: {"ü": other}}, ensure_ascii=False, indent=2)
    yield "escapes", '{"a": "\\u0041\\/\\ud83d\\ude00", "' + key + '": {}}'
    yield "numbers", '{"a": 1e400, "b": 0.10000000000000000001, "c": -0, "' + key + '": {}}\n'
    yield "odd spaces", f'  {{ "a" :1 ,\n\n"{key}"   :  {{"o":{{"command":"x"}}   }}\n   }}   \n'
    yield "long", json.dumps({"history": ["x" * 50] * 5000, key: {"other": other}}, indent=1)
    yield "deep", '{"a": ' + "[" * 60 + "]" * 60 + ', "' + key + '": {}}'
    yield "a key twice", f'{{"{key}": {{}}, "{key}": {{}}}}'
    yield "servers of another kind", json.dumps({key: [1]})
    yield "servers are null", json.dumps({key: None})
    yield "no object", "[]"
    yield "broken", '{"a": '
    yield "two documents", "{}{}"
    yield "not UTF-8", b'{"a": "\xff"}'
    yield "NUL", b'{"a": 1}\0'
    yield "ours, made otherwise", json.dumps({key: {"skillfold": {"command": "mine"}}}, indent=2)


def toml_kinds():
    other = '[mcp_servers.other]\ncommand = "x"\nargs = ["a"]\n'
    yield "none", None
    yield "empty", ""
    yield "blank", "\n\n"
    yield "comment", "# mine\n"
    yield "no line end", 'model = "x"'
    yield "values", 'model = "x"\n\n# why\nlimit = 3 # three\n'
    yield "a server", 'model = "x"\n\n' + other
    yield "a server, no line end", other.rstrip()
    yield "a server, then others", other + "\n[tui]\ntheme = 'dark'\n"
    yield "CRLF", other.replace("\n", "\r\n")
    yield "mark of byte order", "\ufeff" + other
    inline = 'mcp_servers = { other = { command = "x" } } # mine\n'
    yield "inline", inline
    yield "inline, CRLF", ("# a\n" + inline + "last = 1\n").replace("\n", "\r\n")
    yield "inline, mixed line ends", "# a\r\n" + inline + "b = 1\r\nlast = 1\n"
    yield "inline, texts of many lines, CRLF", ('a = """x\ny"""\n' + inline).replace("\n", "\r\n")
    yield "empty table", "[mcp_servers]\n"
    yield "dotted", 'mcp_servers.other.command = "x"\n'
    yield "blank lines at the end", other + "\n\n\n"
    yield "texts of many lines", 'a = """\n[mcp_servers.skillfold]\n"""\n' + other
    yield "tables in arrays", "[[a]]\nb = 1\n[[a]]\nb = 2\n"
    yield "other scripts", 'a = "日本"\n' + other
    yield "broken", "[mcp_servers\n"
    yield "a key twice", "a = 1\na = 2\n"
    yield "another kind", "mcp_servers = 3\n"
    yield "not UTF-8", b'a = "\xff"\n'
    yield "ours, made otherwise", '[mcp_servers.skillfold]\ncommand = "mine"\n'


def yaml_kinds():
    other = "extensions:\n  other:\n    type: stdio\n    cmd: x\n    args:\n    - a\n"
    yield "none", None
    yield "empty", ""
    yield "comment", "# mine\n"
    yield "values", "GOOSE_MODEL: x\nGOOSE_PROVIDER: y\n"
    yield "no line end", "GOOSE_MODEL: x"
    yield "an extension", other
    yield "an extension, then others", other + "# why\nz: 1\n"
    yield "an extension, no line end", other.rstrip()
    yield "CRLF", other.replace("\n", "\r\n")
    yield "mark of byte order", "\ufeff" + other
    yield "four spaces", "extensions:\n    other:\n        type: stdio\n        cmd: x\n"
    yield "flow", "extensions: {other: {type: stdio, cmd: x}}\n"
    yield "empty flow", "extensions: {}\n"
    yield "null", "extensions:\n"
    yield "a document's start", "---\n" + other
    yield "a document's end", other + "...\n"
    yield "texts of many lines", "a: |\n  extensions:\n    skillfold: no\n" + other
    yield "anchors", "b: &b {cmd: x}\nextensions:\n  other: *b\n"
    yield "blank lines at the end", other + "\n\n"
    yield "other scripts", "a: 日本\n" + other
    yield "two documents", "a: 1\n---\nb: 2\n"
    yield "broken", "a: [\n"
    yield "tabs", "a:\n\tb: 1\n"
    yield "a key twice", "a: 1\na: 2\n"
    yield "not UTF-8", b"a: \xff\n"
    yield "ours, made otherwise", "extensions:\n  skillfold:\n    cmd: mine\n"


def targets(ground):
    """Yields every file that `setup` writes, with the kinds of it."""
    for client, (user, project, key) in JSON.items():
        yield client, [], ground.home / user, list(json_kinds(key))
        if project:
            yield client, ["--project"], ground.project / project, list(json_kinds(key))
    yield "codex", [], ground.home / ".codex/config.toml", list(toml_kinds())
    yield "codex", ["--project"], ground.project / ".codex/config.toml", list(toml_kinds())
    yield "goose", [], ground.home / ".config/goose/config.yaml", list(yaml_kinds())


def attack(row, ground, _):
    tries, none, written = [], [], set()
    for client, options, path, kinds in targets(ground):
        tries += [
            (client, options, path, kind, text, mode)
            for kind, text in kinds[1:]
            for mode in ([0o644] if kind != "two spaces" else [0o644, 0o600, 0o664])
        ]
        none.append((client, options, path, *kinds[0], 0o644))
    # Where there is no file, `setup` writes one for every client: those are always tried.
    for client, options, path, kind, text, mode in [*none, *row.some(tries)]:
        what = f"{client} {' '.join(options)}, {kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            path.chmod(mode)
        before = files(ground)
        made = ground.run("setup", client, *options, "--yes")
        between = files(ground)
        back = ground.run("setup", client, *options, "--undo", "--yes")
        row.try_one(judge(made, back, before, between, files(ground), path), what)
        if made.code == 0 and between != before:
            written.add((client, *options))
        if path.exists():
            path.unlink()
    row.control(len(written) == len(none), f"setup wrote for every client: {sorted(written)}")


def files(ground):
    """Returns all files but those that `setup` remembers by."""
    state = ground.home / ".local"
    return {path: held for path, held in files_below(ground.folder).items() if state not in path.parents}


def judge(made, back, before, between, after, path):
    for done in (made, back):
        if crashed(done):
            return crashed(done)
    if made.code != 0:
        return None if between == before == after else f"refused with {made.code}, and touched"
    if between != before and b"skillfold" not in between[path][0]:
        return "written without the entry"
    if back.code != 0:
        return f"undo: exit {back.code}: {back.err[-200:]!r}"
    if after != before:
        return f"differs: {before.get(path)!r:.150} became {after.get(path)!r:.150}"
    return None
