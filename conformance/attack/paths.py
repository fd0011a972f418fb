"""Path tricks, links, pipes and devices: nothing from outside a skill comes back, and nothing hangs."""

import os
import random
import socket
import stat
import urllib.parse

from ground import Server, crashed, skill

SECRET = b"S3CRET-c0ffee"
INSIDE = b"INSIDE-4llowed"
# The lines that files of the system begin with.
OUTSIDE = [SECRET, b"root:x:0:", b"/bin/bash"]
LONG_MODEL, LONG_COMMAND = 7_000, 1_600
UP = [
    "..",
    "../",
    "..\\",
    "%2e%2e",
    "%2E%2E/",
    "..%2f",
    "%252e%252e",
    "..%c0%af",
    "..;",
    "....//",
    ".. ",
    "..\0",
    "\uff0e\uff0e",
    "..\u2215",
    "․․",
    ".%2e",
    "..\t",
]
BEFORE = [
    "",
    "./",
    "references/",
    "references/../",
    "./././",
    "/",
    "//",
    "\\",
    "file://",
    "skill://",
    "~/",
    "C:\\",
    "\\\\?\\",
    "x/",
    "SKILL.md/",
    "references//",
    " ",
    "%2f",
]
AFTER = ["", "/", "\0", "\0.md", "%00", "?x", "#x", "/.", "/..", " ", ".", "::$DATA", "\n", "\\", "/SKILL.md", ";.md"]
IDS = [
    "..",
    ".",
    "/",
    "",
    "../outside",
    "../../outside",
    "pdf/..",
    "pdf/../../outside",
    "pdf/references/..",
    "~",
    "~/outside",
    "user:../outside",
    "user:~/.agents/skills/../../outside",
    "user:~/outside",
    "pdf\0",
    "\0",
    "outside",
    "linked",
    "user:pdf/../../../outside",
    "file:///etc",
    "%2e%2e",
    "..\\outside",
]


