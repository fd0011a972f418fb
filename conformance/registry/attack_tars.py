"""Tar archives that hide, claim or break something in their format."""

from __future__ import annotations

from archives import BLOCK, GNU, POSIX, extension, file, folder, gzip, header, member, patched, pax, record, sealed, tar, zipped
from attack_archives import ACCEPTED, BAD, EITHER, GOOD, SOUND_TAR, SOUND_ZIP, add, add_tar, bad

PLAIN = file(bad("a"), b"abc")
BLOCK_OF_A = header(bad("a"), b"0", 3)
SOUND = tar(SOUND_TAR)

# Pax headers.

for value in ("4", "2", "0", "-3", "+3", "3 ", " 3", "0x3", "", "three", "3.0", "18446744073709551615", "99999999999999999999", "1024"):
    add_tar(f"pax-size-{value.replace(' ', 'space') or 'empty'}", f"A pax header says that a file of 3 bytes has `{value}`", [pax(b"size", value.encode()), PLAIN])
PATH_AND_SIZE = record(b"path", bad("b")) + record(b"size", b"1024")
add_tar("pax-path-size", "A pax header has a path, and a size that hides the next entry", [extension(b"x", PATH_AND_SIZE), PLAIN, file(bad("hidden"), bytes(512))])
for key in (
    "linkpath", "GNU.sparse.size", "GNU.sparse.name", "GNU.sparse.major", "GNU.sparse.map", "GNU.sparse.realsize", "hdrcharset", "charset",
    "SCHILY.filetype", "SCHILY.realsize", "SCHILY.devmajor", "MSWINDOWS.rawsd", "unknown", "Path", "path ", "SIZE",
):  # fmt: skip
    add_tar(f"pax-key-{key.strip()}{'-space' * key.endswith(' ')}", f"A pax header has the key `{key}`", [pax(key.encode(), b"1"), PLAIN])
MALFORMED: dict[str, bytes] = {
    "no length": b"path=x\n", "empty line": b"\n10 path=x\n", "short length": b"9 path=x\n\n", "long length": b"11 path=x\n",
    "no line break": b"9 path=x ", "no key": b"5 xy\n", "negative length": b"-9 path=x\n", "plus": b"+11 path=x\n", "length zero": b"0 path=x\n",
    "huge length": b"99999999999999999999999 path=x\n", "length alone": b"3 \n", "no space": b"10path=xy\n",
    "line break in a value": b"25 comment=\n13 path=../x\n", "line break in a key": b"15 a\npath=../x\n", "key twice": b"9 path=x\n9 path=y\n",
    "key twice, spelled apart": b"9 path=x\n011 path=y\n", "key that is not UTF-8": b"6 \xff=x\n", "zero after it": b"9 path=x\n\0",
    "path that is not UTF-8": b"9 path=\xff\n", "empty path": b"8 path=\n",
}  # fmt: skip
for about, content in MALFORMED.items():
    add_tar(f"pax-{about.replace(' ', '-').replace(',', '')}", f"A pax record is malformed: {about}", [extension(b"x", content), PLAIN])
for key in ("path", "size", "linkpath", "mtime", "uid", "hdrcharset", "GNU.sparse.major"):
    whole = tar(extension(b"g", record(key.encode(), b"3")), SOUND_TAR)
    add(f"tar-global-{key}.tar", f"A global pax header sets `{key}` for all entries", lambda whole=whole: whole)
add_tar("global-late", "A global pax header is in the middle", [extension(b"g", record(b"comment", b"x")), PLAIN])
add_tar("global-late-path", "A global pax header in the middle renames what follows", [extension(b"g", record(b"path", b"../x")), PLAIN])

# Extension headers in the wrong place, number or size.

