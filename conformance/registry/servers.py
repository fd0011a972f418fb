#!/usr/bin/env python3
"""Real servers for the tests of the registry: git over HTTP(S) and SSH, files over HTTP(S), and a proxy.

    python3 conformance/registry/servers.py --check

Each class is a context manager that starts its server on the loopback, on a free port, in a temporary folder, and stops it. The
servers also end when the test is killed. `--check` installs what is missing, starts everything, and uses it with the system's
git. Needs nginx, fcgiwrap, sshd and openssl, and `setpriv` of util-linux.
"""

from __future__ import annotations

import argparse
import getpass
import http.client
import json
import os
import re
import shlex
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from answers import Answers, Request
from processes import Server, hold_port, install, listener, port, program
from proxy import Proxy

__all__ = ["Answers", "Authority", "Files", "GitHttp", "GitSsh", "Proxy", "Request", "install"]

# A user and a password.
Login = tuple[str, str]

# Enough for a client that fetches several repositories at once.
GIT_PROCESSES = 8
# A second address of the loopback is another host for clients.
HOST, OTHER_HOST = "127.0.0.1", "127.0.0.2"

# A repository may bring a pack that git itself would not make: `send-this.pack`.
PACK_OBJECTS = """#!/bin/sh
if [ -f send-this.pack ]; then
    cat >/dev/null
    exec cat send-this.pack
fi
exec "$@"
"""
GIT_CONFIG = """[safe]
    directory = *
[http]
    receivepack = true
[uploadpack]
    allowFilter = true
    allowAnySHA1InWant = true
    packObjectsHook = "{hook}"
"""

NGINX = """daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/messages warn;
events {{ worker_connections 512; }}
http {{
    log_format request escape=json '{{"scheme":"$scheme","host":"$http_host","method":"$request_method","path":"$request_uri",'
        '"status":$status,"received":$request_length,"sent":$bytes_sent,'
        '"authorization":"$http_authorization","user_agent":"$http_user_agent"}}';
    access_log {folder}/requests request;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 0;
    default_type application/octet-stream;
    types {{ application/gzip gz tgz; application/zip zip; application/json json; text/plain md txt; }}
    server {{
        {listen}
        {certificate}
        # Answered after all earlier requests have been recorded.
        location = /-/settled {{ access_log off; return 204; }}
        {locations}
    }}
}}
"""

SSHD = """ListenAddress 127.0.0.1:{port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
AcceptEnv GIT_PROTOCOL
SetEnv PATH={path} GIT_CONFIG_GLOBAL={folder}/gitconfig GIT_CONFIG_NOSYSTEM=1
ForceCommand {folder}/serve
"""
SSH = """Host *
    Port {port}
    User {user}
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile none
    StrictHostKeyChecking yes
    BatchMode yes
"""
# Git asks for `git-upload-pack '/NAME.git'`.
SSH_COMMAND = """#!/bin/sh
printf '%s\\n' "$SSH_ORIGINAL_COMMAND" >>{folder}/commands
service=${{SSH_ORIGINAL_COMMAND%% *}}
path=${{SSH_ORIGINAL_COMMAND#* }}
path=${{path#\\'}}
path=${{path%\\'}}
case $service:$path in
    *..*) ;;
    git-upload-pack:* | git-receive-pack:* | git-upload-archive:*) exec git "${{service#git-}}" {root}/"${{path#/}}" ;;
esac
echo "refused: $SSH_ORIGINAL_COMMAND" >&2
exit 128
"""


