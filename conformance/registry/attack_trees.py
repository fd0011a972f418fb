"""Repositories that attack by the form and size of their trees, and by what tools read from a checkout."""

from __future__ import annotations

import repositories
from attacks import BAD, GOOD, RUN, add, add_bad, add_root, add_sent, add_tree, tree_of
from objects import FILE, FOLDER, Entry, Id, Objects

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12\n"

# Modes and forms of trees.

for mode in (b"100664", b"100666", b"100777", b"104755", b"102644", b"0", b"0100644", b"120755", b"777777", b"10064x", b"", b"-100644", b"100644 "):
    slug = mode.decode().replace(" ", "-space").replace("-1", "minus-1") or "empty"
    add_bad("mode", slug, f"A file has the mode `{mode.decode()}`", {"run.sh": Entry(mode, RUN)})
add_bad("mode", "040000", "A folder has the mode `040000`", {"scripts": Entry(b"040000", {"run.sh": RUN})})
add_bad("mode", "folder-is-file", "A folder is a file", {"scripts": Entry(FOLDER, b"content\n")})
add_bad("mode", "file-is-folder", "A file is a folder", {"notes.md": Entry(FILE, {"inside": b"content\n"})})
add_bad("mode", "link-is-folder", "A link is a folder", {"link": Entry(b"120000", {"inside": b"content\n"})})
add_tree("mode", "skill-is-folder", "SKILL.md is a folder", tree_of({"SKILL.md": {"inside": BAD}}))
add_bad("mode", "executable", "All files are executable", {name: Entry(b"100755", RUN) for name in ("notes.md", "image.png")})
add_bad("tree", "unsorted", "A tree is not sorted", [(b"z", b"1"), (b"a", b"2")])
add_bad("tree", "duplicate-file", "A tree has one name twice, with different content", [(b"notes.md", b"1"), (b"notes.md", b"2")])
add_tree("tree", "duplicate-skill", "A skill has two files SKILL.md", tree_of([("SKILL.md", BAD), ("SKILL.md", GOOD)]))
add_bad("tree", "duplicate-kind", "A file and a folder have one name", [(b"x", b"1"), (b"x", {"inside": b"2"})])
add_tree("tree", "empty-skill", "The skill's folder is empty", tree_of({}))
add_tree("tree", "empty", "The repository has no files", {})
add_bad("tree", "zero-id", "A file has the id 0", {"notes.md": Id("0" * 40)})


def add_missing(name: str, wrong: str, tree: dict) -> None:
    add_sent("tree", name, wrong)(lambda objects: objects.release(objects.commit(objects.tree(tree))))


add_missing("missing-blob", "A file's content is missing", tree_of({"SKILL.md": BAD, "notes.md": Id()}))
add_missing("missing-skill", "The content of SKILL.md is missing", tree_of({"SKILL.md": Id()}))
add_missing("missing-tree", "A folder's content is missing", tree_of({"SKILL.md": BAD, "scripts": Entry(FOLDER, Id())}))
for slug, content, wrong in (
    ("garbage", b"not a tree at all", "A tree is garbage"),
    ("short", b"100644 SKILL.md\0\x01\x02", "A tree ends within an id"),
    ("no-zero", b"100644 SKILL.md", "A tree ends within a name"),
    ("no-mode", b"SKILL.md\0" + bytes(20), "An entry has no mode"),
    ("zeros", bytes(1000), "A tree is nothing but zero bytes"),
):  # fmt: skip

    @add_sent("tree", slug, wrong)
    def _(objects: Objects, content: bytes = content) -> None:
        bad = Entry(FOLDER, Id(objects.write("tree", content)))
        objects.release(objects.commit(objects.tree(tree_of(bad))))


def add_chain(name: str, wrong: str, depth: int, width: int, *, is_large: bool = False) -> None:
    """Add a repository with folders in folders, each of which has the next one several times."""

    @add("size", name, wrong, is_large=is_large)
    def _(objects: Objects) -> None:
        inner: Entry | bytes = BAD
        for _ in range(depth):
            inner = Entry(FOLDER, Id(objects.tree({f"d{n}": inner for n in range(width)})))
        objects.release(objects.commit(objects.tree(tree_of({"SKILL.md": BAD, "deep": inner}))))


