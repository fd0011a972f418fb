//! Reads the fields of a lock file in YAML. Anchors, aliases, tags and deep nesting are refused.

use skillfold_core::read::{Fields, ScalarValue, Value, yaml_fields};
use skillfold_core::{Error, ErrorKind, Limits};

use crate::foreign::{broken, check_size};

/// Maximum keys of a file. A lock file has some for each installed file.
const MAX_KEYS: usize = 500_000;

/// A mapping of a lock file, and where it is.
#[derive(Clone)]
pub(super) struct Mapping<'f> {
    path: &'f str,
    /// The path of keys to the mapping, with a final period; empty for the top.
    at: String,
    fields: &'f Fields,
}

/// Parses a lock file.
pub(super) fn parse(text: &str, path: &str) -> Result<Fields, Error> {
    check_size(path, text)?;
    let limits = Limits::default().with_yaml_keys(MAX_KEYS);
    yaml_fields(text, &limits).map_err(|finding| {
        let line = finding
            .span
            .map(|span| format!(", line {}", span.start.line));
        broken(
            path,
            format!("{}{}", finding.message, line.unwrap_or_default()),
        )
    })
}

impl<'f> Mapping<'f> {
    /// Returns the mapping at the top of a file.
    pub(super) fn top(path: &'f str, fields: &'f Fields) -> Result<Self, Error> {
        Self::new(path, String::new(), fields)
    }

    fn new(path: &'f str, at: String, fields: &'f Fields) -> Result<Self, Error> {
        let mut names: Vec<&str> = fields.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        let mapping = Self { path, at, fields };
        match twice {
            Some(pair) => Err(mapping.broken(pair[0], "is given twice")),
            None => Ok(mapping),
        }
    }

    /// Creates the error for a field. `reason` continues a sentence that starts with it.
    pub(super) fn broken(&self, field: &str, reason: &str) -> Error {
        broken(self.path, format!("`{}{field}` {reason}", self.at))
    }

    /// Creates the error for a field that is correct but not supported.
    pub(super) fn unsupported(&self, field: &str) -> Error {
        let message = format!(
            "Lock file `{}` has a field that is not supported: `{}{field}`",
            self.path, self.at
        );
        let hint =
            "Remove it with the tool that wrote the file, or add these skills by their sources";
        Error::new(ErrorKind::Invalid, message, hint)
    }

    /// Refuses a mapping that has neither of two fields: it is something else.
    pub(super) fn check_any(&self, [one, other]: [&str; 2]) -> Result<(), Error> {
        if self.fields.get(one).is_none() && self.fields.get(other).is_none() {
            let reason = format!("it has neither `{one}` nor `{other}`");
            return Err(broken(self.path, reason));
        }
        Ok(())
    }

    /// Returns a field's value, unless it is null.
    fn get(&self, field: &str) -> Option<&'f Value> {
        self.fields.get(field).filter(
            |value| !matches!(value, Value::Scalar(scalar) if scalar.value() == ScalarValue::Null),
        )
    }

    /// Returns a field's text. Numbers are returned as written.
    pub(super) fn text(&self, field: &str) -> Result<Option<String>, Error> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Scalar(scalar)) => Ok(Some(scalar.as_str().to_owned())),
            Some(_) => Err(self.broken(field, "is not a string")),
        }
    }

    /// Returns the text of a field that every entry has.
    pub(super) fn required(&self, field: &str) -> Result<String, Error> {
        let text = self.text(field)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| self.broken(field, "is missing"))
    }

    /// Returns a list of strings.
    pub(super) fn texts(&self, field: &str) -> Result<Vec<String>, Error> {
        let not_strings = || self.broken(field, "is not a list of strings");
        let items = match self.get(field) {
            None => return Ok(Vec::new()),
            Some(Value::List(items)) => items,
            Some(_) => return Err(not_strings()),
        };
        let text = |item: &Value| match item {
            Value::Scalar(scalar) => Ok(scalar.as_str().to_owned()),
            _ => Err(not_strings()),
        };
        items.iter().map(text).collect()
    }

    /// Returns a mapping.
    pub(super) fn mapping(&self, field: &str) -> Result<Option<Self>, Error> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Map(fields)) => {
                Self::new(self.path, format!("{}{field}.", self.at), fields).map(Some)
            }
            Some(_) => Err(self.broken(field, "is not a mapping")),
        }
    }

    /// Returns a list of mappings.
    pub(super) fn mappings(&self, field: &str) -> Result<Vec<Self>, Error> {
        let items = match self.get(field) {
            None => return Ok(Vec::new()),
            Some(Value::List(items)) => items,
            Some(_) => return Err(self.broken(field, "is not a list")),
        };
        let mapping = |(index, item): (usize, &'f Value)| {
            let name = format!("{field}[{index}]");
            match item {
                Value::Map(fields) => Self::new(self.path, format!("{}{name}.", self.at), fields),
                _ => Err(self.broken(&name, "is not a mapping")),
            }
        };
        items.iter().enumerate().map(mapping).collect()
    }
}
