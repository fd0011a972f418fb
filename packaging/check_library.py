"""Checks a library for Node as auditwheel checks a wheel: what it exports, and what it needs of a system.

    python3 packaging/check_library.py TARGET LIBRARY

It must export Node's entry point, and need the system's own libraries alone; on Linux the C library, of glibc no symbol newer
than 2.17. Node's functions are looked up when the library is loaded: it must not be linked with them.
"""

from __future__ import annotations

import re
import subprocess
import sys

ENTRY = "napi_register_module_v1"
LINUX = re.compile(r"^(lib(c|m|dl|pthread|rt|gcc_s)\.so(\.\d+)?|libc\.musl-\w+\.so\.1|ld-linux-[\w-]+\.so\.\d|ld-musl-\w+\.so\.1)$")
WINDOWS = re.compile(r"^(api-ms-win-[\w-]+|advapi32|bcrypt|bcryptprimitives|crypt32|kernel32|msvcrt|ntdll|ole32|secur32|shell32|"
                     r"user32|userenv|ws2_32|ucrtbase|iphlpapi|ncrypt|oleaut32|psapi|rpcrt4|synchronization|pdh|powrprof)\.dll$", re.I)


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def linux(target: str, library: str) -> list[str]:
    wrong = []
    dynamic = output("readelf", "--wide", "--dynamic", library)
    for needed in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic):
        if not LINUX.match(needed):
            wrong.append(f"it needs {needed}")
    symbols = output("readelf", "--wide", "--dyn-syms", library)
    for major, minor in {(int(a), int(b)) for a, b in re.findall(r"@GLIBC_(\d+)\.(\d+)", symbols)}:
        if (major, minor) > (2, 17) or "musl" in target:
            wrong.append(f"it needs glibc {major}.{minor}")
    if undefined := re.findall(r"UND ((?:napi|node|uv)_\w+)", symbols):
        # They are looked up when the library is loaded, so that one that is missing has a message.
        wrong.append(f"it is linked with {', '.join(undefined)}")
    if not re.search(rf"GLOBAL\s+\w+\s+\d+ {ENTRY}", symbols):
        wrong.append(f"it does not export {ENTRY}")
    return wrong


def windows(library: str) -> list[str]:
    headers = output("objdump", "--private-headers", library)
    names = re.findall(r"DLL Name: (\S+)", headers)
    wrong = [f"it needs {name}" for name in names if not WINDOWS.match(name)]
    return wrong if ENTRY in headers else [*wrong, f"it does not export {ENTRY}"]


def apple(library: str) -> list[str]:
    names = re.findall(r"^\s+(\S+) \(compatibility", output("otool", "-L", library), re.M)
    system = ("/usr/lib/", "/System/Library/", "@rpath/")
    wrong = [f"it needs {name}" for name in names if not name.startswith(system) and "skillfold_node" not in name]
    return wrong if f"_{ENTRY}" in output("nm", "-gU", library) else [*wrong, f"it does not export {ENTRY}"]


def main() -> None:
    target, library = sys.argv[1:]
    if "windows" in target:
        wrong = windows(library)
    elif "apple" in target:
        wrong = apple(library)
    else:
        wrong = linux(target, library)
    if wrong:
        sys.exit("\n".join(f"error: {library}: {problem}" for problem in wrong))
    print(f"{target}: {library} needs nothing that is not there")


if __name__ == "__main__":
    main()
