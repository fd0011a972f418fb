"""What each way to install checks: artifacts are changed on their way or in the registry, and installed.

A changed artifact is whole and could be installed: only a checksum or a signature tells that it is another. `in transit` changes the
file alone, `in the registry` also what the registry says about it, `by a lock` does the same to somebody who has a lock from before.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.client
import http.server
import io
import re
import shutil
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import ways
from clean_root import CleanRoot, Failed
from registries import HOST, Crates, Files, Images, Ktra, Npm, Pypi
from ways import Release

MARK = b"\nchanged = True\n"
# How programs say that a file is another.
REASON = re.compile(r"mismatch|do not match|not signed|its signature|checksum (for|of|changed|did)|EINTEGRITY|BADSIG|unexpected size|invalid|couldn't be verified|one line of base64", re.IGNORECASE)


class Changing:
    """A server before another, between `with` and its end: it passes on every answer as `change` makes it."""

    def __init__(self, server: str, change: Callable[[str, bytes], bytes]) -> None:
        self.server, self.change = server, change

    def __enter__(self) -> Changing:
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                connection = http.client.HTTPConnection(outer.server, timeout=60)
                # Whole files, also for who asks for a part or only for the size.
                connection.putrequest("GET", self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    if name.lower() not in {"accept-encoding", "if-none-match", "range"}:
                        connection.putheader(name, value)
                connection.endheaders()
                answer = connection.getresponse()
                body = outer.change(self.path, answer.read())
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in {"content-length", "transfer-encoding", "connection", "etag", "accept-ranges"}:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_HEAD = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer((HOST, 0), Handler)
        self.port = self.http.server_address[1]
        self.host, self.url = f"{HOST}:{self.port}", f"http://{HOST}:{self.port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()


class Swap:
    """Gives another file in place of one; and, if asked, its digests in place of the other's."""

    def __init__(self, old: bytes, new: bytes, said: bool, also: Callable[[bytes], bytes] = lambda body: body) -> None:
        self.old, self.new, self.said, self.also = old, new, said, also

    def __call__(self, _path: str, body: bytes) -> bytes:
        if body == self.old:
            return self.new
        body = self.also(body)
        if self.said:
            for algorithm in ("md5", "sha1", "sha256", "sha512"):
                old, new = (hashlib.new(algorithm, data).digest() for data in (self.old, self.new))
                body = body.replace(old.hex().encode(), new.hex().encode()).replace(base64.b64encode(old), base64.b64encode(new))
        return body


