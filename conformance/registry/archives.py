"""Writes tar and zip archives byte by byte, so that anything in them can be wrong."""

from __future__ import annotations

import dataclasses
import struct
import zlib

BLOCK = 512
POSIX, GNU = b"ustar\x0000", b"ustar  \0"
FILE_MODE, FOLDER_MODE, LINK_MODE = 0o100_644 << 16, 0o040_755 << 16 | 0x10, 0o120_777 << 16


def header(name: bytes, kind: bytes = b"0", size: int = 0, *, target: bytes = b"", magic: bytes = POSIX) -> bytes:
    """Return the header of a tar entry; what is too long is cut."""
    fields = (name[:100], b"0000644\0", b"0000000\0", b"0000000\0", b"%011o\0" % size, b"00000000000\0", kind, target[:100], magic)
    return sealed(struct.pack("100s8s8s8s12s12s8x1s100s8s", *fields).ljust(BLOCK, b"\0"))


def sealed(block: bytes) -> bytes:
    """Return a header with a right checksum."""
    block = block[:148] + b" " * 8 + block[156:]
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def patched(block: bytes, at: int, changed: bytes) -> bytes:
    """Return a changed header with a right checksum."""
    return sealed(block[:at] + changed + block[at + len(changed) :])


def member(block: bytes, content: bytes = b"") -> bytes:
    return block + content + bytes(-len(content) % BLOCK)


def file(name: bytes, content: bytes = b"", **options: bytes) -> bytes:
    """Return a file of a tar; a long name is in the prefix."""
    block = header(name, b"0", len(content), **options)
    slash = name.rfind(b"/", 0, 156)
    if len(name) > 100 and slash > 0:
        block = patched(header(name[slash + 1 :], b"0", len(content), **options), 345, name[:slash])
    return member(block, content)


def folder(name: bytes) -> bytes:
    return member(header(name, b"5"))


def extension(kind: bytes, content: bytes) -> bytes:
    """Return an extension header: `x`, `g`, `L` or `K`."""
    is_gnu = kind in (b"L", b"K")
    name = b"././@LongLink" if is_gnu else b"pax_header"
    return member(header(name, kind, len(content), magic=GNU if is_gnu else POSIX), content)


def record(key: bytes, value: bytes) -> bytes:
    """Return a record of a pax header."""
    body = b" %s=%s\n" % (key, value)
    length = len(body) + 1
    while length != len(body) + len(str(length)):
        length = len(body) + len(str(length))
    return b"%d%s" % (length, body)


def pax(key: bytes, value: bytes) -> bytes:
    return extension(b"x", record(key, value))


def tar(*members: bytes) -> bytes:
    return b"".join(members) + bytes(2 * BLOCK)


def gzip(content: bytes, level: int = 1) -> bytes:
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return packer.compress(content) + packer.flush()


def deflated(content: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


# Where bytes of a header are replaced.
Patch = tuple[int, bytes]


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry of a zip. The fields go into both headers; then the patches are applied."""

    name: bytes
    content: bytes = b""
    flags: int = 1 << 11
    method: int = 8
    attributes: int = FILE_MODE
    # In place of what compressing gives.
    packed: bytes | None = None
    crc: int | None = None
    size: int | None = None
    local_extra: bytes = b""
    central_extra: bytes = b""
    comment: bytes = b""
    local: tuple[Patch, ...] = ()
    central: tuple[Patch, ...] = ()
    # What follows the content.
    after: bytes = b""

    @property
    def body(self) -> bytes:
        if self.packed is not None:
            return self.packed
        return deflated(self.content) if self.method == 8 else self.content

    @property
    def sizes(self) -> bytes:
        crc = zlib.crc32(self.content) if self.crc is None else self.crc
        size = len(self.content) if self.size is None else self.size
        return struct.pack("<III", crc, len(self.body), size)

    def local_part(self) -> bytes:
        fields = struct.pack("<4sHHHHH12sHH", b"PK\3\4", 20, self.flags, self.method, 0, 33, self.sizes, len(self.name), len(self.local_extra))
        return applied(fields + self.name + self.local_extra, self.local) + self.body + self.after

    def central_part(self, offset: int) -> bytes:
        lengths = (len(self.name), len(self.central_extra), len(self.comment))
        fields = struct.pack(
            "<4sHHHHHH12sHHHHHII", b"PK\1\2", 0x314, 20, self.flags, self.method, 0, 33, self.sizes, *lengths, 0, 0, self.attributes, offset,
        )  # fmt: skip
        return applied(fields + self.name + self.central_extra + self.comment, self.central)

    def described(self, mark: bytes = b"PK\7\x08", sizes: bytes | None = None) -> Entry:
        """Return the entry with checksum and sizes behind its content."""
        after = mark + (self.sizes if sizes is None else sizes)
        return dataclasses.replace(self, flags=self.flags | 8, local=(*self.local, (14, bytes(12))), after=after)


def applied(block: bytes, patches: tuple[Patch, ...]) -> bytes:
    for at, changed in patches:
        block = block[:at] + changed + block[at + len(changed) :]
    return block


def zip_parts(entries: list[Entry]) -> tuple[bytes, bytes]:
    """Return the entries with their contents, and the central directory."""
    locals_, centrals = bytearray(), []
    for entry in entries:
        centrals.append(entry.central_part(len(locals_)))
        locals_ += entry.local_part()
    return bytes(locals_), b"".join(centrals)


def zipped(*entries: Entry) -> bytes:
    locals_, centrals = zip_parts(list(entries))
    return locals_ + centrals + end(len(centrals), len(locals_), len(entries))


def end(size: int, offset: int, count: int, comment: bytes = b"") -> bytes:
    """Return the end record of a zip."""
    return struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count & 0xFFFF, count & 0xFFFF, size, offset, len(comment)) + comment


def extra(identifier: int, content: bytes = b"") -> bytes:
    """Return an extra field of a zip."""
    return struct.pack("<HH", identifier, len(content)) + content
