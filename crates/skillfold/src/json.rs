//! A JSON value, without the types of a library.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillfold_core::Error;

/// A JSON value: a schema, the arguments of a call, or an answer for a program. It is made from text or by serde, and read
/// the same way.
///
/// ```
/// use skillfold::Json;
///
/// let arguments: Json = r#"{ "skill_id": "pdf" }"#.parse()?;
/// assert_eq!(arguments.to_string(), r#"{"skill_id":"pdf"}"#);
/// # Ok::<(), skillfold::core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(pub(crate) Value);

impl Json {
    /// Returns whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Returns the texts in it, in the order they are written.
    #[cfg(feature = "run")]
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        let mut left = vec![&self.0];
        while let Some(value) = left.pop() {
            match value {
                Value::String(text) => texts.push(text.clone()),
                Value::Array(items) => left.extend(items.iter().rev()),
                Value::Object(fields) => left.extend(fields.values().rev()),
                _ => {}
            }
        }
        texts
    }

    /// Returns what a type serializes to.
    pub(crate) fn of(value: &impl Serialize) -> Self {
        // What is serialized here is text, numbers and lists of these, which can always be written.
        Self(serde_json::to_value(value).unwrap_or_default())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Json {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let value = serde_json::from_str(text);
        value.map_err(|error| Error::invalid("JSON", error.to_string()))
    }
}

#[cfg(any(test, feature = "schema"))]
impl schemars::JsonSchema for Json {
    fn inline_schema() -> bool {
        Value::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Value::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Value::json_schema(generator)
    }
}
