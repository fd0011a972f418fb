//! Adds an entry to JSON with comments or removes it, leaving every other byte unchanged.
//!
//! The parser only finds the offsets. Its own edits break single-line objects into several lines, drop blank lines and
//! remove the comments beside an entry.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, ParseOptions, Scanner, ScannerOptions, parse_to_ast};
use serde_json::{Map, Value};

use crate::entry::{Entry, SyntaxFault, inline, newline, quoted};

/// The indentation per level, if the file does not show its own.
const UNIT: &str = "  ";

/// JSON whitespace.
const WHITESPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// Parses JSON text.
pub(crate) fn value(text: &str) -> Result<Value, SyntaxFault> {
    Ok(parse(&without_mark(text))?.map_or(Value::Null, Value::from))
}

/// Adds an entry to the object at a key path, before the others. Adds missing keys.
pub(crate) fn insert(
    text: &str,
    path: &[&str],
    name: &str,
    entry: &Entry,
) -> Result<String, SyntaxFault> {
    add(text, &[path, &[name]].concat(), &Addition::Entry(entry))
}

/// Adds fields to the object at a key path, before the others. Adds missing keys.
pub(crate) fn insert_fields(
    text: &str,
    path: &[&str],
    fields: &Map<String, Value>,
) -> Result<String, SyntaxFault> {
    add(text, path, &Addition::Fields(fields))
}

