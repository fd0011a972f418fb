//! The token that a client of the HTTP server has to show.

use std::fmt::{self, Write as _};
use std::io;

use sha2::{Digest as _, Sha256};

/// A token. It is not shown by `Debug`, and compared in a time that does not depend on what was tried.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Characters of the shortest token that is taken.
const SHORTEST: usize = 16;

impl Token {
    /// Makes a token of 32 bytes that the system gives.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let mut text = String::with_capacity(2 * bytes.len());
        for byte in bytes {
            // Writing to a text does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    /// Takes a token of at least 16 visible characters, without spaces.
    pub fn new(text: &str) -> Option<Self> {
        let is_visible = |byte: u8| byte.is_ascii_graphic();
        (text.len() >= SHORTEST && text.bytes().all(is_visible)).then(|| Self(text.to_owned()))
    }

    /// Returns the token, to be told to the person.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns whether the value of a header `Authorization` shows the token.
    pub(crate) fn is_shown(&self, header: &[u8]) -> bool {
        let Some((scheme, shown)) = header.split_at_checked(7) else {
            return false;
        };
        // The digests of two texts tell nothing about how far the texts are equal.
        scheme.eq_ignore_ascii_case(b"bearer ") && Sha256::digest(shown) == Sha256::digest(&self.0)
    }
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
    fn token_is_shown_as_a_bearer_and_in_no_other_way() {
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
            assert_eq!(token.is_shown(header.as_bytes()), is_shown, "{header}");
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
