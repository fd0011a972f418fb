"""Archives that attack who installs from them: a list, `ARCHIVES`, that says what is wrong with each, and what may become of it.

Each has the sound skill `skills/good`, and most have what is wrong in `skills/bad`. This file has what all formats can do: names,
links, special files, and names that meet. `attack_tars.py` and `attack_zips.py` add what is wrong with the format itself.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Callable, Iterable

from archives import FOLDER_MODE, GNU, LINK_MODE, Entry, extension, file, folder, gzip, header, member, pax, tar, zipped
from attack_contents import CONTENTS
from attack_files import NAMES, TARGETS
from attacks import BAD, GOOD
from objects import MARK

# What must become of an archive. What may be installed, such as a skill with an odd text, must still do no harm.
REFUSED, ACCEPTED, EITHER = "refused", "accepted", "either"


@dataclasses.dataclass(frozen=True)
class Archive:
    # Unique, and the name of the file.
    name: str
    wrong: str
    expected: str
    content: Callable[[], bytes]


TEMPORARY = tempfile.gettempdir().encode()
# What an attack would create outside.
OUTSIDE = TEMPORARY + f"/skillfold-escape-{os.getpid()}".encode()
ARCHIVES: list[Archive] = []
SOUND_TAR = file(b"skills/good/SKILL.md", GOOD) + file(b"skills/bad/SKILL.md", BAD)
SOUND_ZIP = (Entry(b"skills/good/SKILL.md", GOOD), Entry(b"skills/bad/SKILL.md", BAD))


def add(name: str, wrong: str, content: Callable[[], bytes], expected: str = REFUSED) -> None:
    ARCHIVES.append(Archive(name, wrong, expected, content))


def add_tar(name: str, wrong: str, members: Iterable[bytes], expected: str = REFUSED) -> None:
    """Add a tar with these members behind the skills; every second one is compressed."""
    whole = tar(SOUND_TAR, *members)
    if len(ARCHIVES) % 2:
        add(f"tar-{name}.tar", wrong, lambda: whole, expected)
    else:
        add(f"tar-{name}.tar.gz", wrong, lambda: gzip(whole), expected)


def add_zip(name: str, wrong: str, entries: Iterable[Entry], expected: str = REFUSED) -> None:
    """Add a zip with these entries behind the skills."""
    entries = list(entries)
    add(f"zip-{name}.zip", wrong, lambda: zipped(*SOUND_ZIP, *entries), expected)


def bad(name: bytes | str) -> bytes:
    """Return the path of a file of the skill `bad`."""
    return b"skills/bad/" + (name.encode() if isinstance(name, str) else name)


def named(name: bytes, kind: bytes = b"0", content: bytes = b"", *, is_gnu: bool = False) -> bytes:
    """Return a tar entry whose name is in an extension header, whatever its length."""
    long_name = extension(b"L", name + b"\0") if is_gnu else pax(b"path", name)
    return long_name + member(header(b"x", kind, len(content), magic=GNU), content)


# Names of files and of folders. These are allowed, or odd and harmless; all others of `NAMES` must be refused.

HARMLESS = {
    "slash", "leading-space", "override", "isolate", "invisible", "tag-characters", "line-separator", "look-alike", "full-width",
    "division-slash", "option", "long-option", "substitution", "backticks", "semicolon", "home", "variable", "format", "percent",
    "length-255",
}  # fmt: skip

for slug, (bytes_of_name, about) in NAMES.items():
    wanted = EITHER if slug in HARMLESS else REFUSED
    whole = bad(bytes_of_name.replace(MARK, OUTSIDE))
    entry = file(whole, b"content\n") if len(whole) <= 100 else named(whole, content=b"content\n")
    add_tar(f"file-{slug}", f"A file's name {about}", [entry], wanted)
    inside = [named(whole + b"/", b"5", is_gnu=True), named(whole + b"/config", content=b"[core]\n", is_gnu=True)]
    add_tar(f"folder-{slug}", f"A folder's name {about}", inside, wanted)
    add_zip(f"file-{slug}", f"A file's name {about}", [Entry(whole, b"content\n")], wanted)

PATHS: dict[str, bytes] = {
    "parent": b"../escape", "parents": b"../../../../../../../../../.." + TEMPORARY + b"/skillfold-escape", "parent-alone": b"..", "inside-out": b"skills/../../escape",
    "inside-twice": b"skills/bad/../../../escape", "parent-at-end": b"skills/bad/..", "back-in": b"skills/bad/../bad/notes.md",
    "absolute": b"/etc/skillfold-escape", "absolute-new": OUTSIDE, "double-slash": b"/" + OUTSIDE, "share": b"//server/share/x",
    "root": b"/", "slashes": b"///", "dot-inside": b"skills/./bad/notes.md", "empty-inside": b"skills//bad/notes.md", "dot-twice": b"././skills/bad/notes.md",
    "url": b"file://" + OUTSIDE, "home": b"~/../escape", "zero": b"skills/bad/notes.md\0.png", "zero-parent": b"skills/bad/a\0/../../../escape",
    "nothing": b"", "deep": b"d/" * 1500 + b"x", "deeper": b"d/" * 20 + b"x", "long-parents": b"../" * 1300 + b"escape", "git": b".git/hooks/post-checkout",
    "svn": b"skills/bad/.svn/entries", "hg": b".hg/hgrc", "backslashes": b"..\\..\\escape", "drive": b"C:/escape", "verbatim": b"\\\\?\\C:\\escape",
}  # fmt: skip

for slug, path in PATHS.items():
    about = f"The path is `{path[:40].decode(errors='replace')}`"
    # Zeros end a name in the header, so that the rest is not there.
    wanted = EITHER if slug == "deeper" else REFUSED
    add_tar(f"path-{slug}", about, [named(path, content=b"content\n")], wanted)
    add_tar(f"path-{slug}-gnu", about, [named(path, content=b"content\n", is_gnu=True)], wanted)
    add_zip(f"path-{slug}", about, [Entry(path, b"content\n")], wanted)

# Links and special files.

for slug, (target, about) in TARGETS.items():
    target = target.replace(MARK, OUTSIDE)
    long_target = extension(b"K", target + b"\0") if len(target) > 100 else b""
    link = long_target + member(header(bad("link"), b"2", target=target, magic=GNU))
    add_tar(f"link-{slug}", f"A link {about}", [link])
    add_zip(f"link-{slug}", f"A link {about}", [Entry(bad("link"), target, attributes=LINK_MODE)])
for slug in ("absolute", "relative", "inside", "other-skill", "itself", "device", "dangling", "empty"):
    target, about = TARGETS[slug]
    add_tar(f"hard-link-{slug}", f"A hard link {about}", [pax(b"linkpath", target) + member(header(bad("link"), b"1", target=target))])

OUT = header(bad("x"), b"2", target=b"/tmp")
add_tar("through-link", "A file is written through a link", [member(OUT), file(bad("x/escape"), b"content\n")])
add_tar("through-parent", "A file is written through a link to the parent", [member(header(bad("x"), b"2", target=b"../..")), file(bad("x/../escape"))])
add_tar("through-hard-link", "A file is written into a hard link", [member(header(bad("x"), b"1", target=b"/etc/passwd")), file(bad("x"), b"content\n")])
add_tar("through-two-links", "A link leads to a link out", [member(header(bad("y"), b"2", target=b"x")), member(OUT), file(bad("y/escape"))])
add_tar("through-folder", "A folder takes the place of a link", [member(OUT), folder(bad("x/")), file(bad("x/escape"))])
add_tar("through-content", "A link has content", [member(header(bad("x"), b"2", 3, target=b"/tmp"), b"abc")])
add_zip("through-link", "A file is written through a link", [Entry(bad("x"), b"/tmp", attributes=LINK_MODE), Entry(bad("x/escape"), b"content\n")])
add_zip("reparse", "A file is a link by its attributes of NTFS", [Entry(bad("x"), b"/tmp", attributes=0x400)])
for slug, kind, about in (
    ("device", b"3", "a device"), ("block-device", b"4", "a block device"), ("pipe", b"6", "a named pipe"), ("contiguous", b"7", "a contiguous file"),
    ("sparse", b"S", "a sparse file"), ("multi-volume", b"M", "the rest of a file of another volume"), ("label", b"V", "a volume's label"),
    ("dump-folder", b"D", "a folder with a list"), ("old-long-name", b"N", "an old long name"), ("solaris", b"X", "an extension header of Solaris"),
    ("access-list", b"A", "an access list"), ("inode", b"I", "an inode alone"), ("unknown", b"Z", "of an unknown kind"), ("binary-kind", b"\xff", "of a kind that is no letter"),
):  # fmt: skip
    add_tar(f"kind-{slug}", f"An entry is {about}", [member(header(bad("x"), kind, magic=GNU))])
for slug, mode, about in (("device", 0o020_644, "a device"), ("pipe", 0o010_644, "a named pipe"), ("socket", 0o140_644, "a socket"), ("block-device", 0o060_644, "a block device"), ("folder", 0o040_755, "a folder")):
    add_zip(f"kind-{slug}", f"A file is {about} by its mode", [Entry(bad("x"), attributes=mode << 16)])
add_zip("kind-label", "A file is a volume's label", [Entry(bad("x"), attributes=8)])
add_zip("kind-file", "A folder is a file by its mode", [Entry(bad("x/"))])

# Names that meet: `None` is a folder.

Pair = list[tuple[str, bytes | None]]
MEETINGS: dict[str, tuple[Pair, str]] = {
    "twice": ([("a", b"1"), ("a", b"2")], "A file is there twice"),
    "twice-equal": ([("a", b"1"), ("a", b"1")], "A file is there twice, with one content"),
    "twice-apart": ([("a", b"1"), ("b", b"1"), ("a", b"2")], "A file is there twice, apart"),
    "skill-twice": ([("SKILL.md", BAD)], "SKILL.md is there twice"),
    "skill-twice-other": ([("SKILL.md", GOOD)], "SKILL.md is there twice, with another content"),
    "skill-folder": ([("SKILL.md/", None)], "SKILL.md is a file and a folder"),
    "folder-twice": ([("x/", None), ("x/", None)], "A folder is there twice"),
    "file-folder": ([("x", b"1"), ("x/", None)], "A file and a folder have one name"),
    "folder-file": ([("x/", None), ("x", b"1")], "A folder and a file have one name"),
    "file-below": ([("x", b"1"), ("x/y", b"2")], "A file is below a file"),
    "file-above": ([("x/y", b"2"), ("x", b"1")], "A file is above a file"),
    "file-far-below": ([("x/y", b"1"), ("x/y/z/w", b"2")], "A file is far below a file"),
    "case": ([("notes.md", b"1"), ("NOTES.md", b"2")], "Two names differ in case only"),
    "case-folder": ([("Scripts/a", b"1"), ("scripts/b", b"2")], "Two folders differ in case only"),
    "case-kind": ([("Scripts", b"1"), ("scripts/b", b"2")], "A file and a folder differ in case only"),
    "skill-case": ([("skill.md", b"1")], "Two names differ from SKILL.md in case only"),
    "normal": ([("caf\u00e9.md", b"1"), ("cafe\u0301.md", b"2")], "Two names differ in Unicode normalization only"),
    "hangul": ([("\ud55c.md", b"1"), ("\u1112\u1161\u11ab.md", b"2")], "Two names differ in normalization of Hangul only"),
    "normal-case": ([("CAF\u00c9.md", b"1"), ("cafe\u0301.md", b"2")], "Two names differ in normalization and case only"),
    "sharp-s": ([("stra\u00dfe", b"1"), ("STRASSE", b"2")], "Two names differ in full case folding only"),
    "sigma": ([("\u03bb\u03cc\u03b3\u03bf\u03c2", b"1"), ("\u03bb\u03cc\u03b3\u03bf\u03c3", b"2")], "Two names differ in a final sigma only"),
    "long-s": ([("\u017fkill", b"1"), ("skill", b"2")], "Two names differ in a long s only"),
    "kelvin": ([("\u212a.md", b"1"), ("k.md", b"2")], "Two names differ in the Kelvin sign only"),
    "cherokee": ([("\u13a0", b"1"), ("\uab70", b"2")], "Two names differ in Cherokee case only"),
}  # fmt: skip

for slug, (pair, about) in MEETINGS.items():
    members = [folder(bad(name)) if content is None else named(bad(name), content=content) for name, content in pair]
    add_tar(f"meet-{slug}", about, members)
    entries = [Entry(bad(name), content or b"", attributes=FOLDER_MODE if content is None else 0) for name, content in pair]
    add_zip(f"meet-{slug}", about, entries)

# Contents of a SKILL.md, which are for the reader of skills to refuse.

for number, (slug, content, about) in enumerate(CONTENTS):
    is_large = len(content) > 1 << 20
    if number % 2 or is_large:
        entries = [Entry(b"skills/good/SKILL.md", GOOD), Entry(bad("SKILL.md"), content)]
        add(f"zip-skill-{slug}.zip", f"SKILL.md {about}", lambda entries=entries: zipped(*entries), EITHER)
    else:
        whole = tar(file(b"skills/good/SKILL.md", GOOD), file(bad("SKILL.md"), content))
        add(f"tar-skill-{slug}.tar.gz", f"SKILL.md {about}", lambda whole=whole: gzip(whole), EITHER)
