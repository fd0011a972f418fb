//! Tokens of the identity provider.

use std::fmt;
use std::sync::Arc;

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header};
use skillfold_core::Error;
use skillfold_core::diagnostic::visible;
use ureq::http::Uri;

use crate::address::is_safe;
use crate::claims::Claims;
use crate::denied::{Denied, InvalidToken};
use crate::keys::{KeySet, Keys, NoKey, fetch};
use crate::signatures::{ACCEPTED, install};

/// How far the clocks of the provider and of this server may differ, in seconds.
const CLOCK_SKEW: u64 = 30;

/// What the header of an access token says it is (RFC 9068); many providers say nothing, or `JWT`.
const KINDS: [&str; 3] = ["jwt", "at+jwt", "application/at+jwt"];

/// Maximum number of keys that a token without the id of its key is tried with.
const MAX_TRIED_KEYS: usize = 8;

/// The identity provider whose tokens are accepted.
pub struct Issuer {
    url: String,
    audience: String,
    keys: Arc<Keys>,
}

impl Issuer {
    /// Creates an issuer by its address, and what its tokens for this server name as their audience.
    pub fn new(url: &str, audience: &str) -> Result<Self, Error> {
        let uri: Option<Uri> = url.parse().ok();
        if !uri.is_some_and(|uri| is_safe(&uri) && uri.query().is_none()) {
            let why = "the address of the identity provider has to begin with `https://`, except on the loopback interface";
            return Err(Error::invalid(visible(url), why));
        }
        install();
        Ok(Self {
            url: url.to_owned(),
            audience: audience.to_owned(),
            keys: Arc::new(Keys::new(url)),
        })
    }

    /// Returns its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Asks it for its keys, and returns how many there are or why it has none. Blocks.
    pub fn probe(&self) -> Result<usize, String> {
        fetch(&self.url).map(|keys| keys.len())
    }

    /// Allows to ask it again at once; otherwise that takes some seconds, whatever tokens arrive.
    #[doc(hidden)]
    pub fn forget_when_asked(&self) {
        self.keys.forget_when_asked();
    }

    /// Returns the current keys, which tokens that were checked before have to agree with.
    pub(crate) async fn keys(&self) -> Result<Arc<KeySet>, Denied> {
        self.keys.current().await.map_err(|_| Denied::Unavailable)
    }

    /// Checks a token, and returns what it says and the keys that it was checked by.
    pub(crate) async fn check(&self, token: &[u8]) -> Result<(Claims, Arc<KeySet>), Denied> {
        let invalid = Denied::Invalid;
        let header = decode_header(token).map_err(|_| invalid(header_problem(token)))?;
        check_header(&header).map_err(invalid)?;
        let (id, algorithm) = (header.kid.as_deref(), header.alg);
        let set = match self.keys.with_key(id, algorithm).await {
            Ok(set) => set,
            Err(NoKey::Unknown) => return Err(invalid(InvalidToken::Key)),
            Err(NoKey::Unavailable) => return Err(Denied::Unavailable),
        };
        let validation = self.validation(algorithm);
        let mut problem = InvalidToken::Key;
        for key in set.find(id, algorithm).take(MAX_TRIED_KEYS) {
            match decode::<Claims>(token, &key.public, &validation) {
                Ok(data) if data.claims.has_subject() => {
                    return Ok((data.claims, Arc::clone(&set)));
                }
                Ok(_) => return Err(invalid(InvalidToken::Claims)),
                Err(error) => problem = token_problem(error.kind()),
            }
        }
        Err(invalid(problem))
    }

    fn validation(&self, algorithm: Algorithm) -> Validation {
        let mut validation = Validation::new(algorithm);
        validation.leeway = CLOCK_SKEW;
        validation.validate_nbf = true;
        validation.set_issuer(&[&self.url]);
        validation.set_audience(&[&self.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, audience, .. } = self;
        formatter
            .debug_struct("Issuer")
            .field("url", url)
            .field("audience", audience)
            .finish_non_exhaustive()
    }
}

/// Checks what a token says about itself before its signature.
fn check_header(header: &Header) -> Result<(), InvalidToken> {
    let kind = header.typ.as_deref().unwrap_or("JWT").to_ascii_lowercase();
    if !KINDS.contains(&kind.as_str()) {
        return Err(InvalidToken::Kind);
    }
    // What has to be understood is nothing that is understood here.
    if header.crit.is_some() || header.enc.is_some() || header.zip.is_some() {
        return Err(InvalidToken::Malformed);
    }
    if ACCEPTED.contains(&header.alg) {
        Ok(())
    } else {
        Err(InvalidToken::Algorithm)
    }
}

/// Returns why a header cannot be read: often because it says that there is no signature.
fn header_problem(token: &[u8]) -> InvalidToken {
    let parts = token.split(|byte| *byte == b'.').count();
    if parts == 3 {
        InvalidToken::Algorithm
    } else {
        InvalidToken::Malformed
    }
}

fn token_problem(kind: &ErrorKind) -> InvalidToken {
    match kind {
        ErrorKind::InvalidSignature => InvalidToken::Signature,
        ErrorKind::InvalidIssuer => InvalidToken::Issuer,
        ErrorKind::InvalidAudience => InvalidToken::Audience,
        ErrorKind::ExpiredSignature => InvalidToken::Expired,
        ErrorKind::ImmatureSignature => InvalidToken::NotYet,
        ErrorKind::InvalidAlgorithm => InvalidToken::Algorithm,
        ErrorKind::InvalidToken | ErrorKind::Base64(_) => InvalidToken::Malformed,
        ErrorKind::InvalidKeyFormat | ErrorKind::InvalidEcdsaKey => InvalidToken::Key,
        _ => InvalidToken::Claims,
    }
}
