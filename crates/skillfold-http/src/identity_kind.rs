//! How an identity is known.

/// How an identity is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a token is the provider's or the operator's"
)]
pub enum IdentityKind {
    /// A subject of the identity provider.
    Subject,
    /// A named token.
    Token,
}