add_chain("depth-200", "Folders are 200 deep", 200, 1)
add_chain("depth-1500", "Folders are 1,500 deep, and a path has more than 4,096 bytes", 1500, 1)
add_chain("depth-10000", "Folders are 10,000 deep", 10_000, 1, is_large=True)
add_chain("bomb", "Ten folders in ten folders and so on: 10,000,000,000 files from 12 objects", 10, 10, is_large=True)
add_bad("size", "files-20000", "A skill has 20,000 files", {f"f{n:05}": b"same\n" for n in range(20_000)})
add_tree("size", "skills-20000", "20,000 skills are one object", {"skills": dict.fromkeys((f"s{n:05}" for n in range(20_000)), {"SKILL.md": BAD})})
add_bad("size", "blob-32", "A file has 32 MiB of zeros", {"zeros.bin": bytes(32 << 20)})


@add("size", "blob-256", "A file has 256 MiB of zeros", is_large=True)
def _(objects: Objects) -> None:
    objects.release(objects.commit(objects.tree(tree_of({"SKILL.md": BAD, "zeros.bin": bytes(256 << 20)}))))



# Names that are one name on some file systems.

for slug, first, second, wrong in (
    ("case", "notes.md", "NOTES.md", "in case"),
    ("skill-case", "skill.md", "Skill.md", "in case, beside SKILL.md"),
    ("normal", "caf\u00e9.md", "cafe\u0301.md", "in Unicode normalization (NFC, NFD)"),
    ("hangul", "\ud55c.md", "\u1112\u1161\u11ab.md", "in Unicode normalization of Hangul"),
    ("sharp-s", "stra\u00dfe", "STRASSE", "in full case folding"),
    ("long-s", "\u017fkill", "skill", "in case folding of a long s"),
    ("kelvin", "\u212a.md", "k.md", "in case folding of the Kelvin sign"),
    ("dotless", "\u0131.md", "I.md", "in Turkish case"),
    ("ligature", "\ufb01le", "file", "in compatibility normalization"),
    ("width", "\uff41.md", "a.md", "in width"),
    ("trailing-dot", "notes", "notes.", "in a dot that Windows drops"),
    ("short-name", "longfilename.md", "LONGFI~1.MD", "on Windows not at all, which gives short names"),
    ("invisible", "a\u200b.md", "a.md", "in a space that cannot be seen"),
):  # fmt: skip
    add_bad("equal", slug, f"Two names differ only {wrong}", {first: b"1", second: b"2"})
add_bad("equal", "kind", "A file and a folder differ in case only", {"Scripts": b"1", "scripts": {"run.sh": RUN}})
for slug, other, wrong in (("skills-case", "GOOD", "case"), ("skills-width", "\uff47ood", "width"), ("skills-invisible", "go\u200bod", "a space that cannot be seen")):
    add_tree("equal", slug, f"Two skills' folders differ only in {wrong}", {"skills": {"good": {"SKILL.md": GOOD}, other: {"SKILL.md": BAD}}})
add_tree("equal", "skills-name", "Two skills have one name", tree_of({"SKILL.md": GOOD}))

# What git, editors and tools read from a checkout.

for slug, text, wrong in (
    ("lfs", "* filter=lfs diff=lfs merge=lfs -text\n", "sends all files through LFS"),
    ("filter", "* filter=evil\n", "names a filter"),
    ("export-ignore", "skills/good export-ignore\n", "hides a skill from archives"),
    ("export-subst", "SKILL.md export-subst\n", "changes SKILL.md in archives"),
    ("line-ends", "* text eol=crlf\n", "changes line ends"),
    ("encoding", "*.md working-tree-encoding=UTF-16\n", "changes the encoding"),
    ("encoding-unknown", "*.md working-tree-encoding=EVIL-8\n", "names an encoding that does not exist"),
    ("ident", "* ident\n", "changes `$Id$`"),
    ("macros", "[attr]evil filter=evil -text\n* evil\n", "defines a macro"),
    ("long", "a" * 100_000 + " text\n", "has a line of 100,000 characters"),
    ("many", "".join(f"* attribute{n}\n" for n in range(20_000)), "names 20,000 attributes"),
):  # fmt: skip
    bad = repositories.skill("bad", "Has attributes. Use it in tests", "$Id$ $Format:%H$")
    add_tree("attributes", slug, f".gitattributes {wrong}", tree_of({"SKILL.md": bad}, {".gitattributes": text}))

