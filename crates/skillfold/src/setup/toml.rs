//! Puts an entry into TOML and takes it out.

use serde_json::Value;
use toml_edit::{DocumentMut, InlineTable, Item, Table};

use crate::setup::entry::{Entry, Field, SyntaxFault};

/// Returns what a text holds.
pub(super) fn value(text: &str) -> Result<Value, SyntaxFault> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        SyntaxFault::new(at, error.message().trim())
    })?;
    serde_json::to_value(table).map_err(|error| SyntaxFault::new(0, error.to_string()))
}

/// Puts an entry into a table of tables. It is written to the end, where no byte before it changes, or, where the table is
/// written on one line, into that line.
pub(super) fn insert(
    text: &str,
    table: &str,
    name: &str,
    entry: &Entry,
) -> Result<String, SyntaxFault> {
    let break_ = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut added = String::new();
    if !text.is_empty() && !text.ends_with('\n') {
        added.push('\n');
    }
    if !text.trim().is_empty() {
        added.push('\n');
    }
    let fields = entry.0.iter();
    let fields = fields.map(|(key, field)| format!("{key} = {}\n", written(field)));
    let fields: Vec<String> = fields.collect();
    let added = format!("{added}[{table}.{name}]\n{}", fields.concat());
    let appended = format!("{text}{}", added.replace('\n', break_));
    if value(&appended).is_ok() {
        return Ok(appended);
    }
    let mut document = document(text)?;
    let Some(inline) = document.get_mut(table).and_then(Item::as_inline_table_mut) else {
        return Err(SyntaxFault::new(
            0,
            format!("Expected `{table}` to be a table"),
        ));
    };
    inline.insert(name, toml_edit::Value::InlineTable(inline_table(entry)));
    Ok(document.to_string())
}

/// Puts an entry in the place of another.
pub(super) fn replace(
    text: &str,
    table: &str,
    name: &str,
    entry: &Entry,
) -> Result<String, SyntaxFault> {
    let mut document = document(text)?;
    match document.get_mut(table).and_then(|item| item.get_mut(name)) {
        Some(Item::Table(old)) => {
            old.clear();
            fill(old, entry);
        }
        Some(old) => *old = Item::Value(toml_edit::Value::InlineTable(inline_table(entry))),
        None => return insert(text, table, name, entry),
    }
    Ok(document.to_string())
}

/// Takes an entry out.
pub(super) fn remove(text: &str, table: &str, name: &str) -> Result<String, SyntaxFault> {
    let mut document = document(text)?;
    if let Some(tables) = document.get_mut(table).and_then(Item::as_table_like_mut) {
        tables.remove(name);
    }
    Ok(document.to_string())
}

fn document(text: &str) -> Result<DocumentMut, SyntaxFault> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |span| span.start);
        SyntaxFault::new(at, error.message().trim())
    })
}

fn written(field: &Field) -> toml_edit::Value {
    match field {
        Field::Text(text) => text.into(),
        Field::List(list) => toml_edit::Value::Array(list.iter().collect()),
        Field::Flag(flag) => (*flag).into(),
        Field::Number(number) => (*number).into(),
    }
}

fn fill(table: &mut Table, entry: &Entry) {
    for (key, field) in &entry.0 {
        table.insert(key, Item::Value(written(field)));
    }
}

fn inline_table(entry: &Entry) -> InlineTable {
    let fields = entry.0.iter();
    fields.map(|(key, field)| (*key, written(field))).collect()
}
