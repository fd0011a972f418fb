"""Registries of each kind on the loopback: crates, Python, npm, images, and files for apt and the install script.

Each class starts a real server in a temporary folder between `with` and its end, and says how clients reach it.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

sys.path.append(str(Path(__file__).parents[2] / "conformance/registry"))
from processes import Server, hold_port, port, program  # noqa: E402

HOST = "127.0.0.1"
NGINX = """daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/messages warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 50m;
    default_type application/octet-stream;
    server {{
        listen {host}:{port};
        {locations}
    }}
}}
"""


class Listening(Server):
    """A server on one port of the loopback."""

    def start(self) -> None:
        held = hold_port(HOST)
        self.port = port(held)
        self.host = f"{HOST}:{self.port}"
        self.url = f"http://{self.host}"
        self.wait_for(self.serve(), self.answers)
        held.close()

    def serve(self) -> subprocess.Popen[bytes]:
        raise NotImplementedError

    def answers(self) -> bool:
        connection = http.client.HTTPConnection(self.host, timeout=5)
        try:
            connection.request("GET", "/")
            connection.getresponse()
        except OSError:
            return False
        else:
            return True
        finally:
            connection.close()


class Files(Listening):
    """Folders over HTTP, by nginx: each name and where its files are."""

    def __init__(self, folders: dict[str, Path]) -> None:
        super().__init__()
        self.folders = folders

    def serve(self) -> subprocess.Popen[bytes]:
        locations = "\n        ".join(f"location /{name}/ {{ alias {folder}/; }}" for name, folder in self.folders.items())
        return self.nginx(locations)

    def nginx(self, locations: str) -> subprocess.Popen[bytes]:
        text = NGINX.format(folder=self.folder, host=HOST, port=self.port, locations=locations)
        (self.folder / "nginx.conf").write_text(text)
        return self.launch(program("nginx"), "-e", self.folder / "messages", "-p", self.folder, "-c", self.folder / "nginx.conf")


class Ktra(Listening):
    """A registry for crates."""

    def __init__(self, ktra: Path) -> None:
        super().__init__()
        self.program = ktra

    def serve(self) -> subprocess.Popen[bytes]:
        index = self.folder / "index.git"
        for words in (
            ("init", "--quiet", "--bare", "--initial-branch=main", index),
            ("clone", "--quiet", index, self.folder / "seed"),
        ):
            subprocess.run(["git", *words], check=True, capture_output=True)
        (self.folder / "seed/config.json").write_text(json.dumps({"dl": f"{self.url}/dl", "api": self.url}))
        author = ("-c", "user.name=rehearsal", "-c", "user.email=rehearsal@example.com")
        for words in (("add", "."), (*author, "commit", "--quiet", "--message", "index"), ("push", "--quiet", "origin", "HEAD:main")):
            subprocess.run(["git", "-C", self.folder / "seed", *words], check=True, capture_output=True)
        self.index = self.folder / "index"
        (self.folder / "ktra.toml").write_text(
            f'[crate_files_config]\ndl_dir_path = "{self.folder}/crates"\n[db_config]\ndb_dir_path = "{self.folder}/db"\n'
            f'[index_config]\nremote_url = "file://{index}"\nlocal_path = "{self.index}"\nbranch = "main"\n'
            f'email = "rehearsal@example.com"\n[server_config]\naddress = [127, 0, 0, 1]\nport = {self.port}\n'
        )
        return self.launch(self.program, "--config", self.folder / "ktra.toml", cwd=self.folder)

    def token(self) -> str:
        """Make a user, and return what publishes in its name."""
        body = json.dumps({"password": "rehearsal"}).encode()
        request = urllib.request.Request(f"{self.url}/ktra/api/v1/new_user/rehearsal", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["token"]


class Crates(Files):
    """What takes the place of the public registry: our crates from ktra, all others as cargo downloaded them here, or as the public one has
    them: whoever has no lock gets the newest."""

    def __init__(self, ktra: Ktra, cargo_home: Path) -> None:
        super().__init__({})
        self.ktra = ktra
        [config] = (cargo_home / "registry/index").glob("*/config.json")
        self.name = config.parent.name
        self.public = f"https://{self.name.rpartition('-')[0]}"
        self.downloads = json.loads(config.read_text())["dl"]
        self.cache = cargo_home / "registry/cache" / self.name

    def serve(self) -> subprocess.Popen[bytes]:
        config = json.dumps({"dl": f"{self.url}/dl", "api": self.ktra.url})
        upstream = 'proxy_http_version 1.1; proxy_ssl_server_name on; proxy_set_header Connection ""; proxy_set_header Host'
        return self.nginx(f"""
        location = /index/config.json {{ return 200 '{config}'; }}
        location ~ ^/index/(sk/il/skillfold.*)$ {{ alias {self.ktra.index}/$1; }}
        location /index/ {{ proxy_pass {self.public}/; {upstream} {self.public.removeprefix('https://')}; }}
        location ~ ^/dl/(skillfold.*)$ {{ proxy_pass {self.ktra.url}/dl/$1; }}
        location ~ ^/dl/([^/]+)/([^/]+)/download$ {{ alias {self.cache}/$1-$2.crate; error_page 404 = @public; }}
        location @public {{ rewrite ^/dl/(.*)$ {urlsplit(self.downloads).path}/$1 break; proxy_pass {self.downloads.removesuffix(urlsplit(self.downloads).path)}; {upstream} {urlsplit(self.downloads).hostname}; }}""")

    def home(self) -> Path:
        """Return a home of a cargo for which this is the public registry."""
        home = self.folder / "cargo"
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text(self.configuration())
        return home

    def configuration(self) -> str:
        """Return the configuration of such a cargo."""
        return (
            f'[registries.rehearsal]\nindex = "sparse+{self.url}/index/"\n'
            f'[source.crates-io]\nreplace-with = "rehearsal"\n[source.rehearsal]\nregistry = "sparse+{self.url}/index/"\n'
        )


class Pypi(Listening):
    """An index for Python packages, by pypiserver."""

    def __init__(self, python: Path) -> None:
        super().__init__()
        self.python = python

    def serve(self) -> subprocess.Popen[bytes]:
        (self.folder / "packages").mkdir()
        words = ("-m", "pypiserver", "run", "--interface", HOST, "--port", self.port, "--passwords", ".", "--authenticate", ".")
        return self.launch(self.python, *words, "--disable-fallback", "--hash-algo", "sha256", self.folder / "packages")


class Npm(Listening):
    """A registry for npm, by Verdaccio: ours alone, with nothing from the public one."""

    def __init__(self, node: Path, modules: Path) -> None:
        super().__init__()
        self.node, self.modules = node, modules

    def serve(self) -> subprocess.Popen[bytes]:
        (self.folder / "verdaccio.yaml").write_text(
            f"storage: {self.folder}/storage\nauth: {{ htpasswd: {{ file: {self.folder}/htpasswd }} }}\n"
            "packages: { '**': { access: $all, publish: $authenticated } }\nmax_body_size: 100mb\nlog: { type: stdout, level: warn }\n"
        )
        words = ("--config", self.folder / "verdaccio.yaml", "--listen", f"{HOST}:{self.port}")
        return self.launch(self.node, self.modules / "verdaccio/bin/verdaccio", *words)

    def token(self) -> str:
        """Make a user, and return what publishes in its name."""
        body = json.dumps({"name": "rehearsal", "password": "rehearsal-password"}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/-/user/org.couchdb.user:rehearsal", body, headers, method="PUT")
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["token"]


class Images(Listening):
    """A registry for images."""

    def serve(self) -> subprocess.Popen[bytes]:
        (self.folder / "registry.yml").write_text(
            f"version: 0.1\nlog: {{ level: error }}\nstorage: {{ filesystem: {{ rootdirectory: {self.folder}/storage }} }}\n"
            f"http: {{ addr: {self.host} }}\n"
        )
        return self.launch(program("docker-registry"), "serve", self.folder / "registry.yml")