lfs = {".gitattributes": "*.bin filter=lfs -text\n"}
add_bad("lfs", "pointer", "A file is an LFS pointer", {"model.bin": POINTER})
add_tree("lfs", "skill", "SKILL.md is an LFS pointer", tree_of({"SKILL.md": POINTER}, {".gitattributes": "SKILL.md filter=lfs\n"}))
add_tree("lfs", "server", ".lfsconfig sends the client to another server", tree_of({"SKILL.md": BAD, "model.bin": POINTER}, {**lfs, ".lfsconfig": "[lfs]\n\turl = http://127.0.0.1:1/steal\n"}))
add_tree("lfs", "option", ".lfsconfig names an address that is an option", tree_of({"SKILL.md": BAD, "model.bin": POINTER}, {**lfs, ".lfsconfig": "[lfs]\n\turl = ssh://-oProxyCommand=touch @MARK@/x\n"}))
add_tree("lfs", "transfer", ".lfsconfig names a program for transfers", tree_of({"SKILL.md": BAD, "model.bin": POINTER}, {**lfs, ".lfsconfig": '[lfs "customtransfer.evil"]\n\tpath = touch\n\targs = @MARK@\n[lfs]\n\tstandalonetransferagent = evil\n'}))
add_tree("lfs", "id", "An LFS pointer's id is a path", tree_of({"SKILL.md": BAD, "model.bin": POINTER.replace(b"0" * 64, b"../../../../escape")}, lfs))
add_tree("lfs", "size", "An LFS pointer has a size of 2^63", tree_of({"SKILL.md": BAD, "model.bin": POINTER.replace(b"size 12", b"size 9223372036854775808")}, lfs))

hooks = {name: Entry(b"100755", RUN) for name in ("post-checkout", "post-merge", "pre-commit", "fsmonitor-watchman")}
core = b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = touch @MARK@\n\thooksPath = hooks\n\tsshCommand = touch @MARK@\n"
bare = {"HEAD": b"ref: refs/heads/main\n", "config": core, "objects": {"x": b""}, "refs": {"x": b""}, "hooks": hooks}
add_root("checkout", "hooks", "A folder `hooks` at the root", {"hooks": hooks})
add_root("checkout", "hooks-path", "A folder `.githooks`, and a .gitconfig that names it", {".githooks": hooks, ".gitconfig": "[core]\n\thooksPath = .githooks\n"})
add_root("checkout", "bare-root", "The root looks like a bare repository with settings", bare)
add_bad("checkout", "bare-inside", "The skill has a bare repository with settings", {"data": bare})
add_bad("checkout", "editor", "Tasks for editors that run when a folder is opened", {".vscode": {"tasks.json": '{"version":"2.0.0","tasks":[{"label":"a","type":"shell","command":"touch @MARK@","runOptions":{"runOn":"folderOpen"}}]}'}})
add_root("checkout", "environment", "Files that shells and package managers run", {".envrc": "touch @MARK@\n", ".npmrc": "script-shell=touch\n", "package.json": '{"scripts":{"postinstall":"touch @MARK@"}}', "setup.py": "open('@MARK@', 'w')\n", "build.rs": 'fn main() { std::fs::write("@MARK@", ""); }\n', "Makefile": "all:\n\ttouch @MARK@\n"})
add_root("checkout", "settings", "Settings of clients that allow and run everything", {".claude": {"settings.json": '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch @MARK@"}]}]}}'}, ".mcp.json": '{"mcpServers":{"a":{"command":"touch","args":["@MARK@"]}}}'})
add_root("checkout", "skillfold", "A project's settings for Skillfold", {"skillfold.toml": 'sandbox_without = "namespaces"\n', ".skillfold": {"trust.json": "{}"}})
