//! Restores ids that a listing printed with escapes.

/// Unescapes an id that a listing printed (`&amp;`, `&#x3C;`, `\u{60}`). Returns `None` if it contains no escape.
pub(crate) fn unescape(printed: &str) -> Option<String> {
    let mut id = String::with_capacity(printed.len());
    let (mut rest, mut has_escapes) = (printed, false);
    while let Some(at) = rest.find(['&', '\\']) {
        id.push_str(&rest[..at]);
        rest = &rest[at..];
        let escaped = parse_escape(rest);
        has_escapes |= escaped.is_some();
        // `&` or `\` that starts no escape stands for itself.
        let (c, length) = escaped.unwrap_or((char::from(rest.as_bytes()[0]), 1));
        id.push(c);
        rest = &rest[length..];
    }
    id.push_str(rest);
    has_escapes.then_some(id)
}

/// Returns the character of the escape that a text starts with, and the escape's length in bytes.
fn parse_escape(text: &str) -> Option<(char, usize)> {
    let named = [
        ("&amp;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("&apos;", '\''),
    ];
    if let Some((escape, c)) = named.iter().find(|(escape, _)| text.starts_with(escape)) {
        return Some((*c, escape.len()));
    }
    let (open, close) = if text.starts_with('&') {
        ("&#x", ';')
    } else {
        ("\\u{", '}')
    };
    let digits = text.strip_prefix(open)?;
    let digits = &digits[..digits.find(close)?];
    let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    Some((c, open.len() + digits.len() + close.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn unescape_decodes_escapes_and_nothing_else() {
        let read = |printed: &str| unescape(printed).unwrap_or_else(|| "as it is".to_owned());
        assert_eq!(read("a&amp;b"), "a&b");
        assert_eq!(read("&lt;x&gt; &quot;y&apos;"), "<x> \"y'");
        assert_eq!(read("a\\u{60}b\\u{2a}"), "a`b*");
        assert_eq!(read("&#x3C;ü"), "<ü");
        assert_eq!(read("&amp;lt;"), "&lt;");
        for plain in [
            "", "pdf", "a & b", "&#x;", "&#xD800;", "\\u{", "\\u{zz}", "&amp",
        ] {
            assert_eq!(unescape(plain), None, "{plain}");
        }
    }
}
