//! The form of a name under which it is looked up.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Returns the form of a name under which it is looked up: in lower case, with hyphens for underscores.
///
/// ```
/// assert_eq!(skillfold_core::canonical("PDF_Tools"), "pdf-tools");
/// ```
pub fn canonical(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| CANONICAL[usize::from(byte)]) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.to_lowercase().replace('_', "-"))
}

/// The bytes that a canonical name may have: every name is looked through, byte by byte.
const CANONICAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = !byte.is_ascii_uppercase() && byte != b'_';
        byte += 1;
    }
    table
};

/// A canonical name with its start at hand, where most comparisons end.
#[derive(PartialEq, Eq)]
pub(crate) struct Key<'a> {
    prefix: u64,
    text: Cow<'a, str>,
}

impl<'a> Key<'a> {
    pub(crate) fn new(text: Cow<'a, str>) -> Self {
        let mut start = [0; 8];
        let length = text.len().min(start.len());
        start[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self {
            prefix: u64::from_be_bytes(start),
            text,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the name was written in its canonical form.
    pub(crate) fn is_as_written(&self) -> bool {
        matches!(self.text, Cow::Borrowed(_))
    }

    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        self.prefix
            .cmp(&other.prefix)
            .then_with(|| self.text.cmp(&other.text))
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, canonical};
    use proptest::prelude::*;

    #[test]
    fn case_and_underscores_do_not_matter() {
        assert_eq!(canonical("PDF_Tools"), "pdf-tools");
        assert_eq!(canonical("Über"), "über");
        assert_eq!(canonical("a:b c"), "a:b c");
    }

    proptest! {
        #[test]
        fn canonical_form_is_stable(name in ".*") {
            let once = canonical(&name).into_owned();
            // A few letters have a lower case that is made of several, which has none of its own.
            prop_assert_eq!(canonical(&once).into_owned(), once);
        }

        #[test]
        fn keys_are_ordered_as_their_text_is(a in "[a-c]{0,12}", b in "[a-c]{0,12}") {
            let (left, right) = (Key::new(a.as_str().into()), Key::new(b.as_str().into()));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
        }
    }
}