def changed_zip(data: bytes, name: str) -> bytes:
    """Return a ZIP archive with a line more in a file."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry) + (MARK if entry.filename == name else b""))
    return changed.getvalue()


def changed_tar(data: bytes, name: str) -> bytes:
    """Return a compressed tar archive with a line more in a file."""
    changed = io.BytesIO()
    found = False
    with tarfile.open(fileobj=io.BytesIO(data)) as old, tarfile.open(fileobj=changed, mode="w:gz") as new:
        for member in old:
            content = old.extractfile(member).read() if member.isfile() else b""
            if member.name.endswith(name):
                found, content = True, content + MARK
                member.size = len(content)
            new.addfile(member, io.BytesIO(content))
    if not found:
        raise Failed(f"no {name} to change in the archive")
    return changed.getvalue()


def outcome(root: CleanRoot, command: str, installed: str, **options: str) -> str:
    """Return whether something is installed after a command, and what was said if not."""
    done = root.run(command, **options)
    if root.run(installed, **({"user": options["user"]} if "user" in options else {})).returncode == 0:
        return "installed"
    lines = [line.strip() for line in done.stdout.splitlines() if REASON.search(line)] or [f"ended with {done.returncode}: {done.stdout.strip()[-110:]}"]
    return f"refused: {lines[0][:110]}"


def of_pypi(release: Release) -> dict[str, str]:
    [wheel] = release.files.glob("*manylinux*x86_64.whl")
    old = wheel.read_bytes()
    new = changed_zip(old, "skillfold/__init__.py")
    found = {}
    with Pypi(release.tools / "bin/python") as registry:
        login = {"UV_PUBLISH_USERNAME": "rehearsal", "UV_PUBLISH_PASSWORD": "rehearsal"}
        release.publish("pypi", UV_PUBLISH_URL=registry.url, UV_PUBLISH_CHECK_URL=f"{registry.url}/simple/", **login)
        for how, said in (("in transit", False), ("in the registry", True), ("by a lock", True)):
            with Changing(registry.host, Swap(old, new, said)) as changing, CleanRoot(release.base, [changing.port]) as root:
                root.lend(release.tools / "bin/uv", "/usr/local/bin/uv")
                index = {"UV_DEFAULT_INDEX": f"{changing.url}/simple/", "PIP_INDEX_URL": f"{changing.url}/simple/"}
                lock = f"skillfold=={release.version} --hash=sha256:{hashlib.sha256(old).hexdigest()}"
                asked = "--require-hashes -r lock.txt" if how == "by a lock" else "skillfold"
                commands = {"pip": f"try/bin/pip install {asked}", "uv": f"uv pip install --python try/bin/python {asked}"}
                for client, command in commands.items():
                    command = f"rm -rf try; python3 -m venv try; echo '{lock}' >lock.txt; {command}"
                    found[f"{client}: wheel {how}"] = outcome(root, command, "test -e try/bin/skillfold", **index)
    return found


def of_npm(release: Release) -> dict[str, str]:
    [main] = release.files.glob("skillfold-[0-9]*.tgz")
    old = main.read_bytes()
    new = changed_tar(old, "README.md")
    node = release.tools / "npm/node_modules/node/bin/node"
    found = {}
    with Npm(node, release.tools / "npm/node_modules") as registry:
        ways.publish_npm(release, registry)
        for how, said in (("in transit", False), ("in the registry", True), ("by a lock", True)):
            with Changing(registry.host, Swap(old, new, said)) as changing, CleanRoot(release.base, [changing.port, registry.port]) as root:
                root.lend(node, "/usr/local/bin/node")
                root.lend(release.tools / "npm/node_modules/npm", "/usr/local/lib/npm")
                root.must("ln -s ../lib/npm/bin/npm-cli.js /usr/local/bin/npm", user="root")
                command, there = "cd try && npm install skillfold", {"NPM_CONFIG_REGISTRY": changing.url}
                root.must("mkdir try && cd try && npm init --yes")
                if how == "by a lock":
                    root.must("cd try && npm install --package-lock-only skillfold", NPM_CONFIG_REGISTRY=registry.url)
                    root.must(f"sed -i 's|{registry.url}|{changing.url}|' try/package-lock.json")
                    command = "cd try && npm ci"
                found[f"npm: package {how}"] = outcome(root, command, "test -e try/node_modules/.bin/skillfold", **there)
    return found


def of_crates(release: Release) -> dict[str, str]:
    cargo_home = Path.home() / ".cargo"
    found = {}
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True, cwd=release.source)
    with Ktra(release.tools / "bin/ktra") as ktra, Crates(ktra, cargo_home) as registry:
        ways.publish_crates(release, ktra, registry)
        [crate] = (ktra.folder / "crates").rglob(f"*skillfold-core*/{release.version}/download")
        old = crate.read_bytes()
        new = changed_tar(old, "README.md")
        for how, said in (("in transit", False), ("in the registry", True), ("by a lock", True)):
            here: list[str] = []
            swap = Swap(old, new, said, lambda body: body.replace(registry.url.encode(), here[0].encode()))
            with Changing(registry.host, swap) as changing, CleanRoot(release.base, [registry.port, changing.port]) as root:
                here.append(changing.url)
                root.lend(Path(sysroot.stdout.strip()), "/opt/rust")
                rust = {"LD_LIBRARY_PATH": "/opt/rust/lib"}
                into = "PATH=/opt/rust/bin:$PATH; cd try &&"
                root.must("PATH=/opt/rust/bin:$PATH; mkdir .cargo; cargo init --quiet --name trial try", **rust)
                if how == "by a lock":
                    root.must(f"echo {ways.shell_words(registry.configuration())} >.cargo/config.toml")
                    root.must(f"{into} cargo add --quiet skillfold-core && cargo generate-lockfile", **rust)
                else:
                    root.must(f"echo 'skillfold-core = \"{release.version}\"' >>try/Cargo.toml")
                text = registry.configuration().replace(registry.url, changing.url)
                root.must(f"echo {ways.shell_words(text)} >.cargo/config.toml")
                unpacked = f"ls -d .cargo/registry/src/*/skillfold-core-{release.version}"
                found[f"cargo: crate {how}"] = outcome(root, f"{into} cargo fetch", unpacked, **rust)
    return found


def of_image(release: Release) -> dict[str, str]:
    found = {}
    with Images() as registry:
        name = f"{registry.host}/skillfold"
        said = release.publish("image", name, INSECURE_REGISTRY="yes")
        digest = re.search(r"sha256:[0-9a-f]{64}", said)[0]
        blobs = [path.read_bytes() for path in (registry.folder / "storage").rglob("blobs/sha256/*/*/data")]
        old = max(blobs, key=len)
        new = gzip.compress(gzip.decompress(old), 1)

        def pull(host: str, reference: str) -> str:
            storage = ["--root", registry.folder / "podman", "--runroot", registry.folder / "running", "--storage-driver", "vfs"]
            words = ["podman", *storage, "pull", "--quiet", "--tls-verify=false", f"{host}/skillfold{reference}"]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            subprocess.run(["podman", *storage, "rmi", "--all", "--force"], capture_output=True, check=False)
            return "installed" if done.returncode == 0 else f"refused: {done.stderr.strip().splitlines()[-1][-110:]}"

        with Changing(registry.host, Swap(old, new, False)) as changing:
            found["podman: layer in transit"] = pull(changing.host, f":{release.version}")
        # Somebody who may push gives the version to another image.
        other = f"oci-archive:{release.files}/skillfold-{release.version}-image.tar"
        subprocess.run(["skopeo", "copy", "--quiet", "--dest-tls-verify=false", "--format=v2s2", other, f"docker://{name}:{release.version}"], check=True)
        found["podman: version in the registry"] = pull(registry.host, f":{release.version}")
        with Changing(registry.host, Swap(old, new, True)) as changing:
            found["podman: image in the registry, by its digest"] = pull(changing.host, f"@{digest}")
        verify = [release.tools / "bin/cosign", "verify", "--key", release.source / "packaging/release.pub", "--insecure-ignore-tlog", "--allow-http-registry"]
        done = subprocess.run([*verify, f"{name}:{release.version}"], capture_output=True, text=True, check=False)
        found["cosign: version in the registry"] = "accepted" if done.returncode == 0 else f"refused: {done.stderr.strip().splitlines()[-1][-110:]}"
    return found


def of_apt(release: Release) -> dict[str, str]:
    right = release.source.parent / "apt"
    release.publish("apt", right)
    found = {}
    for how in ("in transit", "in the registry", "in the registry, and its sums", "in the registry, signed by another key"):
        wrong = right.with_name("apt-changed")
        shutil.rmtree(wrong, ignore_errors=True)
        shutil.copytree(right, wrong)
        [package] = wrong.rglob("*_amd64.deb")
        old = package.read_bytes()
        unpacked = wrong / "unpacked"
        subprocess.run(["dpkg-deb", "--raw-extract", package, unpacked], check=True)
        with (unpacked / "usr/share/doc/skillfold/copyright").open("ab") as text:
            text.write(MARK)
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", "-Zxz", unpacked, package], check=True, capture_output=True)
        new = package.read_bytes()
        if how != "in transit":
            [listed] = wrong.glob("dists/stable/main/binary-amd64/Packages")
            before = listed.read_bytes()
            after = re.sub(rb"(?m)^Size: \d+", f"Size: {len(new)}".encode(), Swap(old, new, True)("", before))
            listed.write_bytes(after)
            listed.with_name("Packages.gz").unlink()
            if how != "in the registry":
                signed = wrong / "dists/stable/InRelease"
                sums = Swap(before, after, True)("", signed.read_bytes())
                sums = sums.replace(f" {len(before)} main/binary-amd64/Packages\n".encode(), f" {len(after)} main/binary-amd64/Packages\n".encode())
                signed.write_bytes(sums)
                (wrong / "dists/stable/Release.gpg").unlink()
                if how.endswith("key"):
                    sign_anew(release, wrong, signed, sums)
        with Files({"apt": wrong}) as registry, CleanRoot(release.base, [registry.port]) as root:
            root.must("rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*", user="root")
            # The key that the user has is the right one.
            shutil.copy2(right / "skillfold.gpg", wrong / "skillfold.gpg")
            commands = f"repository={registry.url}/apt\n" + ways.printed("docs/install.md", "With apt").split("\n", 1)[1]
            found[f"apt: package {how}"] = outcome(root, commands, "test -e /usr/bin/skillfold", user="root")
    return found


def sign_anew(release: Release, folder: Path, signed: Path, sums: bytes) -> None:
    """Sign the sums of a repository by a key that nobody has."""
    home = folder / "keys"
    home.mkdir(mode=0o700)
    gpg = ["gpg", "--homedir", home, "--batch", "--passphrase", "", "--quiet"]
    subprocess.run([*gpg, "--quick-generate-key", "other@example.com", "ed25519", "sign", "never"], check=True, capture_output=True)
    text = sums.split(b"\n\n", 1)[1].split(b"-----BEGIN PGP SIGNATURE")[0]
    done = subprocess.run([*gpg, "--clearsign", "--output", "-"], input=text, check=True, capture_output=True)
    signed.write_bytes(done.stdout)


def of_script(release: Release) -> dict[str, str]:
    """Changes what the install script gets, as it was released: packaging/test_install.py tries many more with a small archive."""
    [archive] = release.files.glob("*x86_64-unknown-linux-musl.tar.gz")
    files = {name: (release.files / name).read_bytes() for name in (archive.name, "SHA256SUMS", "SHA256SUMS.sig")}
    old = files[archive.name]
    new = changed_tar(old, "README.md")
    other = (release.files / f"skillfold-{release.version}-aarch64-unknown-linux-musl.tar.gz").read_bytes()
    sums = Swap(old, new, True)("", files["SHA256SUMS"])
    key = release.source.parent / "other"
    key.mkdir(exist_ok=True)
    if not (key / "key.pem").exists():
        words = ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key / "key.pem"]
        subprocess.run(["openssl", *words], check=True, capture_output=True)
    (key / "sums").write_bytes(sums)
    signed = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key / "key.pem", key / "sums"], check=True, capture_output=True).stdout
    middle = len(old) // 2
    flipped = old[:middle] + bytes([old[middle] ^ 1]) + old[middle + 1 :]
    changes: dict[str, dict[str, bytes]] = {
        "archive repacked": {archive.name: new},
        "archive with one bit changed": {archive.name: flipped},
        "archive cut": {archive.name: old[:middle]},
        "archive of another system": {archive.name: other},
        "archive and its checksum": {archive.name: new, "SHA256SUMS": sums},
        "archive, its checksum, signed by another key": {archive.name: new, "SHA256SUMS": sums, "SHA256SUMS.sig": base64.b64encode(signed) + b"\n"},
        "signature empty": {"SHA256SUMS.sig": b""},
        "signature of something else": {"SHA256SUMS.sig": base64.b64encode(signed) + b"\n"},
        "checksums empty": {"SHA256SUMS": b""},
    }
    found = {}
    for name, changed in changes.items():
        place = release.source.parent / "files-changed"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for file in ("install.sh", *files):
            (place / file).write_bytes(changed.get(file, (release.files / file).read_bytes()))
        with Files({"files": place}) as registry, CleanRoot(release.base, [registry.port]) as root:
            address = f"{registry.url}/files"
            command = f"curl -fsSLO {address}/install.sh && sh install.sh"
            found[f"script: {name}"] = outcome(root, command, "test -e .local/bin/skillfold", INSTALL_SKILLFOLD_FROM=address)
    return found


def run(release: Release) -> dict[str, object]:
    """Try every way, and print what each says."""
    found: dict[str, str] = {}
    for way in (of_script, of_pypi, of_npm, of_crates, of_image, of_apt):
        found |= way(release)
    for name, said in found.items():
        print(f"{name:55} {said}")
    installed = [name for name, said in found.items() if name.startswith("script") and said == "installed"]
    return {"tried": len(found), "refused": sum(said.startswith("refused") for said in found.values()), "installed by the script": installed, "all": found}
