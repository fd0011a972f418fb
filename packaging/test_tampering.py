#!/usr/bin/env python3
"""Shows that the install script installs nothing of a release that was tampered with, and says which file is wrong and why.

    python3 packaging/test_tampering.py

Each change is made to a release that would be installed. Some are by a server that has no key; some are in files that the key
signed by mistake. Needs openssl, dash and busybox.
"""

import base64
import concurrent.futures
import gzip
import hashlib
import itertools
import os
import shutil
import tarfile
import unittest

from made_up_release import TARGETS, Member, Release, World, members, openssl, pack, program, sign, tree

# The order of the group of P-256.
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"
WRONG_SUM = "has another checksum than `SHA256SUMS` lists"
UNSIGNED = "`SHA256SUMS` is not signed with Skillfold's key"
NO_BASE64 = "`SHA256SUMS.sig` is not one line of base64 with a signature"
BAD_LINE = "`SHA256SUMS` has a line that is not a checksum, two spaces and a name"
UNLISTED = "`SHA256SUMS` does not list `skillfold-"
MEMBER = "has a member that"
STRANGE = f"{MEMBER} is outside `skillfold-"


def archive_changes():
    """Yields changes of the archive alone."""

    def change(name, edit):
        def apply(world, release):
            release.files[release.archive()] = edit(release.files[release.archive()])

        return f"archive: {name}", apply, WRONG_SUM

    def flip(place):
        def edit(data):
            at = place if isinstance(place, int) else int(len(data) * place)
            data = bytearray(data)
            data[at] ^= 1
            return bytes(data)

        return edit

    for place in (0, 1, 3, 9, 10, 0.25, 0.5, 0.75, -8, -4, -1):
        yield change(f"one bit at {place}", flip(place))
    yield change("cut by a byte", lambda data: data[:-1])
    yield change("cut in half", lambda data: data[: len(data) // 2])
    yield change("empty", lambda data: b"")
    yield change("a byte more at the end", lambda data: data + b"\0")
    yield change("a byte more at the start", lambda data: b"\0" + data)
    yield change("another gzip member at the end", lambda data: data + gzip.compress(b"more"))
    yield change("compressed again", lambda data: gzip.compress(gzip.decompress(data), 1, mtime=0))
    yield change("not compressed", gzip.decompress)
    yield change("a web page", lambda data: b"<!doctype html><title>Sign in</title>")
    yield change("the program alone", lambda data: program("9.9.9"))


def swaps():
    """Yields files that are put in the place of others, all of them signed at some time."""

    def older(world, release):
        release.files = Release("0.0.9", world.key).files

    def older_archive(world, release):
        release.files[release.archive()] = pack(members("0.0.9", TARGETS[0]))

    def older_sums(world, release):
        for name in (SUMS, SIGNATURE):
            release.files[name] = Release("0.0.9", world.key).files[name]

    def older_renamed(world, release):
        old = Release("0.0.9", world.key)
        release.files = old.files | {release.archive(): old.files[old.archive()]}

    def newer(world, release):
        release.files = Release("9.9.9", world.key).files

    def other_platform(world, release):
        release.files[release.archive()] = release.files[release.archive(TARGETS[1])]

    def older_signature(world, release):
        release.files[SIGNATURE] = Release("0.0.9", world.key).files[SIGNATURE]

    yield "swap: all files of an older release", older, UNLISTED
    yield "swap: all files of an older release, its archive with the new name", older_renamed, UNLISTED
    yield "swap: all files of a newer release", newer, UNLISTED
    yield "swap: sums and signature of an older release", older_sums, UNLISTED
    yield "swap: the archive of an older release", older_archive, WRONG_SUM
    yield "swap: the archive of another platform", other_platform, WRONG_SUM
    yield "swap: the signature of an older release", older_signature, UNSIGNED


def unsigned_sums():
    """Yields changes of the sums that nobody signed."""

    def change(name, edit):
        def apply(world, release):
            release.files[SUMS] = edit(release.files[SUMS])

        return f"unsigned sums: {name}", apply, UNSIGNED

    def evil_archive(world, release):
        listed = members(release.version, TARGETS[0])
        listed[-1] = Member(listed[-1].name, b"#!/bin/sh\necho evil\n", mode=0o755)
        release.files[release.archive()] = pack(listed)
        release.files[SUMS] = release.sums()

    yield "unsigned sums: an evil archive and its true sum", evil_archive, UNSIGNED
    yield change("one digit", lambda data: data.replace(data[:1], b"f" if data[:1] != b"f" else b"0", 1))
    yield change("a line less", lambda data: b"".join(data.splitlines(keepends=True)[1:]))
    yield change("a line more", lambda data: data + b"0" * 64 + b"  more\n")
    yield change("another order", lambda data: b"".join(reversed(data.splitlines(keepends=True))))
    yield change("CRLF", lambda data: data.replace(b"\n", b"\r\n"))
    yield change("upper case", lambda data: data.upper())
    yield change("no line break at the end", lambda data: data[:-1])
    yield change("NUL at the end", lambda data: data + b"\0")
    yield change("empty", lambda data: b"")

    def absent(world, release):
        del release.files[SUMS]

    def too_large(world, release):
        release.seal(release.files[SUMS] + b"#" * (1 << 20))

    yield "unsigned sums: absent", absent, "/SHA256SUMS: "
    yield "signed sums: larger than a megabyte", too_large, "`SHA256SUMS` is larger than 1048576 bytes"


def der(*numbers):
    body = b""
    for number in numbers:
        raw = number.to_bytes(number.bit_length() // 8 + 1, "big")
        body += b"\x02" + bytes([len(raw)]) + raw
    return b"\x30" + bytes([len(body)]) + body


def numbers_of(signature):
    length = signature[3]
    return int.from_bytes(signature[4 : 4 + length], "big"), int.from_bytes(signature[6 + length :], "big")


def signatures():
    """Yields wrong signatures of the right sums."""

    def change(name, edit, why):
        def apply(world, release):
            release.files[SIGNATURE] = edit(release.files[SIGNATURE])

        return f"signature: {name}", apply, why

    def made(name, make, why=UNSIGNED):
        def apply(world, release):
            release.files[SIGNATURE] = make(world, release.files[SUMS])

        return f"signature: {name}", apply, why

    def by_curve(name):
        def make(world, sums):
            key = world.root / f"{name}.pem"
            if not key.exists():
                key.write_bytes(openssl("ecparam", "-name", name, "-genkey", "-noout"))
            return sign(key, sums)

        return make

    def by_rsa(world, sums):
        key = world.root / "rsa.pem"
        key.write_bytes(openssl("genrsa", "2048"))
        return sign(key, sums)

    def all_by_another_key(world, release):
        release.key = world.root / "another.pem"
        release.key.write_bytes(openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout"))
        release.files["release.pub"] = openssl("ec", "-in", release.key, "-pubout")
        release.repack(lambda listed: None)

    # Some of these are too short or too long for a signature.
    refused = (UNSIGNED, NO_BASE64)

    def numbers(name, edit):
        return change(name, lambda data: base64.b64encode(der(*edit(*numbers_of(base64.b64decode(data))))), refused)

    def raw(name, edit):
        return change(name, lambda data: base64.b64encode(edit(base64.b64decode(data))), refused)

    def flip(data, at):
        data = bytearray(data)
        data[at] ^= 1
        return bytes(data)

    yield "signature: archive, sums and signature of another key", all_by_another_key, UNSIGNED
    yield made("of another key", by_curve("prime256v1"))
    yield made("of another curve, secp256k1", by_curve("secp256k1"))
    yield made("of another curve, P-384", by_curve("secp384r1"), NO_BASE64)
    yield made("of an RSA key", by_rsa, NO_BASE64)
    yield made("of another file", lambda world, sums: sign(world.key, b"another file"))
    yield made("of the sums' hash", lambda world, sums: sign(world.key, hashlib.sha256(sums).digest()))
    yield made("of the sums and a line break", lambda world, sums: sign(world.key, sums + b"\n"))
    yield made("with SHA-1", lambda world, sums: sign(world.key, sums, "sha1"))
    yield made("with SHA-512", lambda world, sums: sign(world.key, sums, "sha512"))
    yield numbers("r and s swapped", lambda r, s: (s, r))
    yield numbers("both 0", lambda r, s: (0, 0))
    yield numbers("both 1", lambda r, s: (1, 1))
    yield numbers("s is 0", lambda r, s: (r, 0))
    yield numbers("r plus the order", lambda r, s: (r + ORDER, s))
    yield numbers("s plus the order", lambda r, s: (r, s + ORDER))
    yield numbers("r negated", lambda r, s: (ORDER - r, s))
    yield raw("a bit of r", lambda data: flip(data, 10))
    yield raw("a bit of s", lambda data: flip(data, -1))
    yield raw("a byte more after the DER", lambda data: data + b"\0")
    yield raw("a byte more inside the DER", lambda data: data[:1] + bytes([data[1] + 1]) + data[2:] + b"\0")
    yield raw("a length in the long form", lambda data: data[:1] + b"\x81" + data[1:])
    yield raw("a length that is too long", lambda data: data[:1] + bytes([data[1] + 4]) + data[2:])
    yield raw("another tag", lambda data: b"\x31" + data[1:])
    yield raw("noise", lambda data: hashlib.sha512(data).digest())
    yield change("empty", lambda data: b"", NO_BASE64)
    yield change("a line break alone", lambda data: b"\n", NO_BASE64)
    yield change("raw DER", base64.b64decode, NO_BASE64)
    yield change("hexadecimal", lambda data: base64.b64decode(data).hex().encode(), NO_BASE64)
    yield change("PEM", lambda data: b"-----BEGIN SIGNATURE-----\n" + data + b"\n-----END SIGNATURE-----\n", NO_BASE64)
    yield change("cut", lambda data: data[:40], NO_BASE64)
    yield change("cut by four", lambda data: data.rstrip(b"=")[:-4], refused)
    yield change("twice", lambda data: data + b"\n" + data + b"\n", NO_BASE64)
    yield change("after another line", lambda data: b"\n" + data, NO_BASE64)
    yield change("with CRLF", lambda data: data + b"\r\n", NO_BASE64)
    yield change("with a space", lambda data: data[:8] + b" " + data[8:], NO_BASE64)
    yield change("with NUL", lambda data: data + b"\n\0", NO_BASE64)
    yield change("for URLs", lambda data: b"-_" + data[2:], NO_BASE64)
    yield change("larger than a kilobyte", lambda data: data + b"\n" * 2000, "`SHA256SUMS.sig` is larger than 1024 bytes")

    def absent(world, release):
        del release.files[SIGNATURE]

    yield "signature: absent", absent, "/SHA256SUMS.sig: "


def signed_sums():
    """Yields sums that the key signed although they are not as they should be."""

    def change(name, edit, why=BAD_LINE):
        def apply(world, release):
            ours = next(line for line in release.sums().splitlines(keepends=True) if release.archive().encode() in line)
            release.seal(edit(release.sums(), ours))

        return f"signed sums: {name}", apply, why

    twice = "`SHA256SUMS` lists `skillfold-"
    yield change("another sum", lambda sums, ours: sums.replace(ours[:64], b"0" * 64), WRONG_SUM)
    yield change("our file twice", lambda sums, ours: sums + ours, twice)
    yield change("our file twice, with two sums", lambda sums, ours: b"0" * 64 + ours[64:] + sums, twice)
    yield change("our file is not listed", lambda sums, ours: sums.replace(ours, b""), UNLISTED)
    yield change("empty", lambda sums, ours: b"", UNLISTED)
    yield change("our name in a longer one", lambda sums, ours: sums.replace(ours, ours[:-1] + b".old\n"), UNLISTED)
    yield change("CRLF", lambda sums, ours: sums.replace(b"\n", b"\r\n"))
    yield change("CRLF in our line alone", lambda sums, ours: sums.replace(ours, ours[:-1] + b"\r\n"))
    yield change("a star for binary mode", lambda sums, ours: sums.replace(b"  ", b" *"))
    yield change("a name with `..`", lambda sums, ours: sums + ours[:66] + b"../../bin/sh\n")
    yield change("an absolute name", lambda sums, ours: sums + ours[:66] + b"/bin/sh\n")
    yield change("a name with a space", lambda sums, ours: sums.replace(ours, ours[:-1] + b" \n"))
    yield change("a name with a terminal escape", lambda sums, ours: sums + ours[:66] + b"\x1b[2J\n")
    yield change("NUL in a name", lambda sums, ours: sums + ours[:66] + b"a\0b\n")
    yield change("one space", lambda sums, ours: sums.replace(b"  ", b" "))
    yield change("the form of BSD", lambda sums, ours: b"SHA256 (" + ours[66:-1] + b") = " + ours[:64] + b"\n")
    yield change("upper-case digits", lambda sums, ours: sums.replace(ours[:64], ours[:64].upper()))
    yield change("SHA-1", lambda sums, ours: sums.replace(ours[:64], ours[:40]))
    yield change("a comment", lambda sums, ours: b"# sums\n" + sums)
    yield change("an empty line", lambda sums, ours: sums + b"\n")


def evil_archives():
    """Yields archives with a true sum and signature that must not be unpacked or installed."""

    def change(name, edit, why):
        def apply(world, release):
            release.repack(lambda listed: edit(listed, listed[0].name))

        return f"signed archive: {name}", apply, why

    def add(name, why, *extra):
        """Adds members; in their names, TOP is the top folder."""

        def edit(listed, top):
            for path, fields in extra:
                data = fields.pop("data", b"") if (fields := dict(fields)) else b""
                listed.append(Member(path.replace("TOP", top), data, **fields))

        return change(name, edit, why)

    def replaced(name, why, **fields):
        """Replaces the program."""

        def edit(listed, top):
            data = fields.get("data", b"")
            listed[-1] = Member(f"{top}/skillfold", data, **{"mode": 0o755} | {k: v for k, v in fields.items() if k != "data"})

        return change(name, edit, why)

    def without(name):
        return change(f"no {name}", lambda listed, top: [it for it in listed if name not in it.name], "has no file `")

    plain = f"{MEMBER} is not a plain file or folder"
    # Busybox lists hard links as files with an arrow.
    linked = (plain, f"{MEMBER} is a link")
    link, hard = {"type": tarfile.SYMTYPE}, {"type": tarfile.LNKTYPE}
    outside = {"linkname": "/tmp"}
    yield add("an absolute path", STRANGE, ("/srv/evil", {}))
    yield add("a path with `..`", STRANGE, ("../evil", {}))
    yield add("a path with `..` below the top folder", STRANGE, ("TOP/../../evil", {}))
    yield add("a path with `.`", STRANGE, ("./evil", {}))
    yield add("a second top folder", STRANGE, ("evil/skillfold", {}))
    yield add("a top folder that begins alike", STRANGE, ("TOPevil/skillfold", {}))
    yield add("an absolute path in a pax header", STRANGE, ("x", {"pax_headers": {"path": "/srv/evil"}}))
    yield add("a long path with `..`", STRANGE, ("TOP/" + "../" * 60 + "tmp/evil", {}))
    yield add("a hidden file", STRANGE, ("TOP/.profile", {}))
    yield add("a name that begins with a dash", STRANGE, ("TOP/-rf", {}))
    yield add("a name with a line break", STRANGE, ("TOP/a\n/srv/evil", {}))
    yield add("a name with a terminal escape", STRANGE, ("TOP/\x1b[2Ja", {}))
    yield add("a name that some shells make a terminal escape", STRANGE, ("TOP/\\033[2J", {}))
    yield add("a name with a space", STRANGE, ("TOP/a b", {}))
    yield add("a name with a backslash", STRANGE, ("TOP/a\\b", {}))
    # One tar does not even list it.
    yield add("a name beyond ASCII", (STRANGE, "is not a tar archive"), ("TOP/ä", {}))
    yield add("a link", plain, ("TOP/a", link | outside))
    yield add("a link, and a file through it", plain, ("TOP/a", link | outside), ("TOP/a/evil", {}))
    yield add("a link up, and a file through it", plain, ("TOP/a", link | {"linkname": "../../.."}), ("TOP/a/evil", {}))
    yield add("a hard link out", linked, ("TOP/a", hard | {"linkname": "/etc/passwd"}))
    yield add("a hard link up", linked, ("TOP/a", hard | {"linkname": "../../../srv/evil"}))
    yield change("a hard link inside", lambda listed, top: listed.append(Member(f"{top}/a", type=tarfile.LNKTYPE, linkname=f"{top}/skillfold")), linked)
    yield add("a pipe", plain, ("TOP/a", {"type": tarfile.FIFOTYPE}))
    yield add("a device", plain, ("TOP/a", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}))
    yield add("a block device", plain, ("TOP/a", {"type": tarfile.BLKTYPE, "devmajor": 8}))
    yield replaced("the program is a link", plain, type=tarfile.SYMTYPE, linkname="/bin/sh")
    yield replaced("the program is a hard link", linked, type=tarfile.LNKTYPE, linkname="/bin/sh")
    yield replaced("the program is a folder", "has no file `skillfold`", type=tarfile.DIRTYPE)
    bits = f"{MEMBER} has a setuid, setgid or sticky bit"
    yield replaced("setuid", bits, data=program("9.9.9"), mode=0o4755)
    yield replaced("setgid", bits, data=program("9.9.9"), mode=0o2755)
    yield replaced("sticky", bits, data=program("9.9.9"), mode=0o1755)
    yield add("a setgid folder", bits, ("TOP/a", {"type": tarfile.DIRTYPE, "mode": 0o2755}))
    yield add("the program twice", f"{MEMBER} is in it twice", ("TOP/skillfold", {"data": b"#!/bin/sh\n", "mode": 0o755}))
    yield add("a folder that is a file, too", f"{MEMBER} is in it twice", ("TOP/man", {}))
    yield change("another version's name", lambda listed, top: members("0.0.9", TARGETS[0]), STRANGE)
    yield change("a top folder of another name", lambda listed, top: [Member(it.name.replace(top, "skillfold"), it.data, type=it.type) for it in listed], STRANGE)
    yield change("no top folder", lambda listed, top: [Member(it.name[len(top) + 1 :], it.data) for it in listed[3:]], STRANGE)
    yield change("a link for the top folder", lambda listed, top: [Member(top, type=tarfile.SYMTYPE, linkname="/tmp"), *listed[1:]], plain)
    yield change("no members", lambda listed, top: [Member(top, type=tarfile.DIRTYPE)], "has no file `")
    yield without("man/skillfold.1")
    yield without("man/")
    yield without("LICENSE-MIT")
    yield without("completions/_skillfold")
    yield add("a manual page with a strange name", f"{MEMBER} has a strange name: `share/man/man1/skillfold-9.1`", ("TOP/man/skillfold-9.1", {}))
    not_ours = "is not Skillfold "
    yield replaced("the program of another version", not_ours, data=program("0.0.9"))
    yield replaced("another program", not_ours, data=b"#!/bin/sh\necho hello\n")
    yield replaced("a program that does not run", not_ours, data=b"\x7fELF noise")
    yield replaced("a program that prints terminal escapes", not_ours, data=b"#!/bin/sh\nprintf '\\033[2J'\n")

    def content(name, data, why):
        def apply(world, release):
            release.files[release.archive()] = data()
            release.seal()

        return f"signed archive: {name}", apply, why

    yield content("no tar", lambda: gzip.compress(b"text" * 1000), "is not a tar archive")
    # One tar reads nothing as an empty archive.
    yield content("no gzip", lambda: b"text", ("is not a tar archive", "has no file `man/skillfold.1`"))
    yield content("210 MB of zeros", lambda: gzip.compress(bytes(210_000_000), 1), "unpacks to more than 209715200 bytes")


class Tampering(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.addCleanup(self.world.close)
        self.homes = itertools.count()

    def attempt(self, name, change, why, shell, path):
        """Returns what is wrong with how a change was refused, or nothing."""
        folder = f"release-{next(self.homes)}"
        release = Release(self.world.version, self.world.key)
        change(self.world, release)
        self.world.server.folders[folder] = release.files
        home = self.world.home()
        done = self.world.run(home, folder, shell=shell, path=path)
        del self.world.server.folders[folder]
        message = done.stderr.splitlines()[0] if done.stderr else ""
        reasons = (why,) if isinstance(why, str) else why
        file = "SHA256SUMS" if why is not WRONG_SUM and "SHA256SUMS" in reasons[0] else release.archive()
        is_named = message.startswith("error: ") and file in message and any(it in message for it in reasons)
        is_safe = all(it == "\n" or it.isprintable() for it in done.stdout + done.stderr)
        if (done.returncode, tree(home)) == (1, {"tmp": "d 755"}) and is_named and is_safe:
            return []
        return [f"{name}, {shell}: exit {done.returncode}, {tree(home)}\n{done.stderr}"]

    def test_nothing_of_a_tampered_release_is_installed(self):
        tries = []
        shells = itertools.cycle(["dash", "busybox", "bash"])
        for change in itertools.chain(archive_changes(), swaps(), unsigned_sums(), signatures(), signed_sums()):
            tries.append((*change, next(shells), None))
        evil = list(evil_archives())
        # What an archive may do is up to each tar.
        for change in evil:
            tries += [(*change, shell, None) for shell in ("dash", "busybox")]
        if bsdtar := shutil.which("bsdtar"):
            path = self.world.changed(tar=bsdtar)
            tries += [(*change, "dash", path) for change in evil]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [it for found in pool.map(lambda it: self.attempt(*it), tries) for it in found]
        self.assertEqual(wrong, [], "\n".join(wrong))
        changes = len({name for name, *_ in tries})
        print(f"tampered releases: {changes} changes, {len(tries)} tries, 0 installed")

    def test_the_same_release_untouched_is_installed(self):
        self.world.server.folders["release"] = Release(self.world.version, self.world.key).files
        for shell in self.world.shells:
            with self.subTest(shell):
                home = self.world.home()
                done = self.world.run(home, "release", shell=shell)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(tree(home)[".local/bin/skillfold"], "755")

    def test_other_signature_of_the_same_sums_is_one(self):
        """Of every signature (r, s), anybody can make (r, -s). It says the same about the same file."""
        release = Release(self.world.version, self.world.key)
        r, s = numbers_of(base64.b64decode(release.files[SIGNATURE]))
        release.files[SIGNATURE] = base64.b64encode(der(r, ORDER - s)) + b"\n"
        self.world.server.folders["release"] = release.files
        self.assertEqual(self.world.run(self.world.home(), "release").returncode, 0)


if __name__ == "__main__":
    unittest.main()