for kind, name in ((b"x", "pax"), (b"L", "long name"), (b"K", "long target")):
    slug = name.replace(" ", "-")
    add_tar(f"{slug}-empty", f"A header with a {name} has no content", [extension(kind, b""), PLAIN])
    add_tar(f"{slug}-large", f"A header with a {name} has 65 KiB", [extension(kind, b"a" * (65 << 10)), PLAIN])
    add_tar(f"{slug}-last", f"A header with a {name} is the last entry", [extension(kind, record(b"path", b"c"))])
    add_tar(f"{slug}-size", f"A header with a {name} has a size of -1", [patched(header(b"h", kind), 124, b"\xff" * 12), PLAIN])
    for other in (b"x", b"L", b"K"):
        contents = [extension(which, record(b"path", path) if which == b"x" else path + b"\0") for which, path in ((kind, bad("c")), (other, bad("d")))]
        add_tar(f"{slug}-and-{other.decode()}", f"An entry has two names, by {kind.decode()} and {other.decode()}", [*contents, PLAIN])
add_tar("long-name-zeros", "A long name ends with two zeros", [extension(b"L", bad("b\0\0")), PLAIN])
add_tar("long-name-zero", "A long name has a zero inside", [extension(b"L", bad("b\0/../../../../escape\0")), PLAIN])
SPARSE = patched(header(bad("x"), b"S", 512, magic=GNU), 386, b"%011o\0%011o\0" % (0, 512))
add_tar("sparse-gnu", "A sparse file of GNU claims 1 TiB", [member(patched(SPARSE, 483, b"\x80" + (1 << 40).to_bytes(11, "big")), bytes(512))])
for version, rows in (("0.0", ((b"size", b"1099511627776"), (b"numblocks", b"1"), (b"offset", b"0"), (b"numbytes", b"3"))), ("1.0", ((b"major", b"1"), (b"minor", b"0"), (b"name", b"../../escape"), (b"realsize", b"1099511627776")))):
    records = b"".join(record(b"GNU.sparse." + key, value) for key, value in rows)
    add_tar(f"sparse-pax-{version}", f"A sparse file of pax {version} claims 1 TiB", [extension(b"x", records), PLAIN])

# Headers.

for slug, at, changed, about in (
    ("size-binary", 124, b"\x80" + bytes(10) + b"\3", "The size is binary"), ("size-negative", 124, b"\xff" * 12, "The size is negative"),
    ("size-sign", 124, b"-0000000003\0", "The size has a sign"), ("size-letters", 124, b"0000000003x\0", "The size has a letter"),
    ("size-decimal", 124, b"00000000009\0", "The size has a 9"), ("size-gap", 124, b"0000000 003\0", "The size has a gap"),
    ("size-zero", 124, b"0000\x000000003", "The size goes on after a zero"), ("size-none", 124, bytes(12), "There is no size"),
    ("size-huge", 124, b"77777777777\0", "The size is 8 GiB"), ("size-less", 124, b"00000000000\0", "The size is smaller than the content"),
    ("size-hides", 124, b"00000004000\0", "The size takes in the next entries"), ("version", 263, b"99", "The version is unknown"),
    ("version-none", 263, b"\0\0", "There is no version"), ("times", 500, b"00000000000 ", "There are times in the prefix"),
    ("prefix", 345, b"../..", "The prefix leads out"), ("prefix-absolute", 345, b"/tmp", "The prefix is absolute"),
):  # fmt: skip
    add_tar(f"header-{slug}", about, [member(patched(BLOCK_OF_A, at, changed), b"abc")])
for at in (0, 60, 101, 124, 156, 157, 257, 345, 511):
    broken = bytearray(PLAIN)
    broken[at] ^= 1
    add_tar(f"checksum-{at}", f"A header does not fit its checksum, at {at}", [bytes(broken)])
for slug, checksum in (("spaces", b" " * 8), ("zeros", bytes(8)), ("negative", b"-0001234"), ("binary", b"\x80" + bytes(7)), ("other", b"7777777\0")):
    add_tar(f"checksum-{slug}", f"The checksum is wrong: {slug}", [BLOCK_OF_A[:148] + checksum + BLOCK_OF_A[156:] + b"abc".ljust(BLOCK, b"\0")])
SIGNED = bytearray(header(bad("\u00e4"), b"0"))
SIGNED[148:156] = b" " * 8
SIGNED[148:156] = b"%06o\0 " % sum(byte - 256 * (byte > 127) for byte in SIGNED)
add_tar("checksum-signed", "The checksum is that of signed bytes", [bytes(SIGNED)])
add_tar("folder-content", "A folder has content", [member(header(bad("x/"), b"5", 3), b"abc")])
add_tar("padding", "Data is hidden behind a file's content", [PLAIN[:-1] + b"x"])

