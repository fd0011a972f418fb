"""What is kept on disk of many skills: damaged, or left by a killed builder. Answers are as from the skills themselves."""

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import time

from ground import crashed, files_below, skill

# The command keeps an index from 1,000 skills of a root on.
SKILLS = 1_200
LONG_DAMAGE, LONG_KILLS = 800, 30
REQUESTS = ["thing number3 of word7", "forms carrier"]


def lay_out(row, ground, corpus):
    """Makes so many skills, real ones where there is a corpus; waits until files count as settled."""
    count = 0
    for text in itertools.islice(real(corpus), SKILLS) if corpus else []:
        path = ground.user / f"real-{count:04}"
        path.mkdir()
        (path / "SKILL.md").write_text(text, encoding="utf-8")
        count += 1
    for number in range(count, SKILLS):
        skill(
            ground.user,
            f"m{number:04}",
            f"Makes thing number{number % 37} of kind{number % 11}",
            f"Body word{number % 101} of text{number}\n",
        )
    skill(ground.user, "carrier", "Carries forms", "The forms carrier of thing number3.\n")
    time.sleep(2.5)
    truth = fresh(ground)
    row.control(all(one.get("found") for one in truth), "searches find skills")
    # Among many skills with a word of the request, the two may cut the candidates differently.
    row.control(corpus or answers(ground, "--set=index=off") == truth, "a search without an index finds the same")
    return truth


def fresh(ground):
    """Returns what is answered by an index that was just made, in a place of its own."""
    other = ground.folder / "fresh"
    shutil.rmtree(other, ignore_errors=True)
    return answers(ground, more={"XDG_CACHE_HOME": str(other)})


def real(corpus):
    """Yields the texts of a corpus that skills are read from."""
    process = subprocess.Popen(["zstd", "-dcq", corpus], stdout=subprocess.PIPE)
    for line in process.stdout:
        text = json.loads(line)["text"]
        if text.startswith("---\n") and len(text) < 20_000:
            yield text
    process.kill()


def answers(ground, *options, **more):
    """Returns what searches answer, as compared; where one fails, what is wrong."""
    found = []
    for request in REQUESTS:
        found.append(answer(ground, request, *options, **more))
        if "wrong" in found[-1]:
            break
    return found


def answer(ground, request, *options, **more):
    done = ground.run("search", request, "--json", *options, seconds=10, **more)
    if crashed(done) or done.code != 0:
        return {"wrong": crashed(done) or f"exit {done.code}: {done.err[-200:]!r}"}
    view = json.loads(done.out)
    return {"coverage": view["coverage"], "found": [one["id"] for one in view["found"]]}


def compare(truth, seen, is_first):
    """Says how answers differ. The first after a damage may cover the metadata alone, which it says."""
    for wanted, got in zip(truth, seen):
        if "wrong" in got:
            return got["wrong"]
        if got != wanted and not (is_first and got["coverage"] != wanted["coverage"]):
            return f"{got} is not {wanted}"[:400]
    return None


def judge(ground, truth):
    """Searches twice, and says what is wrong: with the first answers, or after what was damaged is made again."""
    return compare(truth, answers(ground), is_first=True) or compare(truth, answers(ground), is_first=False)


