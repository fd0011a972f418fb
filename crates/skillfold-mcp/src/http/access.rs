//! Who may send requests over HTTP.

use std::sync::Arc;

use skillfold_http::{Identities, Token};

/// Who may send requests.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "tokens are required or not")]
pub enum HttpAccess {
    /// Clients that send the token.
    Token(Token),
    /// Those whose token is accepted, each with the skills of its role.
    Identities(Arc<Identities>),
    /// Everyone who can reach the address.
    Open,
}
