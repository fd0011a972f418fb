"""A user of 0.1.0-rc.1 who updates, goes back, and updates again."""

from __future__ import annotations

import json
import re
from pathlib import Path

from build import RC1
from clients import CLIENTS, CONFIGURATIONS, configurations, hook, prompt, serve
from home import Copy, Findings, Home, Put, by_rename
from rows import CACHE, DATA, NEW, STATE

FORWARD, BACK = f"{RC1} → {NEW}", f"{NEW} → {RC1}"
PASSPHRASE, LATER_PASSPHRASE = "correct horse battery", "staple correct horse"
# What a user types who changes it.
TYPED = (("Current passphrase:", PASSPHRASE), ("New passphrase:", LATER_PASSPHRASE), ("Repeat:", LATER_PASSPHRASE))
SKILL = "---\nname: {name}\ndescription: {description}\n---\n{text}\n"
TEXTS = {
    "pdf": ("Fills in PDF forms. Use when somebody has a form to fill in.", "List the fields with `pdftk`."),
    "mail": ("Writes and sorts mail. Use when a letter has to be answered.", "Sign with your initials."),
    "notes": ("Keeps the minutes of meetings.", "Write down who said what."),
    "weekly": ("Writes weekly status reports from commits, issues and calendar entries", "Write it."),
}
REPORT = """---
name: report
description: Counts the words of reports.
toolsets: ["toolsets/tools.json:tools"]
permissions: { read: [~/granted], env: [REPORT_TOKEN], network: [example.invalid] }
---
Count words with scripts/count.py.
"""
COUNT = "import sys\nprint(len(sys.stdin.read().split()), 'words')\n"
TOOL = "import json, sys\nprint(len(json.load(sys.stdin)['text'].split()))\n"
TOOLS = json.dumps({"tools": [{
    "name": "count", "description": "Counts the words of a text.", "script": "scripts/tool.py",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}]})
FORM = "fill in the tax form with the pdf skill"
PACKAGES = f"{DATA}/packages/0f1e2d3c/marker.py"


def skill(home: Home, folder: str, name: str) -> None:
    description, text = TEXTS[name]
    home.write(f"{folder}/{name}/SKILL.md", SKILL.format(name=name, description=description, text=text))


def lay_out(home: Home) -> None:
    """Skills, two projects, clients, and enough skills in one folder for the caches."""
    for name in TEXTS:
        skill(home, ".agents/skills", name)
    for path, text in {"SKILL.md": REPORT, "scripts/count.py": COUNT, "scripts/tool.py": TOOL, "toolsets/tools.json": TOOLS}.items():
        home.write(f".agents/skills/report/{path}", text)
    for project, name in (("app", "deploy"), ("pinned", "release"), ("later", "audit"), ("other", "build")):
        home.write(f"{project}/.git/HEAD", "ref: refs/heads/main\n")
        home.write(f"{project}/.agents/skills/{name}/SKILL.md", SKILL.format(name=name, description=f"Does the {name} of this project.", text="Step by step."))
    for number in range(1_100):
        home.write(f"many/topic-{number}/SKILL.md", SKILL.format(name=f"topic-{number}", description=f"Knows all about topic {number}.", text="It does."))
    for path, text in CONFIGURATIONS.items():
        home.write(path, text)
    home.write("granted/data.txt", "one two three\n")


def draft(home: Home, name: str, text: str) -> str:
    """Write a new version of a skill beside it, and return its folder."""
    home.write(f"drafts/{name}-{len(text)}/SKILL.md", SKILL.format(name=name, description=TEXTS[name][0], text=text))
    return f"drafts/{name}-{len(text)}"


def pending(home: Home, name: str) -> str:
    """Return the name of the pending proposal for a skill."""
    found = [row["name"] for row in home.data("proposals", ends=None).get("proposals", []) if row.get("skill_id") == name]
    return found[0] if found else f"no proposal for {name}"


ALL: dict = {"writes": None, "removes": ("",)}


