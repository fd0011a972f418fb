//! Reads one value that is not YAML as the text that its author meant.

use crate::codes::Code;

/// What a broken value was read as.
pub(super) enum RepairedValue {
    Text(String),
    List(Vec<String>),
}

/// Reads the value of `key` from what stands after the colon and the lines below it.
///
/// The result is never worse than the text: quotes are taken off only where they enclose all of it, and nothing else is
/// left out but the mark of a block scalar.
pub(super) fn read<'a>(
    key: &str,
    rest: &'a str,
    below: impl Iterator<Item = &'a str>,
) -> (RepairedValue, Code) {
    let below: Vec<&str> = below.collect();
    if let Some((mark, text)) = block_scalar(rest) {
        let code = if text.is_empty() {
            Code::ReadAsText
        } else {
            Code::RepairedBlockScalar
        };
        let text = if mark == '|' {
            literal(text, &below)
        } else {
            fold(text, &below)
        };
        return (RepairedValue::Text(text), code);
    }
    let text = fold(rest, &below);
    let first = rest.chars().next().unwrap_or_default();
    match first {
        '"' | '\'' => (
            RepairedValue::Text(unquote(&text, first)),
            Code::RepairedQuotes,
        ),
        '[' => match flow_list(&text).filter(|_| !matches!(key, "name" | "description")) {
            Some(items) => (RepairedValue::List(items), Code::RepairedReserved),
            None => (RepairedValue::Text(text), Code::RepairedReserved),
        },
        '{' => (
            RepairedValue::Text(literal(rest, &below)),
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

/// Returns whether YAML certainly refuses a value: text behind the mark of a block scalar, or a colon in plain text.
pub(super) fn is_refused(rest: &str) -> bool {
    let plain = rest.starts_with(|c: char| c.is_alphanumeric());
    let text =
        block_scalar(rest).is_some_and(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    text || (plain && !rest.contains(" #") && rest.contains(": "))
}

/// Returns a value without the mark of a block scalar.
pub(super) fn without_mark(rest: &str) -> &str {
    block_scalar(rest).map_or(rest, |(_, text)| text)
}

/// Takes the mark of a block scalar off a value; what follows it is text.
fn block_scalar(rest: &str) -> Option<(char, &str)> {
    let mark = rest
        .chars()
        .next()
        .filter(|mark| matches!(mark, '>' | '|'))?;
    let after =
        rest[1..].trim_start_matches(['+', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    (after.is_empty() || after.starts_with(' ')).then(|| (mark, after.trim_start()))
}

/// Joins lines as YAML folds them: a space for a line break, a line break for a blank line.
fn fold(first: &str, below: &[&str]) -> String {
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

/// Joins lines as they stand.
fn literal(first: &str, below: &[&str]) -> String {
    let mut text = first.to_owned();
    for line in below {
        text.push('\n');
        text.push_str(line);
    }
    text.trim().to_owned()
}

/// Takes the quotes off a text that starts with one, where they enclose all of it or are never closed.
fn unquote(text: &str, quote: char) -> String {
    let inner = &text[quote.len_utf8()..];
    let closing = closing_quote(inner, quote);
    let enclosed = match (inner.strip_suffix(quote), closing) {
        // A quote in the middle that closes a word means that the first and the last are not a pair.
        (Some(enclosed), Some(closing))
            if closes_a_word(inner, closing) && closing + 1 < inner.len() =>
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

/// Returns whether the pairs inside add up so that the outer quotes are the ends of two other pairs.
fn has_even_quotes(enclosed: &str, quote: char) -> bool {
    enclosed.matches(quote).count().is_multiple_of(2)
}

/// Returns the offset of the first quote that is not escaped.
pub(crate) fn closing_quote(inner: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    inner.char_indices().find_map(|(offset, c)| {
        let closes = c == quote && !escaped;
        escaped = quote == '"' && c == '\\' && !escaped;
        closes.then_some(offset)
    })
}

/// Returns whether the quote at `offset` stands between a word and a space or mark.
fn closes_a_word(inner: &str, offset: usize) -> bool {
    let before = inner[..offset].chars().next_back();
    let after = inner[offset..].chars().nth(1);
    before.is_some_and(|c| !c.is_whitespace()) && after.is_none_or(|c| !c.is_alphanumeric())
}

/// Replaces the escapes that YAML knows; any other backslash is text.
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

/// Reads `[a, b]` whose items YAML refuses; `None` if brackets do not enclose all of it once.
fn flow_list(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('[')?;
    let inner = inner.strip_suffix(']').unwrap_or(inner);
    if inner.contains(['[', ']', '{', '}']) {
        return None;
    }
    let items = split_outside(inner).into_iter().map(|item| {
        let first = item.chars().next().unwrap_or_default();
        if matches!(first, '"' | '\'') {
            unquote(item, first)
        } else {
            item.to_owned()
        }
    });
    Some(items.filter(|item| !item.is_empty()).collect())
}

/// Splits at commas that stand outside parentheses and quotes.
fn split_outside(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote, mut blank) =
        (Vec::new(), 0, 0_usize, None, true);
    for (offset, c) in text.char_indices() {
        if let Some(open) = quote {
            quote = Some(open).filter(|open| *open != c);
            continue;
        }
        match c {
            // Only at the start of an item does a quote open one.
            '"' | '\'' if blank => quote = Some(c),
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..offset].trim());
                start = offset + 1;
            }
            _ => {}
        }
        blank = (blank && c.is_whitespace()) || start == offset + 1;
    }
    parts.push(text[start..].trim());
    parts
}

/// Replaces the two halves of a character that JSON escapes by the character; `None` if there are none.
///
/// Only quotes have escapes. The caller asks after YAML refused the text, and reads it again.
pub(super) fn join_surrogates(text: &str) -> Option<String> {
    let half = |text: &str| {
        text.strip_prefix("\\u")
            .and_then(|rest| rest.get(..4))
            .and_then(|hex| u16::from_str_radix(hex, 16).ok())
    };
    let (mut joined, mut rest, mut found) = (String::with_capacity(text.len()), text, false);
    while let Some(at) = rest.find("\\u") {
        let (before, escape) = rest.split_at(at);
        joined.push_str(before);
        let pair = half(escape).zip(escape.get(6..).and_then(half));
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
