//! The fields that the engine reads, and their spellings.

use crate::read::yaml::MappingEntry;

/// A field that the engine reads.
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
}

/// Every spelling that is accepted without a word.
const SPELLINGS: [(&str, Field); 20] = [
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
];

impl Field {
    /// Returns every spelling that is accepted without a word.
    pub(crate) fn spellings() -> impl Iterator<Item = &'static str> {
        SPELLINGS.iter().map(|(spelling, _)| *spelling)
    }

    /// Returns the field of that name.
    pub(crate) fn named(key: &str) -> Option<Self> {
        SPELLINGS
            .iter()
            .find(|(spelling, _)| *spelling == key)
            .map(|(_, field)| *field)
    }

    /// Returns the field whose name differs only in case, hyphens and underscores, with its right spelling.
    pub(crate) fn resembling(key: &str) -> Option<(&'static str, Self)> {
        SPELLINGS
            .iter()
            .find(|(spelling, _)| letters(spelling).eq(letters(key)))
            .copied()
    }

    pub(crate) fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// Returns what of a field's name tells it from others.
pub(crate) fn letters(name: &str) -> impl Iterator<Item = u8> {
    name.bytes()
        .filter(|byte| !matches!(byte, b'-' | b'_'))
        .map(|byte| byte.to_ascii_lowercase())
}

/// Returns the first entry that is read as a field and has a value; the right spelling wins.
pub(crate) fn find<'a, 'n>(
    entries: &'a [MappingEntry<'n>],
    field: Field,
) -> Option<&'a MappingEntry<'n>> {
    let given = || entries.iter().filter(|entry| !entry.value.is_null());
    let resembles = |key: &str| {
        Field::named(key).is_none()
            && Field::resembling(key).is_some_and(|(_, resembled)| resembled == field)
    };
    given()
        .find(|entry| Field::named(&entry.key) == Some(field))
        .or_else(|| given().find(|entry| resembles(&entry.key)))
}
