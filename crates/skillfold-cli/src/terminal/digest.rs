//! The start of a digest, as it is shown.

/// How many digits are shown.
const DIGITS: usize = 12;

/// Returns the first digits of a digest.
pub(crate) fn short(digest: &str) -> String {
    let digits = digest.trim_start_matches("sha256:");
    digits.chars().take(DIGITS).collect()
}
