"""Repositories that attack by the names of files, by links and by submodules."""

from __future__ import annotations

from attacks import BAD, GOOD, RUN, add_bad, add_root, add_tree, tree_of
from objects import Entry, link, submodule

# Names of files, and of folders.

NAMES: dict[str, tuple[bytes, str]] = {
    "dot": (b".", "is the folder itself"),
    "dot-dot": (b"..", "is the parent"),
    "empty": (b"", "is empty"),
    "git": (b".git", "is git's folder"),
    "git-upper": (b".GIT", "is git's folder where case does not count"),
    "git-mixed": (b".Git", "is git's folder where case does not count"),
    "git-short": (b"git~1", "is git's folder under its short name on Windows"),
    "git-short-upper": (b"GIT~1", "is git's folder under its short name on Windows"),
    "git-dot": (b".git.", "is git's folder on Windows, which drops the dot"),
    "git-space": (b".git ", "is git's folder on Windows, which drops the space"),
    "git-dots-spaces": (b".git . .", "is git's folder on Windows, which drops the end"),
    "git-stream": (b".git::$INDEX_ALLOCATION", "is git's folder on NTFS, by a stream"),
    "git-joiner": (".g\u200cit".encode(), "is git's folder on HFS+, which ignores the joiner"),
    "git-mark": (".git\u200e".encode(), "is git's folder on HFS+, which ignores the mark"),
    "git-order-mark": ("\ufeff.git".encode(), "is git's folder on HFS+, which ignores the byte-order mark"),
    "slash": (b"a/b", "contains a slash"),
    "parent-slash": (b"../../escape", "leads out of the folder"),
    "absolute": (b"/srv/escape", "is an absolute path"),
    "mark": (b"@MARK@", "is the absolute path of the mark"),
    "backslash": (b"a\\b", "contains the separator of Windows"),
    "parent-backslash": (b"..\\..\\escape", "leads out of the folder on Windows"),
    "drive": (b"C:escape", "is on a drive of Windows"),
    "drive-absolute": (b"C:\\escape", "is an absolute path on Windows"),
    "share": (b"\\\\server\\share", "is on a share of Windows"),
    "device-path": (b"\\\\.\\NUL", "is a device of Windows"),
    "con": (b"CON", "is a device of Windows"),
    "nul-extension": (b"nul.txt", "is a device of Windows in spite of its extension"),
    "aux-space": (b"aux .md", "is a device of Windows in spite of the space"),
    "com1": (b"COM1", "is a device of Windows"),
    "com-superscript": ("COM\u00b9".encode(), "is a device of Windows"),
    "lpt9": (b"lpt9.md", "is a device of Windows"),
    "conin": (b"CONIN$", "is a device of Windows"),
    "stream": (b"notes.md:hidden", "is a stream of another file on NTFS"),
    "trailing-dot": (b"notes.", "ends with a dot, which Windows drops"),
    "trailing-space": (b"notes ", "ends with a space, which Windows drops"),
    "leading-space": (b" notes", "starts with a space"),
    "spaces": (b"   ", "is nothing but spaces"),
    "dots": (b"...", "is nothing but dots"),
    "newline": (b"a\nb", "contains a line feed"),
    "return": (b"a\rb", "contains a carriage return, which hides the start of a line"),
    "tab": (b"a\tb", "contains a tab"),
    "escape": (b"\x1b[2J\x1b[31mred", "clears the terminal"),
    "title": (b"\x1b]0;title\x07", "sets the title of the terminal"),
    "hyperlink": (b"\x1b]8;;http:evil.example\x1b\\link", "is a link in the terminal"),
    "c1": (b"\xc2\x9b31m", "contains a control sequence of one character"),
    "backspace": (b"evil\x08\x08\x08\x08good", "hides its start in the terminal"),
    "delete": (b"a\x7fb", "contains a control character"),
    "bell": (b"a\x07b", "contains a control character"),
    "override": ("\u202egpj.exe".encode(), "is shown backwards"),
    "isolate": ("\u2066a\u2069".encode(), "contains a control of direction"),
    "invisible": ("no\u200btes.md".encode(), "contains a space that cannot be seen"),
    "tag-characters": ("a\U000e0041\U000e0042".encode(), "contains tag characters that cannot be seen"),
    "line-separator": ("a\u2028b".encode(), "contains a line separator"),
    "look-alike": ("SKILL\u2024md".encode(), "looks like SKILL.md"),
    "full-width": ("\uff0e\uff0e\uff0fescape".encode(), "is `../escape` after compatibility normalization"),
    "division-slash": ("a\u2215b".encode(), "looks like a path"),
    "not-utf-8": (b"\xff\xfe\xfd", "is not UTF-8"),
    "latin-1": (b"caf\xe9.md", "is Latin-1"),
    "overlong": (b"\xc0\xae\xc0\xae\xc0\xafescape", "is `../escape` in overlong UTF-8"),
    "surrogate": (b"\xed\xa0\x80", "is half a surrogate pair"),
    "option": (b"-rf", "is an option"),
    "long-option": (b"--upload-pack=touch @MARK@", "is an option that runs a command"),
    "substitution": (b"$(touch pwned)", "is a command in a shell"),
    "backticks": (b"`touch pwned`", "is a command in a shell"),
    "semicolon": (b"a;touch pwned", "ends a command in a shell"),
    "pipe": (b"|touch pwned", "is a pipe in a shell"),
    "glob": (b"*", "is a pattern in a shell"),
    "quotes": (b"a\"b'c", "contains quotes"),
    "angles": (b"<script>", "is markup"),
    "home": (b"~", "is the home in a shell"),
    "variable": (b"$HOME", "is a variable in a shell"),
    "format": (b"%s%n%n%n", "is a format"),
    "percent": (b"%2e%2e%2fescape", "is `../escape` in a URL"),
    "length-255": (b"n" * 255, "is as long as file systems allow"),
    "length-256": (b"n" * 256, "is longer than file systems allow"),
    "length-65000": (b"n" * 65_000, "is far longer than file systems allow"),
    "length-bytes": ("\u65e5".encode() * 100, "has 100 characters and 300 bytes"),
}  # fmt: skip

