"""A network namespace with nothing but a loopback, on which ports of the outer loopback can be reached.

    python3 namespace.py FOLDER PORT...        (started by the class, inside)

Sockets of files cross namespaces: what connects to a port inside goes through one to the same port outside.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

BLOCK = 1 << 16
WAIT_SECONDS = 20


class Namespace:
    """Another machine's network, between `with` and its end. `enter` is the command that runs another inside."""

    def __init__(self, ports: list[int]) -> None:
        self.ports = ports

    def __enter__(self) -> Namespace:
        self.temporary = tempfile.TemporaryDirectory(prefix="skillfold-")
        folder = Path(self.temporary.name)
        self.listening = [listen_at(folder / str(port)) for port in self.ports]
        for port, listening in zip(self.ports, self.listening):
            accept(listening, lambda port=port: socket.create_connection(("127.0.0.1", port)))
        words = [sys.executable, __file__, folder, *self.ports]
        namespace = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
        command = [*namespace, "setpriv", "--pdeathsig", "KILL", "--", *map(str, words)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            self.process.kill()
            raise OSError(f"no network namespace: {self.process.stderr.read().strip()}")
        own = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        self.enter = ("nsenter", f"--target={self.process.pid}", "--net", *own, "--")
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for listening in self.listening:
            listening.close()
        self.temporary.cleanup()


def listen_at(path: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen(128)
    return listening


def accept(listening: socket.socket, connect) -> None:  # noqa: ANN001
    """Pass each connection on, in threads."""

    def serve() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=pass_on, args=(client, connect), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()


def pass_on(client: socket.socket, connect) -> None:  # noqa: ANN001
    try:
        with client, connect() as server:
            other = {client: server, server: client}
            ends = [client, server]
            while ends:
                for ready in select.select(ends, [], [])[0]:
                    data = ready.recv(BLOCK)
                    if data:
                        other[ready].sendall(data)
                    else:
                        ends.remove(ready)
                        other[ready].shutdown(socket.SHUT_WR)
    except OSError:
        return


def connect_to(path: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.connect(str(path))
    return server


def main() -> None:
    folder, ports = Path(sys.argv[1]), [int(word) for word in sys.argv[2:]]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for port in ports:
        listening = socket.create_server(("127.0.0.1", port), backlog=128)
        accept(listening, lambda port=port: connect_to(folder / str(port)))
    print("ready", flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main()
