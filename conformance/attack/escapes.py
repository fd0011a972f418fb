"""Characters that a terminal obeys or hides, in every text of a skill and of the person: none is printed as it is."""

import os
import pty
import subprocess
import termios
import threading
import unicodedata

from ground import PATIENCE, Done, crashed, skill

CHARACTERS = """
    1 7 8 b c d e 1b 1f 7f 80 85 90 9b 9d ad 34f 61c 115f 1160 17b4 180b 180e 200b 200c 200d 200e 200f
    2028 2029 202a 202d 202e 2060 2062 2066 2067 2069 206a 2800 3164 e000 fdd0 fe00 fe0f feff ffa0 fff9 fffb fffc 1d173 e0001 e0041 e007f e0100
    e01ef f0000 10ffff
""".split()
# Beside what Unicode says is control, format or a line's end.
HIDDEN = {
    0x34F,
    0x115F,
    0x1160,
    0x17B4,
    0x17B5,
    0x2800,
    0x3164,
    0xFFA0,
    0xFFFC,
    *range(0x180B, 0x180F),
    *range(0xFE00, 0xFE10),
    *range(0xE000, 0xF900),
    *range(0xFDD0, 0xFDF0),
    *range(0xE0000, 0xE1000),
    *range(0xF0000, 0x110000),
}


def commands(odd):
    """Returns every command that prints something of a skill or of its arguments."""
    return [
        ["list"],
        ["list", f"m{odd}rk"],
        ["search", "mark", odd],
        ["show", "odd"],
        ["show", f"m{odd}rk"],
        ["files", "odd"],
        ["check"],
        ["check", "--profile=spec"],
        ["check", f"./m{odd}rk"],
        ["why", f"mark {odd}", "--skill", "odd"],
        ["test"],
        ["doctor"],
        ["config", "--explain"],
        ["config", "set", f"m{odd}rk", f"x{odd}"],
        ["trust"],
        ["new", f"m{odd}rk"],
        ["stats", f"m{odd}rk"],
        ["setup", "cursor", "--dry-run"],
        ["load", f"m{odd}rk"],
        ["read", "odd", f"m{odd}rk"],
        [f"m{odd}rk"],
        ["list", f"--m{odd}rk"],
        # On a terminal alone: to a program every byte is given as it is.
        ["load", "odd", f"mark{odd}", "TERMINAL"],
        ["read", "odd", "text.md", "TERMINAL"],
        ["prompt", f"mark {odd}", "TERMINAL"],
    ]


def lay_out(ground, odd):
    """Puts the character into every text."""
    text = f"mark{odd}mark"
    value = quoted(text)
    fields = f"tags: [{value}]\ntriggers: [{value}]\nargument-hint: {value}\nversion: {value}\n"
    fields += f"metadata: {{{value}: {value}}}\n{value}: 1\n"
    odd_one = skill(ground.user, "odd", text, f"{text}\n[{text}](gone-{odd}.md)\n", name=text, fields=fields)
    (odd_one / "text.md").write_text(text, encoding="utf-8")
    (odd_one / f"file{odd}.md").write_text(text, encoding="utf-8")
    (odd_one / "evals").mkdir(exist_ok=True)
    (odd_one / "evals" / "eval_queries.json").write_text(
        f'[{{"query": {quoted(text)}, "should_trigger": false}}]', encoding="utf-8"
    )
    skill(ground.user, f"folder{odd}", "Has such a folder", f"{text}\n", name="folder")
    refused = ground.user / f"refused{odd}"
    refused.mkdir(exist_ok=True)
    (refused / "SKILL.md").write_text(f"{text}\n", encoding="utf-8")
    skill(ground.own, f"theirs{odd}", text, f"{text}\n", name="theirs")
    (ground.user / f"dangling{odd}").symlink_to(f"nowhere{odd}")
    for path in [ground.home / ".config/skillfold/config.toml", ground.project / ".skillfold/config.toml"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'roots = ["gone{odd_toml(odd)}"]\ndisable = ["gone{odd_toml(odd)}"]\n"key{odd_toml(odd)}" = 1\n',
            encoding="utf-8",
        )
    cursor = ground.home / ".cursor" / "mcp.json"
    cursor.parent.mkdir(exist_ok=True)
    cursor.write_text(f'{{"mcpServers": {{"a": {{"command": {quoted(text)}}}}}}}\n', encoding="utf-8")


def quoted(text):
    """Returns a text as YAML and JSON write it where it may not stand as it is, and as it is elsewhere."""
    return '"' + "".join(f"\\u{ord(c):04x}" if ord(c) < 0xA0 and not c.isprintable() else c for c in text) + '"'


def odd_toml(odd):
    return f"\\U{ord(odd):08x}"


def printed(done):
    """Says which character was printed that must not be."""
    text = (done.out + done.err).decode("utf-8", "replace")
    for place, c in enumerate(text):
        if c != "\n" and (unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") or ord(c) in HIDDEN):
            return f"U+{ord(c):04X} in {text[max(0, place - 40) : place + 20]!r}"
    return None


def on_a_terminal(ground, command):
    """Runs the command with a terminal for its output."""
    ours, theirs = pty.openpty()
    modes = termios.tcgetattr(theirs)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    process = subprocess.Popen(
        [ground.binary, *command],
        cwd=ground.project,
        env={**ground.environment, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    parts = []

    def read():
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:
            pass

    reader = threading.Thread(target=read)
    reader.start()
    try:
        code = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        code = None
    reader.join(PATIENCE)
    os.close(ours)
    return Done(code, b"".join(parts), b"")


def attack(row, ground, _):
    for number in (int(digits, 16) for digits in row.some(CHARACTERS, least=6)):
        odd = chr(number)
        lay_out(ground, odd)
        words = b""
        for command in commands(odd):
            done = on_a_terminal(ground, command[:-1]) if command[-1] == "TERMINAL" else ground.run(*command)
            row.try_one(crashed(done) or printed(done), f"U+{number:04X}: {command}")
            words += done.out
        escaped = b"\\r" if odd == "\r" else b"\\u{%x}" % number
        row.control(escaped in words and b"mark" in words, f"U+{number:04X} is printed escaped")
        # Between programs, every byte goes through.
        row.control(odd.encode() in ground.run("read", "odd", "text.md").out, f"U+{number:04X} is given to a program")
        for root in (ground.user, ground.own):
            clear(root)


def clear(root):
    for path in root.iterdir():
        if path.is_dir() and not path.is_symlink():
            clear(path)
            path.rmdir()
        else:
            path.unlink()
