#!/usr/bin/env python3
"""Checks that a commit can be released as a version, and tags it.

    packaging/release.py 1.2.3              every check, then the tag v1.2.3
    packaging/release.py 1.2.3 --check      every check, no tag
    packaging/release.py 1.2.3 tree notes   only these checks, no tag
    packaging/release.py 1.2.3 --set        sets the version everywhere, dates its section of the changelog, removes what pages say until the
                                            first release, and checks nothing

Nothing is uploaded: docs/release.md has what a tag starts. The checks, in this order:

    tree        nothing is uncommitted, and there is no such tag yet
    version     Cargo.toml, Cargo.lock and server.json have the version, and no page says that there is no release
    notes       CHANGELOG.md has a section `## 1.2.3 (2026-11-19)` that begins with a paragraph for people
    licences    cargo-deny finds no licence, crate or source that deny.toml does not allow
    advisories  nor an advisory; where their database cannot be fetched, they are named as unchecked
    docs        the pages of docs.rs build without a warning, with the features that each crate asks for
    crates      `cargo package` packs each crate that is published, with its licences and README
    semver      what changed in the API since the last release; from 1.0 on it has to fit the version

What could not be checked is listed at the end. The checks need cargo-deny and cargo-semver-checks.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib

ROOT = pathlib.Path(os.environ.get("RELEASE_ROOT", pathlib.Path(__file__).parents[1]))
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-rc\.[1-9]\d*)?")
# What pages say until there is a release; a candidate is none.
UNRELEASED = re.compile(r"<!-- until the first release -->\n.*?<!-- end of until the first release -->\n", re.DOTALL)
# Every crate has these.
PACKED = ("Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md")


class Refused(Exception):
    """Why a commit cannot be released, and what to do about it."""


def run(*command, **options):
    return subprocess.run(command, cwd=ROOT, text=True, **options)


def output(*command):
    return run(*command, check=True, capture_output=True).stdout


def must(why, *command, **options):
    """Runs a command that prints its own findings."""
    if run(*command, **options).returncode != 0:
        raise Refused(why)


def read(name):
    return (ROOT / name).read_text()


def published():
    """Returns the packages that are published, as cargo describes them."""
    packages = json.loads(output("cargo", "metadata", "--no-deps", "--format-version", "1", "--locked"))["packages"]
    return [package for package in packages if package["publish"] != []]


def notes(version):
    """Returns the section of a version in the changelog: its date, and its text."""
    sections = re.split(r"^## ", read("CHANGELOG.md"), flags=re.MULTILINE)[1:]
    for section in sections:
        head, _, text = section.partition("\n")
        found = re.fullmatch(r"(\S+) \((\d{4}-\d\d-\d\d)\)", head.strip())
        if found and found[1] == version:
            return found[2], text.strip()
    raise Refused(f"CHANGELOG.md has no section `## {version} (YYYY-MM-DD)`; rename `## Unreleased`")


def unreleased():
    """Returns the pages that say that there is no release, each with its text as the first release has it."""
    for name in ("README.md", "docs/install.md", "docs/release.md", "docs/rust.md", "site/index.html"):
        if (ROOT / name).exists() and UNRELEASED.search(read(name)):
            yield name, UNRELEASED.sub("", read(name))


def check_tree(version, _unchecked):
    changed = output("git", "status", "--porcelain")
    if changed:
        raise Refused(f"these files are not committed:\n{changed.rstrip()}")
    if output("git", "tag", "--list", f"v{version}"):
        raise Refused(f"the tag v{version} exists; a version is released once")


def check_version(version, _unchecked):
    found = versions()
    wrong = [f"{place} has {it}" for place, it in found if it != version]
    if "-" not in version:
        wrong += [f"{name} says that there is no release" for name, _text in unreleased()]
    if wrong:
        raise Refused("\n".join([*wrong, f"set it with `packaging/release.py {version} --set`"]))


def versions():
    """Returns every place of the version in the repository, and what it has."""
    manifest = tomllib.loads(read("Cargo.toml"))["workspace"]
    yield "Cargo.toml, [workspace.package]", manifest["package"]["version"]
    ours = {name: it["version"] for name, it in manifest["dependencies"].items() if "path" in it and "version" in it}
    for name, version in ours.items():
        yield f"Cargo.toml, {name}", version
    for package in tomllib.loads(read("Cargo.lock"))["package"]:
        if "source" not in package and package["name"] in ours:
            yield f"Cargo.lock, {package['name']}", package["version"]
    server = json.loads(read("server.json"))
    yield "server.json", server["version"]
    for package in server["packages"]:
        yield f"server.json, {package['identifier']}", package["version"]


def set_version(version):
    old = tomllib.loads(read("Cargo.toml"))["workspace"]["package"]["version"]
    manifest = []
    for line in read("Cargo.toml").splitlines(keepends=True):
        if line.startswith("version = ") or "path = " in line:
            line = line.replace(f'version = "{old}"', f'version = "{version}"')
        manifest.append(line)
    (ROOT / "Cargo.toml").write_text("".join(manifest))
    server = read("server.json").replace(f'"version": "{old}"', f'"version": "{version}"')
    (ROOT / "server.json").write_text(server)
    changes, dated = read("CHANGELOG.md"), f"## {version} ({datetime.date.today()})"
    if f"\n## {version} (" not in changes:
        (ROOT / "CHANGELOG.md").write_text(changes.replace("\n## Unreleased\n", f"\n{dated}\n", 1))
    for name, text in list(unreleased()) if "-" not in version else ():
        (ROOT / name).write_text(text)
    must("cargo cannot update Cargo.lock", "cargo", "update", "--workspace", "--offline", "--quiet")


def check_notes(version, _unchecked):
    date, text = notes(version)
    if datetime.date.fromisoformat(date) > datetime.date.today():
        raise Refused(f"CHANGELOG.md dates {version} {date}, which is to come")
    if not text or re.match(r"[-*#]", text):
        raise Refused(f"the section of {version} in CHANGELOG.md does not begin with a paragraph for people; say what they get")


def check_licences(_version, _unchecked):
    deny = ("cargo", "deny", "--log-level", "error", "check", "--hide-inclusion-graph", "bans", "licenses", "sources")
    must("cargo-deny has findings, see above", *deny)


def check_advisories(_version, unchecked):
    if run("cargo", "deny", "--log-level", "off", "fetch", "db", capture_output=True).returncode != 0:
        unchecked.append("advisories: their database cannot be fetched here; `cargo deny check advisories` where it can")
        return
    must("there are advisories, see above", "cargo", "deny", "--log-level", "warn", "check", "--hide-inclusion-graph", "advisories")


def check_docs(_version, _unchecked):
    for package in published():
        asked = ((package["metadata"] or {}).get("docs") or {}).get("rs") or {}
        features = ["--all-features"] if asked.get("all-features") else ["--features", ",".join(asked.get("features", []))]
        kinds = {kind for target in package["targets"] for kind in target["kind"]}
        which = ["--lib"] if "lib" in kinds else ["--bins"]
        document = ("cargo", "doc", "--quiet", "--locked", "--no-deps", "--package", package["name"], *which, *features)
        flags = os.environ | {"RUSTDOCFLAGS": "--cfg docsrs -D warnings"}
        must(f"the page of {package['name']} on docs.rs does not build, see above", *document, env=flags)


def check_crates(version, _unchecked):
    packages = [package["name"] for package in published()]
    chosen = [word for name in packages for word in ("--package", name)]
    folder = pathlib.Path(json.loads(output("cargo", "metadata", "--no-deps", "--format-version", "1"))["target_directory"], "package")
    shutil.rmtree(folder, ignore_errors=True)
    must("cargo cannot pack the crates, see above", "cargo", "package", "--quiet", "--locked", "--no-verify", *chosen)
    wrong = []
    for name in packages:
        with tarfile.open(folder / f"{name}-{version}.crate") as crate:
            files = {member.name.partition("/")[2]: member.size for member in crate.getmembers()}
        wrong += [f"{name} has no {file}, or it is empty" for file in PACKED if not files.get(file)]
    if wrong:
        raise Refused("\n".join(wrong))


def check_semver(version, _unchecked):
    tags = output("git", "tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname").split()
    baseline = tags[0] if tags else read(".ci/semver-baseline").strip()
    if run("git", "rev-parse", "--quiet", "--verify", f"{baseline}^{{commit}}", capture_output=True).returncode != 0:
        raise Refused(f"the history has no {baseline} to compare the API with; fetch it")
    breaks = []
    for package in published():
        if any("lib" in target["kind"] for target in package["targets"]):
            compared = run("cargo", "semver-checks", "--package", package["name"], "--baseline-rev", baseline)
            if compared.returncode != 0:
                breaks.append(package["name"])
    if breaks and not version.startswith("0."):
        raise Refused(f"the API of {', '.join(breaks)} does not fit the version, see above")
    if breaks:
        print(f"note: since {baseline} the API changed, or could not be compared, in {', '.join(breaks)}; before 1.0 it may")


CHECKS = {
    name: globals()[f"check_{name}"] for name in ("tree", "version", "notes", "licences", "advisories", "docs", "crates", "semver")
}


def tag(version):
    date, text = notes(version)
    must("git cannot make the tag", "git", "tag", "--annotate", f"v{version}", "--cleanup=verbatim", "--message", f"Skillfold {version}\n\n{text}")
    print(f"tagged: v{version} at {output('git', 'rev-parse', '--short', 'HEAD').strip()}; `git push origin v{version}` starts the release")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("checks", nargs="*", help="only these checks", metavar="CHECK")
    parser.add_argument("--check", action="store_true", help="make no tag")
    parser.add_argument("--set", action="store_true", help="set the version everywhere")
    chosen = parser.parse_args()
    if not VERSION.fullmatch(chosen.version):
        sys.exit(f"error: {chosen.version!r} is no version such as 1.2.3 or 1.2.3-rc.1")
    unknown = [name for name in chosen.checks if name not in CHECKS]
    if unknown:
        sys.exit(f"error: unknown: {', '.join(unknown)}; the checks are {', '.join(CHECKS)}")
    try:
        if chosen.set:
            return set_version(chosen.version)
        unchecked = []
        for name in chosen.checks or CHECKS:
            before = len(unchecked)
            CHECKS[name](chosen.version, unchecked)
            if len(unchecked) == before:
                print(f"checked: {name}", flush=True)
        for line in unchecked:
            print(f"unchecked: {line}")
        if not chosen.checks and not chosen.check:
            tag(chosen.version)
    except Refused as why:
        sys.exit(f"error: {why}")


if __name__ == "__main__":
    main()
