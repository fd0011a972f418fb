//! Checks the token of a request, and says who sent it.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;

use crate::claims::Claims;
use crate::denied::{Denied, InvalidToken};
use crate::identity::Identity;
use crate::identity_kind::IdentityKind;
use crate::issuer::Issuer;
use crate::keys::KeySet;
use crate::protected_resource::ProtectedResource;
use crate::rates::Rates;
use crate::role::Role;
use crate::time::now;
use crate::token::{bearer, digest};
use crate::token_file::{TokenFile, Tokens};
use crate::token_scope::{TokenScope, TokenScopes};

/// How many tokens of the identity provider are remembered, so that the signature of each is checked once.
const MAX_CHECKED: NonZeroUsize = NonZeroUsize::new(16_384).unwrap();

/// Maximum length of a token in bytes.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Who may send requests to a server, and what each may do.
#[derive(Debug, Default)]
pub struct Identities {
    roles: Vec<Arc<Role>>,
    resource: Option<ProtectedResource>,
    tokens: Option<TokenFile>,
    issuer: Option<Issuer>,
    needs_scopes: bool,
    checked: Checked,
    rates: Rates,
}

/// Tokens of the identity provider that were checked, by their digest.
#[derive(Debug)]
struct Checked(Mutex<LruCache<[u8; 32], CheckedToken>>);

/// A token of the identity provider that was checked. It holds as long as the provider's keys stay, nothing is revoked, and it
/// has not expired.
#[derive(Clone, Debug)]
struct CheckedToken {
    identity: Arc<Identity>,
    expires: u64,
    by: CheckedBy,
}

/// The versions of the keys and of the file of tokens that a token was checked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CheckedBy {
    keys: u64,
    tokens: u64,
}

impl CheckedBy {
    fn new(keys: &KeySet, tokens: Option<&Arc<Tokens>>) -> Self {
        Self {
            keys: keys.version,
            tokens: tokens.map_or(0, |tokens| tokens.version),
        }
    }
}

impl Identities {
    /// Creates a set of identities with these roles; of several that fit, the first counts. Without a role, everybody whose
    /// token is accepted sees every skill.
    pub fn new(roles: impl IntoIterator<Item = Role>) -> Self {
        let mut roles: Vec<_> = roles.into_iter().map(Arc::new).collect();
        if roles.is_empty() {
            roles.push(Arc::new(Role::new("everybody")));
        }
        Self {
            roles,
            ..Self::default()
        }
    }

    /// Says which server this is, so that clients can learn where to get a token for it.
    #[must_use]
    pub fn with_resource(mut self, resource: ProtectedResource) -> Self {
        self.resource = Some(resource);
        self
    }

    /// Accepts the tokens of a file.
    #[must_use]
    pub fn with_tokens(mut self, tokens: TokenFile) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Accepts the tokens of an identity provider. If `needs_scopes`, a token may be used for what its scopes name; otherwise
    /// for everything.
    #[must_use]
    pub fn with_issuer(mut self, issuer: Issuer, needs_scopes: bool) -> Self {
        self.issuer = Some(issuer);
        self.needs_scopes = needs_scopes;
        self
    }

    /// Returns the roles.
    pub fn roles(&self) -> &[Arc<Role>] {
        &self.roles
    }

    /// Returns the server as its clients know it.
    pub fn resource(&self) -> Option<&ProtectedResource> {
        self.resource.as_ref()
    }

    /// Returns the header `WWW-Authenticate` for a denied request: what was wrong, and where to get a token with the scopes
    /// that it needs.
    pub fn challenge(&self, denied: Denied, scopes: TokenScopes) -> String {
        let mut challenge = "Bearer realm=\"skillfold\"".to_owned();
        let error = match denied {
            Denied::Invalid(_) => Some("invalid_token"),
            Denied::Scope => Some("insufficient_scope"),
            Denied::Missing | Denied::NoRole | Denied::Unavailable => None,
        };
        if let Some(error) = error {
            // Writing to a string cannot fail.
            let _ = write!(
                challenge,
                ", error=\"{error}\", error_description=\"{denied}\""
            );
        }
        if let (Some(resource), Some(_)) = (&self.resource, &self.issuer) {
            let metadata = resource.metadata_url();
            let _ = write!(
                challenge,
                ", scope=\"{scopes}\", resource_metadata=\"{metadata}\""
            );
        }
        challenge
    }

