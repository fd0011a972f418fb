//! Owned frontmatter values: the text of each scalar and its type by YAML's core schema.

use std::cell::Cell;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::read::yaml::{Kind, Node, Quoting};

/// A frontmatter value, kept as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Value {
    /// A single value.
    Scalar(Scalar),
    /// A list.
    List(#[serde(deserialize_with = "deserialize_nested")] Box<[Self]>),
    /// A mapping.
    Map(#[serde(deserialize_with = "deserialize_nested")] Fields),
}

impl Value {
    /// Returns the text of a scalar as written.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Scalar(scalar) => Some(scalar.as_str()),
            Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Returns the text of a scalar, or of a field of a mapping.
    pub(crate) fn text_or_field(&self, name: &str) -> Option<&str> {
        match self {
            Self::Map(fields) => fields.get(name)?.text(),
            _ => self.text(),
        }
    }
}

/// Maximum nesting of deserialized values, so that bytes cannot overflow the stack.
const MAX_DEPTH: usize = 128;

fn deserialize_nested<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    thread_local!(static DEPTH: Cell<usize> = const { Cell::new(0) });
    let depth = DEPTH.get();
    if depth == MAX_DEPTH {
        return Err(D::Error::custom("values are nested too deep"));
    }
    DEPTH.set(depth + 1);
    let nested = T::deserialize(from);
    DEPTH.set(depth);
    nested
}

/// A single value: its text, and whether it was quoted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scalar {
    text: Box<str>,
    quoting: Quoting,
}

impl Scalar {
    /// Returns the text, verbatim: `1.10` stays `1.10`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the value of the text by the core schema of YAML 1.2.
    pub fn value(&self) -> ScalarValue<'_> {
        if self.quoting == Quoting::Quoted {
            return ScalarValue::Text(&self.text);
        }
        match &*self.text {
            "" | "~" | "null" | "Null" | "NULL" => ScalarValue::Null,
            "true" | "True" | "TRUE" => ScalarValue::Bool(true),
            "false" | "False" | "FALSE" => ScalarValue::Bool(false),
            text => parse_number(text).unwrap_or(ScalarValue::Text(text)),
        }
    }
}

/// The value of a scalar by the core schema of YAML 1.2.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScalarValue<'a> {
    /// Null.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number, including the infinities and NaN.
    Float(f64),
    /// Text.
    Text(&'a str),
}

/// Parses a number of the core schema: decimal, `0o` and `0x` integers, floats, `.inf` and `.nan`.
fn parse_number(text: &str) -> Option<ScalarValue<'static>> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let number = i64::from_str_radix(digits, radix).ok();
            let number = number.filter(|_| !digits.starts_with(['+', '-']));
            return number.map(ScalarValue::Integer);
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" if text.starts_with('-') => {
            return Some(ScalarValue::Float(f64::NEG_INFINITY));
        }
        ".inf" | ".Inf" | ".INF" => return Some(ScalarValue::Float(f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(ScalarValue::Float(f64::NAN)),
        _ => {}
    }
    // Rust also parses words such as `infinity` as numbers; YAML does not.
    let has_digit = unsigned.bytes().any(|byte| byte.is_ascii_digit());
    if !has_digit
        || !unsigned
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
    {
        return None;
    }
    match text.parse() {
        Ok(integer) => Some(ScalarValue::Integer(integer)),
        Err(_) => text.parse().ok().map(ScalarValue::Float),
    }
}

/// Fields in file order. A name may occur more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fields(Box<[(Box<str>, Value)]>);

impl Fields {
    /// Returns the first value with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter()
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value)
    }

    /// Returns names and values in file order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> FromIterator<(&'a str, Value)> for Fields {
    fn from_iter<T: IntoIterator<Item = (&'a str, Value)>>(fields: T) -> Self {
        Self(
            fields
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
        )
    }
}

impl From<&Node<'_>> for Value {
    fn from(node: &Node<'_>) -> Self {
        match &node.kind {
            Kind::Scalar { text, quoting } => Self::Scalar(Scalar {
                text: (&**text).into(),
                quoting: *quoting,
            }),
            Kind::List(items) => Self::List(items.iter().map(Self::from).collect()),
            Kind::Map(entries) => Self::Map(
                entries
                    .iter()
                    .map(|entry| (&*entry.key, Self::from(&entry.value)))
                    .collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, Scalar, ScalarValue, Value};
    use crate::read::yaml::Quoting;

    fn check(text: &str) -> String {
        format!(
            "{:?}",
            Scalar {
                text: text.into(),
                quoting: Quoting::Plain
            }
            .value()
        )
    }

    #[test]
    fn scalars_resolve_by_the_yaml_core_schema() {
        let values = [
            "",
            "~",
            "true",
            "no",
            "12",
            "-3",
            "1.10",
            "1e3",
            "0x1F",
            "0o17",
            ".inf",
            "-.inf",
            "inf",
            "1.0.0",
            "+",
            "e",
            "0x-1",
            "9223372036854775808",
        ]
        .map(check);
        insta::assert_snapshot!(values.join(" "), @r#"Null Null Bool(true) Text("no") Integer(12) Integer(-3) Float(1.1) Float(1000.0) Integer(31) Integer(15) Float(inf) Float(-inf) Text("inf") Text("1.0.0") Text("+") Text("e") Text("0x-1") Float(9.223372036854776e18)"#);
    }

    #[test]
    fn quoted_scalar_is_a_string() {
        assert_eq!(
            Scalar {
                text: "true".into(),
                quoting: Quoting::Quoted
            }
            .value(),
            ScalarValue::Text("true")
        );
    }

    #[test]
    fn forged_bytes_cannot_nest_values_without_limit() {
        let (list, one_entry, null) = (1, 1, [0, 0, 0]);
        let nested = |depth: usize| [[list, one_entry].repeat(depth), null.to_vec()].concat();
        let read = |bytes: Vec<u8>| postcard::from_bytes::<Value>(&bytes);
        assert!(read(nested(MAX_DEPTH)).is_ok());
        assert!(read(nested(MAX_DEPTH + 1)).is_err());
        assert!(read(nested(1_000_000)).is_err());
        assert!(read(nested(MAX_DEPTH)).is_ok(), "an error leaves no trace");
    }
}
