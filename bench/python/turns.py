"""What turns of skillfold cost, and how many times the work of one thread two threads do.

python turns.py cost|threads FOLDER SCRATCH REQUESTS

`REQUESTS` is a file with one request per line. `cost` prints `discover_ms`, the CPU time of a discovery in this fresh
process, and `turn_us`, the mean CPU time of a turn: one session gets all requests, the first of them before the clock
starts, because the first search builds its index. A program of the engine alone does the same to be compared.

`threads` divides the requests by 45 and lets one thread and then two threads do turns, 15 times: each thread has a
session and requests of its own. It prints `ratio`, the median of the turns per second of two threads by those of one,
all `ratios`, and `control`, the median of the same for threads that compute SHA-256 between these pairs and share
nothing: what the machine gave at that time. `cores` says how many cores' worth of CPU time one and two threads with
turns got.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from libraries import Skillfold

if TYPE_CHECKING:
    from collections.abc import Callable

    import skillfold

PAIRS = 15
_HASHED = bytes(500_000)


def cost(library: Skillfold, requests: list[str]) -> dict[str, float]:
    """Return what a discovery and a turn cost."""
    start = time.process_time()
    library.discover()
    discovery = time.process_time() - start
    session = library.skills.session()
    session.turn(requests[0])
    start = time.process_time()
    for request in requests[1:]:
        session.turn(request)
    turn = (time.process_time() - start) / (len(requests) - 1)
    return {"discover_ms": discovery * 1e3, "turn_us": turn * 1e6}


def threads(library: Skillfold, requests: list[str]) -> dict[str, Any]:
    """Return how many times the work of one thread two threads do."""
    library.discover()
    library.skills.session().turn("warm up")
    share = len(requests) // (3 * PAIRS)
    shares = [requests[start : start + share] for start in range(0, 3 * PAIRS * share, share)]
    triples = zip(shares[0::3], shares[1::3], shares[2::3], strict=True)
    pairs: list[tuple[_Run, _Run]] = []
    controls: list[float] = []
    for alone, *both in triples:
        tasks = [_turns(library.skills.session(), own) for own in both]
        pairs.append((_run(_turns(library.skills.session(), alone)), _run(*tasks)))
        controls.append(2 * _run(_hashes).seconds / _run(_hashes, _hashes).seconds)
    ratios = [2 * one.seconds / two.seconds for one, two in pairs]
    cores = [statistics.median(run.cores for run in runs) for runs in zip(*pairs, strict=True)]
    median = statistics.median
    return {"ratio": median(ratios), "control": median(controls), "cores": cores, "ratios": ratios}


class _Run(NamedTuple):
    seconds: float
    cores: float


def _run(*tasks: Callable[[], None]) -> _Run:
    """Return the time that tasks take, each on a thread, and how many cores they had."""
    barrier = threading.Barrier(len(tasks) + 1)

    def work(task: Callable[[], None]) -> None:
        barrier.wait()
        task()

    workers = [threading.Thread(target=work, args=(task,)) for task in tasks]
    for worker in workers:
        worker.start()
    start, cpu = time.perf_counter(), time.process_time()
    barrier.wait()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - start
    return _Run(seconds, (time.process_time() - cpu) / seconds)


def _turns(session: skillfold.Session, requests: list[str]) -> Callable[[], None]:
    def work() -> None:
        for request in requests:
            session.turn(request)

    return work


def _hashes() -> None:
    # Python's lock is free while a large text is hashed.
    for _ in range(100):
        hashlib.sha256(_HASHED)


def main() -> None:
    """Measure what the command line names."""
    what, folder, scratch, file = sys.argv[1:]
    requests = Path(file).read_text(encoding="utf-8").splitlines()
    library = Skillfold(Path(folder), Path(scratch))
    print(json.dumps({"cost": cost, "threads": threads}[what](library, requests)))


if __name__ == "__main__":
    main()