/// What is added under a path of keys.
enum Addition<'a> {
    /// An object with these fields.
    Entry(&'a Entry),
    /// These fields, in the object under the last key.
    Fields(&'a Map<String, Value>),
    /// A list with this item.
    Item(&'a Value),
    /// A value.
    Value(&'a Value),
}

/// Adds something before the other keys of an object. Missing keys are added.
fn add(text: &str, keys: &[&str], added: &Addition<'_>) -> Result<String, SyntaxFault> {
    let plain = without_mark(text);
    let root = parse(&plain)?;
    let unit = unit(text, root.as_ref());
    let Some(root) = &root else {
        let (mark, blank) = text.split_at(if text.starts_with('\u{feff}') { 3 } else { 0 });
        if !blank.trim_matches(WHITESPACE).is_empty() {
            return Err(SyntaxFault::new(0, "The file has only comments"));
        }
        let end = if blank.contains('\n') { "" } else { "\n" };
        let object = value_text(keys, added, "\n", unit);
        return Ok(format!("{mark}{object}{end}{blank}"));
    };
    let parents = match added {
        Addition::Fields(_) => keys,
        _ => &keys[..keys.len() - 1],
    };
    let (level, found) = descend(root, parents)?;
    let missing = &keys[found..];
    let open = level.start() + 1;
    let first = level.properties.first().map(Ranged::start);
    let has_lines = level.text(text).contains('\n');
    let (line, end) = match first {
        Some(first) if text[open..first].contains('\n') => {
            (line_start(text, first), ",".to_owned())
        }
        Some(first) if !matches!(added, Addition::Item(_)) => {
            let added = members_text(missing, added, "", "") + ", ";
            return Ok(splice(text, first..first, &added));
        }
        _ => {
            let outer = line_start(text, level.start());
            let end = match first {
                Some(_) => ",",
                None if has_lines => "",
                None => &outer,
            };
            (format!("{outer}{unit}"), end.to_owned())
        }
    };
    let added = members_text(missing, added, &line, unit) + &end;
    let offset = after_comment(text, open);
    Ok(splice(text, offset..offset, &added))
}

/// Replaces an entry.
pub(crate) fn replace(
    text: &str,
    path: &[&str],
    name: &str,
    entry: &Entry,
) -> Result<String, SyntaxFault> {
    let plain = without_mark(text);
    let root = parse(&plain)?;
    let Some((_, member)) = find(root.as_ref(), path, name)? else {
        return insert(text, path, name, entry);
    };
    let line = line_start(text, member.start());
    let unit = unit(text, root.as_ref());
    let object = value_text(&[], &Addition::Entry(entry), &line, unit);
    Ok(splice(text, member.value.start()..member.end(), &object))
}

/// Sets the value at a path of keys. Adds missing keys.
pub(crate) fn set(text: &str, keys: &[&str], value: &Value) -> Result<String, SyntaxFault> {
    let plain = without_mark(text);
    let root = parse(&plain)?;
    let Some((name, path)) = keys.split_last() else {
        return Ok(text.to_owned());
    };
    match find(root.as_ref(), path, name)? {
        Some((_, member)) => {
            let range = member.value.start()..member.end();
            Ok(splice(text, range, &value.to_string()))
        }
        None => add(text, keys, &Addition::Value(value)),
    }
}

/// Removes entries of an object, each with the comma it needed.
pub(crate) fn remove(text: &str, path: &[&str], names: &[&str]) -> Result<String, SyntaxFault> {
    let plain = without_mark(text);
    let root = parse(&plain)?;
    let Some(root) = &root else {
        return Ok(text.to_owned());
    };
    let (level, found) = descend(root, path)?;
    if found < path.len() {
        return Ok(text.to_owned());
    }
    let names: BTreeSet<&str> = names.iter().copied().collect();
    let (mut seen, mut cuts, mut kept) = (BTreeSet::new(), Vec::new(), None);
    let mut is_comma_left = false;
    for member in &level.properties {
        let name = member.name.as_str();
        if !names.contains(name) {
            kept = Some(member);
            continue;
        }
        if !seen.insert(name) {
            return Err(twice(name, member));
        }
        let comma = comma_after(text, member.end());
        is_comma_left = comma.is_none();
        let end = comma.map_or(member.end(), |comma| comma + 1);
        let rest = text[end..].trim_start_matches([' ', '\t']);
        let blank_before = |offset: usize| text[..offset].trim_end().len();
        let mut own = if comma.is_some() && is_added_item(text, level, member, end) {
            level.start() + 1..end
        } else if comma.is_some() && !rest.starts_with(['\r', '\n']) {
            // Something follows on the line, and must not move up behind a comment.
            member.start()..text.len() - rest.len()
        } else {
            blank_before(member.start())..end
        };
        // Others on the same line before it: the white space before them goes too.
        while let Some(before) = cuts.pop_if(|before: &mut Range<usize>| before.end > own.start) {
            own.start = blank_before(before.start);
        }
        cuts.push(own);
    }
    let cut: usize = cuts.iter().map(Range::len).sum();
    if kept.is_none() && cut > 0 {
        let left = cut_out(text, cuts);
        let inner = level.start() + 1..level.end() - 1 - cut;
        return Ok(match left[inner.clone()].trim() {
            "" => splice(&left, inner, ""),
            _ => left,
        });
    }
    // The last entry may have no comma; then that of the last one that stays is removed.
    let comma = kept.filter(|_| is_comma_left);
    if let Some(comma) = comma.and_then(|kept| comma_after(text, kept.end())) {
        cuts.push(comma..comma + 1);
        cuts.sort_by_key(|cut| cut.start);
    }
    Ok(cut_out(text, cuts))
}

/// Returns whether a member was added to an object of one line as an item is: on a line of its own, before the others. The line
/// break came with it.
fn is_added_item(text: &str, level: &Object<'_>, member: &ObjectProp<'_>, end: usize) -> bool {
    let before = &text[level.start() + 1..member.start()];
    let after = &text[end..level.end()];
    let has_line = before.trim().is_empty() && before.contains('\n');
    has_line && (!after.starts_with(WHITESPACE) || !after.contains('\n'))
}

/// Returns a text without some ranges, which are in order and do not overlap.
fn cut_out(text: &str, cuts: Vec<Range<usize>>) -> String {
    let (mut left, mut end) = (String::with_capacity(text.len()), 0);
    for cut in cuts {
        left.push_str(&text[end..cut.start]);
        end = cut.end;
    }
    left + &text[end..]
}

/// Parses text with at most one value.
fn parse(text: &str) -> Result<Option<Node<'_>>, SyntaxFault> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| SyntaxFault::new(error.range().start, error.kind().to_string()))?;
    check_characters(text)?;
    Ok(parsed.value)
}

/// Refuses characters that the parser accepts but JSON does not.
fn check_characters(text: &str) -> Result<(), SyntaxFault> {
    let mut scanner = Scanner::new(text, &ScannerOptions::default());
    let mut end = 0;
    while let Ok(token) = scanner.scan() {
        let start = scanner.token_start();
        if let Some(other) = text[end..start].find(|c| !WHITESPACE.contains(&c)) {
            return Err(SyntaxFault::new(end + other, "Unexpected whitespace"));
        }
        end = scanner.token_end();
        match token {
            Some(Token::String(_)) if text[start..end].contains(|c: char| c < ' ') => {
                return Err(SyntaxFault::new(start, "Control character in a string"));
            }
            Some(_) => {}
            None => break,
        }
    }
    Ok(())
}

/// Returns text of the same length without the byte-order mark, which the parser refuses.
fn without_mark(text: &str) -> Cow<'_, str> {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Cow::Owned(format!("   {rest}")),
        None => Cow::Borrowed(text),
    }
}

