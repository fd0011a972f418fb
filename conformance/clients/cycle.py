#!/usr/bin/env python3
"""Takes real clients through `skillfold setup --list ours` and back, and compares every request and every byte.

    python3 conformance/clients/cycle.py --skillfold target/release/skillfold --cache FOLDER [--client NAME]...

A client runs as in run.py, with skills in its own folder and the settings of cycle_cases.py. In each client:

- `use`: before `setup` the model gets the client's list; after it ours alone, with every name. A new skill is in ours alone from the
  second conversation on, a removed one is gone from list and settings, and an editor saves beside it. A search finds every skill, the
  model loads it, and the user starts it by name. After `--undo` the files are as before, with the editor's change;
- `bytes`: `setup` and `--undo`, with these settings and with none, leave every byte;
- `editor`: an editor saves all the time while skills come and go: none of its saves is lost;
- `stays`: what stays in the client's list, its own skills and a plugin's, is as many as `setup` says;
- `gone`: if the program is deleted, the hook names a file; after doing what it says, the client lists its skills again.

The last line is one JSON object: what was seen in each client. It fails on any difference.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import threading

import run
from clients import CLIENTS
from cycle_cases import CASES
from cycle_home import NEW, SKILLS, Home, bytes_of, follow_file, lines

REMOVED = "invoice-layout"
EVENT = {"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}
SAVES = 200
# The command of our hook in a client's settings, as JSON.
HOOK = re.compile(r'"command": ?("(?:[^"\\]|\\.)*skillfold hook (?:[^"\\]|\\.)*")')


def words(skills):
    return {name: description.rsplit(" ", 1)[1] for name, (description, _) in skills.items()}


def own_names(client, text):
    """Returns the skills in the client's own list in a request, those of a plugin too."""
    if client.name == "claude-code":
        text = text.partition("available for use with the Skill tool:")[2]
        text = re.split(r"\n#|\nIMPORTANT|hook additional context", text)[0]
        return re.findall(r"^- ([\w:-]+):", text, re.MULTILINE)
    lists = re.findall(r"<available_skills>(.*?)</available_skills>", text, re.DOTALL)
    return re.findall(r"<name>\s*([\w:-]+)\s*</name>", "".join(lists))


def seen(home, text, skills):
    """Returns the skills in our list, and those that are described in the rest of a request; None if our list is not whole."""
    said = json.loads(home.skillfold("prompt", "--client", home.client.name, "--json"))["instructions"]
    ours = lines(said.strip())
    if ours not in text:
        return None, []
    rest = text.replace(ours, "")
    return [name for name in skills if name in ours], [name for name, word in words(skills).items() if word in rest]


def save_as_editor(path, text):
    beside = path.with_name(path.name + ".tmp")
    beside.write_text(text)
    os.replace(beside, path)


def use(home, found):
    """The whole cycle, with conversations; yields what is wrong."""
    client, case = home.client, home.case

    def check_list(name, skills, text):
        ours, own = seen(home, text, {**SKILLS, **NEW})
        if ours != sorted(skills) or own:
            yield f"{name}: our list has {ours}, the client's {own}; expected {sorted(skills)} in ours alone"

    text = home.converse("native")
    if missing := [name for name, word in words(SKILLS).items() if word not in text]:
        yield f"before setup, the client's list lacks {missing}"
    before = home.settings()
    found["rewritten by the client"] = [name for name in before if before[name] != home.files.get(name)]
    if case.said not in home.setup("--list", "ours"):
        yield f"setup does not say {case.said!r}"
    yield from check_list("after setup", SKILLS, home.converse("ours"))
    home.add(NEW)
    skills = SKILLS | NEW
    text = home.converse("new-first")
    is_own = "weekly-report" in own_names(client, text)
    found["new skill, first conversation"] = {"in its list": is_own, "in ours": text.count(words(NEW)["weekly-report"]) > is_own}
    yield from check_list("after a new skill", skills, home.converse("new-second"))
    for name, (old, new) in case.edits.items():
        save_as_editor(home.path / name, (home.path / name).read_text().replace(old, new))
    home.remove(REMOVED)
    del skills[REMOVED]
    home.converse("removed-first")
    yield from check_list("after a removed skill", skills, home.converse("removed-second"))
    if named := [name for name, text in home.settings().items() if REMOVED in text]:
        yield f"a removed skill is still named in {named}"
    yield from reach(home, skills, found)
    old = home.settings()
    home.setup("--undo")
    yield from compare(home, before, old)
    text = home.converse("undone")
    ours = "load_skill" in text
    if ours or (missing := [name for name in skills if words(skills)[name] not in text]):
        yield f"after undo, our tools are {'there' if ours else 'gone'}, and the client's list lacks {missing}"


def reach(home, skills, found):
    """Searches for every skill, loads it, and starts it by name."""
    client, case = home.client, home.case
    calls = [("search_skills", {"query": description}) for description, _ in skills.values()]
    calls += [("load_skill", {"skill_id": name}) for name in skills]
    home.converse("search", script=client.script(calls))
    answers = home.answers[len(client.first) :]
    expected = [*skills, *(text for _, text in skills.values())]
    if wrong := [part for part, answer in zip(expected, answers) if part not in answer]:
        yield f"searched or loaded, but not found: {wrong}"
    found["found and loaded"] = sum(part in answer for part, answer in zip(expected, answers)) // 2
    found["started by name"] = 0
    for name, (_, instructions) in skills.items():
        start = case.start.replace("{name}", name)
        options = start.split() if start.startswith("--") else []
        text = home.converse("by-name", "Alice" if options else start, [], options)
        wanted = lines(case.started.replace("{name}", name))
        if instructions not in text or wanted not in text:
            yield f"{start!r} does not give its instructions, or not {wanted!r}"
        else:
            found["started by name"] += 1


