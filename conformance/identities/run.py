#!/usr/bin/env python3
"""Logs in to `skillfold serve` through a real identity provider, by the official TypeScript client.

    python3 conformance/identities/run.py --skillfold target/release/skillfold --cache FOLDER

The provider is `oidc-provider` from npm, on the loopback; a person is played by a program that follows its pages. What they need is
installed into FOLDER.
"""

import argparse
import http.server
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import node as npm

PACKAGES = ["@modelcontextprotocol/client@2.4.0", "oidc-provider@9.13.3"]
SKILLS = {"deploy": "Deploys the shop", "refunds": "Refunds an order", "tone": "How we write"}
SETTINGS = """\
proposals = "on"
server_url = "{url}"
server_issuer = "{issuer}"

[agents.platform]
uses_skills = ["deploy", "tone"]
sees = "used"

[agents.support]
uses_skills = ["refunds", "tone"]
sees = "used"

[identities.platform-team]
groups = ["platform"]
agent = "platform"

[identities.support]
groups = ["support"]
agent = "support"
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Provider:
    """The identity provider, which can be started again with new keys."""

    def __init__(self, node, cache, port, url, keys):
        self.command = [node, cache / "provider.mjs", str(port), url, keys]
        self.start()

    def start(self, *words):
        self.process = subprocess.Popen([*self.command, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit("error: the identity provider did not start")

    def rotate(self):
        self.stop()
        self.start("--rotate")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=10)


def control(provider):
    """Serves one address: a request to it gives the provider new keys."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            provider.rotate()
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def serve(skillfold, home, port):
    settings = home / ".config/skillfold"
    for name, description in SKILLS.items():
        folder = home / ".agents/skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\nDo it well.\n")
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    command = [skillfold, "serve", "--http", str(port)]
    server = subprocess.Popen(command, cwd=home, env=environment, stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if line.startswith("Listening on"):
            threading.Thread(target=server.stderr.read, daemon=True).start()
            return server
        print(line, end="")
    sys.exit(f"error: the server did not start, by {settings}")


def check_author(skillfold, home):
    """Fails unless what a person proposed bears their name."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    listed = subprocess.run([skillfold, "proposals", "--json"], cwd=home, env=environment, check=True, capture_output=True, text=True)
    if "alice@platform" not in listed.stdout:
        sys.exit(f"error: the proposal does not name its author\n{listed.stdout}")
    print("ok  what a person proposed bears their name")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skillfold", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    options = parser.parse_args()
    cache = options.cache.resolve()
    node, _ = npm.install(cache, PACKAGES)
    for name in ("provider.mjs", "client.mjs"):
        # Packages are found from where a file is.
        shutil.copyfile(HERE / name, cache / name)
    port, provider_port = free_port(), free_port()
    url, issuer = f"http://127.0.0.1:{port}/mcp", f"http://127.0.0.1:{provider_port}"
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        (home / ".config/skillfold").mkdir(parents=True)
        (home / ".config/skillfold/config.toml").write_text(SETTINGS.format(url=url, issuer=issuer))
        provider = Provider(node, cache, provider_port, url, home / "keys.json")
        server = serve(options.skillfold.resolve(), home, port)
        try:
            command = [node, cache / "client.mjs", url, issuer, control(provider)]
            done = subprocess.run(command, timeout=300, check=False)
            if done.returncode == 0:
                check_author(options.skillfold.resolve(), home)
        finally:
            server.terminate()
            server.wait(timeout=10)
            provider.stop()
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
