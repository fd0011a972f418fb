"""Compares a bill of materials with what cargo links into the command: materials.py FILE

Fails if a linked crate is not listed or has no licence. A crate too many is possible: features that only tests need are
switched on when the list is made.
"""

import json
import subprocess
import sys

TREE = "cargo tree --locked --package skillfold-cli --edges normal --target all --prefix none --format {p}"


def name_and_version(line):
    name, version = line.split()[:2]
    return name, version.removeprefix("v")


with open(sys.argv[1], encoding="utf-8") as file:
    components = json.load(file)["components"]
listed = {(component["name"], component["version"]) for component in components}
tree = subprocess.run(TREE.split(), check=True, capture_output=True, text=True).stdout
linked = {name_and_version(line) for line in tree.splitlines() if line} - {
    name_and_version(tree.splitlines()[0])
}
for crate in sorted(linked - listed):
    print("linked but not listed:", *crate)
for crate in sorted(listed - linked):
    print("listed but not linked:", *crate)
unlicensed = [component["name"] for component in components if not component.get("licenses")]
print(f"bill of materials: {len(listed)} crates, {len(unlicensed)} without a licence")
sys.exit(bool(linked - listed or unlicensed))
