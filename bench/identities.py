#!/usr/bin/env python3
"""Measures what it costs a server to know who asks: CPU time of a request without a token, with a named one and with one of an identity
provider.

    python3 bench/identities.py --skillfold target/release/skillfold [--requests 20000] [--rounds 5]

Three servers answer the same requests by turns; of each the lowest of all rounds counts. Needs openssl, which signs the provider's token.
Prints a JSON object as the last line. With `--at-most`, fails if a request with a token costs more than that many times one without.
"""

import argparse
import base64
import http.client
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

MESSAGE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "load_skill",
        "arguments": {"skill_id": "skill-7"},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "load_skill",
}
URL = "https://skills.example.com/mcp"


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Provider:
    """An identity provider that shows one key, and a token by it."""

    def __init__(self, folder):
        key = folder / "key.pem"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        modulus = subprocess.run(["openssl", "rsa", "-in", key, "-modulus", "-noout"], check=True, capture_output=True, text=True).stdout
        numbers = {"n": encode(bytes.fromhex(modulus.strip().split("=")[1])), "e": "AQAB"}
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                keys = {"keys": [{"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256", **numbers}]}
                described = {"issuer": provider.issuer, "jwks_uri": f"{provider.issuer}/keys"}
                text = json.dumps(keys if self.path == "/keys" else described).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.issuer = f"http://127.0.0.1:{server.server_port}"
        claims = {"iss": self.issuer, "sub": "alice", "aud": URL, "exp": int(time.time()) + 86_400, "scope": "skills:read"}
        parts = ({"alg": "RS256", "kid": "one", "typ": "at+jwt"}, claims)
        message = ".".join(encode(json.dumps(part).encode()) for part in parts)
        sign = ["openssl", "dgst", "-sha256", "-sign", key]
        signature = subprocess.run(sign, input=message.encode(), check=True, capture_output=True).stdout
        self.token = f"{message}.{encode(signature)}"


class Server:
    def __init__(self, skillfold, home, options, token):
        environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        command = [skillfold, *options, "serve", "--http", "0", *([] if token else ["--no-token"])]
        self.process = subprocess.Popen(command, cwd=home, env=environment, stderr=subprocess.PIPE, text=True)
        self.headers = HEADERS | ({"Authorization": f"Bearer {token}"} if token else {})
        for line in self.process.stderr:
            if line.startswith("Listening on http://"):
                self.address = line.removeprefix("Listening on http://").strip().removesuffix("/mcp")
                return
        sys.exit("error: the server did not start")

    def cpu(self):
        """Returns the seconds of CPU that it has used."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, requests):
        """Returns the microseconds of CPU of a request."""
        body = json.dumps(MESSAGE)
        connection = http.client.HTTPConnection(self.address)
        before = self.cpu()
        for _ in range(requests):
            connection.request("POST", "/mcp", body, self.headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200 or b"Do it well" not in text:
                sys.exit(f"error: {answer.status} {text[:300]!r}")
        return (self.cpu() - before) / requests * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skillfold", type=pathlib.Path, required=True)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-most", type=float)
    options = parser.parse_args()
    skillfold = options.skillfold.resolve()
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        for number in range(60):
            skill = home / f".agents/skills/skill-{number}"
            skill.mkdir(parents=True)
            (skill / "SKILL.md").write_text(f"---\nname: {skill.name}\ndescription: Does number {number}\n---\nDo it well.\n")
        tokens = home / "tokens.toml"
        access = [skillfold, "access", "--file", tokens, "add", "bench"]
        named = subprocess.run(access, cwd=home, env={"HOME": folder}, check=True, capture_output=True, text=True).stdout.strip()
        provider = Provider(home)
        # One identity sends all requests.
        limits = ".config/skillfold/config.toml"
        (home / limits).parent.mkdir(parents=True)
        (home / limits).write_text("[identities.everybody]\nrequests_per_minute = 1000000000\n")
        kinds = {
            "none": ([], None),
            "named": (["--set", f"server_tokens={tokens}"], named),
            "provider": (["--set", f"server_issuer={provider.issuer}", "--set", f"server_url={URL}"], provider.token),
        }
        empty = home / "empty"
        empty.mkdir()
        (empty / ".agents").symlink_to(home / ".agents")
        servers = {
            kind: Server(skillfold, empty if kind == "none" else home, words, token) for kind, (words, token) in kinds.items()
        }
        try:
            costs = {kind: [] for kind in servers}
            for _ in range(options.rounds):
                for kind, server in servers.items():
                    costs[kind].append(server.ask(options.requests // options.rounds))
        finally:
            for server in servers.values():
                server.process.kill()
    lowest = {kind: min(values) for kind, values in costs.items()}
    ratios = {kind: round(lowest[kind] / lowest["none"], 3) for kind in ("named", "provider")}
    said = {"requests": options.requests, "microseconds of CPU": {kind: round(cost, 1) for kind, cost in lowest.items()}}
    print(json.dumps(said | {"against none": ratios}))
    if options.at_most and max(ratios.values()) > options.at_most:
        sys.exit(f"error: a request with a token costs more than {options.at_most} times one without")


if __name__ == "__main__":
    main()
