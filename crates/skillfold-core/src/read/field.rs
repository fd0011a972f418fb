//! The fields that the engine reads, and their accepted spellings.

use crate::read::yaml::MappingEntry;

/// A frontmatter field that the engine reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Name,
    Description,
    License,
    Compatibility,
    Metadata,
    AllowedTools,
    Version,
    Model,
    BriefDescription,
    Tags,
    Requires,
    Toolsets,
    Scripts,
    Triggers,
    DisableModelInvocation,
    DefaultEnabled,
    Engines,
}

/// Every spelling that is accepted without a finding.
const SPELLINGS: [(&str, Field); 21] = [
    ("name", Field::Name),
    ("description", Field::Description),
    ("license", Field::License),
    ("compatibility", Field::Compatibility),
    ("metadata", Field::Metadata),
    ("allowed-tools", Field::AllowedTools),
    ("allowed_tools", Field::AllowedTools),
    ("version", Field::Version),
    ("model", Field::Model),
    ("brief_description", Field::BriefDescription),
    ("brief-description", Field::BriefDescription),
    ("tags", Field::Tags),
    ("requires", Field::Requires),
    ("toolsets", Field::Toolsets),
    ("scripts", Field::Scripts),
    ("triggers", Field::Triggers),
    ("disable-model-invocation", Field::DisableModelInvocation),
    ("disable_model_invocation", Field::DisableModelInvocation),
    ("default_enabled", Field::DefaultEnabled),
    ("default-enabled", Field::DefaultEnabled),
    ("engines", Field::Engines),
];

impl Field {
    /// Returns every spelling that is accepted without a finding.
    pub(crate) fn spellings() -> impl Iterator<Item = &'static str> {
        SPELLINGS.iter().map(|(spelling, _)| *spelling)
    }

    /// Returns the field with this exact spelling.
    pub(crate) fn from_key(key: &str) -> Option<Self> {
        SPELLINGS
            .iter()
            .find(|(spelling, _)| *spelling == key)
            .map(|(_, field)| *field)
    }

    /// Returns the field whose name differs only in case, hyphens and underscores, with its correct spelling.
    pub(crate) fn from_similar_key(key: &str) -> Option<(&'static str, Self)> {
        SPELLINGS
            .iter()
            .find(|(spelling, _)| normalized_letters(spelling).eq(normalized_letters(key)))
            .copied()
    }

    /// Returns the field's bit in a set of fields.
    pub(crate) fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// Returns a field name's characters in lower case, without hyphens and underscores.
pub(crate) fn normalized_letters(name: &str) -> impl Iterator<Item = u8> {
    name.bytes()
        .filter(|byte| !matches!(byte, b'-' | b'_'))
        .map(|byte| byte.to_ascii_lowercase())
}

/// Returns the first entry that is read as `field` and has a value. The correct spelling takes precedence.
pub(crate) fn find_entry<'a, 'n>(
    entries: &'a [MappingEntry<'n>],
    field: Field,
) -> Option<&'a MappingEntry<'n>> {
    let non_null = || entries.iter().filter(|entry| !entry.value.is_null());
    let is_similar = |key: &str| {
        Field::from_key(key).is_none()
            && Field::from_similar_key(key).is_some_and(|(_, similar)| similar == field)
    };
    non_null()
        .find(|entry| Field::from_key(&entry.key) == Some(field))
        .or_else(|| non_null().find(|entry| is_similar(&entry.key)))
}
