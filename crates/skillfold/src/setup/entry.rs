//! What is put into a client's configuration, in no format yet.

use serde_json::{Map, Value};

/// The name that the server has in every client.
pub(super) const NAME: &str = "skillfold";

/// The server as a client describes it: fields in the order in which they are written.
#[derive(Clone, Debug)]
pub(super) struct Entry(pub(super) Vec<(&'static str, Field)>);

/// The value of a field.
#[derive(Clone, Debug)]
pub(super) enum Field {
    Text(String),
    List(Vec<String>),
    Flag(bool),
    Number(i64),
}

impl Field {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn value(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::List(list) => Value::from(list.clone()),
            Self::Flag(flag) => Value::from(*flag),
            Self::Number(number) => Value::from(*number),
        }
    }

    /// Returns the value as JSON on one line, which is a value of YAML too.
    pub(super) fn inline(&self) -> String {
        match self {
            Self::List(list) => {
                let items: Vec<String> = list.iter().map(|item| quoted(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Text(text) => quoted(text),
            Self::Flag(_) | Self::Number(_) => self.value().to_string(),
        }
    }
}

impl Entry {
    pub(super) fn value(&self) -> Value {
        let fields = self.0.iter();
        Value::Object(
            fields
                .map(|(key, field)| ((*key).to_owned(), field.value()))
                .collect::<Map<_, _>>(),
        )
    }
}

/// Returns a text as JSON.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Why a text is not taken, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxFault {
    pub(super) at: usize,
    pub(super) why: String,
}

impl SyntaxFault {
    pub(super) fn new(at: usize, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { at, why }
    }

    /// Returns what is wrong with its place, as a person counts.
    pub(super) fn placed(&self, text: &str) -> String {
        let before = text.get(..self.at.min(text.len())).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before[start..].chars().count() + 1;
        format!("{} at {line}:{column}", self.why)
    }
}

/// Returns a value with another one in it, below a path of keys, which are made where they are missing.
pub(super) fn with(value: &Value, path: &[&str], name: &str, entry: &Value) -> Value {
    let mut whole = match value {
        Value::Object(_) => value.clone(),
        _ => Value::Object(Map::new()),
    };
    let mut level = &mut whole;
    for key in path {
        let Value::Object(fields) = level else {
            return whole;
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
    whole
}

/// Returns what is below a path of keys.
pub(super) fn at<'a>(value: &'a Value, path: &[&str], name: &str) -> Option<&'a Value> {
    let mut level = value;
    for key in path {
        level = level.get(*key)?;
    }
    level.get(name)
}