for slug, (bytes_of_name, wrong) in NAMES.items():
    add_bad("file", slug, f"A file's name {wrong}", [(bytes_of_name, b"content\n")])
    inside = {"config": b"[core]\n\tfsmonitor = touch @MARK@\n", "hooks": {"post-checkout": Entry(b"100755", RUN)}}
    add_bad("folder", slug, f"A folder's name {wrong}", [(bytes_of_name, inside)])

for slug in ("dot-dot", "parent-slash", "absolute", "git", "newline", "escape", "option", "con", "not-utf-8", "length-256", "override"):
    bytes_of_name, wrong = NAMES[slug]
    skills = {"good": {"SKILL.md": GOOD}, bytes_of_name: {"SKILL.md": BAD}}
    # Names of one dictionary must be of one type.
    skills = {name.encode() if isinstance(name, str) else name: content for name, content in skills.items()}
    add_tree("skill-folder", slug, f"The name of a skill's folder {wrong}", {"skills": skills})

# Symbolic links.

TARGETS: dict[str, tuple[bytes, str]] = {
    "absolute": (b"/etc/passwd", "to an absolute path"),
    "root": (b"/", "to the root"),
    "relative": (b"../../../../../../../../etc/passwd", "out of the repository"),
    "parent": (b"..", "to its parent"),
    "itself": (b"link", "to itself"),
    "folder-itself": (b".", "to its own folder"),
    "other-skill": (b"../good/SKILL.md", "into another skill"),
    "inside": (b"SKILL.md", "to a file of the same skill"),
    "inside-twice": (b"a/../../bad/SKILL.md", "to the same skill by a way outside"),
    "git": (b"../../.git/config", "into git's folder"),
    "dangling": (b"missing", "to nothing"),
    "empty": (b"", "with an empty target"),
    "newline": (b"a\nb", "with a line feed in its target"),
    "nul": (b"/etc/passwd\0.md", "with a zero byte in its target"),
    "not-utf-8": (b"\xff\xfe", "to a name that is not UTF-8"),
    "long": (b"a/" * 4000 + b"b", "with a target of 8,001 bytes"),
    "drive": (b"C:\\Windows\\win.ini", "to an absolute path on Windows"),
    "share": (b"\\\\server\\share\\file", "to a share of Windows"),
    "home": (b"~/.ssh/id_ed25519", "to a key of the user, by a tilde"),
    "process": (b"/proc/self/environ", "to the variables of the process"),
    "device": (b"/dev/zero", "to a device that never ends"),
    "terminal": (b"/dev/tty", "to the terminal"),
    "mark": (b"@MARK@", "to the mark, where writing through it would create it"),
}  # fmt: skip

for slug, (target, wrong) in TARGETS.items():
    add_bad("link", slug, f"A link {wrong}", {"link": link(target)})
for slug in ("absolute", "relative", "other-skill", "device", "dangling", "itself"):
    target, wrong = TARGETS[slug]
    add_tree("link", f"skill-{slug}", f"SKILL.md is a link {wrong}", tree_of({"SKILL.md": link(target)}))
