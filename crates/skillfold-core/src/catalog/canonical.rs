//! The form of a name under which it is looked up.

use std::borrow::Cow;

use crate::text::fold_case;

/// Returns the form of a name under which it is looked up: in lower case, with hyphens for underscores.
///
/// ```
/// assert_eq!(skillfold_core::catalog::canonical("PDF_Tools"), "pdf-tools");
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

#[cfg(test)]
mod tests {
    use super::canonical;
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
    }
}
