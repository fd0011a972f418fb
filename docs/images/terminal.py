#!/usr/bin/env python3
"""Draws docs/images/terminal.svg: a session of the command in a real terminal (tmux), 80 columns wide.

    python3 docs/images/terminal.py target/release/skillfold

It runs in an empty home with the example skills, one of them with a mistake that is common in real ones.
"""

from __future__ import annotations

import html
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples" / "skills"
COLUMNS, ROWS = 80, 60
COMMANDS = ["skillfold", 'skillfold why "Greet Alice in French"', "skillfold check"]
CELL_WIDTH, LINE_HEIGHT = 8.4, 18
# Spaces that no viewer folds.
NO_BREAK = "\u00a0"
COLOURS = {31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 36: "#76e3ea", 91: "#ff7b72", 92: "#7ee787", 93: "#e3b341", 94: "#79c0ff", 96: "#76e3ea"}


def screen(program: Path) -> str:
    """Return what the terminal shows after the commands, with its colours."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        skills = home / ".agents" / "skills"
        shutil.copytree(EXAMPLES, skills)
        mail = skills / "mail" / "SKILL.md"
        mail.parent.mkdir()
        mail.write_text("---\nname: mail\ndescription: Use when: somebody wants to write a mail\n---\nBe brief.\n")
        (home / "app").mkdir()
        script = "clear\n" + "\n".join(f"printf '%s\\n' {shlex.quote(f'$ {c}')}; {c}; echo" for c in COMMANDS)
        environment = {"HOME": folder, "PATH": f"{program.parent}:/usr/bin:/bin", "TERM": "screen-256color", "LANG": "C.UTF-8"}
        tmux = ["tmux", "-L", f"picture{os.getpid()}", "-f", "/dev/null"]
        start = ["new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "-c", str(home / "app")]
        run = f"sh -c {shlex.quote(script + '; touch ../done; sleep 60')}"
        subprocess.run([*tmux, *start, run], env=environment, check=True)
        while not (home / "done").exists():
            time.sleep(0.1)
        time.sleep(0.3)
        shown = subprocess.run([*tmux, "capture-pane", "-pe"], env=environment, check=True, capture_output=True, text=True)
        subprocess.run([*tmux, "kill-server"], env=environment, check=False)
        return shown.stdout.replace(folder, "~").rstrip()


def spans(line: str) -> str:
    """Return a line as SVG text, with a `tspan` for each style."""
    style: dict[str, str] = {}
    parts = []
    for escape, text in re.findall(r"\x1b\[([0-9;]*)m|([^\x1b]+)", line):
        if text:
            attributes = "".join(f' {name}="{value}"' for name, value in sorted(style.items()))
            parts.append(f"<tspan{attributes}>{html.escape(text).replace(' ', NO_BREAK)}</tspan>")
            continue
        for code in (int(code or 0) for code in escape.split(";")):
            if code == 0:
                style = {}
            elif code == 1:
                style["font-weight"] = "bold"
            elif code == 2:
                style["opacity"] = "0.65"
            elif code == 22:
                style.pop("font-weight", None)
                style.pop("opacity", None)
            elif code == 39:
                style.pop("fill", None)
            elif code in COLOURS:
                style["fill"] = COLOURS[code]
    return "".join(parts)


def draw(text: str) -> str:
    """Return the picture of a screen."""
    lines = text.split("\n")
    width, height = round(COLUMNS * CELL_WIDTH + 32), len(lines) * LINE_HEIGHT + 60
    plain = html.escape(re.sub(r"\x1b\[[0-9;]*m", "", text))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"<title>A terminal with skillfold</title><desc>{plain}</desc>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
        *(f'<circle cx="{20 + 18 * i}" cy="20" r="6" fill="{c}"/>' for i, c in enumerate(["#ff5f56", "#ffbd2e", "#27c93f"])),
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="14" fill="#e6edf3">',
    ]
    for number, line in enumerate(lines):
        if line:
            length = len(re.sub(r"\x1b\[[0-9;]*m", "", line)) * CELL_WIDTH
            out.append(f'<text x="16" y="{54 + number * LINE_HEIGHT}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs">{spans(line)}</text>')
    return "\n".join([*out, "</g>", "</svg>", ""])


if __name__ == "__main__":
    (HERE / "terminal.svg").write_text(draw(screen(Path(sys.argv[1]).resolve())))