def make(home: Home) -> None:
    """Use the old program for everything that writes a file."""
    for key, value in {"scripts": "on", "proposals": "on", "hook_log": "true", "max_per_request": "2", "roots": str(home.home / "many")}.items():
        home.do("config", "set", key, value, **ALL)
    home.do("config", "set", "--project", "disable", "topic-0", folder="app", **ALL)
    home.do("trust", "--yes", folder="app", **ALL)
    home.do("trust", "--pin", "--yes", folder="pinned", **ALL)
    home.do("config", "set", "new_skills", "hold", **ALL)
    for name in ("minutes", "unseen"):
        home.do("new", name, "--user", "--description", f"Does the {name}. Use when asked.", **ALL)
    home.do("trust", "minutes", "--yes", **ALL)
    home.answer("skillfold passphrase", ("New passphrase:", PASSPHRASE), ("Repeat:", PASSPHRASE), **ALL)
    for name in ("mail", "pdf", "notes"):
        home.do("propose", name, draft(home, name, f"Better than before: {name}."), "--reason", "it is better", **ALL)
    home.answer(f"skillfold approve {pending(home, 'mail')}", ("[y/N]", "y"), **ALL)
    home.do("reject", pending(home, "pdf"), "--reason", "it is not", **ALL)
    home.answer("skillfold allow report", ("[y/N]", "y"), **ALL)
    home.do("run", "report", "scripts/count.py", "--stdin", stdin="a b", **ALL)
    for client in CLIENTS:
        home.do("setup", client, "--hook", "--yes", **ALL)
    for client in CLIENTS:
        prompt(home, client, FORM)
    home.do("search", "fill", "in", "a", "form", **ALL)
    home.do("prompt", FORM, "--session", "session.json", folder="app", **ALL)
    home.do("list", "--trace", "trace.jsonl", folder="app", **ALL)
    home.do("report", "report.html", folder="app", **ALL)
    home.write(PACKAGES, "")


TRUSTED, HELD, ALLOWED = "state `trusted.toml`", "state `trusted_skills.toml`", "state `allowed.toml`"
LOG, PROPOSALS, CONTENTS, SECRET = "data `audit.jsonl`", "data `proposals/*.md`", "data `contents/`", "data `passphrase.json`"
SETUP, SETTINGS = "state `setup.toml`", "settings `config.toml`, and `.skillfold/config.toml` of a project"
HEARD, LEARNED = "state `conversations/conversation-2-*.json`", "state `conversations/learned-1.json`"
SESSION, EVENTS = "the file of `prompt --session`, and what `Session` writes", "state `hook.jsonl` and `hook.old.jsonl`, and the file of `--trace`"
METADATA, SEARCH = "cache `metadata/2-*.skills`, `vectors/2-*.skills`", "cache `search/3-3-*/`"
CACHES = ((METADATA, f"{CACHE}/metadata/"), (SEARCH, f"{CACHE}/search/"))
CLIENT_FILES, REPORTS, SKILLS, LOCKS = "Configurations of clients", "Reports and charts", "Skills", "Locks"
CONFIG = ".config/skillfold/config.toml"


def names(text: str, file: str, found: int, known: int) -> bool:
    """Return whether a refusal names the file, its format and the one that is known."""
    return file in text and f"format {found}" in text and f"format {known}" in text


def holds(home: Home) -> None:
    """What both programs read in each other's files works: trust, settings, history, sessions, events."""
    trusted = home.do("trust", "--list")
    home.check(TRUSTED, "trusted folders are trusted, the pinned one unchanged", "/app\n" in trusted and "pinned  pinned\n" in trusted and "changed" not in trusted, trusted)
    listed = home.do("list", folder="app")
    home.check(TRUSTED, "models get the project's skills", "deploy  " in listed and "untrusted" not in listed, listed)
    held = home.do("trust", "--list", "--held")
    home.check(HELD, "the accepted skill is trusted, the new one is held", "/minutes" in held and "/unseen" not in held, held)
    home.check(HELD, "models do not get the held one", re.search(r"unseen +user, held", listed) is not None, listed)
    for key, value in (("max_per_request", "2"), ("disable", "project:topic-0"), ("proposals", "true"), ("new_skills", "hold")):
        seen = home.do("config", "get", key, folder="app").strip()
        home.check(SETTINGS, f"`{key}` holds", seen in (value, "on"), seen)
    for client in CLIENTS:
        home.check(CLIENT_FILES, f"the server of {client} answers", "pdftk" in serve(home, client, "load_skill", skill_id="pdf"))
    before = home.has(f"{STATE}/hook.jsonl")
    for client in CLIENTS:
        home.check(CLIENT_FILES, f"the hook of {client} answers", "pdf" in prompt(home, client, FORM, f"after {home.findings.checks} checks"))
    counted = home.do("stats")
    home.check(EVENTS, "`stats` reads them", re.search(r"\d+ lines? read", counted) is not None, counted)
    home.check(EVENTS, "the hook appends its own", home.has(f"{STATE}/hook.jsonl").count("\n") > before.count("\n"))
    printed = home.do("prompt", FORM, "--session", "session.json", folder="app", writes=("session",), removes=("session",))
    home.check(SESSION, "the conversation goes on", '"turn":' in home.has("app/session.json") and "pdftk" not in printed, printed)
    home.do("list", "--trace", "trace.jsonl", folder="app", writes=("hook.jsonl",))
    home.do("report", "report.html", folder="app", writes=("Reports",))
    home.check(REPORTS, "a generated page is replaced", home.has("app/report.html").startswith("<!"))


