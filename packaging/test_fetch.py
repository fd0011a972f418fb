#!/usr/bin/env python3
"""Shows that fetch.sh takes a release that was signed, and no other.

    python3 packaging/test_fetch.py

The key, the signatures and the server are real; the files of the release are made up.
"""

import base64
import functools
import hashlib
import http.server
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).parent
FILES = ("skillfold-1.2.3.tgz", "skillfold-plugins-1.2.3.tar.gz")
SIGNED = ("SHA256SUMS", "SHA256SUMS.sig", "SHA256SUMS.sigstore.json", "SHA256SUMS.provenance.sigstore.json")


def openssl(*words):
    return subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True).stdout


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Fetch(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        root = pathlib.Path(temporary.name)
        self.served, self.checkout, self.key = root / "served", root / "checkout", root / "key.pem"
        self.served.mkdir()
        (self.checkout / "packaging").mkdir(parents=True)
        for name in ("fetch.sh", "manifest.sh"):
            shutil.copy(HERE / name, self.checkout / "packaging")
        (self.checkout / "Cargo.toml").write_text('[workspace.package]\nversion = "1.2.3"\n')
        self.make_key(self.key)
        openssl("ec", "-in", self.key, "-pubout", "-out", self.checkout / "packaging/release.pub")
        for name in FILES:
            (self.served / name).write_text(f"{name}\n")
        self.seal(self.key)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=self.served))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.address = f"http://127.0.0.1:{server.server_port}"

    def make_key(self, path):
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)

    def seal(self, key):
        listed = sorted(path for path in self.served.iterdir() if path.name not in SIGNED)
        sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in listed)
        (self.served / "SHA256SUMS").write_text(sums)
        signature = openssl("dgst", "-sha256", "-sign", key, self.served / "SHA256SUMS")
        (self.served / "SHA256SUMS.sig").write_bytes(base64.b64encode(signature) + b"\n")
        for name in SIGNED[2:]:
            (self.served / name).write_text("{}\n")

    def fetch(self):
        command = [self.checkout / "packaging/fetch.sh", self.address]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def expect_refused(self, why):
        done = self.fetch()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(f"error: {why}", done.stderr)
        self.assertFalse((self.checkout / "dist/release").exists(), "it can be published")

    def test_signed_release_is_fetched_whole(self):
        done = self.fetch()
        self.assertEqual(done.returncode, 0, done.stderr)
        release = self.checkout / "dist/release"
        fetched = {path.name: path.read_bytes() for path in release.iterdir()}
        self.assertEqual(fetched, {path.name: path.read_bytes() for path in self.served.iterdir()})

    def test_changed_file_is_refused(self):
        (self.served / FILES[0]).write_text("other\n")
        self.expect_refused(f"{self.address} has other files than were signed")

    def test_missing_file_is_refused(self):
        (self.served / FILES[0]).unlink()
        self.expect_refused(f"cannot download {self.address}/{FILES[0]}")

    def test_another_key_is_refused(self):
        other = self.key.with_name("other.pem")
        self.make_key(other)
        self.seal(other)
        self.expect_refused("packaging/release.pub did not sign")

    def test_changed_sums_are_refused(self):
        sums = self.served / "SHA256SUMS"
        sums.write_text(sums.read_text().replace("0", "1"))
        self.expect_refused("packaging/release.pub did not sign")

    def test_empty_signature_is_refused(self):
        (self.served / "SHA256SUMS.sig").write_text("")
        self.expect_refused("packaging/release.pub did not sign")

    def test_another_version_is_refused(self):
        (self.served / FILES[1]).rename(self.served / "skillfold-plugins-1.2.2.tar.gz")
        self.seal(self.key)
        self.expect_refused(f"{self.address} has another version than 1.2.3")


if __name__ == "__main__":
    unittest.main()
