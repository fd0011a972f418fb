#!/usr/bin/env python3
"""Drives real clients against a scripted model, and shows what of our server and our skills reaches a model.

    python3 conformance/clients/run.py --skillfold target/release/skillfold --cache FOLDER --corpus CORPUS
        [--client NAME]... [--skills N]... [--update]

Clients are installed from npm into FOLDER, and every request that a model got is kept in FOLDER/captures. A client runs with
an empty environment, a home of its own and a network namespace with the loopback only; our server is configured by `skillfold
setup` in that home. docs/what-models-see.md explains the figures. Those in expected.json must be the same; `--update` writes
it. The last line is one JSON object.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import judge
from clients import CLIENTS, HERE, count_tokens, install, namespace
from server import Server

EXPECTED = HERE / "expected.json"
# The figures that depend on us and on the client's version alone.
HELD = ["listed", "arrived", "empty", "cut", "search_hint", "envelope", "image"]
# The sizes of libraries of skills.
SIZES = [10, 63, 200, 3000]
PROMPT = "What can you do?"
# One that needs no skill, and to which our hook adds nothing.
SMALL_TALK = "Hello"
ATTEMPTS = 3
# Where no client looks for skills by itself.
OURS = ".skillfold/skills"
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def real_skills(corpus, count):
    """Returns some real skills, evenly spread over a corpus: names and texts."""
    lines = subprocess.run(["zstd", "-dc", corpus], capture_output=True, check=True).stdout.splitlines()
    found = {}
    for line in lines:
        text = json.loads(line)["text"]
        name = re.match(r"---\nname: ([a-z0-9]+(?:-[a-z0-9]+)*)\ndescription: [^|>\n]{20,}\n(?:[a-z-]+: .*\n)*---\n", text)
        if name and len(name[1]) <= 64:
            found.setdefault(name[1], text)
    names = list(found)
    if len(names) < count:
        sys.exit(f"error: the corpus has {len(names)} plain skills; {count} are needed")
    return {name: found[name] for name in (names[at * len(names) // count] for at in range(count))}


def lay_out(home, folder, skills):
    """Writes skills below a home; the first in order has a picture too. Returns its name."""
    for name, text in skills.items():
        skill = home / folder / name
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(text)
    first = min(skills, default=None)
    if first:
        (home / folder / first / "picture.png").write_bytes(PICTURE)
    return first


class ClientFailed(Exception):
    """A client ended without a conversation."""


class Bench:
    """Runs conversations, each in a home of its own."""

    def __init__(self, skillfold, cache, clients):
        self.skillfold, self.cache = skillfold, cache
        self.node = shutil.which("node") or sys.exit("error: node is not installed")
        self.modules = install(cache, clients)
        self.isolated = namespace() or sys.exit("error: the system allows no network namespace")

    def converse(self, client, home, script, name, prompt=PROMPT):
        """Runs one conversation; returns the requests that the model got. A client that was too slow to connect to our
        server before the model called a tool runs again."""
        result = home / "result.json"
        job = client.job(self.node, self.modules, home, prompt, script, result)
        (home / "job.json").write_text(json.dumps(job))
        for _ in range(ATTEMPTS):
            subprocess.run([*self.isolated, sys.executable, HERE / "inside.py", home / "job.json"], check=True)
            done = json.loads(result.read_text())
            if judge.is_connected(done["turns"], script):
                break
        captures = self.cache / "captures"
        captures.mkdir(exist_ok=True)
        (captures / f"{client.name}-{name}.json").write_text(judge.kept(done["turns"]))
        if done["code"] != 0 or not done["turns"]:
            said = done["printed"][-2000:]
            raise ClientFailed(f"{client.name} ended with {done['code']} after {len(done['turns'])} requests\n{said}")
        return done["turns"]

    def setup(self, client, home, whose="both"):
        """Adds our server and hook to the client's configuration in its home, with our list alone (`ours`) or beside the
        client's (`both`)."""
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        command = [self.skillfold, "setup", client.name, "--yes", "--list", whose]
        subprocess.run(command, cwd=home / "project", env=environment, check=True, capture_output=True)

    def tokens(self, *texts):
        return count_tokens(self.node, self.modules, texts)

    def judge_ours(self, client, skills):
        """Judges a client whose skills only our server knows."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            home = pathlib.Path(folder)
            (home / "project").mkdir()
            first = lay_out(home, OURS, skills)
            self.setup(client, home)
            calls = [("load_skill", {"skill_id": first}), ("read_skill_resource", {"skill_id": first, "path": "picture.png"})]
            turns = self.converse(client, home, client.script(calls), f"{len(skills)}-server")
            server = Server(self.skillfold, home, client.info)
            envelope = server.call("load_skill", {"skill_id": first})
            found = judge.listing(turns, server) | judge.answers(turns, envelope, len(client.first))
            server.close()
        found["tokens"] = self.tokens(found.pop("text"))[0]
        return found

    def first_request(self, client, skills, whose="native"):
        """Returns what the model reads of a request that has nothing to do with skills, with skills where the client finds
        them by itself: without us (`native`), with our list beside the client's (`both`), or with ours alone (`ours`)."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            home = pathlib.Path(folder)
            (home / "project").mkdir()
            lay_out(home, client.skills, skills)
            if whose != "native":
                self.setup(client, home, whose)
            # The server may be connected only after the first answer.
            script = list(client.neutral)
            name = f"{len(skills)}-{whose}"
            return judge.request_text(self.converse(client, home, script, name, SMALL_TALK)[-1])

    def judge_lists(self, client, skills):
        """Judges a client that finds the skills itself: what its list costs, ours beside it, and ours alone; and how many
        skills are named in the request with ours alone."""
        texts = {"bare": self.first_request(client, {})}
        for whose in ("native", "both", "ours"):
            try:
                texts[whose] = self.first_request(client, skills, whose)
            except ClientFailed as failure:
                # A list of thousands of skills may be more than the client sends.
                print(f"left out: {client.name} with {len(skills)} skills, {whose}: {failure}")
        bare, *counts = self.tokens(*texts.values())
        found = {f"{whose}_tokens": count - bare for whose, count in zip(list(texts)[1:], counts)}
        if "ours" in texts:
            found["named"] = sum(name in texts["ours"] for name in skills)
        return found


