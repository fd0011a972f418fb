//! Document keys.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

/// The 128-bit key of a document, derived from everything the document is built from.
///
/// Different contents must have different keys, and the same content must have the same key in every process. The first
/// half of a SHA-256 is suitable, whether of the file or of its path and revision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

impl Hash for DocumentKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (high, low) = self.halves();
        state.write_u64(high);
        state.write_u64(low);
    }
}

/// A randomly seeded hasher for keys that costs three multiplications. Each sync looks up every key, and keys are
/// uniformly distributed already.
#[derive(Clone, Debug)]
pub(super) struct KeyHashBuilder([u64; 2]);

impl Default for KeyHashBuilder {
    fn default() -> Self {
        let random = RandomState::new();
        Self([0, 1].map(|salt: u8| random.hash_one(salt)))
    }
}

impl BuildHasher for KeyHashBuilder {
    type Hasher = KeyHasher;

    fn build_hasher(&self) -> KeyHasher {
        let [state, factor] = self.0;
        // Multiplying by an odd number is invertible.
        let factor = factor | 1;
        KeyHasher { state, factor }
    }
}

/// The state of a hash, and what it is multiplied by.
#[derive(Debug)]
pub(super) struct KeyHasher {
    state: u64,
    factor: u64,
}

impl KeyHasher {
    fn mix(&self, half: u64) -> u64 {
        let product = (self.state ^ half).wrapping_mul(self.factor);
        product ^ product >> 32
    }
}

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, half: u64) {
        self.state = self.mix(half);
    }

    fn finish(&self) -> u64 {
        self.mix(0)
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

    #[test]
    fn similar_keys_hash_differently() {
        let builder = KeyHashBuilder::default();
        let hashes = |position: usize| {
            let builder = builder.clone();
            (0..=u8::MAX).map(move |byte| {
                let mut bytes = [0; 16];
                bytes[position] = byte;
                builder.hash_one(DocumentKey::new(bytes))
            })
        };
        for position in 0..16 {
            let low: std::collections::BTreeSet<u64> =
                hashes(position).map(|hash| hash % 1024).collect();
            assert!(low.len() > 128, "byte {position}: {} places", low.len());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_key_is_its_two_halves(bytes: [u8; 16]) {
            let key = DocumentKey::new(bytes);
            let (high, low) = key.halves();
            proptest::prop_assert_eq!(DocumentKey::from_halves(high, low), key);
        }
    }
}