def forward_refusals(home: Home) -> None:
    """The new program refuses the files of the old log, allowances and passphrase, and leaves them as they are."""
    shown = home.do("audit", "verify")
    home.check(LOG, "`audit verify` reads the old log", "hash chain intact" in shown, shown)
    home.check(LOG, "`audit` shows its records", "mail" in home.do("audit"))
    refused = home.do("trust", "--yes", folder="later", ends=4)
    home.check(LOG, "nothing is decided: the message names the log, both formats and what to do", "audit.jsonl" in refused
               and "format 1" in refused and "format 2" in refused and "move it aside" in refused, refused)
    home.check(TRUSTED, "is not written meanwhile", "/later" not in home.has(f"{STATE}/trusted.toml"))
    waiting = pending(home, "notes")
    shown = home.do("proposals", waiting)
    home.check(PROPOSALS, "the pending one is shown", "Better than before: notes." in shown, shown)
    home.answer(f"skillfold approve {waiting}", ("[y/N]", "y"), ends=4)
    home.do("reject", waiting, "--reason", "x", ends=4)
    listed = home.do("allow", "--list")
    home.check(ALLOWED, "nothing runs by it: SF707 names it, both formats and what to do", "SF707" in listed
               and names(listed, "allowed.toml", 1, 2) and "move the file aside" in listed, listed)
    ran = home.do("run", "report", "scripts/count.py", ends=4)
    home.check(ALLOWED, "the script does not run", "words" not in ran, ran)
    for command in ("skillfold allow report", "skillfold allow report --remove"):
        home.answer(command, ("[y/N]", "y"), ends=None)
    home.check("Packages of scripts", "packages are not deleted (a folder in their place: real ones need a registry)", PACKAGES in home.files)
    refused = home.answer("skillfold passphrase", *TYPED, ends=4)
    home.check(SECRET, "is not set again while the log is old", "audit.jsonl" in refused, refused)


