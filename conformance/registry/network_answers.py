"""How the command takes what a server of archives answers (`answers.py`): a part of `network.py`. The checks run side by side."""

from __future__ import annotations

import email.utils
import re
import time
from typing import TYPE_CHECKING

from machine import Done, Machine, installed

if TYPE_CHECKING:
    from checks import Checks
    from network import Ground
    from servers import Request

NAME, FILE = "pdf", "skills.tar.gz"
TOKEN = "token-of-anna-0123456789"
# Words of the message about each answer that cannot be used, by the kinds of `answers.py`.
BROKEN = {
    "endless": "64 MiB",
    "stalled": "time",
    "silent": "time",
    "short": "early|closed|disconnected|eof",
    "long": "archive|early|damaged",
    "reset": "reset|closed|early|disconnected",
    "page": "archive",
    "bomb": "compressed|64 MiB",
}
# A server that says nothing is given up after a minute.
MOST_SECONDS = 100


def is_added(done: Done, machine: Machine) -> bool:
    return done.code == 0 and list(installed(machine.project())) == [NAME]


def is_refused(done: Done, machine: Machine, words: str) -> bool:
    """Return whether nothing was installed, and the message has one of the words and a way out."""
    is_told = re.search(words, done.said, re.IGNORECASE) is not None and "hint: " in done.said
    return done.code not in (0, None) and is_told and not installed(machine.project())


def requests_of(ground: Ground, address: str) -> list[Request]:
    path = "/" + address.split("/", 3)[3]
    return [request for answers in ground.odd_files.answers.values() for request in answers.requests if request.path == path]


def waits(checks: Checks, ground: Ground) -> None:
    """The wait that a busy server asks for is kept."""
    for what, kind, options, least in (
        ("429 with Retry-After", "limited", {"retry_after": 3}, 3),
        ("503 with Retry-After", "unavailable", {"times": 1, "Retry_After": 3}, 3),
        ("503 without it", "unavailable", {"times": 1}, 0),
    ):
        address = ground.odd_files.secure_odd(kind, FILE, **options)
        done, machine = ground.add(address)
        kept = is_added(done, machine) and done.seconds >= least and len(requests_of(ground, address)) == 2
        checks.check(f"{what}: the same is asked again after the wait", kept, f"{done.seconds:.1f} s: {done}")


def waits_for_date(checks: Checks, ground: Ground) -> None:
    until = email.utils.formatdate(time.time() + 8, usegmt=True)
    start = time.monotonic()
    done, machine = ground.add(ground.odd_files.secure_odd("limited", FILE, retry_after=until))
    kept = is_added(done, machine) and time.monotonic() - start > 5
    checks.check("Retry-After with a date is kept too", kept, f"{done.seconds:.1f} s: {done}")


def gives_up(checks: Checks, ground: Ground) -> None:
    done, machine = ground.add(ground.odd_files.secure_odd("limited", FILE, retry_after=3600))
    ended = is_refused(done, machine, "3600 s|1 h|60 min") and done.seconds < 15
    checks.check("Whoever asks to wait for an hour is not waited for, and the message says how long", ended, done)
    address = ground.odd_files.secure_odd("limited", FILE, times=99, retry_after=0)
    done, machine = ground.add(address)
    count = len(requests_of(ground, address))
    ended = is_refused(done, machine, "busy") and count <= 3
    checks.check("A server that stays busy is asked at most three times", ended, f"{count}: {done}")


def redirects(checks: Checks, ground: Ground) -> None:
    odd = ground.odd_files.secure_odd
    for hops in (1, 5):
        done, machine = ground.add(odd("redirect", FILE, hops=hops, status=307 if hops == 1 else 302))
        checks.check(f"{hops} redirects are followed", is_added(done, machine), done)
    for what, address in (("A sixth redirect", odd("redirect", FILE, hops=6)), ("A loop of redirects", odd("loop", FILE))):
        done, machine = ground.add(address)
        checks.check(f"{what} is refused", is_refused(done, machine, "five redirects"), done)
        checks.check(f"{what} ends after six requests", len(requests_of(ground, address)) <= 6, address)
    plain = ground.odd_files.other_url(FILE)
    for location in (plain, ground.odd_files.odd("plain", FILE), f"file://{ground.folder}/files/{FILE}", "ftp://127.0.0.2/x.zip"):
        ground.odd_files.answers["http"].requests.clear()
        done, machine = ground.add(odd("to", FILE, location=location))
        checks.check(f"A redirect to `{location.split(':')[0]}` is refused", is_refused(done, machine, "redirect"), done)
    reached = [request for request in ground.odd_files.requests() if request.scheme == "http"]
    checks.check("Nothing was asked for over http then", not reached, reached)


def redirect_elsewhere(checks: Checks, ground: Ground) -> None:
    address = ground.odd_files.secure_odd("elsewhere", FILE)
    done, machine = ground.add(address, SKILLFOLD_TOKEN_127_0_0_1=TOKEN)
    first = [request.authorization for request in requests_of(ground, address)]
    second = [request.authorization for request in ground.odd_files.requests() if request.host.startswith("127.0.0.2")]
    fits = is_added(done, machine) and first == [f"Bearer {TOKEN}"] and second and not any(second)
    checks.check("A redirect to another host is followed, without the token", fits, f"{done}\n{first}\n{second}")


def bodies(kind: str):  # noqa: ANN201
    def check(checks: Checks, ground: Ground) -> None:
        done, machine = ground.add(ground.odd_files.secure_odd(kind, FILE))
        fits = is_refused(done, machine, BROKEN[kind]) and done.seconds < MOST_SECONDS and "panicked" not in done.said
        checks.check(f"An answer that cannot be used is refused, with the reason: {kind}", fits, f"{done.seconds:.1f} s: {done}")

    return check


def slow(checks: Checks, ground: Ground) -> None:
    done, machine = ground.add(ground.odd_files.secure_odd("slow", FILE, size=200, pause=0.5))
    checks.check("A slow body is waited for", is_added(done, machine), done)


CHECKS = [*map(bodies, BROKEN), slow, waits, waits_for_date, gives_up, redirects, redirect_elsewhere]
