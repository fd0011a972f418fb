//! Adds an entry to TOML or removes it.

use serde_json::Value;
use toml_edit::{DocumentMut, InlineTable, Item, Table};

use crate::entry::{Entry, SyntaxFault, newline};

/// Parses TOML text.
pub(crate) fn value(text: &str) -> Result<Value, SyntaxFault> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        SyntaxFault::new(at, error.message().trim())
    })?;
    serde_json::to_value(table).map_err(|error| SyntaxFault::new(0, error.to_string()))
}

/// Adds an entry to a table of tables. Appends it, so that no byte before it changes, unless the table is inline: then
/// it goes in there.
pub(crate) fn insert(
    text: &str,
    table: &str,
    name: &str,
    entry: &Entry,
) -> Result<String, SyntaxFault> {
    let fields = entry.0.iter();
    let fields = fields.map(|(key, field)| format!("{key} = {}\n", to_value(field)));
    let fields: Vec<String> = fields.collect();
    let appended = appended(text, &format!("[{table}.{name}]\n{}", fields.concat()));
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
    Ok(with_line_endings_of(text, &document.to_string()))
}

/// Sets a value in a table. Appends a table that is missing, so that no byte before it changes.
pub(crate) fn set(text: &str, table: &str, name: &str, new: &Value) -> Result<String, SyntaxFault> {
    let appended = appended(text, &format!("[{table}]\n{name} = {}\n", to_value(new)));
    if value(&appended).is_ok() {
        return Ok(appended);
    }
    let mut document = document(text)?;
    let Some(fields) = document.get_mut(table).and_then(Item::as_table_like_mut) else {
        return Err(SyntaxFault::new(
            0,
            format!("Expected `{table}` to be a table"),
        ));
    };
    let mut new = to_value(new);
    // A comment on the line stays.
    if let Some(old) = fields.get(name).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    fields.insert(name, Item::Value(new));
    Ok(with_line_endings_of(text, &document.to_string()))
}

/// Returns a text with lines after it, separated by a blank line.
fn appended(text: &str, lines: &str) -> String {
    let mut added = String::new();
    if !text.is_empty() && !text.ends_with('\n') {
        added.push('\n');
    }
    if !text.trim().is_empty() {
        added.push('\n');
    }
    added.push_str(lines);
    format!("{text}{}", added.replace('\n', newline(text)))
}

/// Replaces an entry.
pub(crate) fn replace(
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
    Ok(with_line_endings_of(text, &document.to_string()))
}

/// Removes an entry.
pub(crate) fn remove(text: &str, table: &str, name: &str) -> Result<String, SyntaxFault> {
    let mut document = document(text)?;
    if let Some(tables) = document.get_mut(table).and_then(Item::as_table_like_mut) {
        tables.remove(name);
    }
    Ok(with_line_endings_of(text, &document.to_string()))
}

/// Returns `edited`, which differs from `text` in one place and lost its carriage returns, with the line endings of
/// `text`.
fn with_line_endings_of(text: &str, edited: &str) -> String {
    // Those in multi-line strings stayed, and the last line got a line ending.
    let edited = edited.replace("\r\n", "\n");
    let edited = match edited.strip_suffix('\n') {
        Some(edited) if !text.ends_with('\n') => edited,
        _ => &edited,
    };
    let (old, new): (Vec<_>, Vec<_>) = (
        text.split_inclusive('\n').collect(),
        edited.split_inclusive('\n').collect(),
    );
    let is_same = |(old, new): &(&&str, &&str)| old.replace("\r\n", "\n") == **new;
    let first = old.iter().zip(&new).take_while(is_same).count();
    let (old_rest, new_rest) = (&old[first..], &new[first..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let last = pairs.take_while(is_same).count();
    let changed = new_rest[..new_rest.len() - last].iter().enumerate();
    let changed = changed.map(|(number, line)| {
        // An edited line keeps its own.
        let end = old_rest
            .get(number)
            .map_or(newline(text), |old| newline(old));
        line.replace('\n', end)
    });
    let changed: String = changed.collect();
    old[..first].concat() + &changed + &old[old.len() - last..].concat()
}

fn document(text: &str) -> Result<DocumentMut, SyntaxFault> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |span| span.start);
        SyntaxFault::new(at, error.message().trim())
    })
}

fn to_value(field: &Value) -> toml_edit::Value {
    match field {
        Value::Array(list) => toml_edit::Value::Array(list.iter().map(to_value).collect()),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        other => other.as_str().unwrap_or_default().into(),
    }
}

fn fill(table: &mut Table, entry: &Entry) {
    for (key, field) in &entry.0 {
        table.insert(key, Item::Value(to_value(field)));
    }
}

fn inline_table(entry: &Entry) -> InlineTable {
    let fields = entry.0.iter();
    fields.map(|(key, field)| (*key, to_value(field))).collect()
}
