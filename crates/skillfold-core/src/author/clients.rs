//! Fields outside the specification that known clients read.

use crate::read::field::normalized_letters;

use self::FieldForm::{Any, List, Mapping, Text, YesOrNo};

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

const fn top_field(
    name: &'static str,
    form: FieldForm,
    clients: &'static [&'static str],
) -> ClientField {
    let level = FieldLevel::Top;
    ClientField {
        name,
        level,
        form,
        clients,
    }
}

const fn metadata_field(
    name: &'static str,
    form: FieldForm,
    clients: &'static [&'static str],
) -> ClientField {
    let level = FieldLevel::Metadata;
    ClientField {
        name,
        level,
        form,
        clients,
    }
}

/// Creates a field that only this engine reads, at the top level or under `metadata`.
const fn own_field(name: &'static str, form: FieldForm) -> ClientField {
    let level = FieldLevel::Either;
    ClientField {
        name,
        level,
        form,
        clients: SKILLFOLD_ONLY,
    }
}

const ALL: &[ClientField] = &[
    top_field("agent", Text, &["Claude Code"]),
    top_field(
        "allowed-tools",
        List,
        &["Claude Code", "deepagents", "OpenHands", "Skillfold"],
    ),
    top_field("allowed_tools", List, SKILLFOLD_ONLY),
    top_field("argument-hint", Text, &["Claude Code", "VS Code"]),
    top_field("arguments", List, &["Claude Code"]),
    top_field("background", YesOrNo, &["Claude Code"]),
    top_field("command-arg-mode", Text, &["OpenClaw"]),
    top_field("command-dispatch", Text, &["OpenClaw"]),
    top_field("command-tool", Text, &["OpenClaw"]),
    top_field("context", Text, &["Claude Code", "VS Code"]),
    top_field(
        "disable-model-invocation",
        YesOrNo,
        &["Claude Code", "Cursor", "OpenClaw", "Skillfold", "VS Code"],
    ),
    top_field("disable_model_invocation", YesOrNo, SKILLFOLD_ONLY),
    top_field("disallowed-tools", List, &["Claude Code"]),
    top_field("effort", Text, &["Claude Code"]),
    top_field("homepage", Text, &["OpenClaw"]),
    top_field("hooks", Mapping, &["Claude Code", "Qwen Code"]),
    top_field("model", Text, &["Claude Code", "Qwen Code", "Skillfold"]),
    top_field("paths", List, &["Claude Code", "Qwen Code"]),
    top_field("permissions", Mapping, SKILLFOLD_ONLY),
    top_field("priority", Any, &["Qwen Code"]),
    top_field("scripts", Any, SKILLFOLD_ONLY),
    top_field("shell", Text, &["Claude Code"]),
    top_field("slash", Any, &["OpenCode"]),
    top_field("triggers", Any, &["OpenHands", "Skillfold"]),
    top_field(
        "user-invocable",
        YesOrNo,
        &["Claude Code", "OpenClaw", "VS Code"],
    ),
    top_field("when_to_use", Text, &["Claude Code", "Qwen Code"]),
    metadata_field("argument-hint", Text, &["Goose"]),
    metadata_field("arguments", Any, &["Goose"]),
    metadata_field("clawdbot", Mapping, &["OpenClaw"]),
    metadata_field("openclaw", Mapping, &["OpenClaw"]),
    metadata_field("short-description", Text, &["Codex"]),
    own_field("brief-description", Text),
    own_field("brief_description", Text),
    own_field("default-enabled", YesOrNo),
    own_field("default_enabled", YesOrNo),
    own_field("engines", Any),
    own_field("requires", List),
    own_field("tags", List),
    own_field("toolsets", List),
    own_field("version", Text),
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
