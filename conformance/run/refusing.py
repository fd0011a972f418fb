#!/usr/bin/env python3
"""Starts a program on a system that refuses what a sandbox needs: refusing.py WHAT PROGRAM ARGUMENTS...

`namespaces`: the kernel allows no user namespaces. `clone`: a filter refuses calls that create namespaces, as those of
containers do. `seccomp`: filters cannot be installed.
"""

import ctypes
import os
import platform
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
CLONE, UNSHARE, SECCOMP, PRCTL = (220, 97, 277, 167) if ARM else (56, 272, 317, 157)
CLONE3 = 435
EPERM, ENOSYS = 0x00050000 | 1, 0x00050000 | 38
ALLOW = 0x7FFF0000
NEW_USER = 0x10000000
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2


def one(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def load(offset: int) -> bytes:
    return one(0x20, offset)


def answer(action: int) -> bytes:
    return one(0x06, action)


def if_call(number: int, *then: bytes) -> bytes:
    """Instructions for one call; the number is loaded before and after."""
    return one(0x15, number, 0, len(then)) + b"".join(then)


# The lower half of the first argument.
FIRST = 16
FILTERS = {
    "clone": if_call(CLONE3, answer(ENOSYS))
    + if_call(UNSHARE, answer(EPERM))
    + if_call(CLONE, load(FIRST), one(0x45, NEW_USER, 0, 1), answer(EPERM), answer(ALLOW)),
    "seccomp": if_call(SECCOMP, answer(EPERM)) + if_call(PRCTL, load(FIRST), one(0x15, SET_SECCOMP, 0, 1), answer(EPERM), answer(ALLOW)),
}


def install(instructions: bytes) -> None:
    """Install a filter for this process and what it becomes."""
    instructions = load(0) + instructions + answer(ALLOW)
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = struct.pack("HxxxxxxP", len(instructions) // 8, ctypes.addressof(buffer))
    program = ctypes.create_string_buffer(program, len(program))
    if LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or LIBC.prctl(SET_SECCOMP, FILTER, program):
        raise OSError(ctypes.get_errno(), "install a filter")


def main() -> None:
    what, *command = sys.argv[1:]
    if what == "namespaces":
        shell = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
        command = ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c", shell, "sh", *command]
    else:
        install(FILTERS[what])
    os.execvp(command[0], command)


main()
