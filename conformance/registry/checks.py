"""The result of the tests: one line per check, and figures."""

from __future__ import annotations

import time


class Checks:
    """Counts checks of one group. `part` is how much of the long form runs, from 0 to 1."""

    def __init__(self, group: str, part: float) -> None:
        self.group, self.part = group, part
        self.passed = 0
        self.failed: list[str] = []
        self.left_out: list[str] = []
        self.figures: dict[str, object] = {}
        self.start = time.monotonic()

    def check(self, what: str, is_so: bool, seen: object = "") -> bool:
        """Print a check: a sentence that is so, or is not."""
        # In one piece, since some groups check in threads.
        print(f"{'ok' if is_so else 'FAILED':<8} {self.group}: {what}\n", end="", flush=True)
        if is_so:
            self.passed += 1
        else:
            self.failed.append(what)
            print("".join(f"         | {line}\n" for line in str(seen)[:3000].splitlines()[:40]), end="", flush=True)
        return is_so

    def none(self, what: str, wrong: list[str]) -> bool:
        """Check that a list of what is wrong is empty."""
        return self.check(what, not wrong, f"{len(wrong)} times, such as:\n" + "\n".join(wrong[:8]))

    def leave_out(self, what: str, why: object) -> None:
        self.left_out.append(f"{what}: {why}")
        print(f"{'left out':<8} {self.group}: {what}: {why}", flush=True)

    def figure(self, name: str, value: object) -> None:
        self.figures[name] = value
        print(f"{'figure':<8} {self.group}: {name}: {value}", flush=True)

    def amount(self, long: int, least: int = 1) -> int:
        """Return how many of something this run does that the long form does so often."""
        return max(least, round(long * self.part))

    def some(self, things: list, least: int = 1) -> list:
        """Return this run's part of things, spread evenly over them."""
        count = min(len(things), self.amount(len(things), least))
        return [things[number * len(things) // count] for number in range(count)]

    def result(self) -> dict[str, object]:
        seconds = round(time.monotonic() - self.start, 1)
        return {
            "passed": self.passed, "failed": self.failed, "left_out": self.left_out, "seconds": seconds, **self.figures,
        }  # fmt: skip
