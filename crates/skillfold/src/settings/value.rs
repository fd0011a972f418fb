//! Raw setting values and where they were written.

use std::ops::Range;
use std::path::Path;

use skillfold_core::Code;
use skillfold_core::diagnostic::Span;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::environment::Environment;
use crate::settings::line_starts::LineStarts;
use crate::settings::setting::{Origin, Setting, SettingFinding, finding};

/// A value as it was written.
#[derive(Clone, Copy)]
pub(super) enum RawValue<'a> {
    /// A value in a TOML file.
    Toml(&'a DeValue<'a>),
    /// The text of a variable or argument.
    Text(&'a str),
    /// One list entry, which is not split or trimmed.
    Entry(&'a str),
}

impl<'a> RawValue<'a> {
    pub(super) fn text(self) -> Result<&'a str, String> {
        match self {
            Self::Text(text) => Ok(text.trim()),
            Self::Entry(text) => Ok(text),
            Self::Toml(value) => value.as_str().ok_or_else(|| expected("a string", value)),
        }
    }

    pub(super) fn boolean(self) -> Result<bool, String> {
        match self {
            Self::Text(text) | Self::Entry(text) => match text.trim().to_ascii_lowercase().as_str()
            {
                "true" | "yes" | "on" | "1" => Ok(true),
                "false" | "no" | "off" | "0" | "" => Ok(false),
                _ => Err("expected `true` or `false`".to_owned()),
            },
            Self::Toml(value) => value
                .as_bool()
                .ok_or_else(|| expected("`true` or `false`", value)),
        }
    }

    pub(super) fn number(self) -> Result<usize, String> {
        let text = match self {
            Self::Text(text) | Self::Entry(text) => text.trim(),
            Self::Toml(value) => match value.as_integer() {
                Some(integer) if integer.radix() == 10 => integer.as_str(),
                _ => return Err(expected("a whole number", value)),
            },
        };
        text.parse()
            .map_err(|_| "expected a whole number".to_owned())
    }

    /// Returns a list of words.
    pub(super) fn words(self) -> Result<Vec<String>, String> {
        let words = self.list(',')?.into_iter();
        words
            .map(|word| Ok(word.text()?.trim().to_owned()))
            .collect()
    }

    /// Returns the entries of a list; a text is split at `separator`.
    pub(super) fn list(self, separator: char) -> Result<Vec<Self>, String> {
        match self {
            Self::Text(text) => {
                let entries = text.split(separator).map(str::trim);
                let entries = entries.filter(|entry| !entry.is_empty());
                Ok(entries.map(RawValue::Text).collect())
            }
            Self::Entry(_) => Ok(vec![self]),
            Self::Toml(value) => {
                let entries = value.as_array().ok_or_else(|| expected("a list", value))?;
                Ok(entries
                    .iter()
                    .map(|entry| RawValue::Toml(entry.get_ref()))
                    .collect())
            }
        }
    }
}

/// The form of a value in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueForm {
    Boolean,
    Number,
    Word,
    Words,
    Paths,
    Roots,
    Tables,
}

/// Returns the entries of a table in file order.
pub(super) fn ordered_entries<'a, 'b>(
    table: &'a DeTable<'b>,
) -> Vec<(&'a Spanned<DeString<'b>>, &'a Spanned<DeValue<'b>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Returns the choice that a value names.
pub(super) fn one_of<T: Copy>(value: RawValue<'_>, choices: &[(&str, T)]) -> Result<T, String> {
    let text = value.text()?;
    let choice = choices.iter().find(|(word, _)| *word == text);
    choice.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = choices
            .iter()
            .map(|(word, _)| format!("`{word}`"))
            .collect();
        format!("`{text}` is not one of {}", words.join(", "))
    })
}

pub(super) fn expected(what: &str, value: &DeValue<'_>) -> String {
    format!("expected {what}, found {}", kind_name(value))
}

fn kind_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Where a setting is written, and what is needed to read it.
pub(super) struct ValueContext<'a> {
    pub(super) environment: &'a Environment,
    /// The folder that relative paths start at.
    pub(super) base: &'a Path,
    pub(super) origin: Origin,
    pub(super) span: Option<Span>,
    /// The lines of the file, if it is in a file.
    pub(super) lines: Option<&'a LineStarts<'a>>,
}

impl<'a> ValueContext<'a> {
    /// Creates the context of a value that has no place in a file.
    pub(super) fn new(environment: &'a Environment, base: &'a Path, origin: Origin) -> Self {
        Self {
            environment,
            base,
            origin,
            span: None,
            lines: None,
        }
    }

    /// Returns the settings that the entries of a list make.
    pub(super) fn list<T>(
        &self,
        value: RawValue<'_>,
        separator: char,
        read: impl Fn(RawValue<'_>) -> Result<T, String>,
    ) -> Result<Vec<Setting<T>>, String> {
        let entries = value.list(separator)?.into_iter();
        entries
            .map(|entry| Ok(self.setting(read(entry)?)))
            .collect()
    }

    /// Returns a problem with the value.
    pub(super) fn finding(&self, code: Code, message: String) -> SettingFinding {
        finding(code, &self.origin, self.span, message)
    }

    /// Returns the context of another byte range in the same file.
    pub(super) fn at_span(&self, bytes: Range<usize>) -> Self {
        let span = self.lines.map(|lines| lines.span(bytes)).or(self.span);
        let line = span.map_or(1, |span| span.start.line);
        let origin = match &self.origin {
            Origin::User(path, _) => Origin::User(path.clone(), line),
            Origin::Project(path, _) => Origin::Project(path.clone(), line),
            Origin::Default | Origin::Variable(_) | Origin::Argument | Origin::List(..) => {
                self.origin.clone()
            }
        };
        Self {
            origin,
            span,
            ..*self
        }
    }

    pub(super) fn setting<T>(&self, value: T) -> Setting<T> {
        Setting {
            value,
            origin: self.origin.clone(),
        }
    }
}
