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
    start: Start,
    text: Cow<'a, str>,
}

/// The first bytes of a name as numbers, which are ordered as the bytes are.
pub(crate) type Start = (u64, u64);

const START: usize = size_of::<Start>();

impl<'a> Key<'a> {
    pub(crate) fn new(text: Cow<'a, str>) -> Self {
        let word = |from: usize| {
            let bytes = text.as_bytes().get(from..).unwrap_or_default();
            let bytes = &bytes[..bytes.len().min(8)];
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_be_bytes(word)
        };
        let start = (word(0), word(8));
        Self { start, text }
    }

    /// Returns the start, by which most names are told apart.
    pub(crate) fn start(&self) -> Start {
        self.start
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the name was written in its canonical form.
    pub(crate) fn is_as_written(&self) -> bool {
        matches!(self.text, Cow::Borrowed(_))
    }

    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        self.start.cmp(&other.start).then_with(|| {
            let (length, others) = (self.text.len(), other.text.len());
            // Where both are at hand whole, the texts need not be fetched.
            if length <= START && others <= START {
                length.cmp(&others)
            } else {
                self.text.cmp(&other.text)
            }
        })
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
        fn keys_are_ordered_as_their_text_is(a in "[a-c\0]{0,20}", b in "[a-c\0]{0,20}") {
            let (left, right) = (Key::new(a.as_str().into()), Key::new(b.as_str().into()));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
        }
    }
}
