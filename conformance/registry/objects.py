"""Writes bare git repositories object by object, without git: also what git refuses to make."""

from __future__ import annotations

import dataclasses
import hashlib
import struct
import zlib
from pathlib import Path

PERSON = b"Anna Example <anna@example.com> 1700000000 +0000"
KINDS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
# Stands for the path that an attack would create, in all contents and names.
MARK = b"@MARK@"
MISSING = "1" * 40

FILE, FOLDER, LINK, COMMIT = b"100644", b"40000", b"120000", b"160000"


@dataclasses.dataclass(frozen=True)
class Id:
    """An object that is named and not written."""

    hex: str = MISSING


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry of a tree with any mode: bytes are a blob, a dictionary or a list a tree."""

    mode: bytes
    content: bytes | dict | list | Id


def link(target: bytes) -> Entry:
    return Entry(LINK, target)


def submodule(commit: str = MISSING) -> Entry:
    return Entry(COMMIT, Id(commit))


class Objects:
    """A repository that is written when it is complete. `mark` takes the place of `MARK`."""

    def __init__(self, path: Path, mark: Path) -> None:
        self.path, self.mark = path, bytes(mark)
        self.objects: dict[str, tuple[str, bytes]] = {}
        self.refs: dict[bytes, str] = {}
        self.head = b"ref: refs/heads/main\n"
        # The pack that clients get in place of the one that git would make.
        self.sent: bytes | None = None

    def write(self, kind: str, content: bytes) -> str:
        identifier = hashlib.sha1(b"%s %d\0%s" % (kind.encode(), len(content), content)).hexdigest()
        self.objects[identifier] = (kind, content)
        return identifier

    def blob(self, content: bytes) -> str:
        return self.write("blob", content.replace(MARK, self.mark))

    def tree(self, entries: dict | list) -> str:
        """Write a tree: a dictionary in the order of git, a list as it stands."""
        rows = []
        for name, content in entries.items() if isinstance(entries, dict) else entries:
            rows.append((name.encode() if isinstance(name, str) else name.replace(MARK, self.mark), *self.place(content)))
        if isinstance(entries, dict):
            rows.sort(key=lambda row: row[0] + (b"/" if row[1] == FOLDER else b""))
        return self.write("tree", b"".join(b"%s %s\0%s" % (mode, name, bytes.fromhex(of)) for name, mode, of in rows))

    def place(self, content: bytes | str | dict | list | Entry | Id) -> tuple[bytes, str]:
        """Return the mode and the id of an entry's content."""
        match content:
            case bytes():
                return FILE, self.blob(content)
            case str():
                return FILE, self.blob(content.encode())
            case Entry(mode, Id(identifier)):
                return mode, identifier
            case Entry(mode, inner):
                return mode, self.place(inner)[1]
            case Id(identifier):
                return FILE, identifier
            case _:
                return FOLDER, self.tree(content)

    def commit(self, tree: str, message: bytes = b"One\n", *, person: bytes = PERSON, headers: bytes = b"") -> str:
        message = message.replace(MARK, self.mark)
        return self.write("commit", b"tree %s\n%sauthor %s\ncommitter %s\n\n%s" % (tree.encode(), headers, person, person, message))

    def tag(self, name: bytes, of: str, kind: bytes = b"commit", message: bytes = b"Release\n") -> str:
        content = b"object %s\ntype %s\ntag %s\ntagger %s\n\n%s" % (of.encode(), kind, name, PERSON, message)
        return self.write("tag", content)

    def ref(self, name: bytes | str, identifier: str) -> None:
        name = name.encode() if isinstance(name, str) else name.replace(MARK, self.mark)
        self.refs[name] = identifier

    def release(self, commit: str) -> None:
        """Make a commit the main branch and `v1.0.0`."""
        self.ref("refs/heads/main", commit)
        self.ref("refs/tags/v1.0.0", commit)

    def pack(self, *more: bytes, count: int | None = None) -> bytes:
        """Return all objects as a pack, with encoded objects after them."""
        parts = [packed(KINDS[kind], content) for kind, content in self.objects.values()]
        return closed_pack([*parts, *more], count)

    def save(self) -> None:
        folder = self.path / "objects/pack"
        folder.mkdir(parents=True)
        (self.path / "refs").mkdir()
        (self.path / "HEAD").write_bytes(self.head)
        (self.path / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        lines = [b"%s %s\n" % (identifier.encode(), name) for name, identifier in sorted(self.refs.items())]
        (self.path / "packed-refs").write_bytes(b"".join(lines))
        if self.objects:
            pack, index = self.pack_and_index()
            name = f"pack-{pack[-20:].hex()}"
            (folder / f"{name}.pack").write_bytes(pack)
            (folder / f"{name}.idx").write_bytes(index)
        if self.sent is not None:
            (self.path / "send-this.pack").write_bytes(self.sent)

    def pack_and_index(self) -> tuple[bytes, bytes]:
        parts, rows, offset = [], [], 12
        for identifier, (kind, content) in self.objects.items():
            part = packed(KINDS[kind], content)
            parts.append(part)
            rows.append((bytes.fromhex(identifier), zlib.crc32(part), offset))
            offset += len(part)
        rows.sort()
        pack = closed_pack(parts)
        fans = [sum(row[0][0] <= first for row in rows) for first in range(256)]
        index = b"\xfftOc" + struct.pack(">I", 2) + struct.pack(">256I", *fans)
        index += b"".join(row[0] for row in rows)
        index += b"".join(struct.pack(">I", row[1]) for row in rows)
        index += b"".join(struct.pack(">I", row[2]) for row in rows) + pack[-20:]
        return pack, index + hashlib.sha1(index).digest()


def closed_pack(parts: list[bytes], count: int | None = None) -> bytes:
    """Return encoded objects as a pack, with a count that may be wrong."""
    body = b"PACK" + struct.pack(">II", 2, len(parts) if count is None else count) + b"".join(parts)
    return body + hashlib.sha1(body).digest()


def packed(kind: int, content: bytes, base: bytes = b"", size: int | None = None) -> bytes:
    """Return an object in the form of packs; `base` names what a delta changes, and `size` may be wrong."""
    size = len(content) if size is None else size
    head = bytearray([kind << 4 | size & 15])
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    # Much of what is here is large and equal.
    return bytes(head) + base + zlib.compress(content, 1)


def number(value: int) -> bytes:
    """Return a number in the form of deltas."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def repeat(base_size: int, times: int) -> bytes:
    """Return a delta that copies its whole base a number of times."""
    copy = b""
    for start in range(0, base_size, 0xFF0000):
        length = min(0xFF0000, base_size - start)
        copy += b"\xff" + struct.pack("<I", start) + struct.pack("<I", length)[:3]
    return number(base_size) + number(base_size * times) + copy * times
