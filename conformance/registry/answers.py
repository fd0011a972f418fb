"""Answers over HTTP that a real file server does not give: limits, redirects, and bodies that are not what they say."""

from __future__ import annotations

import dataclasses
import gzip
import itertools
import socket
import ssl
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Request:
    """One request that a server answered."""

    scheme: str
    # As the client named it, with the port.
    host: str
    method: str
    path: str
    status: int
    # Bytes with their headers.
    received: int
    sent: int
    # The headers as sent; empty if there was none.
    authorization: str
    user_agent: str


class Answers:
    """Answers to the addresses that `address` gives, on one port, in threads of this process."""

    def __init__(self, root: Path, listening: socket.socket, other: str, secure: tuple[Path, Path] | None) -> None:
        """Serve the files below `root`; redirects to another host go to the address `other`."""
        self.root, self.other = root, other
        self.scheme = "https" if secure else "http"
        self.requests: list[Request] = []
        self.options: dict[str, dict] = {}
        self.seen: dict[str, int] = {}
        self.lock = threading.Lock()
        self.numbers = itertools.count(1)
        self.stopped = threading.Event()
        address = listening.getsockname()
        self.base = f"{self.scheme}://127.0.0.1:{address[1]}"
        self.server = Threads(address, Handler, bind_and_activate=False)
        self.server.socket.close()
        self.server.socket = listening
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*secure)
            self.server.socket = context.wrap_socket(listening, server_side=True, do_handshake_on_connect=False)
        self.server.answers = self
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def address(self, kind: str, path: str, **options: object) -> str:
        """Return a new address that answers for `path` in this way; it counts its own requests."""
        if not hasattr(Handler, f"answer_{kind}"):
            raise ValueError(f"no such answer: {kind}")
        number = str(next(self.numbers))
        self.options[number] = options
        return f"{self.base}/{kind}/{number}/{path}"

    def stop(self) -> None:
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()


