"""Packages of scripts: a lock file or a requirement that names another address than the registry."""

import base64
import hashlib
import http.server
import io
import json
import shutil
import tarfile
import threading

from ground import skill, write

# The script says what it got of each.
SCRIPT = (
    'for (const name of ["good", "dep", "evil"]) { try { console.log(name, require(name)) } '
    "catch (error) { console.log(name, error.code) } }\n"
)


def archive(name, version, text, dependencies=None):
    files = {
        "package.json": json.dumps({"name": name, "version": version, "main": "index.js", "dependencies": dependencies or {}}),
        "index.js": f"module.exports = {json.dumps(text)}",
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(content.encode())
            tar.addfile(entry, io.BytesIO(content.encode()))
    return packed.getvalue()


DEPENDENCIES = {"good": {"dep": "^1.0.0"}}
OURS = {
    (name, version): archive(name, version, f"ours {version}", DEPENDENCIES.get(name))
    for name in ("good", "dep", "evil")
    for version in ("1.0.0", "1.1.0")
}
THEIRS = {name: archive(name, "1.0.0", "theirs") for name in ("good", "dep", "evil")}


def integrity(packed):
    return "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()


class Quiet(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, body):
        self.send_response(200 if body else 404)
        self.end_headers()
        self.wfile.write(body or b"")


class Registry(Quiet):
    def do_GET(self):
        name, _, file = self.path.strip("/").partition("/-/")
        if file:
            return self.answer(OURS.get((name, file.removesuffix(".tgz"))))
        versions = {
            version: {
                "name": name,
                "version": version,
                "dependencies": DEPENDENCIES.get(name, {}),
                "dist": {
                    "tarball": f"http://127.0.0.1:{self.server.server_address[1]}/{name}/-/{version}.tgz",
                    "integrity": integrity(packed),
                },
            }
            for (of, version), packed in OURS.items()
            if of == name
        }
        return self.answer(
            versions and json.dumps({"name": name, "dist-tags": {"latest": "1.1.0"}, "versions": versions}).encode()
        )


class Attacker(Quiet):
    asked = []

    def do_GET(self):
        self.asked.append(self.path)
        self.answer(THEIRS.get(self.path.strip("/").removesuffix(".tgz")))


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def locks(address):
    """Yields lock files that name another address, or another package."""
    root = {"": {"dependencies": {"good": "^1.0.0"}}}
    url = lambda name: f"{address}/{name}.tgz"  # noqa: E731
    new = lambda **packages: {  # noqa: E731
        "lockfileVersion": 3,
        "packages": {**root, **{f"node_modules/{name}": entry for name, entry in packages.items()}},
    }
    old = lambda **packages: {"lockfileVersion": 1, "requires": True, "dependencies": packages}  # noqa: E731
    theirs = integrity(THEIRS["good"])
    yield "version", old(good={"version": url("good")})
    yield "requires", old(good={"version": "1.0.0", "requires": {"evil": url("evil")}}, evil={"version": url("evil")})
    yield "resolved", new(good={"version": "1.0.0", "resolved": url("good"), "integrity": theirs})
    yield "version of today", new(good={"version": url("good")})
    yield "dependencies", new(good={"version": "1.0.0", "dependencies": {"evil": url("evil")}})
    yield "inner", new(good={"version": "1.0.0", "dependencies": {"evil": "1"}}, evil={"version": url("evil")})
    yield "optional", new(good={"version": "1.0.0", "optionalDependencies": {"evil": url("evil")}})
    yield "peer", new(good={"version": "1.0.0", "peerDependencies": {"dep": url("dep")}})
    yield "git", new(good={"version": "1.0.0", "dependencies": {"evil": f"git+{address}/evil.git"}})
    yield "file", new(good={"version": "1.0.0", "dependencies": {"evil": "file:///usr/share"}})
    yield "name", new(good={"name": "evil", "version": "1.0.0"})
    yield "alias", old(good={"version": "npm:evil@1.0.0"})
    yield "more", new(good={"version": "1.0.0", "dependencies": {"evil": "^1.0.0"}}, evil={"version": "1.0.0"})
    both = {**new(good={"version": "1.0.0"}), "dependencies": {"good": {"version": url("good")}}}
    yield "both forms", both


def attack(row, ground, _):
    python(row, ground)
    if not shutil.which("npm", path=ground.environment["PATH"]):
        return "requirements of Python alone: npm is not installed"
    registry, attacker = serve(Registry), serve(Attacker)
    more = {"NPM_CONFIG_REGISTRY": f"http://127.0.0.1:{registry.server_address[1]}/"}
    address = f"http://127.0.0.1:{attacker.server_address[1]}"
    honest = {
        "lockfileVersion": 3,
        "packages": {
            "": {"dependencies": {"good": "^1.0.0"}},
            "node_modules/good": {
                "version": "1.0.0",
                "integrity": integrity(OURS["good", "1.0.0"]),
                "dependencies": {"dep": "^1.0.0"},
            },
            "node_modules/dep": {"version": "1.0.0"},
        },
    }
    got = install(ground, "honest", honest, more)
    row.control(got == "good ours 1.0.0; dep ours 1.0.0; evil MODULE_NOT_FOUND", f"the versions of a lock count: {got}")
    # All of them in the long form; what was seen to work once, always.
    tries = list(locks(address))
    for name, lock in tries[:2] + row.some(tries[2:], 1):
        Attacker.asked.clear()
        got = install(ground, name.replace(" ", "-"), lock, more)
        wrong = f"fetched {Attacker.asked}" if Attacker.asked else None
        if "theirs" in got or "evil ours" in got:
            wrong = got
        row.try_one(wrong, name)
    for server in (registry, attacker):
        server.shutdown()
    return None


def install(ground, name, lock, more):
    """Installs the packages of a skill; returns what its script sees, or nothing where they were refused."""
    folder = skill(ground.user, f"lock-{name}", name)
    write(folder / "scripts/a.js", SCRIPT)
    write(folder / "scripts/package.json", json.dumps({"dependencies": {"good": "^1.0.0"}}))
    write(folder / "scripts/package-lock.json", json.dumps(lock))
    done = ground.at_terminal("run", folder.name, "--prepare", more=more)
    if done.code != 0:
        return ""
    return ground.run("run", folder.name, "scripts/a.js").out.decode().strip().replace("\n", "; ")


def python(row, ground):
    """Requirements that are no package of an index."""
    for number, requirement in enumerate(
        ["six @ https://127.0.0.1:1/six.whl", "six@file:///etc/passwd", "https://127.0.0.1:1/six.whl", "-r /etc/passwd"]
    ):
        folder = skill(ground.user, f"python-{number}", "x")
        block = f"# /// script\n# dependencies = [{json.dumps(requirement)}]\n# ///\nprint()\n"
        write(folder / "scripts/a.py", block)
        done = ground.at_terminal("run", folder.name, "--prepare")
        row.try_one((done.code == 0 or b"[y/N]" in done.out) and f"it was asked about: {done}", requirement)