for slug, target, wrong in (
    ("root", b"/", "to the root"),
    ("parent", b"../..", "to the repository's parent"),
    ("good", b"good", "to another skill"),
    ("around", b"../skills", "to the folder that it is in"),
):  # fmt: skip
    add_tree("link", f"folder-{slug}", f"The skill's folder is a link {wrong}", tree_of(link(target)))
add_tree("link", "skills", "The folder of all skills is a link to the root", {"skills": link(b"/")})
add_tree("link", "plugin", "plugin.json is a link out of the repository", {"plugin.json": link(b"/etc/passwd"), "skills": {"good": {"SKILL.md": GOOD}}})
add_bad("link", "pair", "Two links point to each other", {"one": link(b"two"), "two": link(b"one")})
add_bad("link", "chain", "60 links lead to each other, the last one out", {f"l{n:02}": link(b"l%02d" % (n + 1) if n < 59 else b"/etc") for n in range(60)})
add_bad("link", "through", "A link and a folder have one name, so that a file would be written through the link", [(b"x", link(b"/tmp")), (b"x", {"escape": b"content\n"})])
add_bad("link", "through-case", "A link and a folder differ in case only", {"a": link(b".git"), "A": {"hooks": {"post-checkout": Entry(b"100755", RUN)}}})
add_bad("link", "through-normal", "A link and a folder differ in Unicode normalization only", {"e\u0301": link(b"/tmp"), "\u00e9": {"escape": b"content\n"}})
for name in (".gitmodules", ".gitattributes", ".gitignore", ".mailmap", ".lfsconfig"):
    add_root("link", name.removeprefix("."), f"{name} is a link out of the repository", {name: link(b"/etc/passwd")})

# Submodules.


def modules(path: str, url: str, more: str = "", name: str = "part") -> str:
    return f'[submodule "{name}"]\n\tpath = {path}\n\turl = {url}\n{more}'


add_tree("submodule", "skill", "The skill's folder is a submodule", tree_of(submodule()))
add_tree("submodule", "skills", "The folder of all skills is a submodule", {"skills": submodule(), ".gitmodules": modules("skills", "https://skills.example/skills.git")})
add_tree("submodule", "skill-file", "SKILL.md is a submodule", tree_of({"SKILL.md": submodule()}))
add_bad("submodule", "inside", "A submodule inside the skill, without .gitmodules", {"part": submodule()})
add_bad("submodule", "git", "A submodule is named .git", [(b".git", submodule())])
for slug, url, wrong in (
    ("option", "--upload-pack=touch @MARK@", "is an option that runs a command"),
    ("short-option", "-u./run", "is an option that runs a command"),
    ("ext", "ext::sh -c touch% @MARK@", "runs a command"),
    ("file", "file:///etc", "is a local folder"),
    ("parent", "../other.git", "is another repository of the same server"),
    ("self", "./", "is the repository itself, without end"),
    ("ssh-option", "ssh://-oProxyCommand=touch @MARK@/x", "is an option of ssh that runs a command"),
    ("newline", '"https://skills.example/\\n\\nhost=github.com\\nprotocol=https"', "asks for the credentials of another host"),
    ("return", '"https://skills.example/x\\r"', "ends with a carriage return"),
    ("credentials", "https://anna:secret@skills.example/x.git", "contains a password"),
):  # fmt: skip
    more = {".gitmodules": modules("part", url), "part": submodule()}
    add_root("submodule", f"url-{slug}", f"A submodule's address {wrong}", more)
add_root("submodule", "path-git", "A submodule's path is git's folder of hooks", {".gitmodules": modules(".git/hooks", "https://skills.example/x.git")})
add_root("submodule", "path-parent", "A submodule's path leads out of the repository", {".gitmodules": modules("../../escape", "https://skills.example/x.git")})
add_root("submodule", "path-option", "A submodule's path is an option", {".gitmodules": modules("--help", "https://skills.example/x.git"), "--help": submodule()})
add_root("submodule", "name-parent", "A submodule's name leads out of git's folder", {".gitmodules": modules("part", "https://skills.example/x.git", name="../../escape"), "part": submodule()})
add_root("submodule", "update", "A submodule's update runs a command", {".gitmodules": modules("part", "https://skills.example/x.git", "\tupdate = !touch @MARK@\n"), "part": submodule()})
add_root("submodule", "broken", ".gitmodules is not UTF-8 and has no form", {".gitmodules": b"\xff[submodule\n\0", "part": submodule()})
add_root("submodule", "many", "1,000 submodules", {"parts": {f"part-{n}": submodule() for n in range(1000)}})
