#!/usr/bin/env python3
"""Draws the figures of bench/figures.json as SVGs, and writes the table of goals into docs/performance.md.

    python3 bench/plots.py            # `just plots`
    python3 bench/plots.py --check    # writes nothing; fails if a drawing, the table or a source differs from the figures

A plot has panels, and a panel has rows: a bar with its `value`, its `role` (`us`, `peer` or `bound`) and perhaps a
`goal`. `unit`, `command`, `commit` and `source` are those of the row, else of its panel, else of its plot. The `source`
is the page and section that states the figure, and every number of a row must be there; `goal_source` is the same for
the goal alone. A value in quotes is computed from such numbers, as in `"1.1 * 3.48"`. The commit `before 70221f9` means
that the page names none, and that the figure came into it with this commit. Goals with the same `what` share a row of
the table; a panel with `"drawn": false` is in the table only.
"""

import json
import math
import re
import sys
from decimal import Decimal
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs/images/performance"
PAGE = ROOT / "docs/performance.md"
TABLE = re.compile(r"(<!-- goals: written by `just plots` -->\n).*?(<!-- end of goals -->)", re.DOTALL)
# For conversions between units.
CONVERSIONS = {Decimal(1000), Decimal(1024)}

WIDTH, MARGIN, ROW, BAR = 700, 18, 24, 14
# Mean width of a letter, a bold letter and a bold digit in the widest common font of 13 px.
LETTER, BOLD, DIGIT = 7.2, 8.2, 7.6
STYLE = """<style>
.page { fill: #fff; stroke: #d0d7de } .title { fill: #111 } text { fill: #333 } .grid { stroke: #e6e6e6 } .low { fill: #555 }
.us { fill: #0b6bcb; stroke: #0b6bcb } .peer { fill: #e4e4e4; stroke: #666 } .bound { fill: url(#hatch); stroke: #666 }
.hatch { stroke: #888 } .goal { stroke: #111; stroke-width: 2; stroke-dasharray: 4 2 }
.met { fill: #1a6b30 } .missed { fill: #b42318 } .bold { font-weight: 700 }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117; stroke: #30363d } .title { fill: #f0f0f0 } text { fill: #d0d0d0 } .grid { stroke: #2a2f37 } .low { fill: #aaa }
.us { fill: #3d8bdb; stroke: #3d8bdb } .peer { fill: #3a3f47; stroke: #aaa } .bound { stroke: #aaa } .goal { stroke: #fff }
.met { fill: #56d364 } .missed { fill: #ff8a80 }
}
</style>
<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<line class="hatch" x1="0" x2="0" y1="0" y2="6" stroke-width="2"/></pattern></defs>"""


def main():
    """Write or check everything."""
    with (ROOT / "bench/figures.json").open(encoding="utf-8") as file:
        plots = json.load(file, parse_float=Decimal, parse_int=Decimal)["plots"]
    for plot in plots:
        for panel in plot["panels"]:
            inherited = {key: value for key, value in {**plot, **panel}.items() if key not in {"panels", "rows"}}
            panel["rows"] = [row if "group" in row else {**inherited, **row} for row in panel["rows"]]
    page = PAGE.read_text(encoding="utf-8")
    wanted = {IMAGES / f"{plot['file']}.svg": svg(plot) for plot in plots}
    wanted[PAGE] = TABLE.sub(lambda found: found[1] + table(plots) + found[2], page)
    problems = [problem for row in rows(plots) for problem in not_in_source(row)]
    problems += [
        f"docs/performance.md does not show {path.name}" for path in wanted if path != PAGE and path.name not in page
    ]
    problems += [
        f"docs/performance.md has no section `{plot['section']}`" for plot in plots if f"\n## {plot['section']}\n" not in page
    ]
    problems += [f"{path.name} has no figures" for path in sorted(IMAGES.glob("*.svg")) if path not in wanted]
    if not TABLE.search(page):
        problems.append("docs/performance.md has no place for the table of goals")
    for path, text in wanted.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in sys.argv[1:]:
            problems.append(f"{path.relative_to(ROOT)} differs from bench/figures.json: run `just plots`")
        else:
            path.write_text(text, encoding="utf-8")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    print(f"{len(plots)} plots, {len(list(rows(plots)))} figures, {len(problems)} problems")
    sys.exit(bool(problems))