class Threads(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    answers: Answers

    def handle_error(self, *_: object) -> None:
        """Say nothing: clients hang up on most of these answers."""


class Handler(BaseHTTPRequestHandler):
    """One request. The methods `answer_KIND` are the kinds; their arguments are the options of the address."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    server: Threads

    def do_GET(self) -> None:
        self.answers = self.server.answers
        self.status = self.sent = 0
        _, kind, number, path = (self.path.split("?")[0] + "///").split("/", 3)
        self.path_of_file = path.rstrip("/")
        self.number = number
        with self.answers.lock:
            self.count = self.answers.seen[number] = self.answers.seen.get(number, 0) + 1
        try:
            if number not in self.answers.options:
                self.reply(404)
            else:
                getattr(self, f"answer_{kind}")(**self.answers.options[number])
        finally:
            self.record()

    do_HEAD = do_GET  # noqa: N815

    def record(self) -> None:
        received = len(self.raw_requestline) + sum(len(name) + len(value) + 4 for name, value in self.headers.items()) + 2
        header = self.headers.get
        request = Request(
            self.answers.scheme, header("Host", ""), self.command, self.path, self.status, received, self.sent,
            header("Authorization", ""), header("User-Agent", ""),
        )  # fmt: skip
        with self.answers.lock:
            self.answers.requests.append(request)

    def log_message(self, *_: object) -> None:
        """Say nothing: requests are recorded."""

    def file(self) -> bytes:
        return (self.answers.root / self.path_of_file).read_bytes()

    def send(self, data: bytes) -> None:
        self.wfile.write(data)
        self.sent += len(data)

    def begin(self, status: int, headers: dict[str, object]) -> None:
        self.status = status
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def reply(self, status: int, body: bytes = b"", **headers: object) -> None:
        self.begin(status, {"Content-Length": len(body)} | {name.replace("_", "-"): value for name, value in headers.items()})
        if self.command != "HEAD":
            self.send(body)

    def hang_up(self) -> None:
        self.close_connection = True

    def again(self, more: dict[str, object] | None = None) -> str:
        """Return another address of the same kind and path."""
        kind = self.path.split("/")[1]
        return self.answers.address(kind, self.path_of_file, **(self.answers.options[self.number] | (more or {})))

    def answer_plain(self) -> None:
        self.reply(200, self.file())

    def answer_limited(self, times: int = 1, retry_after: object = 1) -> None:
        """Answer 429 with `Retry-After` a number of times, then 200."""
        if self.count <= times:
            self.reply(429, b"Too many requests\n", Retry_After=retry_after)
        else:
            self.reply(200, self.file())

    def answer_unavailable(self, times: int = 2, **headers: object) -> None:
        """Answer 503 with headers, such as `Retry_After`, a number of times, then 200."""
        if self.count <= times:
            self.reply(503, b"Unavailable\n", **headers)
        else:
            self.reply(200, self.file())

    def answer_redirect(self, hops: int = 5, status: int = 302) -> None:
        """Redirect a number of times on this host, then answer."""
        if hops:
            self.reply(status, Location=self.again({"hops": hops - 1}))
        else:
            self.reply(200, self.file())

    def answer_loop(self) -> None:
        """Redirect to the same address."""
        self.reply(302, Location=self.path)

    def answer_elsewhere(self, status: int = 302) -> None:
        """Redirect to the file on another host, whose requests are recorded too."""
        self.reply(status, Location=f"{self.answers.other}/{self.path_of_file}")

    def answer_to(self, location: str, status: int = 302) -> None:
        """Redirect to an address."""
        self.reply(status, Location=location)

    def answer_endless(self) -> None:
        """Send a body that never ends, as fast as it is read."""
        self.begin(200, {"Transfer-Encoding": "chunked"})
        chunk = b"10000\r\n" + bytes(0x10000) + b"\r\n"
        while not self.answers.stopped.is_set():
            self.send(chunk)

    def answer_slow(self, size: int = 16, pause: float = 0.1) -> None:
        """Send a few bytes, pause, and so on."""
        data = self.file()
        self.begin(200, {"Content-Length": len(data)})
        for start in range(0, len(data), size):
            self.send(data[start : start + size])
            if self.answers.stopped.wait(pause):
                return

    def answer_stalled(self) -> None:
        """Send half the body, then nothing more, and keep the connection."""
        data = self.file()
        self.begin(200, {"Content-Length": len(data)})
        self.send(data[: len(data) // 2])
        self.answers.stopped.wait()

    def answer_silent(self) -> None:
        """Answer nothing, and keep the connection."""
        self.answers.stopped.wait()

    def answer_short(self, missing: int = 100) -> None:
        """Announce more bytes than there are, then hang up."""
        data = self.file()
        self.begin(200, {"Content-Length": len(data) + missing})
        self.send(data)
        self.hang_up()

    def answer_long(self, more: int = 100) -> None:
        """Send more bytes than announced."""
        data = self.file()
        self.begin(200, {"Content-Length": max(len(data) - more, 0)})
        self.send(data)
        self.hang_up()

    def answer_reset(self) -> None:
        """Reset the connection in the middle of the body."""
        data = self.file()
        self.begin(200, {"Content-Length": len(data)})
        self.send(data[: len(data) // 2])
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # The stream objects hold the connection open.
        self.wfile.close()
        self.rfile.close()
        self.connection.close()
        self.hang_up()

    def answer_gzip(self) -> None:
        """Compress the body on the way, whether or not the client asked for that."""
        self.reply(200, gzip.compress(self.file(), mtime=0), Content_Encoding="gzip")

    def answer_bomb(self, mebibytes: int = 1024) -> None:
        """Send a body that grows a thousandfold when it is decompressed."""
        member = gzip.compress(bytes(MIB), mtime=0)
        self.begin(200, {"Content-Encoding": "gzip", "Content-Length": len(member) * mebibytes})
        for _ in range(mebibytes):
            self.send(member)

    def answer_page(self) -> None:
        """Answer 200 with a page that asks for a login."""
        self.reply(200, b"<!doctype html><title>Log in</title>", Content_Type="text/html")
