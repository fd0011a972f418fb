"""Checks the relative links of Markdown files."""

import argparse
import re
from pathlib import Path
from urllib.parse import unquote

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", nargs="?", default=".", type=Path)
options = parser.parse_args()


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


broken = checked = 0
for page in sorted(options.folder.rglob("*.md")):
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            checked += 1
            path, _, anchor = target.partition("#")
            found = (page.parent / unquote(path)) if path else page
            if not found.exists():
                problem = "no such file"
            elif anchor and found.suffix == ".md" and anchor.lower() not in anchors(found):
                problem = "no such heading"
            else:
                continue
            broken += 1
            print(f"{page}:{number}: {target}: {problem}")
print(f"{checked} links, {broken} broken")
raise SystemExit(1 if broken else 0)
