"""Attacks on a project that the script may write. Prints a JSON object: name -> what it got, or null.

Some things in the project stay read-only. An attack on one succeeds if it is another one afterwards, or if something was
created in it. An attack on the host succeeds if it reads the secret beside the project. Names that no run may create are
left behind for the host to look at.
"""

import ctypes
import json
import mmap
import os
import shutil
import socket
import stat
import sys

HOST = json.load(sys.stdin)
CANARY = HOST["canary"][::-1]
LIBC = ctypes.CDLL(None, use_errno=True)
RESULTS = {}
HERE = os.getcwd()

# What stays read-only: a file in each, and the folder around it that stays too, if there is one.
KEPT = {
    ".git": ".git/config",
    "sub/.git": "sub/.git/config",
    "deep/er/.git": "deep/er/.git/config",
    ".claude": ".claude/settings.json",
    ".mcp.json": ".mcp.json",
    "config/vscode": "config/vscode/tasks.json",
    "my-skills": "my-skills/x/SKILL.md",
}


def read(path):
    with open(path, "rb") as file:
        return file.read()


BEFORE = {kept: read(file) for kept, file in KEPT.items()}


def libc(name, *arguments):
    if getattr(LIBC, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def rename2(one, other, flags):
    libc("renameat2", -100, one.encode(), -100, other.encode(), flags)


def write(path, flags=os.O_WRONLY, text=b"evil"):
    fd = os.open(path, flags, 0o666)
    try:
        os.write(fd, text)
    finally:
        os.close(fd)


def shared_map(path):
    fd = os.open(path, os.O_RDWR)
    with mmap.mmap(fd, 1) as mapped:
        mapped[0] = 88


def from_reference(path):
    fd = os.open(path, os.O_PATH)
    write(f"/proc/self/fd/{fd}")


def from_tmpfile(file):
    fd = os.open(os.path.dirname(file) or ".", os.O_TMPFILE | os.O_WRONLY, 0o666)
    os.write(fd, b"evil")
    os.link(f"/proc/self/fd/{fd}", f"{file}.new", follow_symlinks=True)


def hard_link_out(file):
    os.link(file, "taken")
    write("taken")


def rename_parent(file):
    parent = os.path.dirname(os.path.dirname(file)) or os.path.dirname(file)
    if not parent:
        raise OSError("no folder around it")
    os.rename(parent, "moved")
    try:
        write(file.replace(parent, "moved", 1))
    finally:
        os.rename("moved", parent)


def in_namespace(attempt):
    def attack(file):
        pid = os.fork()
        if pid == 0:
            try:
                os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNS) if hasattr(os, "unshare") else libc("unshare", 0x10020000)
                attempt(file)
            except BaseException:
                os._exit(1)
            os._exit(0)
        os.waitpid(pid, 0)

    return attack


def top(file):
    return next(kept for kept, inside in KEPT.items() if inside == file)


