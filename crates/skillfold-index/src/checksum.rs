//! A checksum against accidental corruption, such as a torn write or a flipped bit. It does not protect against
//! tampering.

const LANES: usize = 4;
const MULTIPLIERS: [u64; LANES] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
];

/// Returns a checksum of the bytes and their length. Each step is invertible, so inputs of one length that differ in a
/// single 8-byte word always have different checksums.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    // Four independent lanes, so that the CPU can process them in parallel.
    let mut lanes = MULTIPLIERS;
    let mut blocks = bytes.chunks_exact(LANES * 8);
    for block in &mut blocks {
        for (lane, word) in lanes.iter_mut().zip(block.chunks_exact(8)) {
            *lane = step(*lane, word);
        }
    }
    let mut sum = bytes.len() as u64;
    for lane in lanes {
        sum = mix(sum ^ lane);
    }
    for word in blocks.remainder().chunks(8) {
        sum = step(sum, word);
    }
    mix(sum)
}

fn step(sum: u64, word: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..word.len()].copy_from_slice(word);
    (sum ^ u64::from_le_bytes(bytes))
        .wrapping_mul(MULTIPLIERS[0])
        .rotate_left(29)
}

fn mix(sum: u64) -> u64 {
    let sum = (sum ^ (sum >> 32)).wrapping_mul(MULTIPLIERS[3]);
    sum ^ (sum >> 29)
}

#[cfg(test)]
mod tests {
    use super::checksum;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn flipped_bit_changes_the_checksum(bytes in prop::collection::vec(any::<u8>(), 1..200), at: prop::sample::Index, bit in 0_u32..8) {
            let mut flipped = bytes.clone();
            let at = at.index(bytes.len());
            flipped[at] ^= 1 << bit;
            prop_assert_ne!(checksum(&bytes), checksum(&flipped));
        }

        #[test]
        fn truncation_changes_the_checksum(bytes in prop::collection::vec(any::<u8>(), 1..200), at: prop::sample::Index) {
            let at = at.index(bytes.len());
            prop_assert_ne!(checksum(&bytes), checksum(&bytes[..at]));
        }
    }
}
