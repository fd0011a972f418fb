"""A pinned folder: a server gives nothing but the bytes that were trusted, however and whenever they change."""

import os
import random
import threading
import time

from ground import Server, crashed, skill

LONG_CHANGES, LONG_SWAPS, LONG_COMMANDS = 80, 8_000, 200
EVIL = b"EVIL"


def replace(path, text):
    """Puts a new file in the place of another, as an editor does."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.rename(path)


def overwrite(path, text):
    with path.open("r+", encoding="utf-8") as file:
        file.write(text)


def overwrite_unseen(path, text):
    """Writes into the file, and gives it the time that it had."""
    before = path.stat()
    overwrite(path, text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


WAYS = [replace, overwrite, overwrite_unseen]
# A file that changes, and a question whose answer has it.
QUESTIONS = [
    ("SKILL.md", "load_skill", {"skill_id": "a"}),
    ("SKILL.md", "search_skills", {"query": "harmless things"}),
    ("SKILL.md", "read_skill_resource", {"skill_id": "a", "path": "SKILL.md"}),
    ("forms.md", "read_skill_resource", {"skill_id": "a", "path": "forms.md"}),
    ("sub/forms.md", "read_skill_resource", {"skill_id": "a", "path": "sub/forms.md"}),
]


def heard(answer):
    return "no answer" if answer is None else "changed bytes" if EVIL in answer else None


def lay_out(ground):
    folder = skill(ground.own, "a", "Does GOOD harmless things", "Do it, GOOD.\n")
    (folder / "sub").mkdir()
    for name in ["forms.md", "sub/forms.md"]:
        (folder / name).write_text("Forms, GOOD\n", encoding="utf-8")
    return folder


def change_once(row, ground, folder, options, way, question):
    """Changes a file under a running server, asks until it would have noticed, and puts it back."""
    name, tool, arguments = question
    path, what = folder / name, f"{way.__name__} {name}, {tool}, {' '.join(options) or 'watched'}"
    good = path.read_text(encoding="utf-8")
    server = Server(ground, *options)
    row.control(b"GOOD" in (server.call(tool, **arguments) or b""), f"{what}: the trusted bytes are given")
    way(path, good.replace("GOOD", "EVIL"))
    end = time.monotonic() + (0.3 if options else 1.5)
    while time.monotonic() < end:
        row.try_one(heard(server.call(tool, **arguments)), what)
        time.sleep(0.02)
    row.control(not crashed(server.close()), f"{what}: the server ended well")
    replace(path, good)


class Swapper(threading.Thread):
    """Swaps the instructions for others and back, all the time."""

    def __init__(self, path, rng):
        super().__init__(daemon=True)
        self.path, self.rng, self.good, self.ended = path, rng, path.read_text(encoding="utf-8"), False
        self.start()

    def run(self):
        evil = self.good.replace("GOOD", "EVIL")
        while not self.ended:
            replace(self.path, evil)
            time.sleep(self.rng.uniform(0, 0.02))
            replace(self.path, self.good)
            time.sleep(self.rng.uniform(0, 0.05))

    def end(self):
        self.ended = True
        self.join()


def attack(row, ground, _):
    rng = random.Random(5)
    folder = lay_out(ground)
    pinned = ground.run("trust", str(ground.project), "--pin", "--yes")
    row.control(pinned.code == 0, f"the project is pinned: {pinned.err[-200:]!r}")
    unwatched = ("--set", "watch=off", "--set", "poll_seconds=0")
    changes = [(way, question, options) for way in WAYS for question in QUESTIONS for options in [unwatched, ()]]
    for way, question, options in row.some(changes * (LONG_CHANGES // len(changes)), least=6):
        change_once(row, ground, folder, options, way, question)
    swapper = Swapper(folder / "SKILL.md", rng)
    for options in [unwatched, ()]:
        server = Server(ground, *options)
        for _ in range(row.amount(LONG_SWAPS / 2)):
            row.try_one(heard(server.call("load_skill", skill_id="a")), "swapped all the time")
        row.control(not crashed(server.close()), "the server ended well")
    for _ in range(row.amount(LONG_COMMANDS)):
        done = ground.run("load", "a")
        row.try_one(crashed(done) or heard(done.out), "swapped all the time, the command")
    swapper.end()
    row.control(b"GOOD" in ground.run("load", "a").out, "the trusted bytes are given in the end")
