//! What a document is known by.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

/// What a document is known by: 128 bits that follow from everything that it was made from.
///
/// Two contents must not have the same key, and a content must have the same key in every process: the first half of a
/// SHA-256 is such a key, whether it is that of the file or that of its path and its revision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (high, low) = self.halves();
        state.write_u64(high);
        state.write_u64(low);
    }
}

/// Hashes keys at the cost of three multiplications, with numbers of its own: each sync looks up every key, and keys are spread
/// already.
#[derive(Clone, Debug)]
pub(super) struct Spread([u64; 2]);

impl Default for Spread {
    fn default() -> Self {
        let random = RandomState::new();
        Self([0, 1].map(|salt: u8| random.hash_one(salt)))
    }
}

impl BuildHasher for Spread {
    type Hasher = SpreadHasher;

    fn build_hasher(&self) -> SpreadHasher {
        let [state, factor] = self.0;
        // Without a factor of two nothing is lost.
        let factor = factor | 1;
        SpreadHasher { state, factor }
    }
}

/// The state of a hash, and what it is multiplied by.
#[derive(Debug)]
pub(super) struct SpreadHasher {
    state: u64,
    factor: u64,
}

impl SpreadHasher {
    fn mixed(&self, half: u64) -> u64 {
        let product = (self.state ^ half).wrapping_mul(self.factor);
        product ^ product >> 32
    }
}

impl Hasher for SpreadHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, half: u64) {
        self.state = self.mixed(half);
    }

    fn finish(&self) -> u64 {
        self.mixed(0)
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

    #[test]
    fn keys_that_differ_little_are_spread() {
        let spread = Spread::default();
        let hashes = |at: usize| {
            let spread = spread.clone();
            (0..=u8::MAX).map(move |byte| {
                let mut bytes = [0; 16];
                bytes[at] = byte;
                spread.hash_one(Key::new(bytes))
            })
        };
        for at in 0..16 {
            let low: std::collections::BTreeSet<u64> = hashes(at).map(|hash| hash % 1024).collect();
            assert!(low.len() > 128, "byte {at}: {} places", low.len());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_key_is_its_two_halves(bytes: [u8; 16]) {
            let key = Key::new(bytes);
            let (high, low) = key.halves();
            proptest::prop_assert_eq!(Key::from_halves(high, low), key);
        }
    }
}
