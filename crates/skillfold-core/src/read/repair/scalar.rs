//! Reads a value that is not valid YAML as the text its author intended.

use crate::codes::Code;

/// A repaired value.
pub(super) enum RepairedValue {
    Text(String),
    List(Vec<String>),
}

/// Reads the value of `key` from the text after the colon and the lines below it.
///
/// No text is lost: quotes are removed only if they enclose all of it or are never closed, and otherwise only the
/// header of a block scalar is left out.
pub(super) fn read<'a>(
    key: &str,
    rest: &'a str,
    below: impl Iterator<Item = &'a str>,
) -> (RepairedValue, Code) {
    let below: Vec<&str> = below.collect();
    if let Some((indicator, text)) = split_block_header(rest) {
        let code = if text.is_empty() {
            Code::ReadAsText
        } else {
            Code::RepairedBlockScalar
        };
        let text = if indicator == '|' {
            join_lines(text, &below)
        } else {
            fold_lines(text, &below)
        };
        return (RepairedValue::Text(text), code);
    }
    let text = fold_lines(rest, &below);
    let first = rest.chars().next().unwrap_or_default();
    match first {
        '"' | '\'' => (
            RepairedValue::Text(unquote(&text, first)),
            Code::RepairedQuotes,
        ),
        '[' => match read_flow_list(&text).filter(|_| !matches!(key, "name" | "description")) {
            Some(items) => (RepairedValue::List(items), Code::RepairedReserved),
            None => (RepairedValue::Text(text), Code::RepairedReserved),
        },
        '{' => (
            RepairedValue::Text(join_lines(rest, &below)),
            Code::RepairedReserved,
        ),
        ']' | '}' | '@' | '`' | '%' | '*' | '&' | '!' | ',' | '?' | '-' | ':' | '>' | '|' => {
            (RepairedValue::Text(text), Code::RepairedReserved)
        }
        _ if text.contains(": ") || text.ends_with(':') => {
            (RepairedValue::Text(text), Code::RepairedColon)
        }
        _ => (RepairedValue::Text(text), Code::ReadAsText),
    }
}

/// Returns whether YAML certainly refuses a value: text after a block scalar's header, or a colon in plain text.
pub(super) fn is_certainly_invalid(rest: &str) -> bool {
    let is_plain = rest.starts_with(|c: char| c.is_alphanumeric());
    let has_text_after_header = split_block_header(rest)
        .is_some_and(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    has_text_after_header || (is_plain && !rest.contains(" #") && rest.contains(": "))
}

/// Returns a value without the header of a block scalar.
pub(super) fn without_block_header(rest: &str) -> &str {
    split_block_header(rest).map_or(rest, |(_, text)| text)
}

/// Splits a value into the indicator of a block scalar, `>` or `|`, and the text after its header.
fn split_block_header(rest: &str) -> Option<(char, &str)> {
    let indicator = rest.chars().next().filter(|c| matches!(c, '>' | '|'))?;
    let after =
        rest[1..].trim_start_matches(['+', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    (after.is_empty() || after.starts_with(' ')).then(|| (indicator, after.trim_start()))
}

/// Joins lines as YAML folds them: a line break becomes a space, a blank line a line break.
fn fold_lines(first: &str, below: &[&str]) -> String {
    let mut text = first.to_owned();
    for line in below {
        match (line.is_empty(), text.ends_with('\n') || text.is_empty()) {
            (true, _) => text.push('\n'),
            (false, true) => text.push_str(line),
            (false, false) => {
                text.push(' ');
                text.push_str(line);
            }
        }
    }
    text.trim().to_owned()
}

/// Joins lines with line breaks.
fn join_lines(first: &str, below: &[&str]) -> String {
    let mut text = first.to_owned();
    for line in below {
        text.push('\n');
        text.push_str(line);
    }
    text.trim().to_owned()
}

/// Removes the quotes of a text that starts with one, if they enclose all of it or are never closed.
fn unquote(text: &str, quote: char) -> String {
    let inner = &text[quote.len_utf8()..];
    let closing = find_closing_quote(inner, quote);
    let enclosed = match (inner.strip_suffix(quote), closing) {
        // If a quote in the middle closes a word, the first and last quotes may not be a pair.
        (Some(enclosed), Some(closing))
            if closes_word(inner, closing) && closing + 1 < inner.len() =>
        {
            if has_even_quotes(enclosed, quote) {
                None
            } else {
                Some(enclosed)
            }
        }
        (Some(enclosed), _) => Some(enclosed),
        (None, None) => Some(inner),
        (None, Some(_)) => None,
    };
    match enclosed {
        None => text.to_owned(),
        Some(enclosed) if quote == '"' => unescape(enclosed),
        Some(enclosed) => enclosed.replace("''", "'"),
    }
}

/// Returns whether the number of inner quotes is even, so that the outer quotes belong to two different pairs.
fn has_even_quotes(enclosed: &str, quote: char) -> bool {
    enclosed.matches(quote).count().is_multiple_of(2)
}

/// Returns the offset of the first quote that is not escaped.
pub(crate) fn find_closing_quote(inner: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    inner.char_indices().find_map(|(offset, c)| {
        let closes = c == quote && !escaped;
        escaped = quote == '"' && c == '\\' && !escaped;
        closes.then_some(offset)
    })
}

/// Returns whether the quote at `offset` follows a word and precedes white space or punctuation.
fn closes_word(inner: &str, offset: usize) -> bool {
    let before = inner[..offset].chars().next_back();
    let after = inner[offset..].chars().nth(1);
    before.is_some_and(|c| !c.is_whitespace()) && after.is_none_or(|c| !c.is_alphanumeric())
}

/// Replaces the common escapes of YAML; any other backslash is kept as text.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.clone().next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some(same @ ('"' | '\\' | '/')) => plain.push(same),
            _ => {
                plain.push('\\');
                continue;
            }
        }
        chars.next();
    }
    plain
}