def held(figures):
    """Returns the figures that must stay the same."""
    return {client: {size: {name: found[name] for name in HELD} for size, found in sizes.items()} for client, sizes in figures.items()}


def broken_promises(figures):
    """Yields where our list alone does not keep its promise: every skill that our server lists is named, and for 63 skills every
    skill, in at most 40 % of the tokens of the client's own list."""
    for client, sizes in figures.items():
        for size, found in sizes.items():
            least = 63 if size == "63" else found["listed"]
            if found.get("named", 0) < least:
                yield f"{client}, {size} skills: our list alone names {found.get('named', 0)} of {least}"
        if not (found := sizes.get("63")):
            continue
        ours, own = found.get("ours_tokens"), found.get("native_tokens")
        if not ours or not own or ours > 0.4 * own:
            yield f"{client}: our list of 63 skills takes {ours} tokens, its own {own}"


def differences(figures, expected):
    """Yields what is not as expected, for the clients and sizes that ran."""
    for client, sizes in held(figures).items():
        for size, found in sizes.items():
            wanted = expected.get(client, {}).get(size)
            if found != wanted:
                yield f"{client}, {size} skills: {found}; expected {wanted}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skillfold", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--client", action="append", choices=[client.name for client in CLIENTS])
    parser.add_argument("--skills", action="append", type=int)
    parser.add_argument("--update", action="store_true")
    chosen = parser.parse_args()
    clients = [client for client in CLIENTS if not chosen.client or client.name in chosen.client]
    bench = Bench(chosen.skillfold.resolve(), chosen.cache.resolve(), clients)
    figures = {}
    for size in chosen.skills or SIZES:
        skills = real_skills(chosen.corpus, size)
        for client in clients:
            found = bench.judge_ours(client, skills) | bench.judge_lists(client, skills)
            figures.setdefault(client.name, {})[str(size)] = found
            print(f"{client.name}, {size} skills: " + ", ".join(f"{name} {value}" for name, value in found.items()), flush=True)
    expected = json.loads(EXPECTED.read_text())
    if chosen.update:
        for client, sizes in held(figures).items():
            expected.setdefault(client, {}).update(sizes)
        EXPECTED.write_text(json.dumps(expected, indent=2) + "\n")
    wrong = [*differences(figures, expected), *broken_promises(figures)]
    for line in wrong:
        print(f"error: {line}")
    print(json.dumps(figures))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
