//! The form of a name under which it is looked up.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::text::fold_case;

/// Returns the form of a name under which it is looked up: in lower case, with hyphens for underscores.
///
/// ```
/// assert_eq!(skillfold_core::canonical("PDF_Tools"), "pdf-tools");
/// ```
pub fn canonical(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| CANONICAL[usize::from(byte)]) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(fold_case(name).replace('_', "-"))
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

/// A canonical name with its start at hand, where most comparisons end. The text is the name's own, if that is canonical,
/// and is given by who has it: in a large catalog it is far away.
pub(crate) struct NameKey {
    start: [u64; 4],
    length: usize,
    /// The text, where the name was written in another way.
    other: Option<Box<str>>,
}

/// The first bytes of a name as numbers, which are ordered as the bytes are.
pub(crate) type Start = (u64, u64);

/// Bytes that are at hand.
const START: usize = size_of::<[u64; 4]>();

impl NameKey {
    pub(crate) fn new(name: &str) -> Self {
        let text = canonical(name);
        let length = text.len();
        let mut bytes = [0; START];
        let at_hand = length.min(START);
        bytes[..at_hand].copy_from_slice(&text.as_bytes()[..at_hand]);
        let (words, _) = bytes.as_chunks::<8>();
        let mut start = [0; 4];
        for (number, word) in start.iter_mut().zip(words) {
            *number = u64::from_be_bytes(*word);
        }
        let other = match text {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text.into()),
        };
        Self {
            start,
            length,
            other,
        }
    }

    /// Returns the start, by which most names are told apart.
    pub(crate) fn start(&self) -> Start {
        (self.start[0], self.start[1])
    }

    /// Returns the text, by the name that the key was made of.
    pub(crate) fn text<'a>(&'a self, name: &'a str) -> &'a str {
        self.other.as_deref().unwrap_or(name)
    }

    /// Returns whether the name was written in its canonical form.
    pub(crate) fn is_as_written(&self) -> bool {
        self.other.is_none()
    }

    /// Compares two keys; `names` are what they were made of, and are asked for only where both start alike and go on.
    pub(crate) fn cmp<'a>(
        &self,
        other: &Self,
        names: impl FnOnce() -> (&'a str, &'a str),
    ) -> Ordering {
        self.start.cmp(&other.start).then_with(|| {
            if self.length <= START && other.length <= START {
                return self.length.cmp(&other.length);
            }
            let (name, others) = names();
            self.text(name).cmp(other.text(others))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{NameKey, canonical};
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
        fn keys_are_ordered_as_their_text_is(a in "a{0,36}[a-c\0]{0,4}", b in "a{0,36}[a-c\0]{0,4}") {
            let (left, right) = (NameKey::new(&a), NameKey::new(&b));
            prop_assert_eq!(left.cmp(&right, || (&a, &b)), a.cmp(&b));
        }
    }
}
