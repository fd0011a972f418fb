#!/usr/bin/env python3
"""Draws the CPU time of a cold discovery by the number of skills, for each library, as an SVG.

python bench/python/draw.py < RESULT > docs/python/bench.svg

The last line of `RESULT` is the JSON object of `run.py`. Both axes are logarithmic.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from typing import Any

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 700, 430, 64, 66, 190, 44
_LABEL_HEIGHT = 17
_FONT = 'font-family="system-ui, sans-serif" font-size="13"'
# For a light and a dark page. The order is that of the colors in the style sheet.
_COLORS = {
    "skillfold": ("#0b6bcb", "#58a6ff"),
    "skillfold, cache filled": ("#0b6bcb", "#58a6ff"),
    "skillkit": ("#b3541e", "#f0883e"),
    "skillkit, async": ("#b3541e", "#f0883e"),
    "deepagents": ("#2b7a3d", "#56d364"),
    "agent-framework": ("#7a4fc4", "#bc8cff"),
    "skills-ref": ("#5c5c5c", "#b1b1b1"),
}
_DASHED = {"skillfold, cache filled", "skillkit, async"}


def svg(result: dict[str, Any]) -> str:
    """Return the drawing."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for row in result["rows"]:
        lines.setdefault(row["library"], []).append((row["skills"], row["discover_ms"]))
    sizes = sorted({row["skills"] for row in result["rows"]})
    times = [time for line in lines.values() for _, time in line]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    first, last = math.log10(sizes[0]), math.log10(max(sizes[-1], sizes[0] + 1))

    def x(size: float) -> float:
        return _LEFT + (math.log10(size) - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT)

    def y(time: float) -> float:
        return _HEIGHT - _BOTTOM - (math.log10(time) - low) / max(1, high - low) * (_HEIGHT - _TOP - _BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" {_FONT}>',
        "<title>CPU time of a cold discovery by the number of skills</title>",
        _style(),
        f'<rect class="page" width="{_WIDTH}" height="{_HEIGHT}"/>',
        f'<text class="title" x="{_LEFT}" y="26" font-size="16">CPU time to find all skills in a fresh process</text>',
        f'<text class="axis" x="{_LEFT}" y="{_TOP - 14}">milliseconds, logarithmic; lower is better</text>',
    ]
    for power in range(low, high + 1):
        height = f"{y(10**power):.1f}"
        out.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height}" y2="{height}"/>')
        label = f"{10**power:,}" if power >= 0 else f"{10**power:.{-power}f}"
        out.append(f'<text class="axis" x="{_LEFT - 8}" y="{y(10**power) + 4:.1f}" text-anchor="end">{label}</text>')
    for size in sizes:
        place = f'x="{x(size):.1f}" y="{_HEIGHT - _BOTTOM + 20}" text-anchor="middle"'
        out.append(f'<text class="axis" {place}>{size:,}{" skills" * (size == sizes[0])}</text>')
    ends = {name: y(line[-1][1]) for name, line in lines.items()}
    for (name, line), label_y in zip(lines.items(), _apart(list(ends.values())), strict=True):
        points = " ".join(f"{x(size):.1f},{y(time):.1f}" for size, time in line)
        color = f"c{list(_COLORS).index(name)}"
        dash = ' stroke-dasharray="5 4"' if name in _DASHED else ""
        out.append(f'<polyline class="line {color}" points="{points}"{dash}/>')
        out.extend(f'<circle class="dot {color}" cx="{x(size):.1f}" cy="{y(time):.1f}" r="3"/>' for size, time in line)
        end, left = x(line[-1][0]), _WIDTH - _RIGHT + 22
        out.append(
            f'<line class="lead {color}" x1="{end + 5:.1f}" y1="{ends[name]:.1f}" x2="{left - 4}" y2="{label_y:.1f}"/>'
        )
        out.append(f'<text class="name {color}" x="{left}" y="{label_y + 4:.1f}">{name}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def _apart(wanted: list[float]) -> list[float]:
    """Return places for labels that do not cover each other, near the wanted ones."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    placed = list(wanted)
    for above, below in itertools.pairwise(order):
        placed[below] = max(placed[below], placed[above] + _LABEL_HEIGHT)
    over = max(0.0, max(placed) - (_HEIGHT - _BOTTOM))
    return [place - over for place in placed]


def _style() -> str:
    light = ".page { fill: #fff } .title { fill: #111 } .axis { fill: #444 } .grid { stroke: #e6e6e6 }"
    dark = ".page { fill: #0d1117 } .title { fill: #f0f0f0 } .axis { fill: #b8b8b8 } .grid { stroke: #2a2f37 }"
    rules = [
        ".line { fill: none; stroke-width: 2 } .lead { stroke-width: 0.7; opacity: 0.6 }",
        *(light, *_color_rules(0)),
        *("@media (prefers-color-scheme: dark) {", dark, *_color_rules(1), "}"),
    ]
    return "<style>\n" + "\n".join(rules) + "\n</style>"


def _color_rules(scheme: int) -> list[str]:
    return [
        f".line.c{index}, .lead.c{index} {{ stroke: {colors[scheme]} }} "
        f".dot.c{index}, .name.c{index} {{ fill: {colors[scheme]} }}"
        for index, colors in enumerate(_COLORS.values())
    ]


if __name__ == "__main__":
    print(svg(json.loads(sys.stdin.read().splitlines()[-1])), end="")
