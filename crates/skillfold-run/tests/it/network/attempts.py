"""Tries to reach servers of this machine that a run must not reach, and prints what each attempt got.

Input is a JSON object: the port of the servers, the port of a server that may be reached as `localhost`, and the names of Unix
sockets. Attempts that start with `direct` use no proxy.
"""

import ctypes
import json
import os
import socket
import struct
import subprocess
import sys
import urllib.request

INPUT = json.load(sys.stdin)
PORT, ALLOWED = INPUT["forbidden"], INPUT["allowed"]
PROXY = ("127.0.0.1", 3128)
RESULTS = {}
socket.setdefaulttimeout(3)


def attempt(name, act):
    """Records the secret if the attempt got it."""
    try:
        got = act()
    except Exception:
        got = None
    text = got.decode(errors="replace") if isinstance(got, bytes) else got
    assert name not in RESULTS, name
    RESULTS[name] = text if text and "SECRET" in text else None


def read(stream):
    data = b""
    try:
        while chunk := stream.recv(4096):
            data += chunk
    except OSError:
        pass
    return data


def through_proxy(*messages):
    """Sends messages to the proxy, each after an answer to the one before, and returns everything that it says."""
    with socket.create_connection(PROXY) as stream:
        data = b""
        for message in messages[:-1]:
            stream.sendall(message)
            data += stream.recv(4096)
        stream.sendall(messages[-1])
        stream.shutdown(socket.SHUT_WR)
        return data + read(stream)


def tunnel(host, port):
    return through_proxy(f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode(), b"GET / HTTP/1.0\r\n\r\n")


def forward(host, port):
    return through_proxy(f"GET http://{host}:{port}/ HTTP/1.1\r\nHost: localhost:{ALLOWED}\r\n\r\n".encode())


def socks(kind, address, port, command=1):
    request = bytes([5, command, 0, kind]) + address + struct.pack(">H", port)
    return through_proxy(b"\x05\x01\x00", request, b"GET / HTTP/1.0\r\n\r\n")


def socks_name(host, port):
    name = host.strip("[]").encode()
    return socks(3, bytes([len(name)]) + name, port)


# Other hosts, other ports, addresses in every spelling, names that resolve to this machine, and names that are read wrongly.
HOSTS = """
localhost LOCALHOST localhost. evil.example EVIL.EXAMPLE evil.example. localhost.evil.example evil-localhost localhostx
127.0.0.1 127.0.0.2 127.1 127.0.1 127.255.255.254 2130706433 0x7f000001 0x7f.1 0x7f.0.0.1 0177.0.0.1 017700000001 127.0.0.01
0 0.0.0.0 00000000 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [0:0:0:0:0:0:0:1] [::1%25lo] [64:ff9b::7f00:1]
[2002:7f00:1::] [fe80::1] 10.0.0.1 169.254.169.254
api.example.com rebind.example mixed.example mapped.example nat64.example zero.example six.example wild.example a.wild.example
build.internal rebind.localhost a.localhost localhost@127.0.0.1 user:x@127.0.0.1 localhost%00.evil.example localhost#@127.0.0.1
localhost\\@127.0.0.1 127。0。0。1 localhost,127.0.0.1 *.localhost
""".split()
for host in HOSTS:
    for way in (tunnel, forward, socks_name):
        attempt(f"{way.__name__} {host}", lambda way=way, host=host: way(host, PORT))
for _ in range(3):
    attempt(f"rebinding {_}", lambda: tunnel("rebind.example", PORT))
attempt("metadata of the cloud", lambda: forward("metadata.example", 80))

# SOCKS with addresses in place of names, and its other commands.
IPV4 = socket.inet_aton("127.0.0.1")
attempt("socks IPv4", lambda: socks(1, IPV4, PORT))
attempt("socks IPv4, unspecified", lambda: socks(1, bytes(4), PORT))
for text in "::1", "::ffff:127.0.0.1", "::", "64:ff9b::7f00:1":
    attempt(f"socks {text}", lambda text=text: socks(4, socket.inet_pton(socket.AF_INET6, text), PORT))
attempt("socks bind", lambda: socks(1, IPV4, PORT, command=2))
attempt("socks udp", lambda: socks(1, IPV4, PORT, command=3))
attempt("socks name with a NUL", lambda: socks(3, b"\x0alocalhost\0", PORT))
attempt("socks 4", lambda: through_proxy(b"\x04\x01" + struct.pack(">H", PORT) + IPV4 + b"\0", b"GET / HTTP/1.0\r\n\r\n"))