    /// Returns the identity provider.
    pub fn issuer(&self) -> Option<&Issuer> {
        self.issuer.as_ref()
    }

    /// Returns the file of tokens.
    pub fn tokens(&self) -> Option<&TokenFile> {
        self.tokens.as_ref()
    }

    /// Counts a request. Returns how long to wait if its sender has sent more than the role allows; it does not count then.
    pub fn count(&self, identity: &Identity) -> Result<(), Duration> {
        self.rates.count(identity, Instant::now())
    }

    /// Returns who sent a request, by the value of its header `Authorization`.
    pub async fn identify(&self, authorization: Option<&[u8]>) -> Result<Arc<Identity>, Denied> {
        let token = authorization.and_then(bearer).ok_or(Denied::Missing)?;
        let unknown = Denied::Invalid(InvalidToken::Unknown);
        if token.len() > MAX_TOKEN_BYTES {
            return Err(unknown);
        }
        let (tokens, digest) = (self.tokens.as_ref().map(TokenFile::current), digest(token));
        let named = tokens
            .as_ref()
            .map_or(Ok(None), |tokens| tokens.find(&digest));
        match named {
            Ok(Some(named)) => {
                return self
                    .known(
                        IdentityKind::Token,
                        &named.name,
                        &named.name,
                        &named.groups,
                        &[],
                        named.scopes,
                    )
                    .map(Arc::new);
            }
            Ok(None) => {}
            Err(_) => return Err(Denied::Invalid(InvalidToken::Expired)),
        }
        let issuer = self
            .issuer
            .as_ref()
            .filter(|_| token.contains(&b'.'))
            .ok_or(unknown)?;
        let keys = issuer.keys().await?;
        if let Some(identity) = self
            .checked
            .find(&digest, CheckedBy::new(&keys, tokens.as_ref()))
        {
            return Ok(identity);
        }
        let (claims, keys) = issuer.check(token).await?;
        if tokens
            .as_ref()
            .is_some_and(|it| it.is_revoked(&claims.sub, claims.id.as_deref()))
        {
            return Err(Denied::Invalid(InvalidToken::Revoked));
        }
        let identity = Arc::new(self.subject(&claims)?);
        let by = CheckedBy::new(&keys, tokens.as_ref());
        self.checked.insert(digest, &identity, &claims, by);
        Ok(identity)
    }

    /// Returns the identity of a token of the provider.
    fn subject(&self, claims: &Claims) -> Result<Identity, Denied> {
        let words = claims.scopes();
        let scopes = if self.needs_scopes {
            TokenScopes::from_words(words.iter().copied())
        } else {
            TokenScopes::ALL
        };
        let (kind, groups) = (IdentityKind::Subject, claims.groups());
        self.known(kind, &claims.sub, claims.name(), &groups, &words, scopes)
    }

    fn known(
        &self,
        kind: IdentityKind,
        id: &str,
        name: &str,
        groups: &[String],
        words: &[&str],
        scopes: TokenScopes,
    ) -> Result<Identity, Denied> {
        if !scopes.has(TokenScope::Read) {
            return Err(Denied::Scope);
        }
        let mut roles = self.roles.iter();
        let role = roles.find(|role| role.fits(kind, id, groups, words));
        Ok(Identity {
            kind,
            id: id.into(),
            name: name.into(),
            role: Arc::clone(role.ok_or(Denied::NoRole)?),
            scopes,
        })
    }
}

impl Default for Checked {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_CHECKED)))
    }
}

impl Checked {
    /// Returns the identity of a token that was checked, if that still holds.
    fn find(&self, digest: &[u8; 32], by: CheckedBy) -> Option<Arc<Identity>> {
        let mut checked = self.lock();
        let found = checked.get(digest)?;
        if found.by == by && found.expires > now() {
            return Some(Arc::clone(&found.identity));
        }
        checked.pop(digest);
        None
    }

    fn insert(&self, digest: [u8; 32], identity: &Arc<Identity>, claims: &Claims, by: CheckedBy) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time that was checked; one that is too far is the last one"
        )]
        let expires = claims.exp as u64;
        let identity = Arc::clone(identity);
        let token = CheckedToken {
            identity,
            expires,
            by,
        };
        self.lock().put(digest, token);
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<[u8; 32], CheckedToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
