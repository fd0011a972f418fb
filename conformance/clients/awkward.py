#!/usr/bin/env python3
"""Compares the skills that real clients list with ours, on awkward files.

    python3 conformance/clients/awkward.py --skillfold target/release/skillfold --cache FOLDER [--client NAME]... [--every N] [--table]

awkward_cases.py writes the cases, half of them into the home and half into a trusted project. A client runs as in run.py, with some
cases at a time, because it shortens a long list; its list is what its first request has. Ours is `skillfold list`, without what no
model gets. A difference is explained in awkward_differences.py, or the run fails. A run of all cases also fails if an explanation has
no difference, or if docs/clients/awkward.md has another table than `--table` prints. `--every N` tries one case in N. The last line
is one JSON object.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import judge
from awkward_cases import Link, cases
from awkward_differences import DIFFERENCES
from clients import CLIENTS, HERE
from run import Bench

PAGE = HERE.parents[1] / "docs/clients/awkward.md"
# Few enough that no client shortens its list.
BATCH = 30
# A line of a client's list: the name, another name in parentheses, a description, and in Codex the file.
LINE = re.compile(
    r"^- (?P<name>.*?)(?: \((?P<other>[^)\n]*)\))?(?:: (?P<description>.*?))?(?: \(file: (?P<file>[^)\n]*)\))?$",
    re.MULTILINE,
)
MARK = re.compile(r"[aA]\d{3}")


def lay_out(home, client, chosen):
    """Writes cases where the client looks, half of them into the home and half into its project."""
    (home / "project/.git").mkdir(parents=True)
    for case in chosen:
        base = home / "project" if case.number % 2 else home
        for path, value in case.entries.items():
            folder = pathlib.Path(client.skills).parent if path.startswith("skills/") else pathlib.Path(".claude")
            place = base / path.removeprefix("../") if path.startswith("../") else base / folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            match value:
                case Link(target):
                    place.symlink_to(target)
                case None:
                    place.mkdir()
                case _:
                    place.write_bytes(value)


def listed_by_client(bench, client, home, name):
    """Returns the names and descriptions in the client's list, by the number of the case."""
    found = collections.defaultdict(dict)
    text = judge.request_text(bench.converse(client, home, [], f"awkward-{name}")[0])
    for line in LINE.finditer(text):
        mark = MARK.search(line["file"] or line["name"])
        if not mark:
            continue
        # Claude Code names the folder, and in parentheses the name in the file.
        found[mark[0].lower()][line["other"] or line["name"]] = line["description"] or ""
    return found


def listed_by_us(skillfold, home):
    """Returns the names and descriptions of the skills that a model may get from us, by the number of the case."""

    def ask(*arguments):
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        done = subprocess.run([skillfold, *arguments], cwd=home / "project", env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"error: skillfold {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    ask("trust", "--yes")
    found = collections.defaultdict(dict)
    for skill in json.loads(ask("list", "--json"))["skills"]:
        file = pathlib.Path(skill["file"])
        is_asked = skill["status"] == "active" and b"disable-model-invocation" in file.read_bytes()
        if skill["status"] == "active" and not (is_asked and json.loads(ask("show", skill["id"], "--json"))["disable_model_invocation"]):
            found[MARK.search(str(file.relative_to(home)))[0].lower()][skill["name"]] = skill["description"]
    return found


def is_same_text(theirs, ours):
    """Returns whether a client shows our description, or the start of it."""
    theirs, ours = (" ".join(text.split()) for text in (theirs, ours))
    return theirs == ours or (theirs.endswith(("…", "...")) and ours.startswith(theirs.rstrip("….")))


def compare(theirs, ours):
    """Says how the skills of one case differ, or returns None."""
    if theirs.keys() != ours.keys():
        if len(theirs) == len(ours):
            return "name"
        return "only the client" if len(theirs) > len(ours) else "only Skillfold"
    return None if all(is_same_text(theirs[name], ours[name]) for name in theirs) else "description"


def try_client(bench, client, chosen):
    """Yields each case, with what the client and we list of it."""
    for start in range(0, len(chosen), BATCH):
        batch = chosen[start : start + BATCH]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            home = pathlib.Path(folder).resolve()
            lay_out(home, client, batch)
            theirs = listed_by_client(bench, client, home, batch[0].mark)
            ours = listed_by_us(bench.skillfold, home)
        for case in batch:
            yield case, theirs[case.mark], ours[case.mark]


def explain(client, case, what):
    """Returns the explanation of a difference, or None."""
    fits = (one for one in DIFFERENCES if one.client == client and one.what == what and one.covers(case))
    return next(fits, None)


def to_table(client, seen):
    """Returns the explained differences as the rows of a table in Markdown."""
    rows = [f"| listed by {client} and Skillfold | of | cases | why |", "|---|---|---|---|"]
    return rows + [f"| {one.what} | {one.where} | {len(seen[one])} | {one.why} |" for one in DIFFERENCES if one in seen]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skillfold", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--client", action="append", choices=["claude-code", "codex"])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--all", type=pathlib.Path, help="write what was listed of every case to this file")
    options = parser.parse_args()
    names = options.client or ["claude-code", "codex"]
    clients = [client for client in CLIENTS if client.name in names]
    bench = Bench(options.skillfold.resolve(), options.cache.resolve(), clients)
    figures, wrong, everything = {}, [], []
    for client in clients:
        seen, counts = collections.defaultdict(list), collections.Counter()
        for case, theirs, ours in try_client(bench, client, cases()[:: options.every]):
            what = compare(theirs, ours)
            everything.append([client.name, case.mark, case.kind, case.form, what, theirs, ours])
            counts["cases"] += 1
            counts["client"] += bool(theirs)
            counts["skillfold"] += bool(ours)
            if what:
                counts[what] += 1
                explanation = explain(client.name, case, what)
                if explanation:
                    seen[explanation].append(case)
                else:
                    wrong.append(f"{client.name}, {case.mark}, {case.kind} ({case.form}): {what}: {dict(theirs)} / {dict(ours)}")
        if options.every == 1:
            unseen = [one for one in DIFFERENCES if one.client == client.name and one not in seen]
            wrong += [f"{client.name}: no difference is explained by: {one.why}" for one in unseen]
            page = PAGE.read_text()
            wrong += [f"{PAGE} has no row: {row}" for row in to_table(client.name, seen) if row not in page]
        if options.table:
            print("\n".join(["", *to_table(client.name, seen)]))
        figures[client.name] = counts
    if options.all:
        options.all.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in everything))
    for line in wrong:
        print(f"error: {line[:600]}")
    print(json.dumps(figures))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
