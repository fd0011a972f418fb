//! Document keys.

use std::fmt;

/// The 128-bit key of a document, derived from everything the document is built from.
///
/// Different contents must have different keys, and the same content must have the same key in every process. The first
/// half of a SHA-256 is suitable, whether of the file or of its path and revision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentKey([u8; 16]);

impl DocumentKey {
    /// Creates a key from its bytes.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Creates a key from its two halves, as stored in the columns of the index.
    pub(super) fn from_halves(high: u64, low: u64) -> Self {
        let bits = u128::from(high) << 64 | u128::from(low);
        Self(bits.to_be_bytes())
    }

    /// Returns the two halves.
    pub(super) fn halves(self) -> (u64, u64) {
        let (high, low) = self.0.split_at(8);
        let half = |bytes: &[u8]| {
            let bytes = bytes.iter();
            bytes.fold(0, |half: u64, byte| half << 8 | u64::from(*byte))
        };
        (half(high), half(low))
    }
}

impl fmt::Debug for DocumentKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Key({:032x})", u128::from_be_bytes(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn any_key_is_its_two_halves(bytes: [u8; 16]) {
            let key = DocumentKey::new(bytes);
            let (high, low) = key.halves();
            proptest::prop_assert_eq!(DocumentKey::from_halves(high, low), key);
        }
    }
}