# A second request behind one that is allowed, and requests that two programs read differently.
FIRST = f"GET http://localhost:{ALLOWED}/ HTTP/1.1\r\nHost: localhost\r\n"
SECOND = f"GET http://127.0.0.1:{PORT}/ HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n\r\n"
attempt("second request", lambda: through_proxy(f"{FIRST}\r\n{SECOND}".encode()))
attempt("second tunnel", lambda: through_proxy(f"{FIRST}\r\nCONNECT 127.0.0.1:{PORT} HTTP/1.1\r\n\r\n".encode(), b"GET / HTTP/1.0\r\n\r\n"))
attempt("request in a body", lambda: through_proxy(f"{FIRST}Content-Length: 5\r\nContent-Length: 0\r\n\r\n{SECOND}".encode()))
attempt("request behind chunks", lambda: through_proxy(f"{FIRST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{SECOND}".encode()))
attempt("host of a header", lambda: through_proxy(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n\r\n".encode()))
attempt("two hosts", lambda: through_proxy(f"GET http://localhost:{ALLOWED}/ HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nHost: 127.0.0.1:{PORT}\r\n\r\n".encode()))
attempt("line in an address", lambda: tunnel(f"localhost:{ALLOWED} HTTP/1.1\r\nX: y\r\n\r\nCONNECT 127.0.0.1", PORT))
attempt("https without a tunnel", lambda: through_proxy(f"GET https://127.0.0.1:{PORT}/ HTTP/1.1\r\n\r\n".encode()))
attempt("ftp", lambda: through_proxy(f"GET ftp://127.0.0.1:{PORT}/ HTTP/1.1\r\n\r\n".encode()))
attempt("unix socket by a scheme", lambda: through_proxy(f"GET unix://{INPUT['socket']} HTTP/1.1\r\n\r\n".encode()))
attempt("tunnel in a tunnel", lambda: through_proxy(f"CONNECT localhost:{ALLOWED} HTTP/1.1\r\n\r\n".encode(), f"CONNECT 127.0.0.1:{PORT} HTTP/1.1\r\n\r\n".encode()))

# Redirects, which programs follow by themselves.
for to in f"http://127.0.0.1:{PORT}/", f"http://localhost:{PORT}/", f"http://[::1]:{PORT}/", f"http://evil.example:{PORT}/", f"//127.0.0.1:{PORT}/":
    address = f"http://localhost:{ALLOWED}/redirect?{to}"
    attempt(f"redirect to {to.replace(str(PORT), 'PORT')}", lambda address=address: urllib.request.urlopen(address).read())
    attempt(f"curl redirect to {to.replace(str(PORT), 'PORT')}", lambda address=address: subprocess.run(["curl", "-sL", "-m", "3", address], capture_output=True).stdout)
attempt("redirect to a file", lambda: subprocess.run(["curl", "-sL", "-m", "3", "--proto-redir", "=all", f"http://localhost:{ALLOWED}/redirect?gopher://127.0.0.1:{PORT}/"], capture_output=True).stdout)


# Without the proxy.
def direct(family, address, kind=socket.SOCK_STREAM, protocol=0):
    with socket.socket(family, kind, protocol) as stream:
        stream.connect(address)
        stream.send(b"GET / HTTP/1.0\r\n\r\n")
        return stream.recv(4096)


MPTCP, FAST_OPEN = 262, 0x20000000
for address in "127.0.0.1", "127.0.0.2", "0.0.0.0", "localhost", "10.0.0.1":
    attempt(f"direct {address}", lambda address=address: direct(socket.AF_INET, (address, PORT)))
    attempt(f"direct udp {address}", lambda address=address: direct(socket.AF_INET, (address, PORT), socket.SOCK_DGRAM))
for address in "::1", "::ffff:127.0.0.1", "::", "fe80::1":
    attempt(f"direct {address}", lambda address=address: direct(socket.AF_INET6, (address, PORT)))
    attempt(f"direct udp {address}", lambda address=address: direct(socket.AF_INET6, (address, PORT), socket.SOCK_DGRAM))
attempt("direct mptcp", lambda: direct(socket.AF_INET, ("127.0.0.1", PORT), protocol=MPTCP))
attempt("direct sctp", lambda: direct(socket.AF_INET, ("127.0.0.1", PORT), protocol=socket.IPPROTO_SCTP))
attempt("direct raw", lambda: direct(socket.AF_INET, ("127.0.0.1", PORT), socket.SOCK_RAW, 1))
attempt("direct vsock", lambda: direct(40, (2, PORT)))


def fast_open():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as stream:
        stream.sendto(b"GET / HTTP/1.0\r\n\r\n", FAST_OPEN, ("127.0.0.1", PORT))
        return stream.recv(4096)


attempt("direct fast open", fast_open)
attempt("direct unix socket", lambda: direct(socket.AF_UNIX, INPUT["socket"]))
attempt("direct abstract socket", lambda: direct(socket.AF_UNIX, "\0" + INPUT["abstract"]))
attempt("direct unix socket by curl", lambda: subprocess.run(["curl", "-s", "-m", "3", "--unix-socket", INPUT["socket"], "http://localhost/"], capture_output=True).stdout)
attempt("direct curl", lambda: subprocess.run(["curl", "-s", "-m", "3", "--noproxy", "*", f"http://127.0.0.1:{PORT}/"], capture_output=True).stdout)
attempt("direct without variables", lambda: subprocess.run(["curl", "-s", "-m", "3", f"http://127.0.0.1:{PORT}/"], capture_output=True, env={}).stdout)


def datagram_message():
    """Sends a datagram without connecting."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.sendmsg([b"x"], [], 0, ("127.0.0.1", PORT))
        return stream.recv(4096)


attempt("direct udp message", datagram_message)


def other_namespace():
    """Enters the network of the first process."""
    libc = ctypes.CDLL(None, use_errno=True)
    for path in "/proc/1/ns/net", "/proc/self/ns/net":
        with open(path, "rb") as namespace:
            if libc.setns(namespace.fileno(), 0) == 0 and path.startswith("/proc/1/"):
                return direct(socket.AF_INET, ("127.0.0.1", PORT))
    libc.unshare(0x40000000)
    return direct(socket.AF_INET, ("127.0.0.1", PORT))


def inherited():
    """Uses the descriptors that are open."""
    for number in range(3, 64):
        try:
            stream = socket.socket(fileno=number)
        except OSError:
            continue
        try:
            stream.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return stream.recv(4096)
        except OSError:
            pass
        finally:
            stream.detach()
    return None


attempt("direct other namespace", other_namespace)
attempt("direct inherited socket", inherited)


def listen_in_place_of_the_proxy():
    """Takes the port of the proxy, on which the host listens."""
    with socket.socket() as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        stream.bind(PROXY)
        stream.listen()
        return "SECRET"


if os.environ.get("HTTPS_PROXY"):
    attempt("listen in place of the proxy", listen_in_place_of_the_proxy)
print(json.dumps(RESULTS))
