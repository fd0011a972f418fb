//! The server's configuration entry, independent of the file format.

use serde_json::{Map, Value};

/// The server's name in every client.
pub(crate) const NAME: &str = "skillfold";

/// A client's configuration entry for the server: its fields in file order.
#[derive(Clone, Debug)]
pub(crate) struct Entry(pub(crate) Vec<(&'static str, Value)>);

impl Entry {
    pub(crate) fn value(&self) -> Value {
        let fields = self.0.iter();
        Value::Object(
            fields
                .map(|(key, field)| ((*key).to_owned(), field.clone()))
                .collect::<Map<_, _>>(),
        )
    }
}

/// Returns a value as JSON on one line, which is valid YAML too.
pub(crate) fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns a text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Why text cannot be parsed, and at which byte offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxFault {
    pub(crate) at: usize,
    pub(crate) why: String,
}

impl SyntaxFault {
    pub(crate) fn new(at: usize, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { at, why }
    }

    /// Returns the message with its line and column in `text`, counted from 1.
    pub(crate) fn with_position(&self, text: &str) -> String {
        let before = text.get(..self.at.min(text.len())).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before[start..].chars().count() + 1;
        format!("{} at {line}:{column}", self.why)
    }
}

/// Returns a copy of `value` with an entry inserted at a key path. Creates missing keys.
pub(crate) fn with_entry(value: &Value, path: &[&str], name: &str, entry: &Value) -> Value {
    let mut copy = match value {
        Value::Object(_) => value.clone(),
        _ => Value::Object(Map::new()),
    };
    let mut level = &mut copy;
    for key in path {
        let Value::Object(fields) = level else {
            return copy;
        };
        let next = fields.entry(*key).or_insert(Value::Null);
        if next.is_null() {
            *next = Value::Object(Map::new());
        }
        level = next;
    }
    if let Value::Object(fields) = level {
        fields.insert(name.to_owned(), entry.clone());
    }
    copy
}

/// Returns the entry at a key path.
pub(crate) fn entry_at<'a>(value: &'a Value, path: &[&str], name: &str) -> Option<&'a Value> {
    let mut level = value;
    for key in path {
        level = level.get(*key)?;
    }
    level.get(name)
}

/// Returns the line ending to use for new lines.
pub(crate) fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
