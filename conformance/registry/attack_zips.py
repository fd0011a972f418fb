"""Zip archives that programs read differently, or that hide, claim or break something in their format."""

from __future__ import annotations

import dataclasses
import struct
import zlib

from archives import FOLDER_MODE, Entry, Patch, end, extra, file, tar, zip_parts, zipped
from attack_archives import ACCEPTED, BAD, EITHER, GOOD, SOUND_ZIP, add, add_zip, bad

A, TEXT = bad("a"), b"content of a\n" * 20
PLAIN = Entry(A, TEXT)
STORED = Entry(A, TEXT, method=0)
SOUND = zipped(*SOUND_ZIP, PLAIN)
EVIL = zipped(Entry(b"../escape", b"evil\n"))
LOCALS, CENTRALS = zip_parts([*SOUND_ZIP, PLAIN])


def number(value: int, size: int = 2) -> bytes:
    return value.to_bytes(size, "little")


def add_entry(name: str, wrong: str, entry: Entry = PLAIN, **changes: object) -> None:
    add_zip(name, wrong, [dataclasses.replace(entry, **changes)])


def add_bytes(name: str, wrong: str, content: bytes) -> None:
    add(f"zip-{name}.zip", wrong, lambda: content)


# The header before a file and the central directory differ.

DIFFERENCES: dict[str, tuple[Patch, str]] = {
    "name": ((30, b"skills/bad/b"), "name"), "name-out": ((30, b"../../escape"), "name, which leads out"), "name-length": ((26, number(5)), "length of the name"),
    "flags": ((6, number(0)), "flags"), "encrypted": ((6, number(1 | 1 << 11)), "flag for encryption"), "method": ((8, number(0)), "method"),
    "checksum": ((14, bytes(4)), "checksum"), "packed": ((18, number(1, 4)), "compressed size"), "size": ((22, number(10**6, 4)), "size"),
    "size-max": ((22, b"\xff" * 4), "size, as in ZIP64"), "extra": ((28, number(500)), "length of the extra fields"), "mark": ((0, b"PK\1\2"), "mark"),
}  # fmt: skip
for slug, (patch, about) in DIFFERENCES.items():
    add_entry(f"local-{slug}", f"The header before a file has another {about}", local=(patch,))
for slug, (at, changed), about in (
    ("offset", (42, number(1 << 30, 4)), "an offset behind the end"), ("offset-zero", (42, bytes(4)), "the offset of another entry"), ("offset-max", (42, b"\xff" * 4), "an offset as in ZIP64"),
    ("disk", (34, number(1)), "a place on another disk"), ("packed", (20, number(1 << 30, 4)), "a compressed size behind the end"), ("size-huge", (24, number(1 << 31, 4)), "a size of 2 GiB"),
    ("checksum", (16, bytes(4)), "a checksum of 0"), ("mark", (0, b"PK\1\3"), "a wrong mark"), ("name-length", (28, number(60_000)), "a name that is too long"),
    ("comment-length", (32, number(60_000)), "a comment that is too long"),
):  # fmt: skip
    add_entry(f"central-{slug}", f"The central directory has {about}", central=((at, changed),))
for slug, flag, about in (("encrypted", 1, "encrypted"), ("strongly-encrypted", 1 << 6 | 1, "strongly encrypted"), ("hidden", 1 << 13, "with a hidden header"), ("patch", 1 << 5, "a patch"), ("unknown", 1 << 15, "with an unknown flag")):
    add_entry(f"flag-{slug}", f"A file is {about}", flags=flag | 1 << 11)
for method, about in ((1, "shrunk"), (6, "imploded"), (9, "compressed with deflate64"), (12, "compressed with bzip2"), (14, "compressed with LZMA"), (93, "compressed with zstd"), (98, "compressed with PPMd"), (99, "encrypted with AES"), (1000, "compressed by an unknown method")):
    add_entry(f"method-{method}", f"A file is {about}", method=method)
for slug, identifier, content, about in (
    ("zip64", 1, number(len(TEXT), 8) * 2, "sizes of ZIP64"), ("path", 0x7075, b"\1" + bytes(4) + b"../../escape", "a second path"), ("aes", 0x9901, b"\2\0AE\3\0\0", "encryption with AES"),
    ("unix", 0x0D, bytes(12) + b"/etc/passwd", "the target of a link"), ("unknown", 0xBEEF, b"x", "an unknown field"), ("asi", 0x756E, bytes(14), "another mode"),
):  # fmt: skip
    add_entry(f"extra-{slug}", f"The extra fields have {about}", central_extra=extra(identifier, content), local_extra=extra(identifier, content))
add_entry("extra-local", "The header before a file has a second path", local_extra=extra(0x7075, b"\1" + bytes(4) + b"../../escape"))
add_entry("extra-cut", "The extra fields are cut off", central_extra=b"\x75")
add_entry("extra-long", "An extra field is longer than all", central_extra=extra(0x5455, b"x")[:-1])
add_zip("name-latin", "A name is not marked as UTF-8", [Entry(bad("caf\u00e9.md"), flags=0)])