def damages(rng, path, content):
    """Yields ways to damage a file."""
    place = lambda: rng.randrange(max(1, len(content)))  # noqa: E731
    yield "flip a bit", lambda: flip(path, content, place(), 1 << rng.randrange(8))
    yield "flip a byte", lambda: flip(path, content, place(), 0xFF)
    yield "flip at the start", lambda: flip(path, content, 0, 0x55)
    yield "flip at the end", lambda: flip(path, content, len(content) - 1, 0x55)
    yield "cut", lambda: path.write_bytes(content[: place()])
    yield "cut the last byte", lambda: path.write_bytes(content[:-1])
    yield "empty", lambda: path.write_bytes(b"")
    yield "add a byte", lambda: path.write_bytes(content + b"\0")
    yield "add much", lambda: path.write_bytes(content + rng.randbytes(100_000))
    yield (
        "zeros in the middle",
        lambda: path.write_bytes(content[: len(content) // 2] + bytes(len(content) - len(content) // 2)),
    )
    yield "all zeros", lambda: path.write_bytes(bytes(len(content)))
    yield "noise", lambda: path.write_bytes(rng.randbytes(len(content)))
    yield "noise in the middle", lambda: noise(rng, path, content, place())
    yield "remove", lambda: path.unlink()
    yield "a folder", lambda: (path.unlink(), path.mkdir())
    yield "a pipe", lambda: (path.unlink(), os.mkfifo(path))
    yield "a link to nothing", lambda: (path.unlink(), path.symlink_to("gone"))
    yield "a link to a device", lambda: (path.unlink(), path.symlink_to("/dev/zero"))
    yield "not to be read", lambda: path.chmod(0)
    yield "swapped", lambda: swap(path, rng)
    yield "twice the size", lambda: path.write_bytes(content * 2)


def flip(path, content, at, bits):
    changed = bytearray(content)
    if changed:
        changed[at] ^= bits
    path.write_bytes(changed)


def noise(rng, path, content, at):
    path.write_bytes(content[:at] + rng.randbytes(min(64, len(content) - at)) + content[at + 64 :])


def swap(path, rng):
    other = rng.choice([one for one in path.parent.iterdir() if one != path and one.is_file()] or [path])
    held, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs)
    other.write_bytes(held)


def damage(row, ground, corpus):
    rng = random.Random(4)
    truth = lay_out(row, ground, corpus)
    cache, kept = ground.home / ".cache", ground.folder / "kept"
    answers(ground)
    row.control(compare(truth, answers(ground), is_first=False) is None, "a search by the index answers as one without")
    listed = ground.json("list")
    held = [path for path in files_below(cache) if path.is_file()]
    row.control(
        any(path.suffix == ".term" for path in held) and any(path.suffix == ".skills" for path in held),
        "there is an index",
    )
    shutil.copytree(cache, kept)
    tries = [(path, number) for path in held for number in range(len(list(damages(rng, path, b"x"))))]
    rounds = -(-LONG_DAMAGE // len(tries))
    for path, number in row.some((tries * rounds)[:LONG_DAMAGE], least=20):
        restore(kept, cache)
        name, make = list(damages(rng, path, path.read_bytes()))[number]
        make()
        wrong = judge(ground, truth)
        if not wrong and path.suffix == ".skills" and ground.json("list") != listed:
            wrong = "`list` has others"
        row.try_one(wrong, f"{name}: {path.relative_to(cache)}")


def restore(kept, cache):
    """Puts the undamaged files back, with their times."""
    shutil.rmtree(cache)
    shutil.copytree(kept, cache)


def kill(row, ground, corpus):
    rng = random.Random(5)
    truth = lay_out(row, ground, corpus)
    cache, whole, begun = ground.home / ".cache", [], 0
    for _ in range(3):
        shutil.rmtree(cache, ignore_errors=True)
        start = time.monotonic()
        answers(ground)
        whole.append((time.monotonic() - start) / len(REQUESTS))
    for number in range(row.amount(LONG_KILLS, least=5)):
        if number % 2 == 0:
            shutil.rmtree(cache, ignore_errors=True)
        process = subprocess.Popen(
            [ground.binary, "search", REQUESTS[0]],
            cwd=ground.project,
            env=ground.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # Half of them as soon as the index has a file.
        limit = time.monotonic() + (rng.random() * 2 * min(whole) if number % 4 < 2 else 10)
        while time.monotonic() < limit and process.poll() is None:
            if number % 4 >= 2 and any((cache / "skillfold" / "search").glob("*/*")):
                break
        process.send_signal(signal.SIGKILL)
        begun += process.wait() == -signal.SIGKILL
        row.try_one(judge(ground, truth), f"kill {number}")
        # A changed skill makes the next build one of a part.
        skill(ground.user, "m0001" if not corpus else "changed", f"Changed {number}", "Of no request.\n")
        truth = fresh(ground)
    row.control(begun * 3 >= row.tries, f"{begun} of {row.tries} were killed before they ended")
