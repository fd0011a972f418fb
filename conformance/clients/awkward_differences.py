"""Why Skillfold lists an awkward skill differently from a client, on purpose."""

import dataclasses

from awkward_cases import ENCODED, PLACES, TEXTS


@dataclasses.dataclass(frozen=True)
class Difference:
    """An explained difference. The first one that covers a case explains it."""

    client: str
    what: str
    # What the cases have in common, and why the lists differ.
    where: str
    why: str
    kinds: tuple = ()
    forms: tuple = ()

    def covers(self, case):
        return (not self.kinds or case.kind in self.kinds) and (not self.forms or case.form in self.forms)


def starting(*words):
    """Returns the kinds that start with one of some words."""
    return tuple(kind for kind in (*TEXTS, *ENCODED, *PLACES) if kind.startswith(words))


CLAUDE, CODEX = "claude-code", "codex"
MORE, LESS, NAME, TEXT = "only the client", "only Skillfold", "name", "description"
BLANKS, MARK = ("blank lines first",), ("byte-order mark",)

NO_FRONTMATTER = (
    *starting("no frontmatter", "HTML comment", "empty file", "only blanks", "link as text", "folder with ", "folder name of"),
    *("fence of four hyphens", "frontmatter in TOML", "folder in upper case", "invalid UTF-8, no frontmatter"),
)
NO_FIELDS = ("frontmatter empty", "frontmatter with a comment only", "frontmatter is a list", "frontmatter is text", "field without a space")
NO_DESCRIPTION = (
    *("description missing", "description missing, no body", "description empty", "description is an empty string"),
    *("description is a list", "description is a mapping"),
)
NOT_CLOSED = ("frontmatter not closed", "frontmatter not closed, no body", "frontmatter closed by dots")
COMMANDS = (*starting("command"), "skill among commands")
LARGE = ("frontmatter of 70,000 bytes",)
HIDDEN = ("hidden from the model", "hidden from the model by a string")
NOT_TEXT = ("UTF-16", "UTF-16 without a mark", "only NUL bytes", "a picture")

