//! Rules of the specification for fields: which are allowed, and their types.

use crate::author::clients::{ClientField, FieldForm, FieldLevel};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Span, quoted};
use crate::read::rules::Profile;
use crate::read::value::{Scalar, ScalarValue, Value};
use crate::read::yaml::{Kind, MappingEntry};

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

/// Checks which fields are allowed, and their types.
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