def rows(plots):
    """Return all bars, drawn or not."""
    return (row for plot in plots for panel in plot["panels"] for row in panel["rows"] if "group" not in row)


# Figures


def number(value):
    """Return a value as it is stated, or compute it from stated ones."""
    if not isinstance(value, str):
        return value
    first, *rest = value.split(" ")
    result = Decimal(first)
    for sign, operand in zip(rest[::2], rest[1::2], strict=True):
        result = {"*": Decimal.__mul__, "/": Decimal.__truediv__, "+": Decimal.__add__}[sign](result, Decimal(operand))
    return significant(result, 3)


def significant(value, digits=2):
    """Return a number with as many digits, or with all before the point."""
    return Decimal(f"{value:.{digits}g}") if abs(value) < 10**digits else Decimal(round(value))


def written(value):
    """Return a number as text."""
    return f"{number(value):,f}".replace("-", "−")


def operands(value):
    """Return the stated numbers that a value is made of."""
    return {Decimal(word) for word in value.split(" ")[::2]} - CONVERSIONS if isinstance(value, str) else {value}


def missed_by(row, which="value"):
    """Return by how much the figure, or its `low` or `high` end, misses the goal."""
    over = number(row.get(which, row["value"])) - number(row["goal"])
    return max(-over if row.get("better") == "higher" else over, Decimal(0))


def verdict(row):
    """Return whether a goal is met, and by how many percentage points or percent it is missed."""
    over = missed_by(row)
    if over:
        share = f"{over:,f} points" if row["unit"] == "%" else f"{significant(over / number(row['goal']) * 100)} %"
        return f"missed by {share}"
    worst = "low" if row.get("better") == "higher" else "high"
    if not missed_by(row, worst):
        return "met"
    return "met, within the interval" if row.get("spread") == "interval" else "met, but not by every run"


def not_in_source(row):
    """Return which fields are missing or wrong, and which numbers are not in the section that is named as their source."""
    where = f"{row['file']}, `{row.get('label') or row.get('what')}`"
    if missing := {"value", "unit", "commit", "command", "source"} - row.keys():
        return [f"{where}: no {', '.join(sorted(missing))}"]
    problems = []
    if not re.fullmatch("(before )?[0-9a-f]{7}", row["commit"]):
        problems.append(f"{where}: not a commit: {row['commit']}")
    stated = set().union(*(operands(row[key]) for key in ("value", "low", "high") if key in row))
    goal = operands(row["goal"]) if "goal" in row else set()
    if row.get("role") == "bound" and row["value"] == 1:
        stated = set()  # What others are compared with.
    for source, numbers in ((row["source"], stated), (row.get("goal_source", row["source"]), goal)):
        for value in sorted({abs(value) for value in numbers} - numbers_in(source)):
            problems.append(f"{where}: {source} does not say {value}")
    return problems


def numbers_in(source):
    """Return all numbers of a file, or of the section of a page."""
    path, _, anchor = source.partition("#")
    text = (ROOT / path).read_text(encoding="utf-8")
    if anchor:
        sections = re.split(r"^#+ ", text, flags=re.MULTILINE)
        text = next((section for section in sections if anchor_of(section.partition("\n")[0]) == anchor), "")
    return numbers(text)


def numbers(text):
    """Return all numbers of a text."""
    return {Decimal(word.replace(",", "")) for word in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}


