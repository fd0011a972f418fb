//! Who may send requests over HTTP.

use crate::http::token::Token;

/// Who may send requests.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a token is required or not")]
pub enum HttpAccess {
    /// Clients that send the token.
    Token(Token),
    /// Everyone who can reach the address.
    Open,
}
