//! Values on one line.

use std::borrow::Cow;
use std::fmt::Write;

use crate::diagnostic::is_invisible;

use super::look_alike::is_bracket;

/// Returns a value as it stands in a tagged envelope: `& < > " '` as entities; control and invisible characters and
/// look-alikes of `<` as numbers (`&#x200B;`).
///
/// Nothing is lost: a reader of XML or HTML gets the value back.
pub(crate) fn escaped(value: &str) -> Cow<'_, str> {
    let is_odd = |c: char| {
        matches!(c, '&' | '>' | '"' | '\'') || is_bracket(c) || c.is_control() || is_invisible(c)
    };
    let Some(first) = value.find(is_odd) else {
        return Cow::Borrowed(value);
    };
    let mut text = String::with_capacity(value.len() + 16);
    text.push_str(&value[..first]);
    for c in value[first..].chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&apos;"),
            c if is_odd(c) => {
                let _ = write!(text, "&#x{:X};", u32::from(c));
            }
            c => text.push(c),
        }
    }
    Cow::Owned(text)
}