# Descriptors behind the content.

for slug, sizes in (("checksum", struct.pack("<III", 1, len(PLAIN.body), len(TEXT))), ("packed", struct.pack("<III", 1, 1, len(TEXT))), ("zip64", PLAIN.sizes[:4] + struct.pack("<QQ", len(PLAIN.body), len(TEXT))), ("none", b"")):
    add_zip(f"descriptor-{slug}", f"The descriptor behind a file is wrong: {slug}", [PLAIN.described(sizes=sizes)])
add_zip("descriptor-mark", "The descriptor behind a file has a wrong mark", [PLAIN.described(b"PK\7\7")])

# Content that is not what the headers say.

add_entry("content-less", "The content is shorter than its headers say", size=len(TEXT) + 1)
add_entry("content-more", "The content is longer than its headers say", size=len(TEXT) - 1)
add_entry("content-behind", "Data follows the compressed content", packed=PLAIN.body + b"hidden")
add_entry("content-twice", "The content is compressed twice, one behind the other", packed=PLAIN.body * 2)
add_entry("content-cut", "The compressed content is cut off", packed=PLAIN.body[:-3])
add_entry("content-damaged", "The compressed content is damaged", packed=b"\xff" * 40)
add_entry("content-empty", "A compressed file has no data", packed=b"")
add_entry("content-checksum", "The checksum is wrong", crc=1)
add_entry("stored-size", "A file that is not compressed has two sizes", STORED, size=5)
add_zip("folder-content", "A folder has content", [Entry(bad("x/"), b"content\n", attributes=FOLDER_MODE)])

# Entries that overlap, and data that nothing lists.

add_bytes("overlap-all", "1,000 names are one content", LOCALS + (many := b"".join(Entry(b"skills/bad/%03d" % n, TEXT).central_part(0) for n in range(1000))) + end(len(many), len(LOCALS), 1000))
add_bytes("overlap-inside", "A file begins inside of another", (inner := Entry(bad("x"), PLAIN.local_part() * 3, method=0)).local_part() + (both := inner.central_part(0) + PLAIN.central_part(41)) + end(len(both), len(inner.local_part()), 2))
add_bytes("unlisted-first", "Data is before the first file", (shifted := zip_parts([*SOUND_ZIP]))[0] + LOCALS + shifted[1] + end(len(shifted[1]), len(shifted[0] + LOCALS), 2))
add_bytes("unlisted-file", "A file is not listed", LOCALS + (less := zip_parts([*SOUND_ZIP])[1]) + end(len(less), len(LOCALS), 2))
add_bytes("unlisted-central", "Data is between the list and the end", LOCALS + CENTRALS + b"x" * 40 + end(len(CENTRALS), len(LOCALS), 3))
add_bytes("prefix", "A script is before the archive", b"#!/bin/sh\nexit 1\n" + SOUND)
add_bytes("prefix-zip", "Another archive is before it", EVIL + SOUND)
add_bytes("twice-listed", "A file is listed twice", LOCALS + (twice := CENTRALS + PLAIN.central_part(len(zip_parts([*SOUND_ZIP])[0]))) + end(len(twice), len(LOCALS), 4))

# End records.