DIFFERENCES = (
    Difference(
        CLAUDE,
        MORE,
        "A folder that starts with a dot, in `skills` or `commands`",
        "Such folders hold caches and version control; Skillfold says that it skips them (`SF510`), and a host can search them",
        ("hidden folder", "command in a hidden folder"),
    ),
    Difference(
        CLAUDE,
        MORE,
        "A `SKILL.md` or a command that is a link",
        "A link may lead out of the folder that you trust: it is not followed (`SF503`, `SF509`). A link to a skill's folder is",
        ("linked file", "command is a link"),
    ),
    Difference(
        CLAUDE,
        MORE,
        "UTF-16, NUL bytes, a picture",
        "Claude Code lists them with unreadable text; Skillfold refuses them (`SF009`)",
        NOT_TEXT,
    ),
    Difference(CLAUDE, MORE, "Frontmatter of 70,000 bytes", "The limit is 64 KiB (`SF003`)", LARGE),
    Difference(
        CLAUDE,
        MORE,
        "`disable-model-invocation: true` after blank lines",
        "Claude Code does not see the field and gives the skill to the model; Skillfold reads it",
        HIDDEN,
        BLANKS,
    ),
    Difference(
        CLAUDE,
        LESS,
        "A folder of skills inside `skills`",
        "Claude Code looks one level deep, Skillfold and Codex deeper",
        ("nested one level", "nested three levels"),
    ),
    Difference(
        CLAUDE,
        LESS,
        "`paths` that match no open file",
        "Claude Code lists the skill once such a file is used; Skillfold does not read `paths`",
        ("paths",),
        ("Unix", "Windows", *MARK),
    ),
    Difference(
        CLAUDE,
        NAME,
        "A fence that is missing or indented, broken YAML, field names in capitals",
        "Claude Code does not read the fields, and lists the folder with a line of the text; Skillfold repairs them and reports it",
        (
            *NOT_CLOSED,
            *("fence indented", "NUL in the description", "description with an open quote", "field in capitals"),
            *("description with a stray colon", "description starts with a reserved sign", "description starts with a bracket"),
        ),
    ),
    Difference(CLAUDE, NAME, "Blank lines before the frontmatter", "As above; Skillfold skips them (`SF111`)", (), BLANKS),
    Difference(
        CLAUDE,
        NAME,
        "A name with a colon, or longer than 64 characters",
        "The specification forbids them: the folder's name is used (`SF302`, `SF301`)",
        ("name with a colon", "name of 65 characters"),
    ),
    Difference(
        CLAUDE,
        NAME,
        "A command in a folder, or with a `name`",
        "Claude Code writes `folder:command` and ignores `name`; in Skillfold a colon separates the scope, and `name` counts",
        ("command in a folder", "command two folders down", "command named README", "command with a name"),
    ),
    Difference(
        CLAUDE,
        TEXT,
        "No description",
        "Claude Code shows the first line, be it a heading, a comment or a fence, or `Skill`; Skillfold the first sentence, or the name (`SF116`)",
        (
            *NO_FRONTMATTER,
            *NO_FIELDS,
            *NO_DESCRIPTION,
            *("command without frontmatter", "command, empty", "command without a description"),
        ),
    ),
    Difference(
        CLAUDE,
        TEXT,
        "A field that Claude Code does not find, in a skill whose name is the folder's anyway",
        "As for names: Skillfold reads the fields after blank lines",
        (),
        BLANKS,
    ),
    Difference(CLAUDE, TEXT, "`description: # text`", "YAML's comment is read as the text that was meant (`SF103`)", ("description is a comment",)),
    Difference(
        CLAUDE,
        TEXT,
        "More than 1,024 characters",
        "`skillfold list` has all of it; Claude Code cuts what it shows, and so does Skillfold's list for models",
        ("description of 1,100 characters", "description of 5,000 characters"),
    ),
    Difference(
        CLAUDE,
        TEXT,
        "Angle brackets, control and invisible characters",
        "Claude Code escapes or removes them in its list; `skillfold list --json` has them as they are (`SF407`, `SF108`, `SF406`)",
        ("description with angle brackets", "control characters", "invisible characters"),
    ),
    Difference(CLAUDE, TEXT, "A field that is given twice", "Claude Code takes the second, Skillfold the first (`SF015`)", ("field twice",)),
    Difference(
        CLAUDE,
        TEXT,
        "Anchors and tags",
        "YAML is data only: they stay text (`SF012`, `SF013`)",
        ("anchor and alias", "tag"),
    ),
    Difference(CLAUDE, TEXT, "`when_to_use`", "Claude Code appends it to the description; Skillfold does not read it", ("when_to_use",)),
    Difference(
        CODEX,
        MORE,
        "A skill inside another skill, in `node_modules`, or in a folder named `SKILL.md`",
        "The first belongs to the files of the outer skill; the second to a package (`SF510`); the third is a mistake (`SF504`)",
        ("nested inside a skill", "inside node_modules", "SKILL.md is a folder"),
    ),
    Difference(CODEX, MORE, "Frontmatter of 70,000 bytes", "The limit is 64 KiB (`SF003`)", LARGE),
    Difference(
        CODEX,
        MORE,
        "`disable-model-invocation: true`",
        "Codex does not read the field and lists the skill; Skillfold gives it to no model",
        HIDDEN,
    ),
    Difference(CODEX, LESS, "Commands of Claude Code", "Codex has none", COMMANDS),
    Difference(
        CODEX,
        LESS,
        "No frontmatter, no fields, or no description",
        "Codex leaves the skill out with an error; Skillfold lists it as Claude Code does (`SF116`)",
        (*NO_FRONTMATTER, *NO_FIELDS, *NO_DESCRIPTION),
    ),
    Difference(
        CODEX,
        LESS,
        "A byte-order mark or blank lines before the frontmatter",
        "Codex finds no frontmatter and leaves the skill out; Skillfold skips them (`SF105`, `SF111`)",
        (),
        (*MARK, *BLANKS),
    ),
    Difference(
        CODEX,
        LESS,
        "A fence that is missing, broken YAML, a field that is given twice, a name that is a list, field names in capitals",
        "Codex leaves the skill out with an error; Skillfold repairs the fields and reports it",
        (
            *NOT_CLOSED,
            *("name is a list", "description with an open quote", "description is a comment", "field in capitals"),
            *("tabs in YAML", "field twice", "nested deep", "second document", "control characters", "NUL in the description"),
        ),
    ),
    Difference(
        CODEX,
        LESS,
        "A name longer than 64 characters",
        "Codex leaves the skill out with an error; Skillfold uses the folder's name (`SF301`)",
        ("name of 65 characters", "name of 300 characters"),
    ),
    Difference(
        CODEX,
        LESS,
        "Bytes that are not UTF-8",
        "Codex leaves the skill out with an error; in Skillfold each is `U+FFFD` (`SF004`, `SF802`)",
        ("invalid UTF-8 in the description", "invalid UTF-8 in the body"),
    ),
    Difference(
        CODEX,
        NAME,
        "A name with spaces, a colon or a slash",
        "The specification forbids them: the folder's name is used (`SF302`, `SF008`)",
        ("name with spaces", "name with a colon", "name with a slash"),
    ),
    Difference(CODEX, TEXT, "Anchors and tags", "YAML is data only: they stay text (`SF012`, `SF013`)", ("anchor and alias", "tag")),
)
