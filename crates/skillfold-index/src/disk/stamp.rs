//! What is said of all documents with each commit: how they were made, and what is known of them together.

use skillfold_core::CorpusStatistics;

/// How documents are kept. A change of the fields, of the tokens or of this text is another number.
const FORMAT: &str = "skillfold-search-2";

/// Why a stamp does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// Another version wrote it.
    Version,
    /// Nobody wrote it so.
    Damaged,
}

/// Writes a stamp: the version and the statistics, with a sum over both.
pub(super) fn write(version: &str, statistics: &CorpusStatistics) -> String {
    let said = said(version, statistics);
    let sum = sum(&said);
    format!("{said} {sum:016x}")
}

/// Reads a stamp of this version.
pub(super) fn read(version: &str, stamp: &str) -> Result<CorpusStatistics, Misfit> {
    let (said, written) = stamp.rsplit_once(' ').ok_or(Misfit::Damaged)?;
    if written != format!("{:016x}", sum(said)) {
        return Err(Misfit::Damaged);
    }
    let (made_by, statistics) = said.rsplit_once(' ').ok_or(Misfit::Damaged)?;
    if made_by != format!("{FORMAT} {version}") {
        return Err(Misfit::Version);
    }
    let bytes = from_hex(statistics).ok_or(Misfit::Damaged)?;
    CorpusStatistics::from_bytes(&bytes).ok_or(Misfit::Damaged)
}

fn said(version: &str, statistics: &CorpusStatistics) -> String {
    let digits = |byte: u8| {
        [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]))
    };
    let bytes = statistics.to_bytes().into_iter();
    let hex: String = bytes.flat_map(digits).collect();
    format!("{FORMAT} {version} {hex}")
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs
        .iter()
        .map(byte)
        .collect::<Option<_>>()
        .filter(|_| rest.is_empty())
}

/// FNV-1a: against accidents, and not against somebody.
fn sum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use skillfold_core::{DocumentBuilder, DocumentTexts};

    use super::*;

    fn statistics() -> CorpusStatistics {
        let document = DocumentBuilder::new().from_texts(&DocumentTexts {
            name: "pdf forms",
            ..DocumentTexts::default()
        });
        [&document].into_iter().collect()
    }

    #[test]
    fn a_stamp_is_read_as_it_was_written_and_by_its_version_only() {
        let stamp = write("a b", &statistics());
        assert_eq!(read("a b", &stamp), Ok(statistics()));
        assert_eq!(read("a", &stamp), Err(Misfit::Version));
        assert_eq!(read("", ""), Err(Misfit::Damaged));
    }

    proptest::proptest! {
        #[test]
        fn any_other_letter_is_noticed(at in 0..100_usize, letter in "[0-9a-z]") {
            let stamp = write("1", &statistics());
            let mut changed = stamp.clone();
            changed.replace_range(at..=at, &letter);
            proptest::prop_assert_eq!(read("1", &changed).is_ok(), changed == stamp);
        }
    }
}
