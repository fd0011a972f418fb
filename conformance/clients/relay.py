#!/usr/bin/env python3
"""Stands between a client and our server, and writes every message to `wire.jsonl` beside it. The server is `skillfold` beside it."""

import pathlib
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent


def pass_on(source, target, log, name):
    for line in source:
        # One write each, so that the lines of both directions stay whole.
        log.write(b'{"from": "%s", "message": %s}\n' % (name, line.strip()))
        target.write(line)
        target.flush()


def main():
    log = (HERE / "wire.jsonl").open("ab", buffering=0)
    server = subprocess.Popen([HERE / "skillfold", *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask():
        pass_on(sys.stdin.buffer, server.stdin, log, b"client")
        server.stdin.close()

    threading.Thread(target=ask, daemon=True).start()
    pass_on(server.stdout, sys.stdout.buffer, log, b"server")
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
