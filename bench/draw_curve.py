#!/usr/bin/env python3
"""Draws how often the right skill would be given against how often a wrong one would, as an SVG.

    skillfold-bench search --data DATA --pool 659 --method default --negatives | python3 bench/draw_curve.py > docs/search-confidence.svg

Each line of the input is a point of a method: a threshold, and what comes first with at least that score. Wrong is another
skill than the one that a request needs, and the very skill that a request must not start; their share is that of all requests.
"""

import json
import sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 420, 56, 48, 120, 52
COLORS = {"default": "#0b6bcb", "fts5": "#9a9a9a"}
NAMES = {"default": "search", "fts5": "FTS5"}
# Thresholds of the engine that are marked on its curve.
MARKED = {0.15: "a line", 0.7: "instructions"}


def read(lines):
    methods = {}
    for line in lines:
        point = json.loads(line)
        positives, negatives = point["positives"], point["negatives"]
        wrong = point["other"] * positives + point["wrong"] * negatives
        point["wrong"] = wrong / (positives + negatives)
        methods.setdefault(point["method"], []).append(point)
    return methods


def ceiling(value):
    return max(5, int(value // 5 + 1) * 5)


def main():
    methods = read(sys.stdin)
    points = [point for own in methods.values() for point in own]
    wrongs = ceiling(max(point["wrong"] for point in points))
    rights = ceiling(max(point["right"] for point in points))
    x = lambda wrong: LEFT + wrong / wrongs * (WIDTH - LEFT - RIGHT)
    y = lambda right: HEIGHT - BOTTOM - right / rights * (HEIGHT - TOP - BOTTOM)
    first = points[0]
    title = (
        f"{first['positives']} requests for a skill and {first['negatives']} that must not start one, "
        f"{first['pool']} skills, {first['half']} half"
    )
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#444">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="24" font-size="14" fill="#111">{title}</text>',
    ]
    for right in range(0, rights + 1, 5):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(right):.1f}" y2="{y(right):.1f}" stroke="#eee"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(right) + 4:.1f}" text-anchor="end">{right}</text>')
    for wrong in range(0, wrongs + 1, 5):
        out.append(f'<text x="{x(wrong):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{wrong}</text>')
    out.append(f'<text x="{LEFT}" y="{TOP - 8}">the right skill comes first, %</text>')
    out.append(
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 12}" text-anchor="end">a wrong skill comes first, %</text>'
    )
    for name, own in methods.items():
        color = COLORS.get(name, "#b3541e")
        line = " ".join(f"{x(point['wrong']):.1f},{y(point['right']):.1f}" for point in own)
        out.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        for point in own:
            out.append(f'<circle cx="{x(point["wrong"]):.1f}" cy="{y(point["right"]):.1f}" r="2.5" fill="{color}"/>')
        last = own[0]
        label = f'<text x="{x(last["wrong"]) + 8:.1f}" y="{y(last["right"]) - 6:.1f}" fill="{color}">'
        out.append(f"{label}{NAMES.get(name, name)}</text>")
    for threshold, what in MARKED.items():
        own = methods.get("default", [])
        near = min(own, key=lambda point: abs(point["threshold"] - threshold), default=None)
        if near:
            place = f'cx="{x(near["wrong"]):.1f}" cy="{y(near["right"]):.1f}"'
            out.append(f'<circle {place} r="6" fill="none" stroke="#111"/>')
            label = f'<text x="{x(near["wrong"]) + 10:.1f}" y="{y(near["right"]) + 16:.1f}" fill="#111">'
            out.append(f"{label}{what} from {threshold}</text>")
    out.append("</svg>")
    print("\n".join(out))


main()
