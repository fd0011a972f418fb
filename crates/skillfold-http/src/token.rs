//! The token that clients of an HTTP server must send.

use std::fmt::{self, Write as _};
use std::io;

use sha2::{Digest as _, Sha256};

/// An access token. `Debug` does not print it, and it is compared in constant time.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Minimum length of a token.
const MIN_TOKEN_BYTES: usize = 16;

impl Token {
    /// Creates a token from 32 random bytes.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(hex(&bytes)))
    }

    /// Accepts a token of at least 16 visible ASCII characters, without spaces.
    pub fn new(text: &str) -> Option<Self> {
        let is_visible = |byte: u8| byte.is_ascii_graphic();
        (text.len() >= MIN_TOKEN_BYTES && text.bytes().all(is_visible))
            .then(|| Self(text.to_owned()))
    }

    /// Returns the token, to show to the user.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns whether the value of an `Authorization` header contains the token.
    pub fn matches_header(&self, header: &[u8]) -> bool {
        // Comparing digests leaks nothing about how many characters match.
        bearer(header).is_some_and(|value| digest(value) == digest(self.0.as_bytes()))
    }

    /// Returns its SHA-256 digest, by which it is kept.
    pub(crate) fn digest(&self) -> [u8; 32] {
        digest(self.0.as_bytes())
    }
}

/// Returns the token in the value of an `Authorization` header.
pub(crate) fn bearer(header: &[u8]) -> Option<&[u8]> {
    let (scheme, value) = header.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(value)
}

/// Returns bytes as digits.
pub(crate) fn hex(bytes: &[u8; 32]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns the SHA-256 digest of a token.
pub(crate) fn digest(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn token_is_accepted_only_as_a_bearer() {
        let token = Token::new("0123456789abcdef").unwrap();
        for (header, is_shown) in [
            ("Bearer 0123456789abcdef", true),
            ("bearer 0123456789abcdef", true),
            ("Bearer 0123456789abcde", false),
            ("Bearer 0123456789abcdef ", false),
            ("Bearer  0123456789abcdef", false),
            ("Basic 0123456789abcdef", false),
            ("0123456789abcdef", false),
            ("Bearer ", false),
            ("", false),
        ] {
            assert_eq!(
                token.matches_header(header.as_bytes()),
                is_shown,
                "{header}"
            );
        }
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[test]
    fn short_token_or_one_with_spaces_is_refused() {
        for text in ["", "short", "0123456789 abcdef", "0123456789abcdé"] {
            assert_eq!(Token::new(text), None, "{text}");
        }
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.reveal().len(), 64);
        assert_ne!(one, other);
    }
}