fn find<'a, 't>(
    root: Option<&'a Node<'t>>,
    path: &[&str],
    name: &str,
) -> Result<Option<(&'a Object<'t>, &'a ObjectProp<'t>)>, SyntaxFault> {
    let Some(root) = root else {
        return Ok(None);
    };
    match descend(root, path)? {
        (level, found) if found == path.len() => {
            Ok(only(level, name)?.map(|member| (level, member)))
        }
        _ => Ok(None),
    }
}

/// Follows a key path. Returns the last object that exists, and how many keys lead to it.
fn descend<'a, 't>(
    root: &'a Node<'t>,
    path: &[&str],
) -> Result<(&'a Object<'t>, usize), SyntaxFault> {
    let object = |node: &'a Node<'t>| {
        let fault = || SyntaxFault::new(node.start(), "Expected an object");
        node.as_object().ok_or_else(fault)
    };
    let mut level = object(root)?;
    for (found, key) in path.iter().enumerate() {
        match only(level, key)? {
            Some(member) => level = object(&member.value)?,
            None => return Ok((level, found)),
        }
    }
    Ok((level, path.len()))
}

/// Returns the member with a key. A duplicate key is an error: clients differ in which one they use.
fn only<'a, 't>(
    object: &'a Object<'t>,
    key: &str,
) -> Result<Option<&'a ObjectProp<'t>>, SyntaxFault> {
    let members = object.properties.iter();
    let mut found = members.filter(|member| member.name.as_str() == key);
    let first = found.next();
    match found.next() {
        Some(second) => Err(twice(key, second)),
        None => Ok(first),
    }
}

fn twice(key: &str, second: &ObjectProp<'_>) -> SyntaxFault {
    let why = format!("Key {} appears twice", quoted(key));
    SyntaxFault::new(second.start(), why)
}

/// Returns the offset of the comma after a value.
fn comma_after(text: &str, end: usize) -> Option<usize> {
    let mut scanner = Scanner::new(&text[end..], &ScannerOptions::default());
    loop {
        match scanner.scan().ok()?? {
            Token::CommentLine(_) | Token::CommentBlock(_) => {}
            Token::Comma => return Some(end + scanner.token_start()),
            _ => return None,
        }
    }
}

/// Returns the offset after an opening brace and any line comment beside it.
fn after_comment(text: &str, open: usize) -> usize {
    let line = text[open..].lines().next().unwrap_or_default();
    if line.trim_start().starts_with("//") {
        open + line.len()
    } else {
        open
    }
}

/// Returns the indentation of the line that contains an offset.
fn indent(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..offset];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the indentation per level.
fn unit<'a>(text: &'a str, root: Option<&Node<'_>>) -> &'a str {
    let first = root
        .and_then(Node::as_object)
        .and_then(|object| object.properties.first());
    let indent = first.map_or("", |first| indent(text, first.start()));
    if indent.is_empty() { UNIT } else { indent }
}

/// Returns a line break plus the indentation of the line that contains an offset.
fn line_start(text: &str, offset: usize) -> String {
    format!("{}{}", newline(text), indent(text, offset))
}

/// Returns an object with something under a path of keys; if the path is empty, the thing itself. `line` starts each
/// line, and `unit` indents it further; both are empty to put everything on one line.
fn value_text(path: &[&str], added: &Addition<'_>, line: &str, unit: &str) -> String {
    match (path, added) {
        ([], Addition::Item(item)) => return format!("[{line}{unit}{item}{line}]"),
        ([], Addition::Value(value)) => return lines(value, line, unit),
        _ => {}
    }
    let members = members_text(path, added, &format!("{line}{unit}"), unit);
    format!("{{{members}{line}}}")
}