# Ends.

EVIL = tar(file(b"../escape", b"evil\n"))
for slug, content, about in (
    ("none", SOUND_TAR, "There is no end"), ("half", SOUND_TAR + bytes(BLOCK), "The end has one block"), ("odd", SOUND + bytes(100), "The last block is cut off"),
    ("other", SOUND + EVIL, "Another archive follows the end"), ("other-far", SOUND + bytes(8192) + EVIL, "Another archive follows far behind the end"),
    ("other-block", SOUND_TAR + bytes(BLOCK) + EVIL, "Another archive follows one empty block"), ("text", SOUND + b"x" * BLOCK, "Text follows the end"),
    ("byte", SOUND + b"x", "A byte follows the end"), ("second-block", SOUND[:-1] + b"\1", "The second block of the end is not empty"), ("twice", SOUND * 2, "The archive is there twice"),
):  # fmt: skip
    add(f"tar-end-{slug}.tar", about, lambda content=content: content)
    add(f"tar-end-{slug}.tar.gz", f"{about}, compressed", lambda content=content: gzip(content))
PACKED = gzip(SOUND)
for part in (1, 10, 30, 50, 70, 90, 99):
    add(f"tar-cut-{part}.tar", f"The archive ends after {part} %", lambda part=part: SOUND[: len(SOUND) * part // 100])
    add(f"tar-cut-{part}.tar.gz", f"The compressed archive ends after {part} %", lambda part=part: PACKED[: len(PACKED) * part // 100])
for slug, content, about in (
    ("text", PACKED + b"text", "Text follows the compressed data"), ("zeros", PACKED + bytes(512), "Zeros follow the compressed data"),
    ("member", PACKED + gzip(EVIL), "Another compressed archive follows"), ("half", PACKED + b"\x1f\x8b\x08", "Half a header of gzip follows"),
    ("zip", PACKED + zipped(*SOUND_ZIP), "A zip follows the compressed data"), ("checksum", PACKED[:-8] + b"\0" * 4 + PACKED[-4:], "The checksum of gzip is wrong"),
    ("length", PACKED[:-4] + b"\1\2\3\4", "The length of gzip is wrong"), ("method", PACKED[:2] + b"\7" + PACKED[3:], "The method of gzip is unknown"),
    ("twice", gzip(PACKED), "The archive is compressed twice"), ("nothing", gzip(b""), "The compressed data is empty"), ("page", gzip(b"<!doctype html>" * 100), "The compressed data is a page"),
    ("old", gzip(SOUND[:257] + bytes(255) + SOUND[512:]), "The headers have no format"),
):  # fmt: skip
    add(f"tar-gzip-{slug}.tar.gz", about, lambda content=content: content)

# What is too large, or too much.

FOLDERS = b"".join(folder(bad(f"d{number}/")) for number in range(20_000))
add("tar-bomb-8-gib.tar.gz", "A file of 8 GiB of zeros is 8 MB", lambda: b"".join([gzip(SOUND_TAR), gzip(header(bad("zeros"), b"0", (8 << 30) - 512)), *[gzip(bytes(1 << 20), 9)] * 8192, gzip(bytes(1024))]))
add("tar-bomb-32-mib.tar.gz", "A file of 32 MiB of zeros is 32 KB", lambda: gzip(tar(SOUND_TAR, file(bad("zeros"), bytes(32 << 20)))))
add("tar-bomb-end.tar.gz", "9 GiB of zeros follow the end", lambda: b"".join([PACKED, *[gzip(bytes(16 << 20), 9)] * 576]))
add("tar-claim-8-gib.tar", "A header claims 8 GiB", lambda: tar(SOUND_TAR, member(header(bad("a"), b"0", (8 << 30) - 1), b"abc")))
add("tar-claim-60-mib.tar", "A header claims 60 MiB", lambda: tar(SOUND_TAR, member(header(bad("a"), b"0", 60 << 20), b"abc")))
add("tar-many-files.tar.gz", "There are 20,000 files", lambda: gzip(tar(SOUND_TAR, *[file(bad(f"f{number}")) for number in range(20_000)])))
add("tar-many-folders.tar.gz", "There are 20,000 folders", lambda: gzip(tar(SOUND_TAR, FOLDERS)))
add("tar-many-skills.tar.gz", "There are 20,000 skills", lambda: gzip(tar(*[file(b"skills/s%d/SKILL.md" % number, BAD.replace(b"bad", b"s%d" % number)) for number in range(20_000)])))
add("tar-comments.tar.gz", "2,000 comments of 60 KiB", lambda: gzip(tar(SOUND_TAR, *[pax(b"comment", b"x" * (60 << 10)) + file(bad(f"f{number}")) for number in range(2000)])))
add("tar-members.tar.gz", "200,000 empty members of gzip", lambda: gzip(b"") * 200_000 + PACKED, EITHER)
add("tar-depth.tar", "A path has 1,000 folders", lambda: tar(SOUND_TAR, pax(b"path", bad(b"d/" * 1000 + b"x")), member(header(b"x"))))
add("tar-nested.tar", "An archive is in the archive, where nothing unpacks it", lambda: tar(SOUND_TAR, file(bad("inner.tar"), EVIL)), EITHER)

# Other formats under the name of a tar.

for slug, content in (
    ("nothing", b""), ("byte", b"P"), ("page", b"<!doctype html>"), ("zeros", bytes(10_240)), ("zstd", b"\x28\xb5\x2f\xfd\x24\0\1\0\0"), ("xz", b"\xfd7zXZ\0\0\4"),
    ("bzip2", b"BZh91AY&SY"), ("7z", b"7z\xbc\xaf\x27\x1c"), ("rar", b"Rar!\x1a\7\0"), ("compress", b"\x1f\x9d\x90"), ("cpio", b"070701" * 20), ("ar", b"!<arch>\n" * 40),
):  # fmt: skip
    add(f"tar-format-{slug}.tar.gz", f"It is no tar: {slug}", lambda content=content: content)
add("tar-format-zip.tar", "A zip is at the end of a tar", lambda: SOUND + zipped(*SOUND_ZIP))
add("tar-format-name.tar", "The first name starts as a zip", lambda: tar(file(b"PK\3\4"), SOUND_TAR))
add("tar-format-gzip-zip.tar.gz", "A zip is compressed with gzip", lambda: gzip(zipped(*SOUND_ZIP)))

# Sound ones.

COMMENT = extension(b"g", record(b"comment", b"0123456789012345678901234567890123456789"))
LONG = "references/" + "long-name-" * 12 + ".md"
FOLDERS_OF_ALL = folder(b"./") + folder(b"./skills/") + folder(b"./skills/good/")
for slug, members in {
    "plain": [SOUND_TAR, PLAIN], "git": [COMMENT, folder(b"top/"), folder(b"top/skills/"), file(b"top/skills/good/SKILL.md", GOOD)],
    "dots": [FOLDERS_OF_ALL, file(b"./skills/good/SKILL.md", GOOD)], "pax": [SOUND_TAR, pax(b"path", bad(LONG)), PLAIN], "gnu": [SOUND_TAR, extension(b"L", bad(LONG) + b"\0"), file(b"x", b"abc", magic=GNU)],
    "times": [SOUND_TAR, extension(b"x", record(b"mtime", b"1700000000.5") + record(b"uname", b"anna")), PLAIN], "old-file": [SOUND_TAR, member(sealed(BLOCK_OF_A[:156] + b"\0" + BLOCK_OF_A[157:257] + POSIX + BLOCK_OF_A[265:]), b"abc")],
    "same-size": [SOUND_TAR, pax(b"size", b"3"), PLAIN], "padded": [SOUND_TAR, bytes(20 * BLOCK)],
}.items():  # fmt: skip
    add(f"sound-{slug}.tar", "Nothing", lambda members=members: tar(*members), ACCEPTED)
    add(f"sound-{slug}.tar.gz", "Nothing", lambda members=members: gzip(tar(*members)), ACCEPTED)