def advice(home: Home) -> None:
    """What the messages say works: the old files moved aside, everything can be decided again."""
    decided = ("audit.jsonl", "contents")
    home.move_aside(f"{DATA}/audit.jsonl")
    refused = home.answer("skillfold passphrase", *TYPED, ends=None, writes=decided)
    home.check(SECRET, "is not set again: the message names it, both formats and what to do", names(refused, "passphrase.json", 1, 2) and "aside" in refused, refused)
    home.answer("skillfold allow report", ("[y/N]", "y"), ends=None, writes=decided)
    home.check(ALLOWED, "is not written", home.has(f"{STATE}/allowed.toml").count("format = 1") == 1)
    home.move_aside(f"{DATA}/passphrase.json")
    home.move_aside(f"{STATE}/allowed.toml")
    home.do("trust", "--yes", folder="later", writes=("trusted", *decided))
    home.check(TRUSTED, "a folder is added, and the others stay", all(f"/{name}" in home.has(f"{STATE}/trusted.toml") for name in ("later", "app", "pinned")))
    home.answer("skillfold passphrase", ("New passphrase:", LATER_PASSPHRASE), ("Repeat:", LATER_PASSPHRASE), writes=("passphrase", *decided))
    home.check(SECRET, "a new one is set in format 2", '"format":2' in home.has(f"{DATA}/passphrase.json"))
    home.answer("skillfold allow report", ("[y/N]", "y"), writes=("allowed", *decided))
    home.check(ALLOWED, "the skill is allowed again, in format 2", "format = 2" in home.has(f"{STATE}/allowed.toml"))
    ran = home.do("run", "report", "scripts/count.py", "--stdin", stdin="a b", writes=("network",))
    home.check(ALLOWED, "its script runs", "2 words" in ran, ran)
    waiting = pending(home, "notes")
    home.answer(f"skillfold approve {waiting}", ("[y/N]", "y"), writes=("Skills", "proposals", *decided), removes=("proposals",))
    home.check(PROPOSALS, "the old one is approved", "Better than before: notes." in home.has(".agents/skills/notes/SKILL.md"))
    home.do("rollback", "notes", ends=4)
    home.check(CONTENTS, "the new program has its own in `contents/`, the old ones stay in `objects/`",
               any("/contents/" in path for path in home.files) and any("/objects/" in path for path in home.files))
    home.check(LOG, "a new one begins, and verifies", "hash chain intact" in home.do("audit", "verify") and '"format":2' in home.has(f"{DATA}/audit.jsonl"))


def undo_of_old(home: Home, before: dict[str, bytes]) -> None:
    """The new program takes back what the old one added to the clients' configurations, to the byte."""
    with Copy(home):
        take_out(home)
        home.check(SETUP, "`--undo` restores every byte after the old one's `setup`", configurations(home) == before, different(before, configurations(home)))
    with Copy(home):
        for client in CLIENTS:
            home.do("setup", client, "--yes", writes=("setup", "Configurations", "restore"), removes=("setup", "Configurations"))
        home.check(SETUP, "the next `setup` writes format 2", home.has(f"{STATE}/setup.toml").startswith("format = 2"))
        take_out(home)
        home.check(SETUP, "and `--undo` restores every byte after both", configurations(home) == before, different(before, configurations(home)))


def different(before: dict[str, bytes], after: dict[str, bytes]) -> str:
    """Show what two sets of files do not share."""
    paths = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
    return "\n".join(f"{path}\n{before.get(path)}\n{after.get(path)}" for path in paths)


def use_new(home: Home, made: dict[str, bytes]) -> None:
    """Use the new program for everything that writes a file of its own."""
    home.do("config", "set", "hook_suggest_from", "24", writes=("config.toml",))
    for client in CLIENTS:
        home.do("setup", client, "--list", "ours", "--yes", writes=("setup", "Configurations", "restore"), removes=("setup", "Configurations"))
    home.check(SETUP, "records what turns off the clients' own lists too", 'part = "list"' in home.has(f"{STATE}/setup.toml"))
    home.check("`restore.txt`", "says how to undo it by hand", "take out" in home.has(f"{STATE}/restore.txt"))
    for conversation in "abc":
        prompt(home, "claude-code", "look at the calendar entries of commits", conversation)
        hook(home, "claude-code", "PostToolUse", session_id=f"claude-code-{conversation}", tool_name="Skill", tool_input={"skill": "weekly"})
        prompt(home, "claude-code", "thanks", conversation)
    home.check(HEARD, "the new program has files of its own", any("conversation-2-" in path for path in home.files))
    home.check(LEARNED, "a file of its own, from zero", "weekly" in home.has(f"{STATE}/conversations/learned-1.json"))
    home.do("search", "fill", "in", "a", "form")
    for row, folder in CACHES:
        mine = [path for path in home.files if path.startswith(folder) and path not in made]
        home.check(row, "an own one beside the old one, which is left", bool(mine) and same(home, made, folder))
    home.do("stats", "--svg", "chart.svg", folder="app", writes=("Reports",))
    home.do("propose", "pdf", draft(home, "pdf", "Best of all: pdf."), "--reason", "it is best", writes=("audit", "proposals", "contents"))
    home.write("sources/mail/SKILL.md", SKILL.format(name="letters", description="Writes letters.", text="Dear."))
    home.do("add", "../sources/mail", folder="app", writes=("audit", "proposals", "contents", "locks"), ends=4)
    home.check(PROPOSALS, "a whole version is proposed in format 2", 'format: "2"' in "".join(home.has(path) for path in home.files if "/proposals/letters" in path))
    home.check(SKILLS, "skills are as they were, but for what was approved", "Sign with" not in home.has(".agents/skills/mail/SKILL.md"))
    home.check(LOCKS, "are empty", all(not home.files[path] for path in home.files if path.endswith("/lock")))


