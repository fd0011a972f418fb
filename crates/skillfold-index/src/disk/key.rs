//! What a document is known by.

use std::fmt;

/// What a document is known by: 128 bits that follow from everything that it was made from.
///
/// Two contents must not have the same key, and a content must have the same key in every process: the first half of a
/// SHA-256 is such a key, whether it is that of the file or that of its path and its revision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; 16]);

impl Key {
    /// Takes a key from its bytes.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Takes a key from its two halves, as the columns of an index have them.
    pub(super) fn from_halves(high: u64, low: u64) -> Self {
        let number = u128::from(high) << 64 | u128::from(low);
        Self(number.to_be_bytes())
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

impl fmt::Debug for Key {
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
            let key = Key::new(bytes);
            let (high, low) = key.halves();
            proptest::prop_assert_eq!(Key::from_halves(high, low), key);
        }
    }
}
