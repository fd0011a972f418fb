"""A proxy that tunnels (`CONNECT`) and forwards plain HTTP, and records where its clients wanted to go."""

from __future__ import annotations

import base64
import ipaddress
import select
import socket
import socketserver
import threading
from urllib.parse import urlsplit

BLOCK = 1 << 16


class Proxy:
    """A proxy on the loopback, in threads of this process, between `with` and its end.

    `names` says to which host and port a name leads, so that `https://skills.example/` can be served here. Nothing else leaves
    the loopback. `login` is a user and a password that clients must send.
    """

    def __init__(self, names: dict[str, tuple[str, int]] | None = None, login: tuple[str, str] | None = None) -> None:
        self.names = names or {}
        self.login = login
        # Method and `HOST:PORT` of each request, also of those that were refused.
        self.requests: list[tuple[str, str]] = []

    @property
    def hosts(self) -> list[str]:
        return [host for _, host in self.requests]

    def __enter__(self) -> Proxy:
        self.server = Threads(("127.0.0.1", 0), Connection)
        self.server.proxy = self
        self.port = self.server.server_address[1]
        login = ":".join(self.login) + "@" if self.login else ""
        self.url = f"http://{login}127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def environment(self) -> dict[str, str]:
        """Return the variables that lead clients through the proxy, also to the loopback."""
        names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        return {name: self.url for name in names} | {"no_proxy": "", "NO_PROXY": ""}

    def connect(self, host: str, port: int) -> socket.socket | None:
        """Connect to a host of the loopback; return nothing if it is not there or another."""
        host, port = self.names.get(host, (host, port))
        try:
            if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
                return None
            return socket.create_connection((host, port), timeout=10)
        except (OSError, ValueError):
            return None


class Threads(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    proxy: Proxy

    def handle_error(self, *_: object) -> None:
        """Say nothing: clients may hang up."""


class Connection(socketserver.StreamRequestHandler):
    """One connection of a client, for one request or one tunnel."""

    rbufsize = 0
    server: Threads

    def handle(self) -> None:
        lines = []
        while (line := self.rfile.readline(BLOCK)) not in (b"\r\n", b"\n", b""):
            lines.append(line)
        if not lines:
            return
        method, target, version = lines[0].decode("latin-1").split()
        address = urlsplit(f"//{target}" if method == "CONNECT" else target)
        host, port = address.hostname or "", address.port or 80
        proxy = self.server.proxy
        proxy.requests.append((method, f"{host}:{port}"))
        headers = [line for line in lines[1:] if not line.lower().startswith((b"proxy-", b"connection:"))]
        if proxy.login and not self.is_logged_in(lines):
            return self.refuse("407 Proxy Authentication Required", 'Proxy-Authenticate: Basic realm="proxy"\r\n')
        server = proxy.connect(host, port)
        if server is None:
            return self.refuse("502 Bad Gateway")
        with server:
            if method == "CONNECT":
                self.connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = (address.path or "/") + (f"?{address.query}" if address.query else "")
                first = f"{method} {path} {version}\r\n".encode("latin-1")
                server.sendall(b"".join([first, *headers, b"Connection: close\r\n\r\n"]))
            relay(self.connection, server)

    def is_logged_in(self, lines: list[bytes]) -> bool:
        wanted = b"Basic " + base64.b64encode(":".join(self.server.proxy.login or ()).encode())
        return any(line.lower().startswith(b"proxy-authorization:") and line.split(b":", 1)[1].strip() == wanted for line in lines)

    def refuse(self, status: str, headers: str = "") -> None:
        self.connection.sendall(f"HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())


def relay(client: socket.socket, server: socket.socket) -> None:
    """Pass bytes both ways until the server has no more, or both have not."""
    other = {client: server, server: client}
    open_ends = [client, server]
    while server in open_ends:
        for ready in select.select(open_ends, [], [])[0]:
            data = ready.recv(BLOCK)
            if data:
                other[ready].sendall(data)
            else:
                open_ends.remove(ready)
                other[ready].shutdown(socket.SHUT_WR)
