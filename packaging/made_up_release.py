"""A made-up release for the tests of the install script: archives with a tiny program, sums, a key, and a server on the loopback.

The key, the signatures, the server and the programs that the script starts are real.
"""

import base64
import contextlib
import gzip
import hashlib
import http.server
import io
import itertools
import os
import pathlib
import shutil
import stat
import subprocess
import tarfile
import tempfile
import threading

HERE = pathlib.Path(__file__).parent
TARGETS = ("x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl", "x86_64-apple-darwin", "aarch64-apple-darwin")
NOBODY = 65534
# What the script may use besides the shell's own commands; `tar` and `wget` also come from elsewhere.
PROGRAMS = (
    "cat chmod cut find fold grep gzip head id mkdir mktemp mv rm rmdir sed sha256sum sort tail tar timeout tr true uname uniq wc wget"
).split()


def openssl(*words, data=None):
    return subprocess.run(["openssl", *map(str, words)], input=data, check=True, capture_output=True).stdout


def sign(key, data, digest="sha256"):
    """Signs as `cosign sign-blob --key` does: base64 of the signature in DER."""
    return base64.b64encode(openssl("dgst", f"-{digest}", "-sign", key, data=data))


def program(version):
    return f'#!/bin/sh\necho "skillfold {version}"\n'.encode()


class Member(tarfile.TarInfo):
    """A member of an archive; its data is `data`."""

    def __init__(self, name, data=b"", **fields):
        super().__init__(name)
        self.data, self.size, self.mode = data, len(data), 0o644
        for field, value in fields.items():
            setattr(self, field, value)


def members(version, target):
    """Returns the members of an archive, as packaging/archive.sh packs them."""
    top = f"skillfold-{version}-{target}"
    folders = [Member(top + name, type=tarfile.DIRTYPE, mode=0o755) for name in ("", "/completions", "/man")]
    files = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "apparmor.profile"]
    files += [f"completions/{name}" for name in ("_skillfold", "_skillfold.ps1", "skillfold.bash", "skillfold.fish")]
    files += [f"man/skillfold{name}.1" for name in ("", "-list", "-setup")]
    made = folders + [Member(f"{top}/{name}", f"{name} of {version}\n".encode()) for name in files]
    return [*made, Member(f"{top}/skillfold", program(version), mode=0o755)]


def pack(listed):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for member in listed:
            archive.addfile(member, io.BytesIO(member.data))
    return gzip.compress(raw.getvalue(), mtime=0)


class Release:
    """The files of a release, by name."""

    def __init__(self, version, key):
        self.version, self.key = version, key
        self.files = {self.archive(target): pack(members(version, target)) for target in TARGETS}
        self.files[f"skillfold-{version}-x86_64-pc-windows-msvc.zip"] = b"zip"
        self.files[f"skillfold_{version.replace('-', '~')}-1_amd64.deb"] = b"deb"
        self.seal()

    def archive(self, target=TARGETS[0]):
        return f"skillfold-{self.version}-{target}.tar.gz"

    def sums(self):
        listed = sorted(name for name in self.files if not name.startswith("SHA256SUMS"))
        return "".join(f"{hashlib.sha256(self.files[name]).hexdigest()}  {name}\n" for name in listed).encode()

    def seal(self, sums=None):
        """Lists the sums of all files, or those that are given, and signs them."""
        self.files["SHA256SUMS"] = self.sums() if sums is None else sums
        self.files["SHA256SUMS.sig"] = sign(self.key, self.files["SHA256SUMS"])

    def repack(self, change):
        """Packs our archive again, changed, with a true sum and signature."""
        listed = members(self.version, TARGETS[0])
        self.files[self.archive()] = pack(change(listed) or listed)
        self.seal()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        folder, _, name = self.path.strip("/").partition("/")
        content = self.server.folders.get(folder, {}).get(name)
        with contextlib.suppress(ConnectionError):
            if callable(content):
                content(self)
            elif content is None:
                self.send_error(404)
            else:
                self.answer(content)

    def answer(self, content, length=None):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """Serves dictionaries of files, each below the name of its folder. A file may be a function of the handler."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folders, self.asked = {}, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def address(self, folder):
        return f"http://127.0.0.1:{self.server_port}/{folder}"


class World:
    """A folder with a key, install scripts, homes and folders of programs, and a server."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="skillfold install "))
        self.root.chmod(0o755)
        self.server = Server()
        self.numbers = itertools.count()
        self.key = self.root / "key.pem"
        self.key.write_bytes(openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout"))
        public = self.root / "release.pub"
        public.write_bytes(openssl("ec", "-in", self.key, "-pubout"))
        command = [str(HERE / "install_script.sh"), str(public)]
        environment = os.environ | {"REPOSITORY": "https://example.com/skillfold"}
        self.script = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        self.version = self.script.split("version='")[1].split("'")[0]
        busybox = self.programs("busybox", **dict.fromkeys(PROGRAMS, shutil.which("busybox")), openssl=shutil.which("openssl"))
        system = self.programs("system", **{it: shutil.which(it) for it in [*PROGRAMS, "curl", "openssl"]})
        # Which shell reads the script, and the only folder on its PATH.
        self.shells = {"dash": (["dash"], system), "bash": (["bash"], system), "posix": (["bash", "--posix"], system)}
        self.shells["busybox"] = (["busybox", "sh"], busybox)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(self.root)

    def programs(self, name, **programs):
        """Makes a folder with these programs alone: each is a path, or a script."""
        folder = self.root / "programs" / name
        folder.mkdir(parents=True)
        for program, what in programs.items():
            if what.startswith("#!"):
                (folder / program).write_text(what)
                (folder / program).chmod(0o755)
            else:
                (folder / program).symlink_to(os.path.realpath(what))
        return folder

    def changed(self, shell="dash", **changes):
        """Makes a folder with the programs of a shell, where some are replaced or absent (`None`)."""
        programs = {it.name: str(it) for it in self.shells[shell][1].iterdir()} | changes
        return self.programs(f"changed-{next(self.numbers)}", **{name: it for name, it in programs.items() if it})

    def script_of(self, version):
        return self.script.replace(f"version='{self.version}'", f"version='{version}'")

    def home(self):
        """Makes an empty home, with a folder for temporary files, that belongs to the ordinary user."""
        home = pathlib.Path(tempfile.mkdtemp(prefix="home ", dir=self.root))
        (home / "tmp").mkdir()
        if os.getuid() == 0:
            for folder in (home, home / "tmp"):
                os.chown(folder, NOBODY, NOBODY)
        return home

    def start(self, home, folder, *words, shell="dash", script=None, path=None, before=(), **environment):
        """Starts the script, from stdin as after `curl … |`, as an ordinary user, with the files of a folder of the server."""
        command, programs = self.shells[shell]
        environment = {
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "PATH": str(path or programs),
            "INSTALL_SKILLFOLD_FROM": self.server.address(folder),
            **environment,
        }
        command = [*before, shutil.which(command[0]), *command[1:], "-s", "--", *map(str, words)]
        as_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(command, env=environment, cwd=home, start_new_session=True, **pipes, **as_user)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(self.script if script is None else script)
            process.stdin.close()
        process.stdin = None
        return process

    def run(self, *arguments, **options):
        process = self.start(*arguments, **options)
        output, errors = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


def tree(folder):
    """Returns what is in a folder: each path, with its mode and the kind of what is no plain file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        kind = "" if stat.S_ISREG(state.st_mode) else stat.filemode(state.st_mode)[0] + " "
        found[str(path.relative_to(folder))] = f"{kind}{stat.S_IMODE(state.st_mode):o}"
    return found
