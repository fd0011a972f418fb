#!/usr/bin/env python3
"""Shows that release.py refuses what must not be released, and tags what may.

    python3 packaging/test_release.py

Needs git and cargo; the repositories are made up, with one crate and no dependencies.
"""

import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

SCRIPT = pathlib.Path(__file__).with_name("release.py")
TODAY = datetime.date.today().isoformat()
MANIFEST = """\
[workspace]
members = ["crates/*"]
resolver = "3"

[workspace.package]
version = "1.2.3"

[workspace.dependencies]
small = { path = "crates/small", version = "1.2.3" }
"""
CRATE = """\
[package]
name = "small"
version.workspace = true
edition = "2024"
license = "MIT"
description = "Small"
readme = "README.md"

[package.metadata.docs.rs]
all-features = true
"""
SERVER = '{ "version": "1.2.3", "packages": [{ "identifier": "small", "version": "1.2.3" }] }\n'
CHANGES = f"# Changelog\n\n## Unreleased\n\n- **added:** more.\n\n## 1.2.3 ({TODAY})\n\nFor people.\n\n- **added:** it.\n"


class Release(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.environment = os.environ | {"RELEASE_ROOT": str(self.root), "CARGO_TARGET_DIR": str(self.root / "target")}
        for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
            self.environment[name] = "a@example.com"
        files = {"Cargo.toml": MANIFEST, "crates/small/Cargo.toml": CRATE, "server.json": SERVER, "CHANGELOG.md": CHANGES}
        files |= {"crates/small/src/lib.rs": "//! Small.\n", ".gitignore": "target\n"}
        files |= {f"crates/small/{name}": "text\n" for name in ("LICENSE-MIT", "LICENSE-APACHE", "README.md")}
        for name, text in files.items():
            self.write(name, text)
        self.git("init", "--quiet")
        subprocess.run(["cargo", "update", "--workspace", "--offline", "--quiet"], cwd=self.root, env=self.environment, check=True)
        self.commit()

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def replace(self, name, old, new):
        text = (self.root / name).read_text()
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def git(self, *words):
        done = subprocess.run(["git", *words], cwd=self.root, env=self.environment, check=True, capture_output=True, text=True)
        return done.stdout

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "it")

    def release(self, *words):
        command = [sys.executable, str(SCRIPT), *words]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True)

    def assert_refused(self, why, *words):
        done = self.release(*words)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(why, done.stderr)
        self.assertEqual(self.git("tag"), "")

    def test_checks_pass_for_a_commit_that_is_ready(self):
        done = self.release("1.2.3", "tree", "version", "notes", "docs", "crates")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.split()[1::2], ["tree", "version", "notes", "docs", "crates"])
        self.assertEqual(self.git("tag"), "")

    def test_uncommitted_file_is_refused_by_name(self):
        self.write("new.txt", "")
        self.assert_refused("new.txt", "1.2.3", "tree")

    def test_version_is_released_once(self):
        self.git("tag", "v1.2.3")
        done = self.release("1.2.3", "tree")
        self.assertIn("the tag v1.2.3 exists", done.stderr)
        self.assertEqual(done.returncode, 1)

    def test_place_with_another_version_is_named(self):
        for name in ("Cargo.toml", "Cargo.lock", "server.json"):
            with self.subTest(name):
                self.replace(name, "1.2.3", "1.2.2")
                self.assert_refused(f"{name}", "1.2.3", "version")
                self.replace(name, "1.2.2", "1.2.3")
        self.assert_refused("server.json, small has 1.2.3", "1.2.4", "version")

    def test_version_is_set_everywhere(self):
        for _ in range(2):
            self.assertEqual(self.release("2.0.0-rc.1", "--set").stderr, "")
            done = self.release("2.0.0-rc.1", "version")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            changed = self.git("diff", "--name-only").split()
            self.assertEqual(changed, ["CHANGELOG.md", "Cargo.lock", "Cargo.toml", "server.json"])
            headings = [line for line in (self.root / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
            self.assertEqual(headings, [f"## 2.0.0-rc.1 ({TODAY})", f"## 1.2.3 ({TODAY})"])

    def test_release_and_no_candidate_removes_what_pages_say_until_then(self):
        until = "<!-- until the first release -->\nNot yet.\n<!-- end of until the first release -->\n"
        self.write("README.md", f"Small.\n{until}")
        self.assertEqual(self.release("1.2.3-rc.1", "--set").stderr, "")
        self.assertEqual(self.release("1.2.3-rc.1", "version").stderr, "")
        self.assertEqual((self.root / "README.md").read_text(), f"Small.\n{until}")
        self.assert_refused("README.md says that there is no release", "1.2.3", "version")
        self.assertEqual(self.release("1.2.3", "--set").stderr, "")
        self.assertEqual(self.release("1.2.3", "version").stderr, "")
        self.assertEqual((self.root / "README.md").read_text(), "Small.\n")

    def test_what_is_no_version_is_refused(self):
        for version in ("1.2", "v1.2.3", "1.2.3 ", "1.2.3-beta", "01.2.3", "-1.2.3.4", "1.2.3\n"):
            self.assertNotEqual(self.release("--", version).returncode, 0, version)

    def test_changelog_needs_a_dated_section_for_people(self):
        cases = {
            f"## 1.2.3 ({TODAY})\n\nFor people.\n\n- **added:** it.": None,
            "## 1.2.3\n\nFor people.": "has no section",
            "## 1.2.3 (9999-12-31)\n\nFor people.": "which is to come",
            f"## 1.2.3 ({TODAY})\n\n- **added:** it.": "does not begin with a paragraph",
            f"## 1.2.3 ({TODAY})\n": "does not begin with a paragraph",
            f"## 1.2.30 ({TODAY})\n\nFor people.": "has no section",
        }
        for text, why in cases.items():
            with self.subTest(text):
                self.write("CHANGELOG.md", f"# Changelog\n\n## Unreleased\n\n- **added:** more.\n\n{text}\n")
                if why:
                    self.assert_refused(why, "1.2.3", "notes")
                else:
                    self.assertEqual(self.release("1.2.3", "notes").returncode, 0)

    def test_page_with_a_broken_link_is_refused(self):
        self.write("crates/small/src/lib.rs", "//! See [`Absent`].\n")
        self.assert_refused("small", "1.2.3", "docs")

    def test_crate_without_a_licence_is_refused(self):
        (self.root / "crates/small/LICENSE-MIT").unlink()
        self.write("crates/small/LICENSE-APACHE", "")
        self.commit()
        self.assert_refused("small has no LICENSE-APACHE, or it is empty\nsmall has no LICENSE-MIT", "1.2.3", "crates")

    def test_unknown_check_is_refused(self):
        self.assert_refused("the checks are tree, version", "1.2.3", "everything")

    def test_tag_has_the_notes(self):
        line = "import release; release.tag('1.2.3')"
        command = [sys.executable, "-B", "-c", line]
        subprocess.run(command, cwd=SCRIPT.parent, env=self.environment, check=True, capture_output=True)
        expected = f"""\
            Skillfold 1.2.3

            For people.

            - **added:** it.
        """
        self.assertEqual(self.git("tag", "--list", "--format=%(contents)").strip(), textwrap.dedent(expected).strip())


if __name__ == "__main__":
    unittest.main()
