"""Sources of skills of every kind on running servers, with what their authors wrote."""

from __future__ import annotations

import contextlib
import io
import tarfile
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import repositories
from machine import Machine, digest
from repositories import Tree
from servers import Authority, Files, GitHttp, GitSsh

START = 1_700_000_000


class Sources:
    """Servers with one source of each kind, between `with` and its end. `count` is the number of skills in each."""

    def __init__(self, root: Path, count: int) -> None:
        self.root, self.count = root, count

    def __enter__(self) -> Sources:
        with contextlib.ExitStack() as stack:
            self.authority = stack.enter_context(Authority())
            for name in ("repositories", "files"):
                (self.root / name).mkdir(parents=True)
            self.http = stack.enter_context(GitHttp(self.root / "repositories", authority=self.authority))
            self.ssh = stack.enter_context(GitSsh(self.root / "repositories"))
            self.files = stack.enter_context(Files(self.root / "files", authority=self.authority))
            self.trees: dict[str, Tree] = {kind: self.tree(kind) for kind in KINDS}
            for kind in ("https", "ssh"):
                repositories.build(self.root / f"repositories/{kind}.git", {"v1.0.0": self.trees[kind]})
            (self.root / "files/skills.tar.gz").write_bytes(tar(self.trees["tar"], "skills-1.0.0/"))
            (self.root / "files/skills.zip").write_bytes(zipped(self.trees["zip"]))
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def tree(self, kind: str) -> Tree:
        files: Tree = {"README.md": b"# Skills\n"}
        for number in range(self.count):
            about = f"Does task {number} of {kind}. Use it when a user asks for {kind} task {number}"
            files |= repositories.skill_files(f"skills/{kind}-{number:03}", KINDS.index(kind) * 1000 + number, about)
        return files

    def address(self, kind: str) -> str:
        """Return what a user types."""
        return {
            "https": self.http.secure_url("https"),
            "ssh": self.ssh.url("ssh"),
            "tar": self.files.secure_url("skills.tar.gz"),
            "zip": self.files.url("skills.zip"),
            "folder": "./team",
        }[kind]

    def put_folder(self, project: Path) -> None:
        """Write the local source, which belongs to the project."""
        for path, content in self.trees["folder"].items():
            file = project / "team" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)

    def digests(self, kind: str) -> dict[str, str]:
        """Return the digest of each skill by name, as its author wrote it."""
        skills: dict[str, Tree] = {}
        for path, content in self.trees[kind].items():
            if path.startswith("skills/"):
                _, name, inner = path.split("/", 2)
                skills.setdefault(name, {})[inner] = content
        return {name: digest(files) for name, files in skills.items()}

    def environment(self) -> dict[str, str]:
        """Return what a machine needs to reach and to trust the servers."""
        trusted = self.authority.environment()
        return {**{name: trusted[name] for name in ("GIT_SSL_CAINFO", "SSL_CERT_FILE")}, "GIT_SSH_COMMAND": self.ssh.git_ssh_command}

    def ports(self) -> list[int]:
        addresses = [self.address(kind) for kind in KINDS if kind != "folder"]
        return [port for address in addresses if (port := urlsplit(address).port)]

    def machine(self, folder: Path, binary: Path, within: tuple[str, ...] = ()) -> Machine:
        return Machine(folder, binary, within, **self.environment())


KINDS = ("https", "ssh", "tar", "zip", "folder")


def tar(files: Tree, prefix: str = "") -> bytes:
    """Return files as a compressed tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(prefix + path)
            entry.size, entry.mtime = len(content), START
            entry.mode = 0o755 if path.endswith(repositories.EXECUTABLE) else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def zipped(files: Tree, prefix: str = "") -> bytes:
    """Return files as a zip."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(zipfile.ZipInfo(prefix + path, (2023, 11, 14, 22, 13, 20)), content)
    return out.getvalue()