FILE_ATTACKS = {
    "write": write,
    "append": lambda file: write(file, os.O_WRONLY | os.O_APPEND),
    "truncate": lambda file: os.truncate(file, 0),
    "open and truncate": lambda file: write(file, os.O_WRONLY | os.O_TRUNC),
    "write in place": lambda file: write(file, os.O_RDWR),
    "write through a mapping": shared_map,
    "write through a reference": from_reference,
    "write through /proc/self/cwd": lambda file: write(f"/proc/self/cwd/{file}"),
    "write through /proc/self/root": lambda file: write(f"/proc/self/root{HERE}/{file}"),
    "write through the name of the host": lambda file: write(f"{HERE}/../{os.path.basename(HERE)}/{file}"),
    "write through a link": lambda file: (os.symlink(file, "link"), write("link")),
    "write through a linked folder": lambda file: (os.symlink(HERE, "linked"), write(f"linked/{file}")),
    "write through a hard link": hard_link_out,
    "delete": os.unlink,
    "rename away": lambda file: os.rename(file, "away"),
    "rename something over it": lambda file: (write("new", os.O_CREAT | os.O_WRONLY), os.rename("new", file)),
    "exchange": lambda file: (write("new", os.O_CREAT | os.O_WRONLY), rename2("new", file, 2)),
    "whiteout": lambda file: rename2(file, "away", 4),
    "link over it": lambda file: (os.symlink("/etc", "new-link"), os.rename("new-link", file)),
    "change its mode": lambda file: os.chmod(file, 0o4777),
    "change its owner": lambda file: os.chown(file, 1000, 1000) if os.stat(file).st_uid != 1000 else os.chmod(file, 0o4777),
    "preallocate": lambda file: os.posix_fallocate(os.open(file, os.O_WRONLY), 0, 4096),
    "copy a range": lambda file: os.copy_file_range(
        os.open("/skill/SKILL.md", os.O_RDONLY), os.open(file, os.O_WRONLY), 10
    ),
    "send a file": lambda file: os.sendfile(os.open(file, os.O_WRONLY), os.open("/skill/SKILL.md", os.O_RDONLY), 0, 10),
    "create beside it": lambda file: write(f"{top(file)}/evil", os.O_CREAT | os.O_WRONLY),
    "create a folder beside it": lambda file: os.mkdir(f"{top(file)}/evil"),
    "create a link beside it": lambda file: os.symlink("/etc", f"{top(file)}/evil"),
    "create a pipe beside it": lambda file: os.mkfifo(f"{top(file)}/evil"),
    "create without a name": lambda file: from_tmpfile(f"{top(file)}/evil"),
    "move a file into it": lambda file: (write("new", os.O_CREAT | os.O_WRONLY), os.rename("new", f"{top(file)}/evil")),
    "rename it": lambda file: os.rename(top(file), "away"),
    "exchange it": lambda file: (os.mkdir("new"), rename2("new", top(file), 2)),
    "delete all of it": lambda file: shutil.rmtree(top(file)),
    "rename what is around it": rename_parent,
    "mount over it": lambda file: libc("mount", b"/tmp", top(file).encode(), None, 0x1000, None),
    "unmount": lambda file: libc("umount2", top(file).encode(), 2),
    "remount": lambda file: libc("mount", None, top(file).encode(), None, 0x1020, None),
    "unmount in a namespace": in_namespace(lambda file: (libc("umount2", top(file).encode(), 2), write(file))),
    "remount in a namespace": in_namespace(lambda file: (libc("mount", None, top(file).encode(), None, 0x1020, None), write(file))),
    "trace the mount": in_namespace(lambda file: (libc("mount", b".", b"/tmp", None, 0x5000, None), write(f"/tmp/{file}"))),
}


def changed(kept, file):
    try:
        found = os.lstat(file)
        evil = os.path.isdir(kept) and os.path.lexists(f"{kept}/evil")
        is_other = read(file) != BEFORE[kept] or found.st_mode & stat.S_ISUID
        return "changed" if is_other else ("created" if evil else None)
    except OSError as error:
        return f"gone: {error}"


def clean():
    for name in ("new", "away", "link", "linked", "taken", "new-link", "moved"):
        try:
            shutil.rmtree(name) if os.path.isdir(name) and not os.path.islink(name) else os.unlink(name)
        except OSError:
            pass


for kept, file in KEPT.items():
    for name, attack in FILE_ATTACKS.items():
        try:
            attack(file)
        except (OSError, AttributeError, ValueError):
            pass
        RESULTS[f"{name}: {kept}"] = changed(kept, file)
        clean()

