"""A system that is not as it should be: a clock of another age, and a disk that is full."""

import glob
import json
import os
import resource
import shutil
import signal
import subprocess

from ground import Server, crashed, files_below, skill

YEARS = [
    1970,
    1971,
    1980,
    1999,
    2000,
    2001,
    2004,
    2016,
    2025,
    2026,
    2027,
    2036,
    2037,
    2038,
    2039,
    2069,
    2100,
    2106,
    2107,
    2199,
    2242,
    2261,
    2262,
]
DAYS = {
    1970: "1970-01-01 00:00:01",
    2038: "2038-01-19 03:14:07",
    2106: "2106-02-07 06:28:15",
    2262: "2262-04-11 23:47:15",
}
LIBRARIES = [
    "/usr/lib/*/faketime/libfaketime.so.1",
    "/usr/lib*/faketime/libfaketime.so.1",
    "/usr/local/lib/faketime/libfaketime.so.1",
]
# Seconds of a file's time, from before 1970 to where a signed number of nanoseconds ends, and beyond.
TIMES = [-(2**31), -1, 0, 1, 2**31 - 1, 2**31, 2**32, 2**33, 9_223_372_035, 9_223_372_037, 2**34 - 1]


def clock(row, ground, _):
    library = next((found for pattern in LIBRARIES for found in glob.glob(pattern)), None)
    pdf = skill(ground.user, "pdf", "Fills in forms", "Fill them in.\n")
    skill(ground.own, "theirs", "Is the project's")
    # `setup` leaves the folder of a client, which is how `doctor` knows that there is one.
    ground.run("setup", "cursor", "--yes")
    ground.run("setup", "cursor", "--undo", "--yes")
    truth = asked(ground, {})
    row.control(not isinstance(truth, str), f"all is answered today: {truth}")
    for year in row.some(YEARS, least=5) if library else []:
        day = DAYS.get(year, f"{year}-06-15 12:00:00")
        more = {"LD_PRELOAD": library, "FAKETIME": f"@{day}", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "TZ": "UTC"}
        told = subprocess.run(["date", "+%Y"], env=more, capture_output=True, text=True).stdout.strip()
        row.control(told == str(year), f"the clock says {year}: {told}")
        row.try_one(differs(truth, asked(ground, more)), f"clock {day}")
    for moment in row.some(TIMES, least=5):
        try:
            os.utime(pdf / "SKILL.md", (moment, moment))
            os.utime(pdf, (moment, moment))
        except OverflowError:
            continue
        row.try_one(differs(truth, asked(ground, {})), f"time of a file {moment}")
    return None if library else "times of files alone: faketime is not installed"


def asked(ground, more):
    """Returns what commands and the server answer, without what names a time; a text says what is wrong."""
    commands = [
        "list --json",
        "search forms --json",
        "load pdf",
        "show pdf --json",
        "doctor",
        "check --json",
        "prompt forms --json",
        "trust --yes --json",
        "trust --list",
        "trust --remove",
        "config set profile spec",
        "config --json",
        "new clock",
        "setup cursor --yes --json",
        "setup cursor --undo --yes",
    ]
    answers = []
    for command in commands:
        done = ground.run(*command.split(), more=more)
        if crashed(done) or done.code not in (0, 1):
            return f"{command}: {crashed(done) or done}"
        answers.append((command, done.code, done.out))
    shutil.rmtree(ground.own / "clock")
    server = Server(ground, more=more)
    answers += [
        server.call("load_skill", skill_id="pdf").partition(b'"result"')[2],
        server.call("search_skills", query="forms").partition(b'"result"')[2],
    ]
    ended = crashed(server.close())
    return ended or answers


def differs(truth, seen):
    if isinstance(seen, str):
        return seen
    return next((f"{new!r:.200} is not {old!r:.200}" for old, new in zip(truth, seen) if old != new), None)