/// Reads a list such as `[a, b]` whose items YAML refuses; `None` if there are nested brackets or braces.
fn read_flow_list(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('[')?;
    let inner = inner.strip_suffix(']').unwrap_or(inner);
    if inner.contains(['[', ']', '{', '}']) {
        return None;
    }
    let items = split_items(inner).into_iter().map(|item| {
        let first = item.chars().next().unwrap_or_default();
        if matches!(first, '"' | '\'') {
            unquote(item, first)
        } else {
            item.to_owned()
        }
    });
    Some(items.filter(|item| !item.is_empty()).collect())
}

/// Splits at commas outside parentheses and quotes.
fn split_items(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote, mut at_item_start) =
        (Vec::new(), 0, 0_usize, None, true);
    for (offset, c) in text.char_indices() {
        if let Some(open) = quote {
            quote = Some(open).filter(|open| *open != c);
            continue;
        }
        match c {
            // Quotes only count at the start of an item.
            '"' | '\'' if at_item_start => quote = Some(c),
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..offset].trim());
                start = offset + 1;
            }
            _ => {}
        }
        at_item_start = (at_item_start && c.is_whitespace()) || start == offset + 1;
    }
    parts.push(text[start..].trim());
    parts
}

/// Replaces surrogate pairs that are escaped as in JSON with the character; `None` if there are none.
///
/// Does not check whether the escapes are in quotes: the caller only does this after YAML refused the text, and parses
/// the result again.
pub(super) fn join_surrogates(text: &str) -> Option<String> {
    let parse_escape = |text: &str| {
        text.strip_prefix("\\u")
            .and_then(|rest| rest.get(..4))
            .and_then(|hex| u16::from_str_radix(hex, 16).ok())
    };
    let (mut joined, mut rest, mut found) = (String::with_capacity(text.len()), text, false);
    while let Some(at) = rest.find("\\u") {
        let (before, escape) = rest.split_at(at);
        joined.push_str(before);
        let pair = parse_escape(escape).zip(escape.get(6..).and_then(parse_escape));
        let c = pair
            .and_then(|(high, low)| char::decode_utf16([high, low]).next()?.ok())
            .filter(|c| c.len_utf16() == 2);
        let length = if let Some(c) = c {
            joined.push(c);
            found = true;
            12
        } else {
            joined.push_str("\\u");
            2
        };
        rest = &escape[length..];
    }
    joined.push_str(rest);
    (found && !text.contains(": |") && !text.contains(": >")).then_some(joined)
}