def back_refusals(home: Home, new: dict[str, bytes], made: dict[str, bytes]) -> None:
    """The old program refuses the files of the new one, and leaves them as they are."""
    refused = home.do("trust", "--yes", folder="other", ends=4)
    home.check(LOG, "nothing is decided: the message names the log, the format and what to do",
               "audit.jsonl" in refused and "format 2" in refused and "update this one" in refused, refused)
    home.check(LOG, "`audit` shows its records", "hash chain intact" in home.do("audit", "verify"))
    listed = home.do("allow", "--list")
    home.check(ALLOWED, "nothing runs by it: SF707 names it, both formats and what to do",
               "SF707" in listed and names(listed, "allowed.toml", 2, 1) and "update skillfold" in listed, listed)
    home.do("run", "report", "scripts/count.py", ends=4)
    for command in ("skillfold allow report", "skillfold allow report --remove"):
        home.answer(command, ("[y/N]", "y"), ends=None)
    home.check("Packages of scripts", "packages are not deleted", PACKAGES in home.files)
    shown = home.do("proposals", ends=None)
    home.check(PROPOSALS, "a whole version is listed as unreadable, with both formats", names(shown, "letters", 2, 1), shown)
    waiting = pending(home, "pdf")
    home.answer(f"skillfold approve {waiting}", ("[y/N]", "y"), ends=None)
    home.check(PROPOSALS, "a change is shown, and stays", any(waiting in path for path in home.files) and "Best of all" in home.do("proposals", waiting, ends=None))
    with Copy(home):
        home.do("trust", "--remove", str(home.home / "later"), writes=("trusted.toml",), removes=("trusted.toml",))
        home.check(LOG, "trust is taken back all the same", "/later" not in home.has(f"{STATE}/trusted.toml"))
        home.move_aside(f"{DATA}/audit.jsonl")
        refused = home.answer("skillfold passphrase", *TYPED, ends=None, writes=("audit",))
        home.check(SECRET, "is not set again, even with a new log: the message names it and both formats", names(refused, "passphrase.json", 2, 1), refused)
    home.do("search", "fill", "in", "a", "form")
    for row, folder in CACHES:
        home.check(row, "an own one beside the new one, which is left", same(home, {path: new[path] for path in new.keys() - made.keys()}, folder))
    home.do("cache", "clean")
    home.do("search", "fill", "in", "a", "form")
    home.check(CONTENTS, "`contents/` stays as it is", all(home.files.get(path) == content for path, content in new.items() if "/contents/" in path))
    home.check("`restore.txt`", "is left", home.files.get(f"{STATE}/restore.txt") == new[f"{STATE}/restore.txt"])
    home.check(SKILLS, "are left", all(home.files.get(path) == content for path, content in new.items() if path.endswith("SKILL.md")))
    home.check(LOCKS, "are empty", all(not home.files[path] for path in home.files if path.endswith("/lock")))
    home.check(HEARD, "has files of its own, those of the new one stay", same(home, new, "conversation-2-"))
    home.check(LEARNED, "is left", same(home, new, "learned-1"))
    for row, folder in CACHES:
        home.check(row, "is made again after `cache clean`", any(path.startswith(folder) for path in home.files))


def back_undo(home: Home, new: Path, before: dict[str, bytes]) -> None:
    """The old program takes nothing out that it has no record of, but hooks; what is left, the new one takes out."""
    with Copy(home):
        written = home.tree()
        for client in CLIENTS:
            refused = home.do("setup", client, "--undo", "--yes", ends=None, writes=("Configurations",), removes=("Configurations",))
            home.check(SETUP, f"`setup {client} --undo` takes out no server", names(refused, "setup.toml", 2, 1), refused)
        home.check(SETUP, "and does not write it", same(home, written, "setup.toml"))
        home.update(NEW, new)
        take_out(home)
        home.check(SETUP, "then `--undo` of the new one restores every byte", configurations(home) == before, different(before, configurations(home)))
    with Copy(home):
        for client in CLIENTS:
            home.do("setup", client, "--hook", "--yes", ends=None, writes=("Configurations",), removes=("Configurations",))
        home.check(SETUP, "`setup --hook` does not write it", same(home, written, "setup.toml"))
        home.update(NEW, new)
        take_out(home)
        home.check(SETUP, "nor keeps the new one from restoring every byte", configurations(home) == before, different(before, configurations(home)))


