//! The stamp in each commit: the version of the documents and the corpus statistics.

use skillfold_core::search::CorpusStatistics;

/// The format of the index. Increase it when the schema, the tokens, the stamp or the engine's files change. It belongs in the name of an
/// index's folder, so that another version has an index of its own.
pub const SEARCH_FORMAT: u32 = 3;
const FORMAT: &str = "skillfold-search-3";

/// Why a stamp cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StampError {
    /// It was written by another version.
    Version,
    /// It is corrupt.
    Damaged,
}

/// Formats a stamp: the version and the statistics, with a checksum of both.
pub(super) fn write(version: &str, statistics: &CorpusStatistics) -> String {
    let payload = payload(version, statistics);
    let checksum = crc32fast::hash(payload.as_bytes());
    format!("{payload} {checksum:08x}")
}

/// Parses a stamp and returns its statistics.
pub(super) fn read(version: &str, stamp: &str) -> Result<CorpusStatistics, StampError> {
    let (payload, checksum) = stamp.rsplit_once(' ').ok_or(StampError::Damaged)?;
    if checksum != format!("{:08x}", crc32fast::hash(payload.as_bytes())) {
        return Err(StampError::Damaged);
    }
    let (stamp_version, statistics) = payload.rsplit_once(' ').ok_or(StampError::Damaged)?;
    if stamp_version != format!("{FORMAT} {version}") {
        return Err(StampError::Version);
    }
    let bytes = from_hex(statistics).ok_or(StampError::Damaged)?;
    CorpusStatistics::from_bytes(&bytes).ok_or(StampError::Damaged)
}

fn payload(version: &str, statistics: &CorpusStatistics) -> String {
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

#[cfg(test)]
mod tests {
    use skillfold_core::search::{DocumentBuilder, DocumentTexts};

    use super::*;

    fn statistics() -> CorpusStatistics {
        let document =
            DocumentBuilder::new().from_texts(&DocumentTexts::default().with_name("pdf forms"));
        [&document].into_iter().collect()
    }

    #[test]
    fn stamp_round_trips_for_its_version_only() {
        let stamp = write("a b", &statistics());
        assert_eq!(read("a b", &stamp), Ok(statistics()));
        assert_eq!(read("a", &stamp), Err(StampError::Version));
        assert_eq!(read("", ""), Err(StampError::Damaged));
    }

    #[test]
    fn current_stamp_is_read_and_a_newer_format_is_another_version() {
        let today = include_str!("../../tests/formats/search-stamp.txt").trim_end();
        assert_eq!(read("2", today), Ok(statistics()));
        assert!(today.starts_with(FORMAT) && FORMAT.ends_with(&format!("-{SEARCH_FORMAT}")));
        let (payload, _) = today.rsplit_once(' ').unwrap();
        let next = payload.replace(FORMAT, "skillfold-search-4");
        let next = format!("{next} {:08x}", crc32fast::hash(next.as_bytes()));
        assert_eq!(read("2", &next), Err(StampError::Version));
    }

    proptest::proptest! {
        #[test]
        fn any_changed_character_is_detected(at in 0..100_usize, letter in "[0-9a-z]") {
            let stamp = write("1", &statistics());
            let mut changed = stamp.clone();
            changed.replace_range(at..=at, &letter);
            proptest::prop_assert_eq!(read("1", &changed).is_ok(), changed == stamp);
        }
    }
}
