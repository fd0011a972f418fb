//! Fields outside the specification that known clients read.

use crate::read::field::normalized_letters;

use self::FieldForm::{Any, List, Mapping, Text, YesOrNo};
use self::FieldLevel::{Either, Metadata, Top};

/// A field outside the specification that known clients read.
///
/// Such a field must stay where it is: if it were moved or renamed, those clients would no longer see it, and a skill
/// that only users may invoke could become one that a model may invoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientField {
    /// The name, as the clients spell it.
    pub name: &'static str,
    /// Where the clients read it.
    pub level: FieldLevel,
    /// The type the clients read it as.
    pub form: FieldForm,
    /// The clients that read it.
    pub clients: &'static [&'static str],
}

/// Where clients read a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldLevel {
    /// At the top level of the frontmatter.
    Top,
    /// Under `metadata`.
    Metadata,
    /// At either level.
    Either,
}

/// The type that clients read a field as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldForm {
    /// Text.
    Text,
    /// A boolean.
    YesOrNo,
    /// A list, or text that is split into one.
    List,
    /// A mapping.
    Mapping,
    /// Any value.
    Any,
}

impl ClientField {
    /// Every field, sorted by level and name.
    pub const ALL: &'static [Self] = ALL;

    /// Returns the top-level field with exactly this name.
    pub(crate) fn find_top_level(key: &str) -> Option<&'static Self> {
        top_level_fields().find(|field| field.name == key)
    }

    /// Returns the top-level field whose name differs only in case, hyphens and underscores.
    pub(crate) fn find_similar(key: &str) -> Option<&'static Self> {
        top_level_fields().find(|field| normalized_letters(field.name).eq(normalized_letters(key)))
    }

    /// Returns the field with exactly this name that clients read only under `metadata`.
    pub(crate) fn find_in_metadata(key: &str) -> Option<&'static Self> {
        let mut fields = ALL.iter();
        fields.find(|field| field.level == FieldLevel::Metadata && field.name == key)
    }

    /// Returns whether a client other than this engine reads the field.
    pub(crate) fn is_read_by_others(&self) -> bool {
        self.clients != SKILLFOLD_ONLY
    }

    /// Returns the clients' names as a phrase, such as `Cursor and VS Code`.
    pub(crate) fn readers(&self) -> String {
        match self.clients {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
        }
    }
}

fn top_level_fields() -> impl Iterator<Item = &'static ClientField> {
    let fields = ALL.iter();
    fields.filter(|field| field.level != FieldLevel::Metadata)
}

const SKILLFOLD_ONLY: &[&str] = &["Skillfold"];

const fn field(
    level: FieldLevel,
    name: &'static str,
    form: FieldForm,
    clients: &'static [&'static str],
) -> ClientField {
    ClientField {
        name,
        level,
        form,
        clients,
    }
}

const ALL: &[ClientField] = &[
    field(Top, "agent", Text, &["Claude Code"]),
    field(
        Top,
        "allowed-tools",
        List,
        &["Claude Code", "deepagents", "OpenHands", "Skillfold"],
    ),
    field(Top, "allowed_tools", List, SKILLFOLD_ONLY),
    field(Top, "argument-hint", Text, &["Claude Code", "VS Code"]),
    field(Top, "arguments", List, &["Claude Code"]),
    field(Top, "background", YesOrNo, &["Claude Code"]),
    field(Top, "command-arg-mode", Text, &["OpenClaw"]),
    field(Top, "command-dispatch", Text, &["OpenClaw"]),
    field(Top, "command-tool", Text, &["OpenClaw"]),
    field(Top, "context", Text, &["Claude Code", "VS Code"]),
    field(
        Top,
        "disable-model-invocation",
        YesOrNo,
        &["Claude Code", "Cursor", "OpenClaw", "Skillfold", "VS Code"],
    ),
    field(Top, "disable_model_invocation", YesOrNo, SKILLFOLD_ONLY),
    field(Top, "disallowed-tools", List, &["Claude Code"]),
    field(Top, "effort", Text, &["Claude Code"]),
    field(Top, "homepage", Text, &["OpenClaw"]),
    field(Top, "hooks", Mapping, &["Claude Code", "Qwen Code"]),
    field(
        Top,
        "model",
        Text,
        &["Claude Code", "Qwen Code", "Skillfold"],
    ),
    field(Top, "paths", List, &["Claude Code", "Qwen Code"]),
    field(Top, "permissions", Mapping, SKILLFOLD_ONLY),
    field(Top, "priority", Any, &["Qwen Code"]),
    field(Top, "scripts", Any, SKILLFOLD_ONLY),
    field(Top, "shell", Text, &["Claude Code"]),
    field(Top, "slash", Any, &["OpenCode"]),
    field(Top, "triggers", Any, &["OpenHands", "Skillfold"]),
    field(
        Top,
        "user-invocable",
        YesOrNo,
        &["Claude Code", "OpenClaw", "VS Code"],
    ),
    field(Top, "when_to_use", Text, &["Claude Code", "Qwen Code"]),
    field(Metadata, "argument-hint", Text, &["Goose"]),
    field(Metadata, "arguments", Any, &["Goose"]),
    field(Metadata, "clawdbot", Mapping, &["OpenClaw"]),
    field(Metadata, "openclaw", Mapping, &["OpenClaw"]),
    field(Metadata, "short-description", Text, &["Codex"]),
    field(Either, "brief-description", Text, SKILLFOLD_ONLY),
    field(Either, "brief_description", Text, SKILLFOLD_ONLY),
    field(Either, "default-enabled", YesOrNo, SKILLFOLD_ONLY),
    field(Either, "default_enabled", YesOrNo, SKILLFOLD_ONLY),
    field(Either, "engines", Any, SKILLFOLD_ONLY),
    field(Either, "requires", List, SKILLFOLD_ONLY),
    field(Either, "tags", List, SKILLFOLD_ONLY),
    field(Either, "toolsets", List, SKILLFOLD_ONLY),
    field(Either, "version", Text, SKILLFOLD_ONLY),
];

#[cfg(test)]
mod tests {
    use super::{ALL, ClientField};
    use crate::read::field::Field;

    #[test]
    fn every_field_the_engine_reads_is_specified_or_listed() {
        let specified = [
            "name",
            "description",
            "license",
            "compatibility",
            "metadata",
        ];
        for spelling in Field::spellings() {
            let is_known = ClientField::find_top_level(spelling).is_some();
            assert!(is_known || specified.contains(&spelling), "{spelling}");
        }
    }

    #[test]
    fn rows_are_sorted_and_unique() {
        let key = |field: &ClientField| (field.level as u8, field.name);
        assert!(ALL.is_sorted_by(|left, right| key(left) < key(right)));
    }
}