def compare(home, before, old):
    """Yields which settings are not as before, apart from the editor's change. `old` are those just before `--undo`."""
    now = home.settings()
    for name in sorted({*before, *now}):
        expected = before.get(name)
        if name in home.case.edits:
            expected = expected.replace(*home.case.edits[name])
        if name == home.case.rewritten:
            # The client has changed it since: our entry is gone, and nothing else.
            left = json.loads(old[name])
            del left["mcpServers"]["skillfold"]
            expected = now[name] if json.dumps(left) == json.dumps(json.loads(now[name])) else json.dumps(left, indent=2)
        if now.get(name) != expected:
            yield f"{name} is not as before: {now.get(name)!r}, expected {expected!r}"


def undo_at_once(home, found):
    before = bytes_of(home.path)
    home.setup("--list", "ours")
    # Once more, and with other skills.
    home.add(NEW)
    home.setup("--list", "ours")
    home.remove("weekly-report")
    home.setup("--undo")
    after = bytes_of(home.path)
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield f"setup and undo changed {name}: {after.get(name)!r}, before {before.get(name)!r}"
    left = home.path / ".local/state/skillfold/restore.txt"
    if left.exists():
        yield f"after undo, restore.txt still says {left.read_text()!r}"


def editor(home, found):
    """An editor saves while skills come and go; the hook follows them."""
    home.setup("--list", "ours")
    name, (old, new) = next(iter(home.case.edits.items()))
    path, lost, stop = home.path / name, [], threading.Event()

    def follow():
        event = EVENT | {"cwd": str(home.path / "project")}
        while not stop.is_set():
            home.add(NEW)
            home.skillfold("hook", "--client", home.client.name, given=json.dumps(event))
            home.remove("weekly-report")
            home.skillfold("hook", "--client", home.client.name, given=json.dumps(event))

    follower = threading.Thread(target=follow)
    follower.start()
    states = [old, new]
    for number in range(SAVES):
        text = path.read_text()
        if states[number % 2] not in text:
            lost.append(number)
        save_as_editor(path, text.replace(states[number % 2], states[1 - number % 2]))
        stop.wait(0.01)
    stop.set()
    follower.join()
    found["saves of an editor"], found["lost"] = SAVES, len(lost)
    if lost:
        yield f"lost {len(lost)} of {SAVES} saves of an editor"
    before = dict(home.files)
    home.setup("--undo")
    now = home.settings()
    if now != before:
        yield f"after {SAVES} saves, undo leaves {now}, expected {before}"


def stays(home, found):
    """Yields if more or fewer skills stay in the client's own list than `setup` says."""
    for name, text in home.case.plugin.items():
        home.write(name, text)
    for command in home.case.commands:
        home.run_client([word.replace("{home}", str(home.path)) for word in command])
    said = home.setup("--list", "ours")
    names = own_names(home.client, home.converse("stays"))
    found["stay in its list"] = names
    number = re.search(r"(\d+) skills? stays? in it", said)
    if len(names) != (int(number[1]) if number else 0):
        yield f"{len(names)} skills stay in the client's list, setup says {number and number[0]!r}: {names}"
    if home.case.plugin and not any("tea-notes" in name for name in names):
        yield "the plugin's skill is not in the client's list"


def gone(home, found):
    """Deletes the program, reads what the hook says, and does what its file says."""
    before = home.settings()
    home.setup("--list", "ours")
    restore = home.path / ".local/state/skillfold/restore.txt"
    hooks = {json.loads(line) for text in home.settings().values() for line in HOOK.findall(text)}
    home.program.unlink()
    for line in hooks:
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, input="{}")
        if done.returncode != 0 or str(restore) not in done.stdout:
            yield f"the hook's line ends with {done.returncode} and prints {done.stdout!r}"
    text = home.converse("gone")
    found["named by"] = [who for who, where in [("the model", text), ("the client", home.printed())] if str(restore) in where]
    if hooks and not found["named by"]:
        yield "nobody is told about restore.txt"
    if missing := [name for name, word in words(SKILLS).items() if word in text]:
        yield f"without the program, the client still lists {missing}"
    follow_file(restore.read_text())
    text = home.converse("restored")
    if missing := [name for name, word in words(SKILLS).items() if word not in text]:
        yield f"after restoring by hand, the client's list lacks {missing}"
    if left := [name for name, text in home.settings().items() if "skillfold" in text]:
        yield f"after restoring by hand, {left} still names skillfold"
    found["as before by hand"] = home.settings() == before


def judge_client(bench, client):
    """Returns what was seen in a client, and what is wrong."""
    case = CASES[client.name]
    found, wrong, files, least = {}, [], case.files, case.least
    parts = [(use, files), (undo_at_once, files), (undo_at_once, least), (editor, files), (stays, files), (gone, files), (gone, least)]
    for part, files in parts:
        home = Home(bench, client, files)
        try:
            wrong += [f"{part.__name__}: {line}" for line in part(home, found)]
        except run.ClientFailed as failure:
            wrong.append(f"{part.__name__}: {failure}")
        finally:
            home.close()
    return found, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skillfold", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--client", action="append", choices=list(CASES))
    chosen = parser.parse_args()
    clients = [client for client in CLIENTS if client.name in (chosen.client or CASES)]
    bench = run.Bench(chosen.skillfold.resolve(), chosen.cache.resolve(), clients)
    figures, wrong = {}, []
    for client in clients:
        figures[client.name], found_wrong = judge_client(bench, client)
        wrong += found_wrong
        print(f"{client.name}: {figures[client.name]}, {len(found_wrong)} differences", flush=True)
        for line in found_wrong:
            print(f"error: {client.name}: {line}", flush=True)
    print(json.dumps(figures))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
