//! Numbers on the command line.

use std::str::FromStr;

/// Parses a number of at least 1.
pub(super) fn positive<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| "not a whole number of at least 1".to_owned())
}
