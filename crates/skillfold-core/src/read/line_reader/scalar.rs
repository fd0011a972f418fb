//! Values that stand on one line and certainly mean what they seem to.

use crate::diagnostic::{Position, Span};
use crate::read::frontmatter::count;
use crate::read::yaml::{Node, Quoting};

/// Reads a value that stands on one line and starts at `start`.
pub(crate) fn value(text: &str, start: Position) -> Option<Node<'_>> {
    let quote = *text.as_bytes().first()?;
    if quote == b'[' {
        return list(text, start);
    }
    let (inner, quoting) = match quote {
        b'"' | b'\'' => (text[1..].strip_suffix(char::from(quote))?, Quoting::Quoted),
        _ => (text, Quoting::Plain),
    };
    let ascii = match quoting {
        Quoting::Quoted => scan_quoted(inner.as_bytes(), quote)?,
        Quoting::Plain => scan_plain(inner.as_bytes())?,
    };
    if !ascii && has_odd_breaks(text) {
        return None;
    }
    let width = if ascii {
        text.len()
    } else {
        text.chars().count()
    };
    Some(Node::scalar(
        inner,
        quoting,
        Span::new(
            start,
            Position::new(start.line, start.column + count(width)),
        ),
    ))
}

/// Reads a list of plain words in brackets on one line.
fn list(text: &str, start: Position) -> Option<Node<'_>> {
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
        let from = column + count(part.len() - word.len());
        column += count(part.len()) + 1;
        let span = Span::new(
            Position::new(start.line, from),
            Position::new(start.line, column - 1),
        );
        items.push(Node::scalar(word, Quoting::Plain, span));
    }
    Some(Node::list(items, start))
}

/// Returns whether a text between quotes is ASCII; `None` unless it means itself.
fn scan_quoted(inner: &[u8], quote: u8) -> Option<bool> {
    let means_itself = !has_controls(inner) && memchr::memchr2(quote, b'\\', inner).is_none();
    means_itself.then(|| inner.is_ascii())
}

/// Returns whether a text is ASCII; `None` unless it is certainly a plain scalar, whole and on its own.
pub(super) fn scan_plain(text: &[u8]) -> Option<bool> {
    let (first, last) = (*text.first()?, *text.last()?);
    let starts_plainly = first.is_ascii_alphanumeric()
        || first >= 0x80
        || matches!(first, b'(' | b'/' | b'$' | b'.' | b'^' | b'_' | b'+');
    if !starts_plainly
        || matches!(last, b' ' | b':')
        || text.starts_with(b"...")
        || has_controls(text)
    {
        return None;
    }
    // The text neither starts with a mark nor ends with a colon, so that every mark has a neighbour.
    let ends_it = |at: usize| match text[at] {
        b':' => text[at + 1] == b' ',
        _ => text[at - 1] == b' ',
    };
    let whole = !memchr::memchr2_iter(b':', b'#', text).any(ends_it);
    whole.then(|| text.is_ascii())
}

/// Returns whether there are control characters of ASCII, tabs included. Without a branch, so that it runs in strides.
pub(super) fn has_controls(text: &[u8]) -> bool {
    text.iter()
        .fold(0, |found, byte| found | u8::from(*byte < b' '))
        != 0
}

/// Returns whether a text has characters that some version of YAML takes for a line break or a byte-order mark: U+0085,
/// U+2028, U+2029 and U+FEFF.
pub(super) fn has_odd_breaks(text: &str) -> bool {
    let bytes = text.as_bytes();
    // By bytes: most text that is not ASCII has many characters and none of these.
    memchr::memchr3_iter(0xc2, 0xe2, 0xef, bytes).any(|at| {
        let rest = &bytes[at..];
        rest.starts_with(b"\xc2\x85")
            || rest.starts_with(b"\xe2\x80\xa8")
            || rest.starts_with(b"\xe2\x80\xa9")
            || rest.starts_with(b"\xef\xbb\xbf")
    })
}