/// Returns what is between the braces of such an object.
fn members_text(path: &[&str], added: &Addition<'_>, line: &str, unit: &str) -> String {
    let text = |key: &str, field: &Value| format!("{line}{}: {}", quoted(key), inline(field));
    let fields: Vec<String> = match (path, added) {
        ([key, below @ ..], _) => {
            let below = value_text(below, added, line, unit);
            return format!("{line}{}: {below}", quoted(key));
        }
        ([], Addition::Entry(entry)) => entry.0.iter().map(|(key, it)| text(key, it)).collect(),
        ([], Addition::Fields(fields)) => fields.iter().map(|(key, it)| text(key, it)).collect(),
        ([], Addition::Item(_) | Addition::Value(_)) => return String::new(),
    };
    fields.join(if line.is_empty() { ", " } else { "," })
}

/// Returns a value with one line per field or item. An empty `line` puts everything on one line.
fn lines(value: &Value, line: &str, unit: &str) -> String {
    let inner = format!("{line}{unit}");
    let separator = if line.is_empty() { ", " } else { "," };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let fields = fields.iter().map(|(key, field)| {
                let field = lines(field, &inner, unit);
                format!("{inner}{}: {field}", quoted(key))
            });
            let fields: Vec<String> = fields.collect();
            format!("{{{}{line}}}", fields.join(separator))
        }
        Value::Array(items) if !items.is_empty() => {
            let items = items
                .iter()
                .map(|item| format!("{inner}{}", lines(item, &inner, unit)));
            let items: Vec<String> = items.collect();
            format!("[{}{line}]", items.join(separator))
        }
        other => other.to_string(),
    }
}

fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

/// Appends items to the list at a key path. Adds missing keys.
pub(crate) fn append_items(
    text: &str,
    path: &[&str],
    items: &[Value],
) -> Result<String, SyntaxFault> {
    let plain = without_mark(text);
    let root = parse(&plain)?;
    let (Some((list, parents)), [first, rest @ ..]) = (path.split_last(), items) else {
        return Ok(text.to_owned());
    };
    let Some((_, member)) = find(root.as_ref(), parents, list)? else {
        let text = add(text, path, &Addition::Item(first))?;
        return append_items(&text, path, rest);
    };
    let fault = || SyntaxFault::new(member.value.start(), "Expected a list");
    let array = member.value.as_array().ok_or_else(fault)?;
    let joined = |separator: &str| {
        let items: Vec<String> = items.iter().map(Value::to_string).collect();
        items.join(separator)
    };
    let (offset, added) = match array.elements.last() {
        Some(final_item) => {
            let has_lines = text[array.start()..final_item.start()].contains('\n');
            let separator = if has_lines {
                format!(",{}", line_start(text, final_item.start()))
            } else {
                ", ".to_owned()
            };
            let added = format!("{separator}{}", joined(&separator));
            (final_item.end(), added)
        }
        None => (array.start() + 1, joined(", ")),
    };
    Ok(splice(text, offset..offset, &added))
}

/// Removes the items at some indices from the list at a key path; also removes a list that becomes empty.
pub(crate) fn remove_items(
    text: &str,
    path: &[&str],
    indices: &[usize],
) -> Result<String, SyntaxFault> {
    let plain = without_mark(text);
    let root = parse(&plain)?;
    let Some((list, parents)) = path.split_last() else {
        return Ok(text.to_owned());
    };
    let Some((_, member)) = find(root.as_ref(), parents, list)? else {
        return Ok(text.to_owned());
    };
    let array = member.value.as_array();
    let elements = array.map_or(&[][..], |array| &array.elements);
    let removed: BTreeSet<usize> = indices.iter().copied().collect();
    let mut kept = (0..elements.len()).filter(|index| !removed.contains(index));
    let Some(first) = kept.next() else {
        let emptied = if elements.is_empty() {
            &[][..]
        } else {
            &[*list]
        };
        return remove(text, parents, emptied);
    };
    // Each with the comma before it; those before the first that stays with the comma after them.
    let start = elements[0].start()..elements[first].start();
    let later = removed
        .into_iter()
        .filter(|index| (first..elements.len()).contains(index));
    let later = later.map(|index| elements[index - 1].end()..elements[index].end());
    Ok(cut_out(text, std::iter::once(start).chain(later).collect()))
}
