//! Rules of the specification for names and descriptions, and how strictly they are applied.

use crate::codes::{Code, Severity};
use crate::diagnostic::{Diagnostic, Report, Span, quoted};
use crate::name::{MAX_NAME_CHARS, SkillName, is_usable_name};
use crate::read::field::{self, Field};
use crate::read::yaml::MappingEntry;

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

const MAX_DESCRIPTION_CHARS: usize = 1024;

impl Profile {
    /// Creates a finding for a violated rule: with the code's severity in `Spec`, at most a warning in `Lenient`.
    pub(crate) fn finding(self, code: Code, span: Span, message: String) -> Diagnostic {
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
    let instead = if folder.is_empty() || folder == name {
        String::new()
    } else {
        format!("; the folder's name {} is used", quoted(folder))
    };
    if length > MAX_NAME_CHARS {
        // An error in every profile, because clients truncate or refuse longer names.
        let message = format!(
            "Name is {length} characters long, the limit is {MAX_NAME_CHARS}: {}{instead}",
            quoted(name)
        );
        findings.report(Code::NameLength, span, message);
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
        // Underscores are common and harmless; other characters are an error in every profile.
        let only_underscores = name.chars().filter(|c| is_invalid(*c)).all(|c| c == '_');
        let (profile, instead) = if only_underscores {
            (profile, "")
        } else {
            (Profile::Spec, &*instead)
        };
        let message = format!("Name has {what}: {}{instead}", quoted(name));
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
    if name != folder && !folder.is_empty() && is_usable_name(name) {
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

/// Returns the text and span of a field, if it is a scalar.
pub(crate) fn find_scalar<'a>(
    entries: &'a [MappingEntry<'_>],
    field: Field,
) -> Option<(&'a str, Span)> {
    let entry = field::find_entry(entries, field)?;
    Some((entry.value.text()?, entry.value.span))
}