add_bytes("end-two", "There are two end records", SOUND + end(0, len(SOUND), 0))
add_bytes("end-comment", "The comment of the end record is an archive", LOCALS + CENTRALS + end(len(CENTRALS), len(LOCALS), 3, EVIL))
add_bytes("end-comment-mark", "The comment has the mark of an end record", LOCALS + CENTRALS + end(len(CENTRALS), len(LOCALS), 3, b"PK\5\6 hello"))
add_bytes("end-comment-short", "The comment is shorter than it says", LOCALS + CENTRALS + end(len(CENTRALS), len(LOCALS), 3, b"comment")[:-3])
add_bytes("end-more", "Data follows the end record", SOUND + b"more")
add_bytes("end-other", "Another archive follows the end record", SOUND + EVIL)
add_bytes("end-count-more", "The end record counts more entries", LOCALS + CENTRALS + end(len(CENTRALS), len(LOCALS), 9))
add_bytes("end-count-less", "The end record counts fewer entries", LOCALS + CENTRALS + end(len(CENTRALS), len(LOCALS), 1))
add_bytes("end-offset", "The end record has a wrong offset", LOCALS + CENTRALS + end(len(CENTRALS), len(LOCALS) + 8, 3))
add_bytes("end-size", "The end record has a wrong size", LOCALS + CENTRALS + end(len(CENTRALS) - 46, len(LOCALS), 3))
add_bytes("end-max", "The end record has the numbers of ZIP64", LOCALS + CENTRALS + end(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFF))
add_bytes("end-disk", "It is the second part of an archive", SOUND[:-18] + b"\1\0\1\0" + SOUND[-14:])
RECORD = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 3, 3, len(CENTRALS), len(LOCALS))
LOCATOR = struct.pack("<4sIQI", b"PK\6\7", 0, len(LOCALS) + len(CENTRALS), 1)
add_bytes("zip64", "It is a ZIP64 archive", LOCALS + CENTRALS + RECORD + LOCATOR + end(len(CENTRALS), len(LOCALS), 3))
add_bytes("zip64-other", "The record of ZIP64 lists other files", LOCALS + CENTRALS + RECORD.replace(number(3, 8), number(1, 8)) + LOCATOR + end(len(CENTRALS), len(LOCALS), 3))
add_bytes("end-only", "There is an end record and nothing else", end(0, 0, 0))
add_bytes("end-none", "There is no end record", LOCALS + CENTRALS)
for part in (5, 25, 50, 75, 90, 99):
    add_bytes(f"cut-{part}", f"The archive ends after {part} %", SOUND[: len(SOUND) * part // 100])

# Two formats at once.

add_bytes("tar", "It is a tar", tar(file(b"skills/good/SKILL.md", GOOD), file(A, EVIL)) + EVIL)
add_bytes("tar-inside", "It ends as a zip, and starts as a tar", tar(file(b"skills/good/SKILL.md", GOOD)) + SOUND)
add_bytes("page", "It starts as a page", b"<!doctype html><script>alert(1)</script>" + SOUND)

# What is too large, or too much.

ZEROS = Entry(bad("zeros"), bytes(16 << 20))
CRC = zlib.crc32(ZEROS.content)
add("zip-bomb-16-mib.zip", "A file of 16 MiB of zeros is 16 KB", lambda: zipped(*SOUND_ZIP, ZEROS))
add("zip-bomb-lies.zip", "A file of 16 MiB says that it has 100 bytes", lambda: zipped(*SOUND_ZIP, dataclasses.replace(ZEROS, size=100)))
add("zip-bomb-9-gib.zip", "600 files of 16 MiB of zeros", lambda: zipped(*SOUND_ZIP, *[dataclasses.replace(ZEROS, name=bad(f"z{n}"), content=b"", packed=ZEROS.body, crc=CRC, size=16 << 20) for n in range(600)]))
add("zip-bomb-nested.zip", "An archive of archives, where nothing unpacks them", lambda: zipped(*SOUND_ZIP, Entry(bad("inner.zip"), zipped(Entry(b"x", bytes(1 << 20))) * 50)), EITHER)
add("zip-many-files.zip", "There are 20,000 files", lambda: zipped(*SOUND_ZIP, *[Entry(bad(f"f{n}")) for n in range(20_000)]))
add("zip-many-folders.zip", "There are 20,000 folders", lambda: zipped(*SOUND_ZIP, *[Entry(bad(f"d{n}/"), attributes=FOLDER_MODE) for n in range(20_000)]))
add("zip-count-wraps.zip", "There are 65,538 entries, which a zip counts as 2", lambda: zipped(*SOUND_ZIP, *[Entry(bad(f"f{n}"), method=0) for n in range(65_536)]))
add("zip-many-comments.zip", "Comments of 64 KiB at 500 entries", lambda: zipped(*SOUND_ZIP, *[Entry(bad(f"f{n}"), comment=b"x" * 65_000) for n in range(500)]), EITHER)

# Sound ones.

FOLDERS = [Entry(b"skills/", attributes=FOLDER_MODE, method=0), Entry(b"skills/good/", attributes=FOLDER_MODE, method=0)]
TIMES = extra(0x5455, b"\3" + bytes(8))
for slug, entries in {
    "plain": [*SOUND_ZIP, PLAIN], "stored": [*SOUND_ZIP, STORED], "folders": [*FOLDERS, *SOUND_ZIP], "descriptor": [*SOUND_ZIP, PLAIN.described()],
    "descriptor-bare": [*SOUND_ZIP, PLAIN.described(b"")], "times": [*SOUND_ZIP, dataclasses.replace(PLAIN, central_extra=TIMES, local_extra=TIMES)],
    "names": [*SOUND_ZIP, Entry(bad("caf\u00e9/\u65e5\u672c.md"), b"x")], "dos": [dataclasses.replace(entry, attributes=0x20) for entry in SOUND_ZIP],
    "comments": [dataclasses.replace(entry, comment=b"hello") for entry in SOUND_ZIP], "top": [Entry(b"top-1.0/skills/good/SKILL.md", GOOD), Entry(b"top-1.0/skills/bad/SKILL.md", BAD)],
}.items():  # fmt: skip
    add(f"sound-{slug}.zip", "Nothing", lambda entries=entries: zipped(*entries), ACCEPTED)