def anchor_of(heading):
    """Return the address of a heading within its page."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def table(plots):
    """Return all goals as a table in Markdown."""
    goals = {}
    for row in rows(plots):
        if "what" in row:
            goals.setdefault(row["what"], []).append(row)
    lines = ["| what | goal | measured | result |", "|---|---|---|---|"]
    for what, parts in goals.items():
        first = parts[0]
        unit = " %" if first["unit"] == "%" else f" {first['unit']}".rstrip()
        bound = "at least " if first.get("better") == "higher" else "at most " if first["goal"] else ""
        goal = " / ".join(dict.fromkeys(written(part["goal"]) for part in parts))
        verdicts = list(map(verdict, parts))
        result = verdicts[0] if len(set(verdicts)) == 1 else " / ".join(verdicts)
        result = re.sub(r" (points|%) / missed by ", " / ", result)
        result = f"**{result}**" if any(map(missed_by, parts)) else result
        link = f"[{what}](#{anchor_of(first['section'])})"
        measured = " / ".join(written(part["value"]) for part in parts)
        lines.append(f"| {link} | {bound}{goal}{unit} | {measured} | {result} |")
    return "\n".join(lines) + "\n"


# Drawing


def svg(plot):
    """Return the drawing of a plot."""
    panels = [panel for panel in plot["panels"] if panel.get("drawn", True)]
    bars = [row for panel in panels for row in panel["rows"] if "group" not in row]
    left = MARGIN + round(max(len(row["label"]) for row in bars) * BOLD) + 8
    right = WIDTH - MARGIN - round(max((len(goal_label(row)) for row in bars if "goal" in row), default=0) * BOLD)
    out, y = [], 72
    for panel in panels:
        y = draw_panel(panel, left, right, y, out)
    commits = ", ".join(dict.fromkeys(row["commit"] for row in bars))
    out.append(text(MARGIN, y + 4, plot["command"], "low", 11))
    out.append(text(MARGIN, y + 20, f"commit {commits}", "low", 11))
    height = y + 34
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        'aria-labelledby="title desc" font-family="system-ui, sans-serif" font-size="13">',
        f'<title id="title">{escape(plot["title"])}</title>',
        f'<desc id="desc">{escape(description(panels))}</desc>',
        STYLE,
        f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>',
        text(MARGIN, 28, plot["title"], "title bold", 16),
        *legend(plot, bars),
    ]
    return "\n".join([*head, *out, "</svg>"]) + "\n"


def description(panels):
    """Return everything that the drawing shows as text."""
    parts = []
    for panel in panels:
        parts.append(". ".join(filter(None, [panel.get("heading"), panel["axis"]])) + ":")
        for row in panel["rows"]:
            goal = f", goal {written(row['goal'])}: {verdict(row)}" if "goal" in row else ""
            parts.append(f"{row['group']}:" if "group" in row else f"{row['label']} {value_label(row)}{goal};")
    return " ".join(parts)


def legend(plot, bars):
    """Draw what the kinds of bars mean."""
    out, x = [], MARGIN
    names = {"us": "Skillfold", "peer": plot.get("peer", "others"), "bound": plot.get("bound", "floor")}
    for role, name in names.items():
        if any(row.get("role") == role for row in bars):
            out.append(f'<rect class="{role}" x="{x}" y="42" width="22" height="12"/>')
            out.append(text(x + 28, 53, name, "bold" if role == "us" else ""))
            x += round(28 + len(name) * LETTER + 18)
    if any("goal" in row for row in bars):
        out.append(f'<line class="goal" x1="{x + 4}" x2="{x + 4}" y1="39" y2="57"/>')
        out.append(text(x + 12, 53, "goal"))
    return out


def draw_panel(panel, left, right, y, out):
    """Draw the bars and the axis of a panel, and return where the next one begins."""
    bars = [row for row in panel["rows"] if "group" not in row]
    ticks = log_ticks(bars) if panel.get("scale") == "log" else linear_ticks(bars, panel.get("max"))
    x = scale(ticks, left, right, bars, panel.get("scale") == "log")
    if "heading" in panel:
        out.append(text(MARGIN, y + 16, panel["heading"], "title bold"))
        y += ROW + 2
    top = y
    place = len(out)
    for row in panel["rows"]:
        if "group" in row:
            out.append(text(MARGIN, y + 17, row["group"], "title bold"))
        else:
            draw_bar(row, x, left, y, out)
        y += ROW
    grid = [f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top}" y2="{y + 4}"/>' for tick in ticks]
    out[place:place] = grid
    names = [f"{tick:,.10g}" for tick in ticks]
    every = math.ceil((len(names[-1]) * LETTER + 4) / (x(ticks[1]) - x(ticks[0])))
    out.extend(
        text(x(tick), y + 18, name, "low", 12, "middle") for tick, name in list(zip(ticks, names, strict=True))[::every]
    )
    out.append(text(left, y + 36, panel["axis"], "low", 12))
    return y + 58


def draw_bar(row, x, left, y, out):
    """Draw a bar with its name, its value and its goal."""
    ours = "bold" if row["role"] == "us" else ""
    end = x(number(row["value"]))
    out.append(text(left - 8, y + 17, row["label"], ours, 13, "end"))
    out.append(f'<rect class="{row["role"]}" x="{left}" y="{y + 5}" width="{max(end - left, 1):.1f}" height="{BAR}"/>')
    if row.get("spread") == "interval" and "low" in row:
        low, high, middle = x(number(row["low"])), x(number(row["high"])), y + 5 + BAR / 2
        solid = 'style="stroke-dasharray: none; stroke-width: 1.5"'
        out.append(f'<line class="goal" {solid} x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"/>')
    if "goal" in row:
        goal = x(number(row["goal"]))
        out.append(f'<line class="goal" x1="{goal:.1f}" x2="{goal:.1f}" y1="{y + 1}" y2="{y + ROW - 1}"/>')
        kind = "missed bold" if missed_by(row) else "met"
        out.append(text(WIDTH - MARGIN, y + 17, goal_label(row), kind, 13, "end"))
    out.append(text(label_place(row, x), y + 17, value_label(row), ours))


def goal_label(row):
    """Return what stands at the right of a bar with a goal."""
    return f"goal {written(row['goal'])}: {'missed' if missed_by(row) else 'met'}"


def value_label(row):
    """Return what stands at the end of a bar."""
    unit = " %" if row["unit"] == "%" else ""
    if "high" in row:
        return f"{written(row['value'])} ({written(row['low'])} to {written(row['high'])})"
    return (f"{written(row['low'])} to " if "low" in row else "") + written(row["value"]) + unit


def label_place(row, x):
    """Return where the value is written: behind the bar, and behind the goal if that would cross it."""
    end = row["high"] if row.get("spread") == "interval" and "high" in row else row["value"]
    start = x(number(end)) + 7
    if "goal" in row and start - 7 < x(number(row["goal"])) < start + len(value_label(row)) * DIGIT + 10:
        start = x(number(row["goal"])) + 7
    return start


def scale(ticks, left, right, bars, is_log):
    """Return the function from values to places, as wide as leaves room for the values behind the bars."""
    level = math.log10 if is_log else float
    first, last = level(ticks[0]), level(ticks[-1])
    for width in range(right - left - 20, 60, -5):

        def x(value, width=width):
            return left + (level(value) - first) / (last - first) * width

        if all(label_place(row, x) + len(value_label(row)) * DIGIT < right - 8 for row in bars):
            return x
    message = f"no room for the values of `{bars[0]['title']}`: shorten its labels"
    raise SystemExit(message)


def numbers_of(bars):
    """Return all numbers that an axis must reach."""
    return [float(number(row[key])) for row in bars for key in ("value", "goal", "high") if key in row]


def log_ticks(bars):
    """Return the powers of ten around all numbers."""
    shown = numbers_of(bars)
    first, last = math.floor(math.log10(min(shown) * 0.8)), math.ceil(math.log10(max(shown)))
    return [10.0**power for power in range(first, last + 1)]


def linear_ticks(bars, highest):
    """Return about five round numbers from 0 on."""
    reach = float(highest or max(numbers_of(bars)))
    power = 10 ** math.floor(math.log10(reach / 4))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor * 5 >= reach)
    return [step * index for index in range(math.ceil(reach / step - 1e-9) + 1)]


def text(x, y, content, kind="", size=13, anchor="start"):
    """Draw a line of text."""
    attributes = f' class="{kind}"' * bool(kind) + f' font-size="{size}"' * (size != 13)
    attributes += f' text-anchor="{anchor}"' * (anchor != "start")
    return f'<text x="{x:.1f}" y="{y}"{attributes}>{escape(content)}</text>'


if __name__ == "__main__":
    main()
