#!/usr/bin/env python3
"""Measures how long the hook takes, from exec to exit.

    python3 bench/hook_latency.py --skillfold target/release/skillfold --data REQUESTS [--skills N]... [--runs 1000]

Installs the first N skills of the large pool in a home of its own, and calls the hook with everyday prompts, each in a conversation of
its own: once with an empty cache, then until the index is there, then `--runs` times. CPU time is that of the process, by wait4. The last
line is one JSON object: for each number of skills the median CPU time and the 50th and 99th percentile of the wall time in
milliseconds, how many prompts were answered, and the time and the answer with nothing cached.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def lines(file):
    text = subprocess.run(["zstd", "-dc", file], capture_output=True, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def install(home, skills):
    for number, skill in enumerate(skills):
        folder = home / ".skillfold/skills" / f"s{number:05}"
        folder.mkdir(parents=True)
        head = f"---\nname: {json.dumps(skill['name'])}\ndescription: {json.dumps(skill['description'])}\n---\n"
        folder.joinpath("SKILL.md").write_text(head + skill["body"])


def call(skillfold, home, session, prompt):
    """Calls the hook once; returns the answer, CPU and wall time in milliseconds."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": str(home / "project"), "prompt": prompt}
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout:
        stdin.write(json.dumps(event).encode())
        stdin.seek(0)
        start = time.perf_counter()
        child = subprocess.Popen([skillfold, "hook"], stdin=stdin, stdout=stdout, cwd=home / "project", env=environment)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"error: the hook ended with {child.returncode} for {prompt[:80]!r}")
        stdout.seek(0)
        return stdout.read(), (usage.ru_utime + usage.ru_stime) * 1e3, wall * 1e3


def measure(skillfold, skills, prompts, runs):
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        (home / "project").mkdir()
        install(home, skills)
        first, first_cpu, first_wall = call(skillfold, home, "first", prompts[0])
        # The index is built in the background.
        for number in range(60):
            time.sleep(1)
            if number and call(skillfold, home, f"warm-{number}", prompts[0])[2] < first_wall / 4:
                break
        cpu, wall, answered = [], [], 0
        for number in range(runs):
            answer, cpu_ms, wall_ms = call(skillfold, home, f"{number}", prompts[number % len(prompts)])
            cpu.append(cpu_ms)
            wall.append(wall_ms)
            answered += bool(answer)
        cpu.sort()
        wall.sort()
        return {
            "skills": len(skills),
            "runs": runs,
            "cpu_median_ms": round(cpu[runs // 2], 1),
            "wall_median_ms": round(wall[runs // 2], 1),
            "wall_p99_ms": round(wall[runs * 99 // 100], 1),
            "answered": answered,
            "nothing_cached": {"cpu_ms": round(first_cpu, 1), "wall_ms": round(first_wall, 1), "answered": bool(first)},
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skillfold", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--skills", type=int, action="append")
    parser.add_argument("--runs", type=int, default=1000)
    chosen = parser.parse_args()
    pool = lines(chosen.data / "pool_10k.jsonl.zst")
    everyday = [line["prompt"] for line in lines(chosen.data / "everyday/prompts.jsonl.zst")]
    figures = []
    for count in chosen.skills or [60, 1_000, 10_000]:
        figures.append(measure(chosen.skillfold.resolve(), pool[:count], everyday, chosen.runs))
        print(figures[-1], flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