def lay_out(ground):
    """Makes skills with something to lead out in every place, and returns the names of these."""
    outside = ground.folder / "outside"
    skill(outside, ".", SECRET.decode(), SECRET.decode())
    (outside / "secret.txt").write_bytes(SECRET)
    (ground.home / "secret.txt").write_bytes(SECRET)
    (ground.user / "secret.txt").write_bytes(SECRET)
    ground.environment["SECRET"] = SECRET.decode()
    pdf = skill(ground.user, "pdf", "Fills in forms", INSIDE.decode())
    inner = pdf / "references"
    inner.mkdir()
    (inner / "forms.md").write_bytes(INSIDE)
    traps = {
        "link": outside / "secret.txt",
        "dangling": outside / "not-there",
        "loop": pdf / "loop",
        "relative": "../../../../outside/secret.txt",
        "folder": outside,
        "up": "..",
        "root": "/",
        "chain": pdf / "link",
        "passwd": "/etc/passwd",
        "zero": "/dev/zero",
        "random": "/dev/urandom",
        "environ": "/proc/self/environ",
        "stdin": "/dev/stdin",
        "root-of-process": "/proc/self/root",
    }
    for name, target in traps.items():
        (pdf / name).symlink_to(target)
        (inner / name).symlink_to(target)
    os.mkfifo(pdf / "fifo")
    with socket.socket(socket.AF_UNIX) as made:
        place = os.getcwd()
        os.chdir(pdf)
        made.bind("socket")
        os.chdir(place)
    names = [*traps, "fifo", "socket"]
    try:
        os.mknod(pdf / "device", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
        names.append("device")
    except PermissionError:
        pass
    return names, broken_skills(ground, outside)


def broken_skills(ground, outside):
    """Makes folders whose `SKILL.md` is no file of theirs; returns their names."""
    targets = {
        "s-link": outside / "SKILL.md",
        "s-zero": "/dev/zero",
        "s-passwd": "/etc/passwd",
        "s-environ": "/proc/self/environ",
    }
    for name, target in targets.items():
        (ground.user / name).mkdir()
        (ground.user / name / "SKILL.md").symlink_to(target)
    (ground.user / "s-fifo").mkdir()
    os.mkfifo(ground.user / "s-fifo" / "SKILL.md")
    (ground.user / "s-folder" / "SKILL.md").mkdir(parents=True)
    (ground.user / "s-loop").symlink_to(ground.user / "s-loop")
    return [*targets, "s-fifo", "s-folder", "s-loop"]


def make_path(rng, ground, traps):
    """Returns a path that leads out, or tries to: half of them plain, half with something around it."""
    before, after = (rng.choice(BEFORE), rng.choice(AFTER)) if rng.random() < 0.5 else ("", "")
    outside = rng.choice(["outside/secret.txt", "secret.txt", "outside/SKILL.md", "etc/passwd", "proc/self/environ"])
    kind = rng.randrange(4)
    if kind == 0:
        below = rng.choice(["", "", "/secret.txt", "/SKILL.md", "/etc/passwd", "/outside/secret.txt"])
        return before + rng.choice(["", "references/"]) + rng.choice(traps) + below + after
    if kind == 1:
        return before + str(ground.folder / outside) + after
    if kind == 2:
        device = rng.choice(["etc/passwd", "proc/self/environ", "dev/zero", "dev/stdin", "proc/self/fd/0"])
        return "/" * rng.randrange(1, 4) + device
    up = rng.choice(["../", rng.choice(UP)])
    deep = up if up.endswith(("/", "\\", "f")) else up + rng.choice(["/", "\\", "%2f", "//"])
    return before + deep * rng.choice([1, 2, 3, 4, 5, 8, 40]) + outside + after


def leaked(*texts):
    found = next((mark for mark in OUTSIDE for text in texts if mark in text), None)
    return f"came back: {found!r}" if found else None


def by_model(row, ground, rng, traps, broken):
    """The tools and resources of the server."""
    server = Server(ground)
    allowed = {
        "tool": lambda: server.call("read_skill_resource", skill_id="pdf", path="references/forms.md"),
        "resource": lambda: server.ask("resources/read", {"uri": "skill://pdf/references/forms.md"}),
        "load": lambda: server.call("load_skill", skill_id="pdf"),
    }
    for number in range(row.amount(LONG_MODEL)):
        if number % 200 == 0:
            for name, ask in allowed.items():
                row.control(INSIDE in (ask() or b""), f"{name}: a file of the skill is given")
        path, who = make_path(rng, ground, traps), rng.choice(["pdf", "pdf", rng.choice([*IDS, *broken])])
        way = rng.randrange(6)
        server.seen.clear()
        if way < 2:
            answer = server.call("read_skill_resource", skill_id=who, path=path)
        elif way == 2:
            answer = server.ask("resources/read", {"uri": f"skill://{who}/{path}"})
        elif way == 3:
            answer = server.ask("resources/read", {"uri": f"skill://{who}/{urllib.parse.quote(path)}"})
        elif way == 4:
            answer = server.ask(
                rng.choice(["resources/directory/read", "skills/get"]), {"uri": f"skill://{who}/{path}"}
            )
        else:
            answer = server.call("load_skill", skill_id=rng.choice([who, path]))
        row.try_one(leaked(answer, *server.seen) if answer else "no answer", f"model, way {way}, {who!r}, {path!r}")
        if answer is None:
            server.close()
            server = Server(ground)
    done = server.close()
    row.control(
        not crashed(done) and not leaked(done.err), "the server ended well, and its log has nothing from outside"
    )


def plain(row, ground, traps):
    """Each of them by its plain name, in every way."""
    server = Server(ground)
    for path in [
        f"{place}{trap}{below}" for place in ("", "references/") for trap in traps for below in ("", "/secret.txt")
    ]:
        ways = {
            "tool": lambda: server.call("read_skill_resource", skill_id="pdf", path=path),
            "resource": lambda: server.ask("resources/read", {"uri": f"skill://pdf/{path}"}),
            "folder": lambda: server.ask("resources/directory/read", {"uri": f"skill://pdf/{path}"}),
        }
        for way, ask in ways.items():
            answer = ask()
            row.try_one(leaked(answer) if answer else "no answer", f"{way} {path}")
        done = ground.run("read", "pdf", path)
        refused = None if done.code in (3, 4) else f"exit {done.code}"
        row.try_one(crashed(done) or leaked(done.out, done.err) or refused, f"read pdf {path}")
    row.control(not crashed(server.close()), "the server ended well")


def by_command(row, ground, rng, traps, broken):
    for number in range(row.amount(LONG_COMMAND)):
        path = make_path(rng, ground, traps).replace("\0", "")
        who = rng.choice(["pdf", rng.choice([*IDS, *broken])]).replace("\0", "")
        command = rng.choice(
            [
                ["read", "--", who, path],
                ["read", "--json", "--", who, path],
                ["read", "--", "pdf", path],
                ["files", "--", who],
                ["load", "--", who],
                ["load", "--", path],
                ["files", "pdf", "--after=" + path],
                ["show", "--", who],
            ]
        )
        done = ground.run(*command)
        wrong = crashed(done) or leaked(done.out, done.err)
        row.try_one(wrong, f"command {command}")
        if number % 100 == 0:
            row.control(
                ground.run("read", "pdf", "references/forms.md").out == INSIDE, "read gives a file of the skill"
            )
            row.control(INSIDE in ground.run("load", "pdf").out, "load gives the instructions")
            row.control(b"references/forms.md" in ground.run("files", "pdf").out, "files names a file of the skill")


def attack(row, ground, _):
    traps, broken = lay_out(ground)
    rng = random.Random(2)
    plain(row, ground, traps)
    by_model(row, ground, rng, traps, broken)
    by_command(row, ground, rng, traps, broken)
    for command in ["list", "doctor", "check", "search forms", "prompt forms"]:
        done = ground.run(*command.split())
        row.try_one(crashed(done) or leaked(done.out, done.err), command)
    return None if "device" in traps else "no device: only root makes one"
