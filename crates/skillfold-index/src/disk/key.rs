//! Document keys.

use std::fmt;

/// The 128-bit key of a document, derived from everything the document is built from.
///
/// Different contents must have different keys, and the same content must have the same key in every process. The first
/// half of a SHA-256 is suitable, whether of the file or of its path and revision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentKey(u128);

impl DocumentKey {
    /// Creates a key from its bytes.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// Returns the bytes.
    pub const fn bytes(&self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Creates a key from its two halves, as stored in the columns of the index.
    pub(super) fn from_halves(high: u64, low: u64) -> Self {
        Self(u128::from(high) << 64 | u128::from(low))
    }

    /// Returns the two halves.
    #[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
    pub(super) fn halves(self) -> (u64, u64) {
        ((self.0 >> 64) as u64, self.0 as u64)
    }
}

impl fmt::Debug for DocumentKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Key({:032x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn key_round_trips_through_its_two_halves(bytes: [u8; 16]) {
            let key = DocumentKey::new(bytes);
            let (high, low) = key.halves();
            proptest::prop_assert_eq!(DocumentKey::from_halves(high, low), key);
        }
    }
}
