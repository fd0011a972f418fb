//! Frontmatter values as JSON.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::read::value::{Fields, Scalar, ScalarValue, Value};

/// A frontmatter value as JSON, by the core schema of YAML 1.2: an unquoted scalar may be a number, a boolean or null,
/// everything else is a string. Infinities and NaN are strings too, because JSON has no such numbers.
#[derive(Clone, Debug)]
pub struct Any(pub(super) Value);

impl Any {
    /// Creates the view of all fields of a frontmatter.
    pub fn from_fields(fields: &Fields) -> Self {
        Self(Value::Map(fields.clone()))
    }
}

impl Serialize for Any {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Any {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Any".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!(true)
    }
}

fn serialize<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Value::Scalar(scalar) => serialize_scalar(scalar, serializer),
        Value::List(values) => {
            let mut list = serializer.serialize_seq(Some(values.len()))?;
            for value in values {
                list.serialize_element(&Borrowed(value))?;
            }
            list.end()
        }
        Value::Map(fields) => {
            let mut map = serializer.serialize_map(Some(fields.len()))?;
            for (name, value) in fields.iter() {
                map.serialize_entry(name, &Borrowed(value))?;
            }
            map.end()
        }
    }
}

fn serialize_scalar<S: Serializer>(scalar: &Scalar, serializer: S) -> Result<S::Ok, S::Error> {
    match scalar.value() {
        ScalarValue::Null => serializer.serialize_unit(),
        ScalarValue::Bool(value) => serializer.serialize_bool(value),
        ScalarValue::Integer(value) => serializer.serialize_i64(value),
        ScalarValue::Float(value) if value.is_finite() => serializer.serialize_f64(value),
        // JSON has no infinity and no NaN.
        ScalarValue::Float(_) => serializer.serialize_str(scalar.as_str()),
        ScalarValue::Text(text) => serializer.serialize_str(text),
    }
}

struct Borrowed<'a>(&'a Value);

impl Serialize for Borrowed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.0, serializer)
    }
}
