//! Reads one-line values that YAML certainly reads the same way.

use crate::diagnostic::{Position, Span};
use crate::read::frontmatter::saturating_u32;
use crate::read::yaml::{Node, Quoting};

/// Reads a one-line value that starts at `start`; `None` if the parser is needed.
pub(crate) fn read_inline(text: &str, start: Position) -> Option<Node<'_>> {
    let quote = *text.as_bytes().first()?;
    if quote == b'[' {
        return read_inline_list(text, start);
    }
    let (inner, quoting) = match quote {
        b'"' | b'\'' => (text[1..].strip_suffix(char::from(quote))?, Quoting::Quoted),
        _ => (text, Quoting::Plain),
    };
    let is_ascii = match quoting {
        Quoting::Quoted => scan_quoted(inner.as_bytes(), quote)?,
        Quoting::Plain => scan_plain(inner.as_bytes())?,
    };
    if !is_ascii && has_unicode_breaks(text) {
        return None;
    }
    let width = if is_ascii {
        text.len()
    } else {
        text.chars().count()
    };
    Some(Node::scalar(
        inner,
        quoting,
        Span::new(
            start,
            Position::new(start.line, start.column + saturating_u32(width)),
        ),
    ))
}

/// Reads a one-line list of plain words in brackets.
fn read_inline_list(text: &str, start: Position) -> Option<Node<'_>> {
    let inner = text[1..].strip_suffix(']')?;
    let mut items = Vec::with_capacity(4);
    let mut column = start.column + 1;
    for part in inner.split(',') {
        let word = part.strip_prefix(' ').unwrap_or(part);
        let bytes = word.as_bytes();
        let is_word =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
        if !bytes.first()?.is_ascii_alphanumeric() || !bytes.iter().all(is_word) {
            return None;
        }
        let from = column + saturating_u32(part.len() - word.len());
        column += saturating_u32(part.len()) + 1;
        let span = Span::new(
            Position::new(start.line, from),
            Position::new(start.line, column - 1),
        );
        items.push(Node::scalar(word, Quoting::Plain, span));
    }
    Some(Node::list(items, start))
}

/// Returns whether quoted text is ASCII; `None` if it has escapes, quotes or control characters.
fn scan_quoted(inner: &[u8], quote: u8) -> Option<bool> {
    let is_literal = !has_controls(inner) && memchr::memchr2(quote, b'\\', inner).is_none();
    is_literal.then(|| inner.is_ascii())
}

/// Returns whether a text is ASCII; `None` unless all of it is certainly a single plain scalar.
pub(super) fn scan_plain(text: &[u8]) -> Option<bool> {
    let (first, last) = (*text.first()?, *text.last()?);
    let is_plain_start = first.is_ascii_alphanumeric()
        || first >= 0x80
        || matches!(first, b'(' | b'/' | b'$' | b'.' | b'^' | b'_' | b'+');
    if !is_plain_start
        || matches!(last, b' ' | b':')
        || text.starts_with(b"...")
        || has_controls(text)
    {
        return None;
    }
    // The text neither starts with `:` or `#` nor ends with `:`, so the neighbours exist.
    let ends_scalar = |at: usize| match text[at] {
        b':' => text[at + 1] == b' ',
        _ => text[at - 1] == b' ',
    };
    let is_whole = !memchr::memchr2_iter(b':', b'#', text).any(ends_scalar);
    is_whole.then(|| text.is_ascii())
}

/// Returns whether there are C0 control characters, including tabs. Branch-free, so that the compiler vectorizes it.
pub(super) fn has_controls(text: &[u8]) -> bool {
    text.iter()
        .fold(0, |found, byte| found | u8::from(*byte < b' '))
        != 0
}

/// Returns whether a text contains a character that some version of YAML treats as a line break or byte-order mark:
/// U+0085, U+2028, U+2029 or U+FEFF.
pub(super) fn has_unicode_breaks(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Searching bytes is faster: most non-ASCII text contains none of these characters.
    memchr::memchr3_iter(0xc2, 0xe2, 0xef, bytes).any(|at| {
        let rest = &bytes[at..];
        rest.starts_with(b"\xc2\x85")
            || rest.starts_with(b"\xe2\x80\xa8")
            || rest.starts_with(b"\xe2\x80\xa9")
            || rest.starts_with(b"\xef\xbb\xbf")
    })
}
