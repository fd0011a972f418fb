//! How many tokens a text has.

use std::fmt;

/// Counts the tokens of a text.
///
/// What is put together from parts is measured part by part, so a text must not have more tokens than its parts together
/// where it is parted at the end of a line. [`TokenEstimate`] keeps this wherever a text is parted.
pub trait TokenCounter: fmt::Debug + Send + Sync {
    /// Returns how many tokens a text has, or about how many.
    fn count(&self, text: &str) -> u64;

    /// Returns what counts, for a report: `estimate`, or the name of an encoding.
    fn name(&self) -> &str;
}

/// Estimates tokens from what kinds of characters follow each other. No vocabulary, no allocation, one pass over the bytes.
///
/// A tokenizer cuts where the kind changes, between a word and a mark or between a digit and a letter, and seldom within a
/// word. So each pair of neighbours, by thirteen kinds, has a weight in hundredths of a token; their sum is rounded up. The
/// weights are fitted to the encoding `o200k_base` on real `SKILL.md` files, and no weight is nought: a word without end
/// costs too. At the beginning of a text, where the neighbour is not known, the largest weight of a kind counts, which is
/// why a text never has more than its parts. On whole files the estimate is wrong by 2 % in the mean; other encodings count
/// otherwise.
///
/// ```
/// use skillfold_core::{TokenEstimate, TokenCounter};
///
/// assert_eq!(TokenEstimate.count(""), 0);
/// assert_eq!(TokenEstimate.count("Fills in PDF forms and reads tables."), 9);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has nothing to set")]
pub struct TokenEstimate;

/// Kinds of characters, told by their first byte: lower case, upper case, digit, blank, line end, control, mark within
/// words and paths, other mark; then Latin with accents, other alphabets of two bytes, three bytes to U+2FFF, wide
/// characters, and four bytes.
const KINDS: usize = 13;
/// What goes on with a character and weighs nothing.
const INSIDE: u8 = 13;
/// What stands before the first character.
const BEGINNING: u8 = 14;
/// A power of two above all kinds, so that no access is out of bounds.
const ROW: usize = 16;

/// Hundredths of a token: the row is the kind before, the column the kind itself.
#[rustfmt::skip]
const FITTED: [[u8; KINDS]; KINDS] = [
    [  5,  70,  94,  65, 124,  60,  84,  69, 110,  90,  99, 107, 200],
    [ 16,  18, 141,  66, 111,  60,  91,  73,  83,  90,  87,  57, 200],
    [ 91,  66,  18,  69, 136,  60,  73,  91,  90,  86,  93, 119, 200],
    [ 14,  16, 126,   3, 105,  60,  80,  51,  79,  31,  73,  68, 191],
    [ 62,  54,  44,  76,   2,  59,  47,  83,  91,  90, 157,  61, 207],
    [ 60,  60,  80,  60,  60,  58,  60,  60,  90,  90,  90,  90, 200],
    [ 53,  60, 167,  75,  62,  60,  16,  35,  90,  87,  75, 193, 200],
    [ 82,  94,  96,  60,  11,  60,  42,  13,  81,  89,  95,  91, 205],
    [ 79,  50,  79,  28,  59,  60,  83,  57,  52,  90,  90,  84, 200],
    [ 60,  60,  80,  25,  58,  60,  55,  61,  90,  25,  96,  95, 200],
    [ 43,  81,  87,  83,  78,  60,  31,  73,  90,  96,  25,  76, 200],
    [ 94,  99, 107,  38, 106,  60,  52, 101,  84,  90,  63,  70, 201],
    [ 60,  61,  80,  55,  58,  60,  61,  63,  90,  90,  91,  96, 198],
];

static KIND: [u8; 256] = kinds();
static WEIGHTS: [[u8; ROW]; ROW] = weights();

impl TokenCounter for TokenEstimate {
    fn count(&self, text: &str) -> u64 {
        let mut before = BEGINNING;
        let mut hundredths = 0_u64;
        for byte in text.bytes() {
            let kind = KIND[usize::from(byte)];
            hundredths += u64::from(WEIGHTS[usize::from(before) % ROW][usize::from(kind) % ROW]);
            before = if kind == INSIDE { before } else { kind };
        }
        hundredths.div_ceil(100)
    }

    fn name(&self) -> &'static str {
        "estimate"
    }
}

/// Returns the kind of each byte.
const fn kinds() -> [u8; 256] {
    let mut kinds = [0; 256];
    let mut byte = 0_u8;
    loop {
        kinds[byte as usize] = kind(byte);
        if byte == u8::MAX {
            return kinds;
        }
        byte += 1;
    }
}

const fn kind(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        b' ' => 3,
        b'\n' | b'\r' => 4,
        0..=0x1f | 0x7f => 5,
        b'.' | b',' | b'-' | b'/' | b'_' | b':' => 6,
        b'!'..=b'~' => 7,
        0x80..=0xbf => INSIDE,
        0xc0..=0xca => 8,
        0xcb..=0xdf => 9,
        0xe0..=0xe2 => 10,
        0xe3..=0xef => 11,
        0xf0..=0xff => 12,
    }
}

/// Returns the weights with the row of the beginning: of each kind the largest.
const fn weights() -> [[u8; ROW]; ROW] {
    let mut weights = [[0; ROW]; ROW];
    let mut before = 0;
    while before < KINDS {
        let mut kind = 0;
        while kind < KINDS {
            let weight = FITTED[before][kind];
            weights[before][kind] = weight;
            if weight > weights[BEGINNING as usize][kind] {
                weights[BEGINNING as usize][kind] = weight;
            }
            kind += 1;
        }
        before += 1;
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::{BEGINNING, INSIDE, KINDS, TokenCounter as _, TokenEstimate, kinds, weights};

    #[test]
    fn every_byte_has_a_kind_with_a_weight() {
        let (kinds, weights) = (kinds(), weights());
        for kind in kinds.into_iter().filter(|kind| *kind != INSIDE) {
            let kind = usize::from(kind);
            assert!(kind < KINDS);
            assert!(weights.iter().take(KINDS).all(|row| row[kind] > 0));
        }
    }

    #[test]
    fn first_character_weighs_what_it_weighs_at_most() {
        let weights = weights();
        for kind in 0..KINDS {
            let most = weights.iter().take(KINDS).map(|row| row[kind]).max();
            assert_eq!(Some(weights[usize::from(BEGINNING)][kind]), most);
        }
    }

    #[test]
    fn estimate_says_that_it_is_one() {
        assert_eq!(TokenEstimate.name(), "estimate");
    }
}
