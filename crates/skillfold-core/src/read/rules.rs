//! Checks fields against the rules of the specification.

use crate::codes::{Code, Severity};
use crate::diagnostic::{Diagnostic, Span, quoted};
use crate::name::SkillName;
use crate::read::clients::{ClientField, FieldForm, FieldLevel};
use crate::read::field::{self, Field};
use crate::read::value::{Scalar, ScalarValue, Value};
use crate::read::yaml::{Kind, MappingEntry};

/// How strictly a skill is linted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// What the specification tells clients to do: warn, and load anyway.
    #[default]
    Lenient,
    /// The letter of the specification: violations and repairs are errors.
    Spec,
}

const MAX_NAME_CHARS: usize = 64;
const MAX_DESCRIPTION_CHARS: usize = 1024;
const MAX_COMPATIBILITY_CHARS: usize = 500;

/// The fields of the specification.
const SPEC_FIELDS: [&str; 6] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

impl Profile {
    /// Creates a finding for a violated rule: with the code's severity in `Spec`, at most a warning in `Lenient`.
    fn finding(self, code: Code, span: Span, message: String) -> Diagnostic {
        let mut finding = Diagnostic::new(code, span, message);
        if self == Self::Lenient {
            finding.severity = finding.severity.min(Severity::Warning);
        }
        finding
    }
}

/// Checks the name and the length of the description, which decide how other clients treat the skill.
pub(crate) fn check_name_and_description(
    entries: &[MappingEntry<'_>],
    folder: &str,
    profile: Profile,
    findings: &mut Vec<Diagnostic>,
) {
    if let Some((text, span)) = find_scalar(entries, Field::Name) {
        check_name(text.trim(), span, folder, profile, findings);
    }
    if let Some((text, span)) = find_scalar(entries, Field::Description) {
        // Most descriptions are short enough in bytes, so their characters need not be counted.
        let length = if text.len() > MAX_DESCRIPTION_CHARS {
            text.chars().count()
        } else {
            0
        };
        if length > MAX_DESCRIPTION_CHARS {
            let message = format!(
                "Description is {length} characters long, the limit is {MAX_DESCRIPTION_CHARS}"
            );
            findings.push(profile.finding(Code::DescriptionLength, span, message));
        }
    }
}

fn check_name(
    name: &str,
    span: Span,
    folder: &str,
    profile: Profile,
    findings: &mut Vec<Diagnostic>,
) {
    if name == folder && is_spec_name(name) {
        return;
    }
    // An unsafe name is reported separately.
    if name.parse::<SkillName>().is_err() {
        return;
    }
    let length = name.chars().count();
    if length > MAX_NAME_CHARS {
        // An error in every profile, because clients truncate or refuse longer names.
        let message = format!(
            "Name is {length} characters long, the limit is {MAX_NAME_CHARS}: {}",
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
    let is_invalid = |c: char| !c.is_alphanumeric() && c != '-';
    if let Some(c) = name.chars().find(|c| is_invalid(*c)) {
        let what = if c.is_whitespace() {
            "a space".to_owned()
        } else {
            format!("the character `{c}`")
        };
        let message = format!("Name has {what}: {}", quoted(name));
        // Underscores are common and harmless; other characters are an error in every profile.
        let only_underscores = name.chars().filter(|c| is_invalid(*c)).all(|c| c == '_');
        let profile = if only_underscores {
            profile
        } else {
            Profile::Spec
        };
        findings.push(profile.finding(Code::NameCharacters, span, message));
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        let message = format!(
            "Name has a hyphen at an end or two in a row: {}",
            quoted(name)
        );
        findings.push(profile.finding(Code::NameHyphens, span, message));
    }
    // The folder of a root that is itself a skill may have no name, for example if the root is `..`.
    if name != folder && !folder.is_empty() {
        let message = format!(
            "Name {} differs from the folder's name {}",
            quoted(name),
            quoted(folder)
        );
        findings.push(profile.finding(Code::NameNotFolder, span, message));
    }
}

/// Returns whether a name meets the specification and is ASCII, so that every client accepts it.
pub(crate) fn is_spec_name(name: &str) -> bool {
    let well_formed = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= MAX_NAME_CHARS && name.split('-').all(well_formed)
}

/// Checks the other rules of the specification: which fields are allowed, and their types.
pub(crate) fn check_fields(
    entries: &[MappingEntry<'_>],
    profile: Profile,
    findings: &mut Vec<Diagnostic>,
) {
    for entry in entries {
        let (key, span) = (&*entry.key, entry.value.span);
        if !SPEC_FIELDS.contains(&key) {
            findings.extend(check_foreign_field(key, entry.key_span, profile));
            continue;
        }
        let is_scalar = matches!(entry.value.kind, Kind::Scalar { .. });
        match (key, &entry.value.kind) {
            ("metadata", Kind::Map(entries)) => check_metadata(entries, profile, findings),
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
                check_compatibility(text, span, profile, findings);
            }
            _ => {}
        }
    }
}

/// Checks a field that is not in the specification. One that clients read is only reported in [`Profile::Spec`], and
/// the finding does not advise to move it unless it is also read under `metadata`.
fn check_foreign_field(key: &str, span: Span, profile: Profile) -> Option<Diagnostic> {
    let message = format!("Field {} is not in the specification", quoted(key));
    let Some(field) = ClientField::find_top_level(key) else {
        let message = match ClientField::find_similar(key) {
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

fn check_compatibility(text: &str, span: Span, profile: Profile, findings: &mut Vec<Diagnostic>) {
    let length = text.chars().count();
    if length == 0 || length > MAX_COMPATIBILITY_CHARS {
        let message = format!(
            "Field `compatibility` is {length} characters long; 1 to {MAX_COMPATIBILITY_CHARS} are allowed"
        );
        findings.push(profile.finding(Code::CompatibilityLength, span, message));
    }
}

/// Checks the values under `metadata`. A list or mapping violates the specification; an unquoted number or boolean is
/// only a warning, because other clients may read it differently.
fn check_metadata(entries: &[MappingEntry<'_>], profile: Profile, findings: &mut Vec<Diagnostic>) {
    for entry in entries {
        let key = quoted(&entry.key);
        match Value::from(&entry.value) {
            Value::Scalar(scalar) => {
                if let Some(kind) = non_string_type(&scalar) {
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
            Value::Map(_)
                if ClientField::find_in_metadata(&entry.key).is_some_and(expects_mapping) =>
            {
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

fn expects_mapping(field: &ClientField) -> bool {
    field.form == FieldForm::Mapping
}

/// Describes the type of a scalar that is not a string.
fn non_string_type(scalar: &Scalar) -> Option<&'static str> {
    match scalar.value() {
        ScalarValue::Text(_) => None,
        ScalarValue::Null => Some("nothing"),
        ScalarValue::Bool(_) => Some("true or false"),
        ScalarValue::Integer(_) | ScalarValue::Float(_) => Some("a number"),
    }
}

/// Returns the text and span of a field, if it is a scalar.
pub(crate) fn find_scalar<'a>(
    entries: &'a [MappingEntry<'_>],
    field: Field,
) -> Option<(&'a str, Span)> {
    let entry = field::find_entry(entries, field)?;
    match &entry.value.kind {
        Kind::Scalar { text, .. } => Some((text, entry.value.span)),
        Kind::List(_) | Kind::Map(_) => None,
    }
}