class Authority:
    """A private certificate authority in a temporary folder, between `with` and its end. Clients trust its `file`."""

    def __init__(self, *names: str) -> None:
        """Certify the addresses of the loopback, and these names."""
        self.names = ("localhost", HOST, OTHER_HOST, *names)

    def __enter__(self) -> Authority:
        self.temporary = tempfile.TemporaryDirectory(prefix="skillfold-")
        self.folder = Path(self.temporary.name)
        # Without the system's settings.
        (self.folder / "openssl.cnf").write_text("[req]\ndistinguished_name = name\n[name]\n")
        self.file, _ = self.make("ca", "basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign")
        self.server = self.issue(*self.names)
        return self

    def __exit__(self, *_: object) -> None:
        self.temporary.cleanup()

    def issue(self, *names: str) -> tuple[Path, Path]:
        """Return the files of a certificate for hosts, and of its key."""
        kinds = ("IP" if re.fullmatch(r"[\d.]+", name) else "DNS" for name in names)
        hosts = ",".join(f"{kind}:{name}" for kind, name in zip(kinds, names))
        signed = ("-CA", self.folder / "ca.pem", "-CAkey", self.folder / "ca.key")
        number = len(list(self.folder.glob("*.pem")))
        usage = "extendedKeyUsage=serverAuth"
        return self.make(f"server-{number}", f"subjectAltName={hosts}", "basicConstraints=CA:FALSE", usage, signed=signed)

    def make(self, name: str, *extensions: str, signed: tuple[object, ...] = ()) -> tuple[Path, Path]:
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        command = [program("openssl"), "req", "-x509", "-config", self.folder / "openssl.cnf", "-days", "2", "-nodes"]
        command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", f"/CN=skillfold test {name}"]
        command += ["-keyout", key, "-out", certificate, *signed]
        for extension in extensions:
            command += ["-addext", extension]
        subprocess.run(command, check=True, capture_output=True)
        return certificate, key

    def environment(self) -> dict[str, str]:
        """Return the variables by which git, curl, OpenSSL and rustls trust it."""
        return dict.fromkeys(("GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"), str(self.file))


class Nginx(Server):
    """An nginx with one process, on a port for HTTP and, with an authority, one for HTTPS."""

    hosts = (HOST,)

    def __init__(self, root: Path, private: Mapping[str, Login] | None = None, authority: Authority | None = None) -> None:
        super().__init__()
        self.root, self.private, self.authority = root.resolve(), private or {}, authority
        self.first_request = 0

    def start(self) -> None:
        schemes = ["http", "https"] if self.authority else ["http"]
        held = {(scheme, host): hold_port(host) for scheme in schemes for host in self.hosts}
        # Each as `SCHEME://HOST:PORT`.
        self.bases = {key: f"{key[0]}://{key[1]}:{port(socket)}" for key, socket in held.items()}
        certificate = ""
        if self.authority:
            certificate = "ssl_certificate {}; ssl_certificate_key {};".format(*self.authority.server)
        listen = " ".join(
            f"listen {host}:{port(socket)}{' ssl' if scheme == 'https' else ''};" for (scheme, host), socket in held.items()
        )
        text = NGINX.format(folder=self.folder, listen=listen, certificate=certificate, locations=self.locations())
        (self.folder / "nginx.conf").write_text(text)
        (self.folder / "requests").touch()
        process = self.launch(
            program("nginx"), "-e", self.folder / "messages", "-p", self.folder, "-c", self.folder / "nginx.conf"
        )
        self.wait_for(process, self.settle)
        for socket in held.values():
            socket.close()

    def locations(self) -> str:
        """Return what nginx serves: all, and each private part with its login."""
        parts = [f"location / {{ {self.serve()} }}"]
        for number, (name, (user, password)) in enumerate(self.private.items()):
            passwords = self.folder / f"passwords-{number}"
            passwords.write_text(f"{user}:{{PLAIN}}{password}\n")
            login = f'auth_basic "{name}"; auth_basic_user_file {passwords};'
            parts.append(f"location ^~ {self.private_path(name)} {{ {login} {self.serve()} }}")
        return "\n        ".join(parts)

    def serve(self) -> str:
        raise NotImplementedError

    def private_path(self, name: str) -> str:
        raise NotImplementedError

    @property
    def host(self) -> str:
        """The host and port for HTTP."""
        return self.bases["http", HOST].removeprefix("http://")

    @property
    def secure_host(self) -> str:
        """The host and port for HTTPS."""
        return self.bases["https", HOST].removeprefix("https://")

    def settle(self) -> bool:
        """Wait until all answered requests are recorded, and return whether the server runs."""
        connection = http.client.HTTPConnection(self.host, timeout=5)
        try:
            connection.request("GET", "/-/settled")
            return connection.getresponse().status == 204
        except OSError:
            return False
        finally:
            connection.close()

    def requests(self) -> list[Request]:
        """Return the requests answered since the start, or since they were forgotten."""
        self.settle()
        lines = (self.folder / "requests").read_text(errors="replace").splitlines()
        return [Request(**json.loads(line)) for line in lines[self.first_request :]]

    def forget_requests(self) -> None:
        self.first_request += len(Nginx.requests(self))

    def bytes_sent(self) -> int:
        return sum(request.sent for request in self.requests())


