"""Compares pinned versions with the newest ones on PyPI."""

import argparse
import json
import re
from urllib.request import urlopen

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", type=argparse.FileType())
options = parser.parse_args()

for line in options.file:
    found = re.match(r"\s*([\w.-]+)\s*==\s*([\w.]+)", line)
    if not found:
        continue
    name, pinned = found.groups()
    with urlopen(f"https://pypi.org/pypi/{name}/json", timeout=20) as answer:
        newest = json.load(answer)["info"]["version"]
    print(f"{name} {pinned}", "is the newest" if pinned == newest else f"-> {newest}")
