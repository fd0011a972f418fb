"""More than 300 awkward skills: files that are broken, odd or in an odd place, the same in every run.

A case is a folder or a command. Everything that names it has its number, such as `a017`, so that it is recognised in a list. `kind`
says what is awkward about it; `form` how the same text was written: with Unix or Windows line ends, a byte-order mark, or blank lines
first.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


@dataclasses.dataclass
class Case:
    """One awkward skill: its entries below `skills` and `commands`, as bytes, a link, or None for an empty folder."""

    number: int
    kind: str
    form: str
    entries: dict

    @property
    def mark(self):
        return f"a{self.number:03}"


# The text of a file by what is awkward about it. `@` is the number of the case.
BODY = "# Heading @\n\nBody of @. More of it.\n"
TEXTS = {
    "plain": "---\nname: @-plain\ndescription: Does @. Use it often\n---\n" + BODY,
    "no frontmatter, heading first": BODY,
    "no frontmatter, text first": "Bare text of @. A second sentence.\n\nA paragraph.\n",
    "no frontmatter, long first line": "Long text of @ " + "that goes on and on " * 30 + "to its end.\n",
    "no frontmatter, list first": "- First item of @\n- Second item\n",
    "no frontmatter, code first": "```sh\nrm -rf /tmp/@\n```\n\nText of @.\n",
    "HTML comment, then frontmatter": "<!-- License of @ -->\n---\nname: @-html\ndescription: After a comment @\n---\n" + BODY,
    "HTML comment, no frontmatter": "<!-- License of @ -->\n\n" + BODY,
    "empty file": "",
    "only blanks": "\n \n\t\n",
    "only frontmatter": "---\nname: @-only\ndescription: Only fields @\n---",
    "frontmatter empty": "---\n---\n" + BODY,
    "frontmatter with a comment only": "---\n# nothing for @\n---\n" + BODY,
    "frontmatter not closed": "---\nname: @-open\ndescription: Never closed @\n\n" + BODY,
    "frontmatter not closed, no body": "---\nname: @-open\ndescription: Never closed @\n",
    "frontmatter closed by dots": "---\nname: @-dots\ndescription: Ends with dots @\n...\n" + BODY,
    "fence with spaces": "---  \nname: @-spaces\ndescription: Fences have spaces @\n---  \n" + BODY,
    "fence indented": " ---\nname: @-indented\ndescription: Fence is indented @\n ---\n" + BODY,
    "fence of four hyphens": "----\nname: @-four\ndescription: Fence has four @\n----\n" + BODY,
    "frontmatter in TOML": '+++\nname = "@-toml"\ndescription = "In TOML @"\n+++\n' + BODY,
    "frontmatter is a list": "---\n- name: @-list\n- description: In a list @\n---\n" + BODY,
    "frontmatter is text": "---\nJust text of @\n---\n" + BODY,
    "name missing": "---\ndescription: Has no name @\n---\n" + BODY,
    "name empty": "---\nname:\ndescription: Name is empty @\n---\n" + BODY,
    "name differs from the folder": "---\nname: @-other-name\ndescription: Has another name @\n---\n" + BODY,
    "name in upper case": "---\nname: @-UPPER\ndescription: Name in capitals @\n---\n" + BODY,
    "name with spaces": "---\nname: @ with spaces\ndescription: Name has spaces @\n---\n" + BODY,
    "name with an umlaut": "---\nname: @-größe\ndescription: Name has an umlaut @\n---\n" + BODY,
    "name with a colon": "---\nname: plugin:@-colon\ndescription: Name has a colon @\n---\n" + BODY,
    "name with a slash": "---\nname: ../@-slash\ndescription: Name has a slash @\n---\n" + BODY,
    "name is a number": "---\nname: 1000\ndescription: Name is a number @\n---\n" + BODY,
    "name is a list": "---\nname: [@-one, @-two]\ndescription: Name is a list @\n---\n" + BODY,
    "name of 64 characters": "---\nname: @-" + "n" * 59 + "\ndescription: Name has 64 characters @\n---\n" + BODY,
    "name of 65 characters": "---\nname: @-" + "n" * 60 + "\ndescription: Name has 65 characters @\n---\n" + BODY,
    "name of 300 characters": "---\nname: @-" + "n" * 295 + "\ndescription: Name has 300 characters @\n---\n" + BODY,
    "description missing": "---\nname: @-bare\n---\n" + BODY,
    "description missing, no body": "---\nname: @-bare\n---\n",
    "description empty": "---\nname: @-void\ndescription:\n---\n" + BODY,
    "description is an empty string": '---\nname: @-void\ndescription: ""\n---\n' + BODY,
    "description on lines": "---\nname: @-lines\ndescription: |\n  First line of @\n  second line\n\n  fourth line\n---\n" + BODY,
    "description folded": "---\nname: @-folded\ndescription: >-\n  First line of @\n  second line\n---\n" + BODY,
    "description is a list": "---\nname: @-list\ndescription:\n  - One of @\n  - two\n---\n" + BODY,
    "description is a mapping": "---\nname: @-map\ndescription:\n  what: Does @\n  when: always\n---\n" + BODY,
    "description is a number": "---\nname: @-number\ndescription: 42\n---\n" + BODY,
    "description is a boolean": "---\nname: @-bool\ndescription: true\n---\n" + BODY,
    "description with a stray colon": "---\nname: @-colon\ndescription: Use when: doing @\n---\n" + BODY,
    "description with an open quote": '---\nname: @-quote\ndescription: "Never closed @\n---\n' + BODY,
    "description starts with a reserved sign": "---\nname: @-sign\ndescription: @mention of @\n---\n" + BODY,
    "description starts with a bracket": "---\nname: @-bracket\ndescription: [PDF] forms of @\n---\n" + BODY,
    "description is a comment": "---\nname: @-hash\ndescription: # heading of @\n---\n" + BODY,
    "description of 1,024 characters": "---\nname: @-long\ndescription: Long @ " + "x" * 1014 + "\n---\n" + BODY,
    "description of 1,100 characters": "---\nname: @-long\ndescription: Long @ " + "words " * 180 + "\n---\n" + BODY,
    "description of 5,000 characters": "---\nname: @-long\ndescription: Long @ " + "words " * 830 + "\n---\n" + BODY,
    "description with angle brackets": "---\nname: @-angle\ndescription: Writes <b>@</b> pages\n---\n" + BODY,
    "field without a space": "---\nname:@-tight\ndescription:No space @\n---\n" + BODY,
    "field in capitals": "---\nName: @-caps\nDescription: Fields in capitals @\n---\n" + BODY,
    "tabs in YAML": "---\nname:\t@-tabs\ndescription:\tAfter a tab @\nmetadata:\n\tauthor: me\n---\n" + BODY,
    "field twice": "---\nname: @-twice\ndescription: First of @\ndescription: Second of @\n---\n" + BODY,
    "anchor and alias": "---\nname: @-alias\ndescription: &text Anchored @\nlicense: *text\n---\n" + BODY,
    "tag": "---\nname: @-tag\ndescription: !!str Tagged @\n---\n" + BODY,
    "merge key": "---\nbase: &base\n  license: MIT\nname: @-merge\ndescription: Merges @\nmetadata:\n  <<: *base\n---\n" + BODY,
    "nested deep": "---\nname: @-deep\ndescription: Nested @\nmetadata: " + "[" * 40 + "]" * 40 + "\n---\n" + BODY,
    "frontmatter of 70,000 bytes": "---\nname: @-big\ndescription: Big @\nmetadata:\n" + "  k: v\n" * 10_000 + "---\n" + BODY,
    "second document": "---\nname: @-second\ndescription: First document @\n--- # two\nlicense: MIT\n---\n" + BODY,
    "hidden from the model": "---\nname: @-user\ndescription: For the user @\ndisable-model-invocation: true\n---\n" + BODY,
    "hidden from the model by a string": '---\nname: @-user\ndescription: For the user @\ndisable-model-invocation: "true"\n---\n' + BODY,
    "hidden from the user": "---\nname: @-model\ndescription: For the model @\nuser-invocable: false\n---\n" + BODY,
    "allowed-tools as text": "---\nname: @-tools\ndescription: Tools @\nallowed-tools: Bash(git *), Read\n---\n" + BODY,
    "allowed-tools as a list": "---\nname: @-tools\ndescription: Tools @\nallowed-tools:\n  - Bash(git *)\n  - Read\n---\n" + BODY,
    "allowed-tools as a mapping": "---\nname: @-tools\ndescription: Tools @\nallowed-tools:\n  Bash: git\n---\n" + BODY,
    "paths": "---\nname: @-paths\ndescription: For some files @\npaths: ['*.never']\n---\n" + BODY,
    "when_to_use": "---\nname: @-when\ndescription: Does @.\nwhen_to_use: Whenever asked\n---\n" + BODY,
    "control characters": "---\nname: @-control\ndescription: Bell \x07 and escape \x1b[31m @\n---\n" + BODY,
    "invisible characters": "---\nname: @-hidden\ndescription: Zero\u200bwidth \u202ereversed @\n---\n" + BODY,
    "link as text": "../@-target/SKILL.md",
    "link as text, with a line end": "../../common/@-target/SKILL.md\n",
}
# Bytes that are not UTF-8 text, made from a text with its number; in one form only.
ENCODED = {
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
    "invalid UTF-8 in the description": lambda text: text.encode().replace(b"Use", b"\xff\xfeUse"),
    "invalid UTF-8 in the body": lambda text: text.encode() + b"\xff\xfe\n",
    "invalid UTF-8, no frontmatter": lambda _: b"Latin-1 text: caf\xe9. More.\n",
    "NUL in the description": lambda text: text.encode().replace(b"Use", b"\0Use"),
    "NUL in the body": lambda text: text.encode() + b"\0\n",
    "only NUL bytes": lambda _: bytes(64),
    "a picture": lambda _: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
}
FORMS = {
    "Unix": lambda text: text,
    "Windows": lambda text: text.replace("\n", "\r\n"),
    "byte-order mark": lambda text: "\ufeff" + text,
    "blank lines first": lambda text: "\n\n" + text,
}
PLAIN, TARGET = TEXTS["plain"], "---\nname: @-target\ndescription: Target of @\n---\n" + BODY
# Files in odd places. The paths are below `skills` or `commands`.
PLACES = {
    "file in lower case": {"skills/@-lower/skill.md": PLAIN},
    "file in mixed case": {"skills/@-mixed/Skill.md": PLAIN},
    "file in capitals": {"skills/@-capitals/SKILL.MD": PLAIN},
    "file beside the folders": {"skills/@-file.md": PLAIN},
    "folder without a file": {"skills/@-none/README.md": PLAIN},
    "empty folder": {"skills/@-empty": None},
    "SKILL.md is a folder": {"skills/@-folder/SKILL.md/SKILL.md": PLAIN},
    "nested one level": {"skills/@-group/@-nested/SKILL.md": PLAIN},
    "nested three levels": {"skills/@-group/one/two/@-nested/SKILL.md": PLAIN},
    "nested inside a skill": {"skills/@-outer/SKILL.md": PLAIN, "skills/@-outer/@-inner/SKILL.md": TARGET},
    "hidden folder": {"skills/.@-hidden/SKILL.md": PLAIN},
    "inside node_modules": {"skills/node_modules/@-module/SKILL.md": PLAIN},
    "folder in upper case": {"skills/A@-Upper/SKILL.md": BODY},
    "folder with spaces": {"skills/@ with spaces/SKILL.md": BODY},
    "folder with an umlaut": {"skills/@-größe/SKILL.md": BODY},
    "folder with a colon": {"skills/@:colon/SKILL.md": BODY},
    "folder with a dot": {"skills/@.dot/SKILL.md": BODY},
    "folder name of 100 characters": {"skills/@-" + "f" * 95 + "/SKILL.md": BODY},
    "linked folder": {"skills/@-linked": Link("../../@-elsewhere"), "../@-elsewhere/SKILL.md": PLAIN},
    "linked folder, twice": {"skills/@-linked": Link("@-real"), "skills/@-real/SKILL.md": PLAIN},
    "linked file": {"skills/@-linked/SKILL.md": Link("../../../@-elsewhere.md"), "../@-elsewhere.md": PLAIN},
    "linked file of another skill": {"skills/@-linked/SKILL.md": Link("../@-real/SKILL.md"), "skills/@-real/SKILL.md": PLAIN},
    "link to nothing": {"skills/@-dangling": Link("@-nowhere")},
    "linked file to nothing": {"skills/@-dangling/SKILL.md": Link("@-nowhere")},
    "link to itself": {"skills/@-loop": Link("@-loop")},
    "linked folder as text": {"skills/@-text": "../../@-elsewhere", "../@-elsewhere/SKILL.md": PLAIN},
    "command": {"commands/@-command.md": "---\ndescription: Command @\n---\nDo $ARGUMENTS\n"},
    "command without frontmatter": {"commands/@-command.md": "Do @ with $ARGUMENTS. Then stop.\n"},
    "command with a name": {"commands/@-command.md": "---\nname: @-renamed\ndescription: Command @\n---\nDo it\n"},
    "command, empty": {"commands/@-command.md": ""},
    "command with a broken field": {"commands/@-command.md": "---\ndescription: Use when: @\n---\nDo it\n"},
    "command hidden from the model": {"commands/@-command.md": "---\ndescription: Mine @\ndisable-model-invocation: true\n---\nDo it\n"},
    "command hidden from the user": {"commands/@-command.md": "---\ndescription: Yours @\nuser-invocable: false\n---\nDo it\n"},
    "command without a description": {"commands/@-command.md": "---\nallowed-tools: Bash(ls)\n---\nDo @ now. Then stop.\n"},
    "command in a folder": {"commands/group/@-command.md": "---\ndescription: Command @\n---\nDo it\n"},
    "command two folders down": {"commands/group/sub/@-command.md": "---\ndescription: Command @\n---\nDo it\n"},
    "command in capitals": {"commands/@-Command.MD": "---\ndescription: Command @\n---\nDo it\n"},
    "command in a hidden folder": {"commands/.group/@-command.md": "---\ndescription: Command @\n---\nDo it\n"},
    "command named README": {"commands/@-group/README.md": "---\ndescription: Command @\n---\nDo it\n"},
    "command with spaces": {"commands/@ with spaces.md": "---\ndescription: Command @\n---\nDo it\n"},
    "command is a link": {"commands/@-linked.md": Link("../../@-command.md"), "../@-command.md": "Do @ by a link.\n"},
    "command is a link as text": {"commands/@-text.md": "../../common/@-command.md"},
    "text file among commands": {"commands/@-command.txt": "Do @.\n"},
    "skill among commands": {"commands/@-folder/SKILL.md": "---\ndescription: Skill @ among commands\n---\nDo it\n"},
    "skill and command of one name": {
        "skills/@-both/SKILL.md": "---\nname: @-both\ndescription: Skill @\n---\nDo it\n",
        "commands/@-both.md": "---\ndescription: Command @\n---\nDo it\n",
    },
}


def filled(mark, value):
    """Returns what is written for an entry, with the number of its case."""
    match value:
        case Link(target):
            return Link(target.replace("@", mark))
        case str():
            return value.replace("@mention", "\0").replace("@", mark).replace("\0", "@mention").encode()
        case None:
            return None
    return value(PLAIN.replace("@", mark))


def cases():
    """Returns all cases, numbered from 1: every place, every encoding, then all texts in each form."""
    made = [(kind, "Unix", entries) for kind, entries in PLACES.items()]
    made += [(kind, "Unix", {"skills/@-bytes/SKILL.md": encode}) for kind, encode in ENCODED.items()]
    for form, write in FORMS.items():
        made += [(kind, form, {"skills/@-case/SKILL.md": write(text)}) for kind, text in TEXTS.items()]
    numbered = []
    for number, (kind, form, entries) in enumerate(made, 1):
        case = Case(number, kind, form, {})
        for path, value in entries.items():
            # A folder in capitals has its number in capitals.
            case.entries[path.replace("A@", case.mark.upper()).replace("@", case.mark)] = filled(case.mark, value)
        numbered.append(case)
    return numbered
