//! The specification's rules on fields, each with a code.

use crate::codes::{Code, Severity};
use crate::diagnostic::{Diagnostic, Span, quoted};
use crate::name::SkillName;
use crate::read::clients::{ClientField, FieldForm, FieldLevel};
use crate::read::field::{self, Field};
use crate::read::value::{Scalar, ScalarValue, Value};
use crate::read::yaml::{Kind, MappingEntry};

/// How strictly a skill is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// What clients are told to do: warn, and load anyway.
    #[default]
    Lenient,
    /// The letter of the specification: what it forbids is an error, and a repair is an error too.
    Spec,
}

const NAME_CHARACTERS: usize = 64;
const DESCRIPTION_CHARACTERS: usize = 1024;
const COMPATIBILITY_CHARACTERS: usize = 500;

/// The fields that the specification has.
const SPECIFIED: [&str; 6] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

impl Profile {
    /// Creates a finding of a rule of the specification: an error in `Spec`, a warning in `Lenient`.
    fn finding(self, code: Code, span: Span, message: String) -> Diagnostic {
        let mut finding = Diagnostic::new(code, span, message);
        if self == Self::Lenient {
            finding.severity = finding.severity.min(Severity::Warning);
        }
        finding
    }
}

/// Judges the name and the length of the description, which decide how other clients treat the skill.
pub(crate) fn names(
    entries: &[MappingEntry<'_>],
    folder: &str,
    profile: Profile,
    findings: &mut Vec<Diagnostic>,
) {
    if let Some((text, span)) = scalar(entries, Field::Name) {
        name(text.trim(), span, folder, profile, findings);
    }
    if let Some((text, span)) = scalar(entries, Field::Description) {
        // Most descriptions are short enough in bytes already.
        let length = if text.len() > DESCRIPTION_CHARACTERS {
            text.chars().count()
        } else {
            0
        };
        if length > DESCRIPTION_CHARACTERS {
            let message = format!(
                "Description is {length} characters long, the limit is {DESCRIPTION_CHARACTERS}"
            );
            findings.push(profile.finding(Code::DescriptionLength, span, message));
        }
    }
}

fn name(name: &str, span: Span, folder: &str, profile: Profile, findings: &mut Vec<Diagnostic>) {
    if name == folder && is_specified(name) {
        return;
    }
    // A name that cannot be carried has a finding of its own.
    if name.parse::<SkillName>().is_err() {
        return;
    }
    let length = name.chars().count();
    if length > NAME_CHARACTERS {
        // Every profile: clients cut or refuse longer names.
        let message = format!(
            "Name is {length} characters long, the limit is {NAME_CHARACTERS}: {}",
            quoted(name)
        );
        findings.push(Diagnostic::new(Code::NameLength, span, message));
    }
    if name.chars().any(char::is_uppercase) {
        findings.push(profile.finding(
            Code::NameCase,
            span,
            format!("Name has upper-case letters: {}", quoted(name)),
        ));
    }
    let odd = |c: char| !c.is_alphanumeric() && c != '-';
    if let Some(c) = name.chars().find(|c| odd(*c)) {
        let what = if c.is_whitespace() {
            "a space".to_owned()
        } else {
            format!("the character `{c}`")
        };
        let message = format!("Name has {what}: {}", quoted(name));
        // An underscore is common and harmless; other characters are an error in every profile.
        let only_underscores = name.chars().filter(|c| odd(*c)).all(|c| c == '_');
        let severity = if only_underscores {
            profile
        } else {
            Profile::Spec
        };
        findings.push(severity.finding(Code::NameCharacters, span, message));
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        let message = format!(
            "Name has a hyphen at an end or two in a row: {}",
            quoted(name)
        );
        findings.push(profile.finding(Code::NameHyphens, span, message));
    }
    // A root that is itself a skill may have no name, as `..` has none.
    if name != folder && !folder.is_empty() {
        let message = format!(
            "Name {} differs from the folder's name {}",
            quoted(name),
            quoted(folder)
        );
        findings.push(profile.finding(Code::NameNotFolder, span, message));
    }
}

/// Returns whether a name is what the specification asks for, in letters that every client accepts.
pub(crate) fn is_specified(name: &str) -> bool {
    let well_formed = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= NAME_CHARACTERS && name.split('-').all(well_formed)
}

/// Judges all other rules of the specification: which fields there are, and of what type.
pub(crate) fn fields(
    entries: &[MappingEntry<'_>],
    profile: Profile,
    findings: &mut Vec<Diagnostic>,
) {
    for entry in entries {
        let (key, span) = (&*entry.key, entry.value.span);
        if !SPECIFIED.contains(&key) {
            findings.extend(foreign(key, entry.key_span, profile));
            continue;
        }
        let is_scalar = matches!(entry.value.kind, Kind::Scalar { .. });
        match (key, &entry.value.kind) {
            ("metadata", Kind::Map(entries)) => metadata(entries, profile, findings),
            ("metadata", _) if entry.value.is_null() => {}
            ("metadata", _) => {
                findings.push(profile.finding(
                    Code::FieldForm,
                    span,
                    "Field `metadata` is not a mapping".to_owned(),
                ));
            }
            (_, _) if !is_scalar => {
                findings.push(profile.finding(
                    Code::FieldForm,
                    span,
                    format!("Field {} is not a string", quoted(key)),
                ));
            }
            ("compatibility", Kind::Scalar { text, .. }) => {
                compatibility(text, span, profile, findings);
            }
            _ => {}
        }
    }
}

/// Judges a field that the specification does not have. One that clients read is as good as any, unless the letter of the
/// specification is asked for; and then nobody is told to move it.
fn foreign(key: &str, span: Span, profile: Profile) -> Option<Diagnostic> {
    let message = format!("Field {} is not in the specification", quoted(key));
    let Some(field) = ClientField::at_top(key) else {
        let message = match ClientField::resembling(key) {
            Some(field) => format!("{message}; `{}` is read by {}", field.name, field.readers()),
            None => message,
        };
        return Some(profile.finding(Code::UnexpectedField, span, message));
    };
    if profile == Profile::Lenient {
        return None;
    }
    let readers = field.readers();
    Some(match field.level {
        FieldLevel::Either => {
            let message = format!("{message}; {readers} reads it under `metadata` too");
            profile.finding(Code::UnexpectedField, span, message)
        }
        _ => profile.finding(
            Code::ClientField,
            span,
            format!("{message}; read by {readers}"),
        ),
    })
}

fn compatibility(text: &str, span: Span, profile: Profile, findings: &mut Vec<Diagnostic>) {
    let length = text.chars().count();
    if length == 0 || length > COMPATIBILITY_CHARACTERS {
        let message = format!(
            "Field `compatibility` is {length} characters long; 1 to {COMPATIBILITY_CHARACTERS} are allowed"
        );
        findings.push(profile.finding(Code::CompatibilityLength, span, message));
    }
}

/// Judges the values under `metadata`: a list or mapping breaks the rule; an unquoted number or boolean only reads
/// differently in other clients.
fn metadata(entries: &[MappingEntry<'_>], profile: Profile, findings: &mut Vec<Diagnostic>) {
    for entry in entries {
        let key = quoted(&entry.key);
        match Value::from(&entry.value) {
            Value::Scalar(scalar) => {
                if let Some(kind) = other_meaning(&scalar) {
                    let message = format!(
                        "Value of {key} under `metadata` is {kind}, not a string: {}",
                        quoted(scalar.as_str())
                    );
                    findings.push(Profile::Lenient.finding(
                        Code::MetadataForm,
                        entry.value.span,
                        message,
                    ));
                }
            }
            Value::Map(_) if ClientField::in_metadata(&entry.key).is_some_and(is_mapping) => {
                if profile == Profile::Spec {
                    let message = format!("Value of {key} under `metadata` is not a string");
                    findings.push(profile.finding(Code::ClientField, entry.value.span, message));
                }
            }
            Value::List(_) | Value::Map(_) => {
                let message = format!("Value of {key} under `metadata` is not a string");
                findings.push(profile.finding(Code::MetadataForm, entry.value.span, message));
            }
        }
    }
}

fn is_mapping(field: &ClientField) -> bool {
    field.form == FieldForm::Mapping
}

fn other_meaning(scalar: &Scalar) -> Option<&'static str> {
    match scalar.value() {
        ScalarValue::Text(_) => None,
        ScalarValue::Null => Some("nothing"),
        ScalarValue::Bool(_) => Some("true or false"),
        ScalarValue::Integer(_) | ScalarValue::Float(_) => Some("a number"),
    }
}

/// Returns the text and place of a field, if it is a scalar.
pub(crate) fn scalar<'a>(entries: &'a [MappingEntry<'_>], field: Field) -> Option<(&'a str, Span)> {
    let entry = field::find(entries, field)?;
    match &entry.value.kind {
        Kind::Scalar { text, .. } => Some((text, entry.value.span)),
        Kind::List(_) | Kind::Map(_) => None,
    }
}
