//! Ids as listings print them.

/// Returns an id that a listing printed with odd characters escaped (`&amp;`, `&#x3C;`, `\u{60}`) as it was; nothing if no
/// character is escaped.
pub(crate) fn unescaped(printed: &str) -> Option<String> {
    let mut id = String::with_capacity(printed.len());
    let (mut rest, mut has_escapes) = (printed, false);
    while let Some(at) = rest.find(['&', '\\']) {
        id.push_str(&rest[..at]);
        rest = &rest[at..];
        let escaped = character(rest);
        has_escapes |= escaped.is_some();
        // A mark that escapes nothing stands for itself.
        let (c, length) = escaped.unwrap_or((char::from(rest.as_bytes()[0]), 1));
        id.push(c);
        rest = &rest[length..];
    }
    id.push_str(rest);
    has_escapes.then_some(id)
}

/// Returns the character that a text starts with in escaped form, and the bytes that it takes there.
fn character(text: &str) -> Option<(char, usize)> {
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
    use super::unescaped;

    #[test]
    fn escaped_characters_are_read_back_and_nothing_else_changes() {
        let read = |printed: &str| unescaped(printed).unwrap_or_else(|| "as it is".to_owned());
        assert_eq!(read("a&amp;b"), "a&b");
        assert_eq!(read("&lt;x&gt; &quot;y&apos;"), "<x> \"y'");
        assert_eq!(read("a\\u{60}b\\u{2a}"), "a`b*");
        assert_eq!(read("&#x3C;ü"), "<ü");
        assert_eq!(read("&amp;lt;"), "&lt;");
        for plain in [
            "", "pdf", "a & b", "&#x;", "&#xD800;", "\\u{", "\\u{zz}", "&amp",
        ] {
            assert_eq!(unescaped(plain), None, "{plain}");
        }
    }
}
