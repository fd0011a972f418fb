//! Why a request is denied.

use std::fmt;

/// Why a request is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denied {
    /// It has no token.
    Missing,
    /// Its token is not accepted.
    Invalid(InvalidToken),
    /// Its token may not be used for skills.
    Scope,
    /// No role fits it.
    NoRole,
    /// The keys of the identity provider could not be had.
    Unavailable,
}

/// Why a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidToken {
    /// It is not in the file of tokens, and no token of the identity provider.
    Unknown,
    /// It is not written as a JSON Web Token.
    Malformed,
    /// It is a token for something else.
    Kind,
    /// It is signed in a way that is not accepted.
    Algorithm,
    /// It is signed by a key that the identity provider does not have.
    Key,
    /// The signature is wrong.
    Signature,
    /// Another provider issued it.
    Issuer,
    /// It is for another server.
    Audience,
    /// It has expired.
    Expired,
    /// It is not valid yet.
    NotYet,
    /// It was revoked.
    Revoked,
    /// A claim is missing or malformed.
    Claims,
}

impl InvalidToken {
    /// Returns a word for it, for logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Malformed => "malformed",
            Self::Kind => "kind",
            Self::Algorithm => "algorithm",
            Self::Key => "key",
            Self::Signature => "signature",
            Self::Issuer => "issuer",
            Self::Audience => "audience",
            Self::Expired => "expired",
            Self::NotYet => "not-yet",
            Self::Revoked => "revoked",
            Self::Claims => "claims",
        }
    }
}

impl fmt::Display for InvalidToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unknown => "The token is wrong",
            Self::Malformed => "The token is not a JSON Web Token",
            Self::Kind => "The token is not an access token",
            Self::Algorithm => "The token is signed by an algorithm that is not accepted",
            Self::Key => "The token is signed by a key that the identity provider does not have",
            Self::Signature => "The signature of the token is wrong",
            Self::Issuer => "The token is of another identity provider",
            Self::Audience => "The token is for another server",
            Self::Expired => "The token has expired",
            Self::NotYet => "The token is not valid yet",
            Self::Revoked => "The token was revoked",
            Self::Claims => "A claim of the token is missing or malformed",
        })
    }
}

impl Denied {
    /// Returns a word for it, for logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Invalid(why) => why.as_str(),
            Self::Scope => "scope",
            Self::NoRole => "no-role",
            Self::Unavailable => "unavailable",
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => formatter.write_str("The token is missing"),
            Self::Invalid(why) => why.fmt(formatter),
            Self::Scope => formatter.write_str("The token may not be used for this"),
            Self::NoRole => formatter
                .write_str("You may not use this server: no entry of its `[identities]` fits you"),
            Self::Unavailable => formatter.write_str("The identity provider does not answer"),
        }
    }
}
