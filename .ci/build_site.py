"""Builds the site: the landing page, the book, and a report on the example skills: build_site.py --skillfold PATH [--without-book] [FOLDER]

The site is written to FOLDER, dist/site by default, which is emptied first. Fails on whatever the book fails on, on a dead link or anchor
in any page, and on a figure or command of the landing page that its source does not state. With `--without-book`, which needs no mdBook, the book
is left out, and links to it are compared with its sources.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import book

sys.path.append(str(book.ROOT / "bench"))
import plots

SITE = book.ROOT / "site"
FILES = [SITE / "style.css", book.DOCS / "theme/favicon.svg", book.DOCS / "images/terminal.svg"]
EXAMPLES = [*book.ROOT.glob("examples/skills/*/SKILL.md"), *book.ROOT.glob("examples/project-skills/*/SKILL.md")]
REQUESTS = [
    "Greet Alice in French",
    "Review my changes before I commit them",
    "Make a report of sales.csv by month",
    "Which links in the README are broken?",
    "What is the capital of France?",
]
FIGURES = re.compile(r"<!-- figures of (\S+) -->\n(.*?)<!-- end of figures -->\n", re.DOTALL)
INSTALLS = re.compile(r"\b(?:uv|cargo|npm) (?:tool )?install [^<\n]*")
TITLE = '<h1 class="menu-title">Skillfold</h1>'


def landing(text):
    """Returns the landing page as visitors get it, and which of its figures and commands their source does not state."""
    wrong = [
        f"site/index.html says {number}, which {source} does not"
        for source, figures in FIGURES.findall(text)
        for number in sorted(plots.numbers(re.sub(r"<[^>]*>", " ", figures)) - plots.numbers_in(source))
    ]
    readme = (book.ROOT / "README.md").read_text(encoding="utf-8")
    wrong += [f"site/index.html says `{command}`, which README.md does not" for command in INSTALLS.findall(text) if command not in readme]
    return FIGURES.sub(r"\2", text), wrong


def report(output, skillfold):
    """Writes what `skillfold report` makes of the example skills, in a home that has nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        for file in EXAMPLES:
            shutil.copytree(file.parent, home / ".agents/skills" / file.parent.name)
        project = home / "examples"
        project.mkdir()
        command = [skillfold.resolve(), "report", output / "report.html", *(f"--request={request}" for request in REQUESTS)]
        subprocess.run(command, cwd=project, env={"HOME": folder}, check=True)


def add_book(output):
    """Builds the book below the landing page, to which the title of its pages leads. Returns what mdBook warns of."""
    wrong = book.build(output / "book")
    for path in (output / "book").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        start = "../" * len(path.relative_to(output).parent.parts)
        text = text.replace(TITLE, f'<div class="menu-title"><a href="{start}index.html">Skillfold</a></div>')
        path.write_text(text, encoding="utf-8")
    return wrong


def dead_links(output):
    """Returns the links of the landing page that lead nowhere: to the book, by its sources."""
    pages, dead = set(book.summary()[1]), []
    for link in sorted(book.Page(output / "index.html").links):
        parts = urllib.parse.urlsplit(link)
        if not parts.path.startswith("book/"):
            if not parts.scheme and parts.path and not (output / parts.path).is_file():
                dead.append(f"index.html links to {link}, which does not exist")
            continue
        page = parts.path.removeprefix("book/").replace(".html", ".md")
        if page not in pages:
            dead.append(f"index.html links to {link}, which is not in the book")
        elif parts.fragment not in book.anchors((book.ROOT / page).read_text(encoding="utf-8")):
            dead.append(f"index.html links to {link}, which has no such anchor")
    return dead


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=book.ROOT / "dist/site")
    parser.add_argument("--skillfold", type=pathlib.Path, required=True)
    parser.add_argument("--without-book", action="store_true")
    options = parser.parse_args()
    output = options.folder.resolve()
    if output.exists() and any(output.iterdir()) and not (output / "index.html").exists():
        sys.exit(f"error: {output} has files, and is not a site")
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    page, wrong = landing((SITE / "index.html").read_text(encoding="utf-8"))
    (output / "index.html").write_text(page, encoding="utf-8")
    for file in FILES:
        shutil.copyfile(file, output / file.name)
    report(output, options.skillfold)
    if options.without_book:
        dead, counts = dead_links(output), "without the book"
    else:
        wrong += add_book(output)
        dead, counts = book.check(output)
    for line in wrong + dead:
        print(f"error: {line}", file=sys.stderr)
    print(f"{output}: {counts}")
    sys.exit(bool(wrong + dead))


if __name__ == "__main__":
    main()