# Out of the project.
SECRET = HOST["secret"]
OUT = {
    "absolute path": lambda: read(SECRET),
    "path upwards": lambda: read("../secret/key"),
    "path upwards from a folder": lambda: read("sub/../../secret/key"),
    "link to the file": lambda: (os.symlink(SECRET, "l1"), read("l1"))[1],
    "relative link": lambda: (os.symlink("../secret/key", "l2"), read("l2"))[1],
    "link to the folder": lambda: (os.symlink("../secret", "l3"), read("l3/key"))[1],
    "chain of links": lambda: (os.symlink("l3", "l4"), read("l4/key"))[1],
    "link that was there": lambda: read("outside/key"),
    "link that was there, from /proc": lambda: read("/proc/self/cwd/outside/key"),
    "root of the process": lambda: read(f"/proc/self/root{SECRET}"),
    "root of the first process": lambda: read(f"/proc/1/root{SECRET}"),
    "working directory of the first process": lambda: read("/proc/1/cwd/../secret/key"),
    "hard link": lambda: (os.link(SECRET, "l5"), read("l5"))[1],
    "rename into the project": lambda: (os.rename(SECRET, "l6"), read("l6"))[1],
    "folder handle": lambda: os.read(os.open("../secret/key", os.O_RDONLY, dir_fd=os.open(".", os.O_RDONLY)), 99),
    "project renamed upwards": lambda: (os.rename("sub", "../moved"), read("../secret/key"))[1],
    "mount point upwards": lambda: read(f"{HERE}/../secret/key"),
    "file handle": lambda: libc("open_by_handle_at", -100, b"\0" * 64, 0),
    "change the root": lambda: (os.chroot("."), read("/../secret/key"))[1],
    "list what is beside the project": lambda: b",".join(os.fsencode(name) for name in os.listdir(".."))
    if os.path.exists("../secret")
    else None,
}
for name, attack in OUT.items():
    try:
        got = attack()
    except (OSError, AttributeError):
        got = None
    RESULTS[f"outside: {name}"] = repr(got) if got and (CANARY.encode() in got or b"secret" in got) else None


# Names that no run may create. The host looks for them.
def file_at(path):
    write(path, os.O_CREAT | os.O_WRONLY)


def folder_at(path):
    os.makedirs(f"{path}/hooks")


def by_rename(path):
    os.makedirs("prepared/hooks", exist_ok=True)
    os.rename("prepared", path)


def by_exchange(path):
    os.mkdir("prepared")
    os.mkdir("other")
    rename2("prepared", "other", 2)
    os.rename("other", path)


def by_hard_link(path):
    file_at("prepared-file")
    os.link("prepared-file", path)


def by_tmpfile(path):
    fd = os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o666)
    os.link(f"/proc/self/fd/{fd}", path, follow_symlinks=True)


def by_socket(path):
    socket.socket(socket.AF_UNIX).bind(path)


def from_child(path):
    if os.fork() == 0:
        os.setsid()
        folder_at(path)
        os._exit(0)
    os.wait()


def locked(path):
    folder_at(path)
    os.chmod(os.path.dirname(path), 0)


WAYS = {
    "folder": folder_at,
    "file": file_at,
    "link": lambda path: os.symlink("/etc", path),
    "broken link": lambda path: os.symlink("nowhere", path),
    "rename": by_rename,
    "exchange": by_exchange,
    "hard link": by_hard_link,
    "no name": by_tmpfile,
    "pipe": os.mkfifo,
    "socket": by_socket,
    "child": from_child,
    "locked": locked,
}
MADE = 0
for number, (way, make) in enumerate(WAYS.items()):
    for name in (".git", ".GIT", ".claude", ".mcp.json", ".Mcp.Json", ".github/hooks"):
        place = f"made/{number}/{name.replace('/', '-').lower()}-{MADE}"
        os.makedirs(os.path.dirname(f"{place}/{name}"), exist_ok=True)
        try:
            make(f"{place}/{name}")
            MADE += 1
        except OSError as error:
            RESULTS[f"could not make: {way}: {name}"] = None
print(json.dumps({"results": RESULTS, "made": MADE}))
