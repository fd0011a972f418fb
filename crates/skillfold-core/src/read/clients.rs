//! Fields that known clients read and the specification does not have.

use crate::read::field::letters;

use self::FieldForm::{Any, List, Mapping, Text, YesOrNo};

/// A field that known clients read.
///
/// Such a field is not foreign: moved or renamed, those clients would read something else, and a skill that only people may
/// start could become one that a model may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientField {
    /// Its name, as the clients spell it.
    pub name: &'static str,
    /// Where they read it.
    pub level: FieldLevel,
    /// What they read it as.
    pub form: FieldForm,
    /// The clients.
    pub clients: &'static [&'static str],
}

/// Where clients read a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldLevel {
    /// At the top of the frontmatter.
    Top,
    /// Under `metadata`.
    Metadata,
    /// At either place.
    Either,
}

/// What clients read a field as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldForm {
    /// Text.
    Text,
    /// True or false.
    YesOrNo,
    /// A list, or text that is split.
    List,
    /// A mapping.
    Mapping,
    /// Whatever is there.
    Any,
}

impl ClientField {
    /// Every field, by level and name.
    pub const ALL: &'static [Self] = ALL;

    /// Returns the field of that very name that clients read at the top.
    pub(crate) fn at_top(key: &str) -> Option<&'static Self> {
        top().find(|field| field.name == key)
    }

    /// Returns the field at the top whose name differs only in case, hyphens and underscores.
    pub(crate) fn resembling(key: &str) -> Option<&'static Self> {
        top().find(|field| letters(field.name).eq(letters(key)))
    }

    /// Returns the field of that very name that clients read under `metadata` only.
    pub(crate) fn in_metadata(key: &str) -> Option<&'static Self> {
        let mut fields = ALL.iter();
        fields.find(|field| field.level == FieldLevel::Metadata && field.name == key)
    }

    /// Returns whether a client other than this engine reads the field.
    pub(crate) fn is_of_others(&self) -> bool {
        self.clients != OURS
    }

    /// Returns the names of the clients as a phrase: `Cursor and VS Code`.
    pub(crate) fn readers(&self) -> String {
        match self.clients {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [some @ .., last] => format!("{} and {last}", some.join(", ")),
        }
    }
}

fn top() -> impl Iterator<Item = &'static ClientField> {
    let fields = ALL.iter();
    fields.filter(|field| field.level != FieldLevel::Metadata)
}

const OURS: &[&str] = &["Skillfold"];

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

/// A field that only this engine reads, at the top or under `metadata`.
const fn own_field(name: &'static str, form: FieldForm) -> ClientField {
    let level = FieldLevel::Either;
    ClientField {
        name,
        level,
        form,
        clients: OURS,
    }
}

const ALL: &[ClientField] = &[
    top_field("agent", Text, &["Claude Code"]),
    top_field(
        "allowed-tools",
        List,
        &["Claude Code", "deepagents", "OpenHands", "Skillfold"],
    ),
    top_field("allowed_tools", List, OURS),
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
    top_field("disable_model_invocation", YesOrNo, OURS),
    top_field("disallowed-tools", List, &["Claude Code"]),
    top_field("effort", Text, &["Claude Code"]),
    top_field("homepage", Text, &["OpenClaw"]),
    top_field("hooks", Mapping, &["Claude Code", "Qwen Code"]),
    top_field("model", Text, &["Claude Code", "Qwen Code", "Skillfold"]),
    top_field("paths", List, &["Claude Code", "Qwen Code"]),
    top_field("priority", Any, &["Qwen Code"]),
    top_field("scripts", Any, OURS),
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
    fn every_field_that_the_engine_reads_is_of_the_specification_or_in_the_table() {
        let specified = [
            "name",
            "description",
            "license",
            "compatibility",
            "metadata",
        ];
        for spelling in Field::spellings() {
            let is_known = ClientField::at_top(spelling).is_some();
            assert!(is_known || specified.contains(&spelling), "{spelling}");
        }
    }

    #[test]
    fn rows_are_in_order_and_once() {
        let key = |field: &ClientField| (field.level as u8, field.name);
        assert!(ALL.is_sorted_by(|left, right| key(left) < key(right)));
    }
}