def take_out(home: Home) -> None:
    for client in CLIENTS:
        home.do("setup", client, "--undo", "--yes", writes=("setup", "Configurations", "restore"), removes=("setup", "Configurations", "restore"))


def same(home: Home, new: dict[str, bytes], part: str) -> bool:
    """Return whether all files with a name are as they were."""
    return all(home.files.get(path) == content for path, content in new.items() if part in path)


def unknown_setting(home: Home) -> None:
    """A setting that only the new program has is a warning with its line in the old one."""
    with Copy(home):
        home.write(CONFIG, home.has(CONFIG) + "hook_learn = true\n")
        home.files = home.tree()
        refused = home.do("list")
        home.check(SETTINGS, "an unknown key is a warning with its line, the others hold", re.search(r"hook_learn.*config\.toml:\d+", refused, re.DOTALL) is not None, refused)
        home.do("config", "set", "max_per_request", "4", writes=("config.toml",), ends=None)
        home.check(SETTINGS, "`config set` keeps it", "hook_learn = true" in home.has(CONFIG))
    with Copy(home):
        home.write("app/.skillfold/config.toml", home.has("app/.skillfold/config.toml") + "later_key = true\n")
        home.files = home.tree()
        shown = home.do("list", folder="app")
        home.check(SETTINGS, "in a project's it is left out and reported", "later_key" in shown + home.do("config", folder="app", ends=None), shown)


def unchanged(home: Home, new: dict[str, bytes]) -> None:
    """Everything that the new program had is as it was."""
    own = [row for row in (ALLOWED, SECRET, SETUP, HEARD, LEARNED, CONTENTS, PROPOSALS)]
    for row, part in zip(own, ("allowed.toml", "passphrase.json", "setup.toml", "conversation-2-", "learned-1", "/contents/", "/proposals/"), strict=True):
        home.check(row, "is as it was after the way back", same(home, new, part))
    home.check(LOG, "is as it was after the way back, and verifies", same(home, new, "audit.jsonl") and "hash chain intact" in home.do("audit", "verify"))


def go_on(home: Home) -> None:
    """The new program goes on with what it had."""
    ran = home.do("run", "report", "scripts/count.py", "--stdin", stdin="a b", writes=("network",))
    home.check(ALLOWED, "the script runs again", "2 words" in ran, ran)
    waiting = pending(home, "pdf")
    home.answer(f"skillfold approve {waiting}", ("[y/N]", "y"), writes=("audit", "Skills", "proposals", "contents"), removes=("proposals",))
    home.check(PROPOSALS, "what waited is approved", "Best of all" in home.has(".agents/skills/pdf/SKILL.md"))


def journey(findings: Findings, old: Path, new: Path, keep: bool, put: Put = by_rename) -> None:
    home = Home("rc1", findings, put)
    lay_out(home)
    before = configurations(home)
    home.begin(RC1, old, "first use")
    make(home)
    made = home.tree()
    home.begin(NEW, new, FORWARD)
    undo_of_old(home, before)
    holds(home)
    forward_refusals(home)
    home.check(CONTENTS, "`objects/` is as the old one left it", same(home, made, "/objects/"))
    advice(home)
    use_new(home, made)
    written = home.tree()
    home.begin(RC1, old, BACK)
    back_refusals(home, written, made)
    back_undo(home, new, before)
    unknown_setting(home)
    holds(home)
    home.begin(NEW, new, FORWARD)
    unchanged(home, written)
    holds(home)
    go_on(home)
    take_out(home)
    home.check(SETUP, "`--undo` restores every byte in the end", configurations(home) == before, different(before, configurations(home)))
    if not keep:
        home.remove()