def small_files():
    """Allows no byte more in any file, as a full disk does."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


# The command, and whether it must fail: what is only remembered or kept for the next start must not.
WRITERS = [
    (["config", "set", "profile", "spec"], True),
    (["config", "set", "--project", "disable", "theirs"], True),
    (["trust", "--yes"], True),
    (["trust", "--remove", "TRUSTED"], True),
    (["new", "made"], True),
    (["new", "made", "--user"], True),
    (["check", "--fix"], True),
    (["setup", "cursor", "--yes"], True),
    (["setup", "codex", "--project", "--yes"], True),
    (["--trace", "TRACE", "list"], True),
    (["search", "thing"], False),
    (["list"], False),
    # What the conversation has cannot be remembered then: it gets a line.
    (["hook"], False),
]
EVENT = b'{"hook_event_name": "UserPromptSubmit", "session_id": "1", "prompt": "Use the m0001 skill"}'


def disk(row, ground, _):
    is_mounted = mount(ground.folder / "small")
    small = type(ground)(ground.binary, ground.folder / "small") if is_mounted else ground
    prepare = None if is_mounted else small_files
    try:
        lay_out_small(small)
        full(row, small, prepare, is_mounted)
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", ground.folder / "small"], check=True)
    return None if is_mounted else "files that may not grow: only root mounts a small disk"


def mount(folder):
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], capture_output=True)
    return done.returncode == 0


def lay_out_small(ground):
    """Makes what the commands change, with something in each file that must stay."""
    for number in range(1_100):
        skill(ground.user, f"m{number:04}", f"Makes thing {number}")
    repaired = skill(ground.own, "theirs", "x")
    (repaired / "SKILL.md").write_text(
        "---\nname: theirs\ndescription: Use when: asked\n---\nText.\n", encoding="utf-8"
    )
    # One of them stays in the list, which has to be written then.
    for name in ("other", "third"):
        (ground.folder / name / ".git").mkdir(parents=True)
        ground.run("trust", "--yes", str(ground.folder / name))
    texts = {
        ground.home / ".config/skillfold/config.toml": "# mine\nmax_depth = 4\n",
        ground.project / ".skillfold/config.toml": "# theirs\n",
        ground.home / ".cursor/mcp.json": '{"mcpServers": {}}\n',
        ground.project / ".codex/config.toml": 'model = "x"\n',
        ground.folder / "trace.jsonl": "",
        # The hook makes them, empty.
        ground.home / ".local/state/skillfold/conversations/lock": "",
        ground.home / ".local/state/skillfold/hook.jsonl": "",
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def full(row, ground, prepare, is_mounted):
    places = {"TRUSTED": str(ground.folder / "other"), "TRACE": str(ground.folder / "trace.jsonl")}
    stuffing = ground.folder / "stuffing"
    log = ground.home / ".local/share/skillfold/audit.jsonl"
    for command, must_fail in WRITERS:
        if is_mounted:
            stuff(stuffing)
        command = [places.get(word, word) for word in command]
        before = kept(ground)
        done = ground.run(*command, prepare=prepare, text=EVENT if command == ["hook"] else b"")
        after = kept(ground)
        wrong = crashed(done)
        if not wrong and must_fail and (done.code == 0 or not done.err.strip()):
            wrong = f"exit {done.code}, and said {done.err[-200:]!r}"
        if not wrong and not must_fail and (done.code != 0 or b"m0" not in done.out):
            wrong = f"exit {done.code}: {done.err[-200:]!r}"
        if not wrong:
            wrong = done_in_log(before.pop(log, None), after.pop(log, None))
        if not wrong and after != before:
            wrong = f"files differ: {sorted(str(path) for path in set(after.items()) ^ set(before.items()))[:3]}"
        row.try_one(wrong, " ".join(command[:3]))
    stuffing.unlink(missing_ok=True)
    for command, _ in WRITERS:
        command = [places.get(word, word) for word in command]
        done = ground.run(*command)
        row.control(done.code in (0, 1), f"with room, {command[:3]} works: {done}")


def done_in_log(before, after):
    """Says what is wrong with the log: it may have room for an act that failed, never for one that was done."""
    before, after = before[0] if before else b"", after[0] if after else b""
    if not after.startswith(before):
        return "the log lost records"
    outcomes = [json.loads(line).get("outcome") for line in after[len(before) :].splitlines()]
    return "the log says that it was done" if "done" in outcomes else None


def kept(ground):
    """Returns all files but what is kept for the next start, locks, and what fills the disk."""
    files = files_below(ground.folder).items()
    return {
        path: held
        for path, held in files
        if ".cache" not in path.parts and path.suffix != ".lock" and path.name != "stuffing"
    }


def stuff(path):
    """Fills the disk to the last byte."""
    with open(path, "ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                pass
