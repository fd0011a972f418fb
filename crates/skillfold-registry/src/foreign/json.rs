//! JSON that keeps the order of fields, formatted as JavaScript does.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    /// An integer that is larger than those of [`Json::Integer`].
    Large(u64),
    Float(f64),
    Text(String),
    List(Vec<Self>),
    Object(Object),
}

/// Fields in file order. No name occurs twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Object(Vec<(String, Json)>);

impl Json {
    pub(super) fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Formats the value as `JSON.stringify(value, null, 2)`.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0);
        text
    }

    fn write(&self, text: &mut String, depth: usize) {
        match self {
            Self::Null => text.push_str("null"),
            Self::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Integer(value) => text.push_str(&value.to_string()),
            Self::Large(value) => text.push_str(&value.to_string()),
            Self::Float(value) => text.push_str(&float_text(*value)),
            Self::Text(value) => text.push_str(&quote(value)),
            Self::List(items) => {
                let items = items.iter().map(|item| (None, item)).collect();
                write_items(text, depth, ['[', ']'], items);
            }
            Self::Object(object) => {
                let mut fields: Vec<_> = object.iter().collect();
                // JavaScript lists names that are array indexes first.
                fields.sort_by_key(|(name, _)| array_index(name).map_or((1, 0), |at| (0, at)));
                let fields = fields.into_iter();
                let fields = fields.map(|(name, value)| (Some(name), value)).collect();
                write_items(text, depth, ['{', '}'], fields);
            }
        }
    }
}

fn write_items(
    text: &mut String,
    depth: usize,
    [open, close]: [char; 2],
    items: Vec<(Option<&str>, &Json)>,
) {
    let indent = |text: &mut String, depth| {
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
    };
    text.push(open);
    let is_empty = items.is_empty();
    for (index, (name, value)) in items.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        indent(text, depth + 1);
        if let Some(name) = name {
            text.push_str(&quote(name));
            text.push_str(": ");
        }
        value.write(text, depth + 1);
    }
    if !is_empty {
        indent(text, depth);
    }
    text.push(close);
}

impl Object {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        let mut fields = self.0.iter();
        fields
            .find(|(field, _)| field == name)
            .map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        let mut fields = self.0.iter_mut();
        fields
            .find(|(field, _)| field == name)
            .map(|(_, value)| value)
    }

    /// Sets a field where it is, or adds it at the end.
    pub(super) fn set(&mut self, name: &str, value: Json) {
        match self.get_mut(name) {
            Some(field) => *field = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Sets a field where it is, or adds it after the last one that comes before it in `order`.
    pub(super) fn set_in_order(&mut self, name: &str, value: Json, order: &[&str]) {
        if let Some(field) = self.get_mut(name) {
            *field = value;
            return;
        }
        let before = order.iter().take_while(|field| **field != name);
        let before: Vec<&&str> = before.collect();
        let last = self
            .0
            .iter()
            .rposition(|(field, _)| before.iter().any(|it| **it == field));
        let at = last.map_or(0, |at| at + 1);
        self.0.insert(at, (name.to_owned(), value));
    }

    /// Removes a field, and returns whether there was one.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        let count = self.0.len();
        self.0.retain(|(field, _)| field != name);
        self.0.len() < count
    }

    /// Sorts the fields as JavaScript's `sort` does: by UTF-16 code units.
    pub(super) fn sort(&mut self) {
        self.0
            .sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    }
}

/// Returns the number that a name is if JavaScript takes it for an array index.
fn array_index(name: &str) -> Option<u32> {
    let index: u32 = name.parse().ok().filter(|index| *index < u32::MAX)?;
    (index.to_string() == name).then_some(index)
}

fn quote(text: &str) -> String {
    serde_json::to_string(text).expect("a string is always valid JSON")
}

/// Formats a number as JavaScript does.
fn float_text(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // Both have the shortest digits that are read back as the same number.
    let scientific = format!("{:e}", value.abs());
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = digits.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let text = match exponent {
        0..=20 if count <= exponent + 1 => format!("{digits}{}", zeros(exponent + 1 - count)),
        0..=20 => {
            let (whole, rest) = digits.split_at(usize::try_from(exponent + 1).unwrap_or(0));
            format!("{whole}.{rest}")
        }
        -6..=-1 => format!("0.{}{digits}", zeros(-exponent - 1)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            format!("{first}{point}{rest}e{exponent:+}")
        }
    };
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{text}")
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::Large(value), Json::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut fields: Vec<(String, Json)> = Vec::new();
        let mut names = std::collections::BTreeSet::new();
        while let Some((name, value)) = from.next_entry::<String, Json>()? {
            if !names.insert(name.clone()) {
                let name = serde_json::Value::from(name);
                return Err(de::Error::custom(format_args!(
                    "field {name} is given twice"
                )));
            }
            fields.push((name, value));
        }
        Ok(Json::Object(Object(fields)))
    }
}
