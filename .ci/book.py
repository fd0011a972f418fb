"""Builds the documentation as a book with mdBook, and checks it: book.py [FOLDER | --links]

The book is written to FOLDER, dist/book by default. Fails on a warning of mdBook, a page of docs/ that docs/SUMMARY.md does not
list, and a link to a page, an anchor or a file that the book does not have. Links to other sites are counted, not followed.
`--links` checks the summary and the links of the Markdown files alone, without mdBook.

The pages are built in a tree with the paths of the repository, so the same links work on a code host and in the book. Files
outside docs/ are copied into it if a page links to them.
"""

import html.parser
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

VERSION = "mdbook v0.5.4"
ROOT = pathlib.Path(__file__).parent.parent.resolve()
DOCS = ROOT / "docs"
FIRST = "docs/README.html"
REDIRECT = f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={FIRST}"><a href="{FIRST}">Skillfold</a>\n'


def links(text):
    """Returns the targets of the links in a page, without those in code blocks."""
    text = re.sub(r"^(```+).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"\]\(([^)\s]*)\)", text)


def target(page, link):
    """Returns the path in the repository that a link leads to, or None if it leads to another site."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc or not parts.path:
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), urllib.parse.unquote(parts.path)))


def is_verbatim(page):
    """Returns whether a page is shown as it is written, with its frontmatter: it is for models."""
    return page.endswith("/SKILL.md") or page.startswith("examples/agents/")


def summary():
    """Returns the summary with paths from the root of the repository, and these paths."""
    text = (DOCS / "SUMMARY.md").read_text(encoding="utf-8")
    pages = [target("docs/SUMMARY.md", link) for link in links(text) if link]
    text = re.sub(r"\]\(([^)]+)\)", lambda link: f"]({target('docs/SUMMARY.md', link[1])})", text)
    return text, pages


def stage(source):
    """Copies the pages, and all files that they link to, below a folder. Returns what is wrong with the summary."""
    text, pages = summary()
    (source / "SUMMARY.md").write_text(text, encoding="utf-8")
    wrong = [f"docs/SUMMARY.md lists {page}, which does not exist" for page in pages if not (ROOT / page).is_file()]
    written = {path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md")} - {"docs/SUMMARY.md"}
    wrong += [f"docs/SUMMARY.md does not list {page}" for page in sorted(written - set(pages))]
    wrong += [f"docs/SUMMARY.md lists {page} twice" for page in sorted({page for page in pages if pages.count(page) > 1})]
    files = set(pages)
    for page in set(pages):
        if (ROOT / page).is_file():
            files.update(filter(None, (target(page, link) for link in links((ROOT / page).read_text(encoding="utf-8")))))
    for file in sorted(files):
        if not file.startswith("../") and (ROOT / file).is_file():
            (source / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, source / file)
    for page in pages:
        if is_verbatim(page):
            text = (ROOT / page).read_text(encoding="utf-8")
            (source / page).write_text(f"# {page}\n\n`````markdown\n{text}`````\n", encoding="utf-8")
    return wrong


def build(output):
    """Builds the book. Returns what is wrong with the summary, and what mdBook warns of."""
    try:
        version = subprocess.run(["mdbook", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    except FileNotFoundError:
        version = "no mdbook"
    if version != VERSION:
        sys.exit(f"error: found {version}, need {VERSION}: cargo install --locked {VERSION.replace(' v', '@')}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "src").mkdir()
        wrong = stage(folder / "src")
        for name in ["book.toml", "book.css"]:
            shutil.copyfile(DOCS / name, folder / name)
        shutil.copytree(DOCS / "theme", folder / "theme")
        run = subprocess.run(["mdbook", "build", "--dest-dir", output, folder], capture_output=True, text=True)
        said = (run.stdout + run.stderr).splitlines()
        if run.returncode:
            sys.exit("\n".join(wrong + said))
    # mdBook puts the first page here too, where its links lead nowhere.
    (output / "index.html").write_text(REDIRECT, encoding="utf-8")
    return wrong + [line.strip() for line in said if " INFO " not in line]


class Page(html.parser.HTMLParser):
    """The anchors and links of a page of the book."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = {"", "top"}, set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ["href", "src"] and value is not None:
                self.links.add(value)


def check(output):
    """Returns the dead links of the book, and the number of its pages, links, and links to other sites."""
    pages = {path: Page(path) for path in sorted(output.rglob("*.html"))}
    dead, inside, outside = [], 0, 0
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                outside += 1
                continue
            inside += 1
            file = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not file.is_file() or not file.is_relative_to(output):
                dead.append(f"{path.relative_to(output)} links to {link}, which does not exist")
            elif file in pages and urllib.parse.unquote(parts.fragment) not in pages[file].anchors:
                dead.append(f"{path.relative_to(output)} links to {link}, which has no such anchor")
    return dead, f"{len(pages)} pages, {inside} links; {outside} links to other sites were not followed"


def anchors(text):
    """Returns the anchors that mdBook gives to the headings of a page."""
    found, seen = {""}, {}
    text = re.sub(r"^(```+).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", lambda link: link[1] or "", heading)
        name = "".join("-" if c == " " else c for c in heading.lower() if c.isalnum() or c in " -_")
        found.add(name if name not in seen else f"{name}-{seen[name]}")
        seen[name] = seen.get(name, 0) + 1
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def check_sources():
    """Returns what is wrong with the summary and the links of the pages, and how many there are."""
    with tempfile.TemporaryDirectory() as folder:
        wrong = stage(pathlib.Path(folder))
    pages, count = summary()[1], 0
    text = {page: (ROOT / page).read_text(encoding="utf-8") for page in pages if (ROOT / page).is_file()}
    for page in pages:
        for link in links(text.get(page, "")):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            file = target(page, link) or page
            if not (ROOT / file).exists():
                wrong.append(f"{page} links to {link}, which does not exist")
            elif file.endswith(".md") and file not in text:
                wrong.append(f"{page} links to {link}, which docs/SUMMARY.md does not list")
            elif file in text and not is_verbatim(file) and urllib.parse.unquote(parts.fragment) not in anchors(text[file]):
                wrong.append(f"{page} links to {link}, which has no such anchor")
    return wrong, f"{len(pages)} pages, {count} links"


def main():
    if sys.argv[1:] == ["--links"]:
        wrong, counts = check_sources()
        for line in wrong:
            print(f"error: {line}", file=sys.stderr)
        print(counts)
        sys.exit(bool(wrong))
    output = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist/book").resolve()
    wrong = build(output)
    dead, counts = check(output)
    for line in wrong + dead:
        print(f"error: {line}", file=sys.stderr)
    print(f"{output}: {counts}")
    sys.exit(bool(wrong + dead))


if __name__ == "__main__":
    main()
