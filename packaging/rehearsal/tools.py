"""What a rehearsal needs: programs of the system, and servers and clients from registries, in a folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Programs, and Debian's package of each.
PROGRAMS = {
    "debootstrap": "debootstrap",
    "docker-registry": "docker-registry",
    "nginx": "nginx-light",
    "reprepro": "reprepro",
    "gpg": "gnupg",
    "buildah": "buildah",
    "skopeo": "skopeo",
    "podman": "podman",
    "runc": "runc",
    "rpmbuild": "rpm",
    "qemu-aarch64-static": "qemu-user-static",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "x86_64-w64-mingw32-gcc": "gcc-mingw-w64-x86-64",
    "wine": "wine",
    "busybox": "busybox",
    "file": "file",
}
CRATES = {"ktra": "0.7.0", "cargo-cyclonedx": "0.5.9", "cargo-deny": "0.20.2", "cargo-semver-checks": "0.51.0"}
PYTHON = ("pypiserver==2.4.2", "passlib==1.7.4", "uv==0.13.8")
# Verdaccio asks for a version of `node-fetch` by a word that mirrors do not have.
NPM = {
    "name": "rehearsal",
    "version": "1.0.0",
    "dependencies": {"node": "24", "npm": "11", "verdaccio": "6.10.4"},
    "overrides": {"node-fetch": "2.7.0"},
}
# Debian's suites with cosign 3, newest first: that of this system has none.
COSIGN_SUITES = ("forky", "testing", "sid")


def install_programs() -> None:
    """Install the programs that are missing."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    missing = [package for name, package in PROGRAMS.items() if not shutil.which(name, path=path)]
    if missing:
        # With this run level, the packages start no services.
        environment = os.environ | {"RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}
        apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300"]
        for words in (["update"], ["install", "--no-install-recommends", *missing]):
            subprocess.run([*apt, *words], check=True, env=environment, stdout=subprocess.DEVNULL)


def install_tools(folder: Path) -> None:
    """Install servers and clients that the system does not have, if they are not there."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    if not (folder / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *PYTHON], check=True)
    for name, version in CRATES.items():
        if not shutil.which(name, path=f"{folder}/bin:{os.environ['PATH']}"):
            subprocess.run(["cargo", "install", "--quiet", "--locked", "--debug", "--root", folder, f"{name}@{version}"], check=True)
    if not (folder / "npm/node_modules/verdaccio").exists():
        (folder / "npm").mkdir(exist_ok=True)
        (folder / "npm/package.json").write_text(json.dumps(NPM))
        words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"]
        subprocess.run(words, cwd=folder / "npm", check=True)
    if not (folder / "bin/cosign").exists():
        install_cosign(folder)


def install_cosign(folder: Path) -> None:
    """Take cosign from a newer suite of Debian, with what it needs of this one."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"], check=True, capture_output=True, text=True)
    site = listed.stdout.split()[0]
    place = folder / "cosign"
    for part in ("lists/partial", "cache/archives/partial"):
        (place / part).mkdir(parents=True, exist_ok=True)
    options = {"Dir::Etc::sourcelist": place / "list", "Dir::Etc::sourceparts": "-", "Dir::State::lists": place / "lists", "Dir::Cache": place / "cache"}
    apt = ["apt-get", "-qq", *(word for name, value in options.items() for word in ("-o", f"{name}={value}")), "-o", "APT::Sandbox::User=root"]
    for suite in COSIGN_SUITES:
        (place / "list").write_text(f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {site} {suite} main\n")
        found = subprocess.run([*apt, "update"], check=False, capture_output=True)
        if found.returncode == 0 and subprocess.run([*apt, "download", "cosign"], cwd=place, check=False, capture_output=True).returncode == 0:
            break
    else:
        sys.exit(f"error: none of Debian's {', '.join(COSIGN_SUITES)} has cosign here")
    [package] = place.glob("cosign_3*.deb")
    subprocess.run(["dpkg", "-x", package, place / "files"], check=True)
    shutil.copy2(place / "files/usr/bin/cosign", folder / "bin/cosign")
    shutil.rmtree(place)