class GitHttp(Nginx):
    """Bare repositories `NAME.git` below a folder, over smart HTTP: clone, partial clone, fetch of any commit, and push.

    `private` names the repositories that want a login (Basic authentication). With an authority, all are served over HTTPS too.
    """

    def start(self) -> None:
        write_git_config(self.folder)
        with socket.socket(socket.AF_UNIX) as requests:
            requests.bind(str(self.folder / "git.socket"))
            requests.listen(128)
            for _ in range(GIT_PROCESSES):
                self.launch(program("fcgiwrap"), stdin=requests, env={**git_environment(self.folder)})
        super().start()

    def serve(self) -> str:
        programs = subprocess.run([program("git"), "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()
        values = {
            "SCRIPT_FILENAME": f"{programs}/git-http-backend",
            "GIT_PROJECT_ROOT": self.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": "$uri",
            "QUERY_STRING": "$query_string",
            "REQUEST_METHOD": "$request_method",
            "CONTENT_TYPE": "$content_type",
            "CONTENT_LENGTH": "$content_length",
            "REMOTE_USER": "$remote_user",
            "REMOTE_ADDR": "$remote_addr",
            "SERVER_PROTOCOL": "$server_protocol",
            **self.environment(),
            **git_environment(self.folder),
        }
        lines = [f'fastcgi_param {name} "{value}";' for name, value in values.items()]
        return " ".join([f"fastcgi_pass unix:{self.folder}/git.socket;", *lines])

    def private_path(self, name: str) -> str:
        # With `.git` and without.
        return f"/{name}"

    def url(self, name: str) -> str:
        return f"{self.bases['http', HOST]}/{name}.git"

    def secure_url(self, name: str) -> str:
        return f"{self.bases['https', HOST]}/{name}.git"


class GitSsh(Server):
    """Bare repositories `NAME.git` below a folder, over SSH with keys of its own: clone, partial clone and push."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root.resolve()
        self.user = getpass.getuser()

    def start(self) -> None:
        write_git_config(self.folder)
        for name in ("host_key", "user_key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "skillfold test", "-f", self.folder / name]
            subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
        script = self.folder / "serve"
        script.write_text(SSH_COMMAND.format(folder=shlex.quote(str(self.folder)), root=shlex.quote(str(self.root))))
        script.chmod(0o700)
        (self.folder / "commands").touch()
        if os.geteuid() == 0:
            # Where sshd of root locks its unprivileged part in.
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        held = hold_port()
        self.port = port(held)
        text = SSHD.format(folder=self.folder, port=self.port, path=self.environment()["PATH"]) + newer_settings()
        (self.folder / "sshd_config").write_text(text)
        (self.folder / "config").write_text(SSH.format(folder=self.folder, port=self.port, user=self.user))
        key = (self.folder / "host_key.pub").read_text()
        self.known_hosts = self.folder / "known_hosts"
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {key}")
        process = self.launch(program("sshd"), "-D", "-e", "-f", self.folder / "sshd_config")
        self.wait_for(process, self.is_listening)
        held.close()

    def is_listening(self) -> bool:
        return "Server listening" in (self.folder / "messages").read_text(errors="replace")

    @property
    def git_ssh_command(self) -> str:
        """The value of `GIT_SSH_COMMAND`."""
        return f"{program('ssh')} -F {self.folder / 'config'}"

    def url(self, name: str) -> str:
        return f"ssh://{self.user}@127.0.0.1:{self.port}/{name}.git"

    def short_url(self, name: str) -> str:
        """Return the form `user@host:path`; the port is in the settings of the command."""
        return f"{self.user}@127.0.0.1:{name}.git"

    def commands(self) -> list[str]:
        """Return what clients asked to run."""
        return (self.folder / "commands").read_text(errors="replace").splitlines()


class Files(Nginx):
    """Files below a folder, over HTTP, and answers that a file server does not give (see `answers.py`).

    `private` names the paths, such as `team/`, that want a login. With an authority, all are served over HTTPS too. The same
    files are on another host, to which `odd("elsewhere", …)` redirects.
    """

    hosts = (HOST, OTHER_HOST)

    def start(self) -> None:
        super().start()
        self.answers = {"http": Answers(self.root, listener(), self.bases["http", OTHER_HOST], None)}
        if self.authority:
            other = self.bases["https", OTHER_HOST]
            self.answers["https"] = Answers(self.root, listener(), other, self.authority.server)

    def stop(self) -> None:
        for answers in getattr(self, "answers", {}).values():
            answers.stop()
        super().stop()

    def serve(self) -> str:
        return f'root "{self.root}";'

    def private_path(self, name: str) -> str:
        return f"/{name}"

    def url(self, path: str) -> str:
        return f"{self.bases['http', HOST]}/{path}"

    def secure_url(self, path: str) -> str:
        return f"{self.bases['https', HOST]}/{path}"

    def other_url(self, path: str) -> str:
        """Return the address on the other host."""
        return f"{self.bases['http', OTHER_HOST]}/{path}"

    def odd(self, kind: str, path: str, **options: object) -> str:
        """Return a new address of a file that answers in an odd way: `limited`, `redirect`, `endless` and so on."""
        return self.answers["http"].address(kind, path, **options)

    def secure_odd(self, kind: str, path: str, **options: object) -> str:
        return self.answers["https"].address(kind, path, **options)

    def requests(self) -> list[Request]:
        """Return the requests: those of odd addresses first, then those of files on both hosts."""
        odd = [request for answers in self.answers.values() for request in answers.requests]
        return odd + super().requests()

    def forget_requests(self) -> None:
        super().forget_requests()
        for answers in self.answers.values():
            answers.requests.clear()


def write_git_config(folder: Path) -> None:
    hook = folder / "pack-objects"
    hook.write_text(PACK_OBJECTS)
    hook.chmod(0o700)
    (folder / "gitconfig").write_text(GIT_CONFIG.format(hook=hook))


def git_environment(folder: Path) -> dict[str, str]:
    return {"GIT_CONFIG_GLOBAL": str(folder / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1"}


def newer_settings() -> str:
    """Return what newer versions of sshd need and older ones refuse."""
    shown = subprocess.run([program("ssh"), "-V"], capture_output=True, text=True, check=True).stderr
    major, minor = map(int, re.search(r"OpenSSH_(\d+)\.(\d+)", shown).groups())
    return "PerSourcePenalties no\n" if (major, minor) >= (9, 8) else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", required=True, help="start everything and use it")
    parser.parse_args()
    if missing := install():
        print(f"left out: {', '.join(missing)} cannot be installed here")
        return
    import servers_check

    servers_check.main()


if __name__ == "__main__":
    main()
