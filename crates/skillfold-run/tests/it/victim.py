"""A process of the host that probes try to reach: it listens, shares memory, and says where. Ends when its input does."""

import ctypes
import json
import os
import socket
import sys

folder = sys.argv[1]
tcp = socket.create_server(("0.0.0.0", 0))
path = socket.socket(socket.AF_UNIX)
path.bind(folder + "/socket")
os.chmod(folder + "/socket", 0o777)
path.listen(50)
abstract = socket.socket(socket.AF_UNIX)
abstract.bind("\0skillfold-victim-%d" % os.getpid())
abstract.listen(50)
key = 0x5F000000 + os.getpid()
libc = ctypes.CDLL(None)
segment = libc.shmget(key, 4096, 0o1666)
print(json.dumps({
    "victim": os.getpid(),
    "port": tcp.getsockname()[1],
    "socket": folder + "/socket",
    "abstract": "skillfold-victim-%d" % os.getpid(),
    "shared_memory": key,
}), flush=True)
sys.stdin.read()
libc.shmctl(segment, 0, None)
