//! The keys of the identity provider, which change.
//!
//! They are asked for when they are old, and when a token names one that is not there: at most every ten seconds, whatever
//! tokens arrive.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::fetch::get_json;
use crate::signatures::ACCEPTED;
use crate::version::next_version;

/// After this, keys are asked for again: how long a key that the provider withdrew is still accepted.
const REFRESH_AFTER: Duration = Duration::from_secs(5 * 60);

/// After this, keys are no longer used if the provider does not answer.
const USE_AT_MOST: Duration = Duration::from_secs(60 * 60);

/// The least time between two requests for keys.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// Maximum number of keys of a provider.
const MAX_KEYS: usize = 64;

/// Where providers describe themselves: OAuth (RFC 8414), with the path of the issuer at the end, and `OpenID` Connect.
const WELL_KNOWN: [&str; 2] = ["oauth-authorization-server", "openid-configuration"];

/// A key that checks signatures.
pub(crate) struct Key {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    pub(crate) public: DecodingKey,
}

/// The keys of a provider at one time.
pub(crate) struct KeySet {
    keys: Vec<Key>,
    fetched: Instant,
    /// Differs from that of every other set.
    pub(crate) version: u64,
}

/// Why there is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoKey {
    /// The provider has no such key.
    Unknown,
    /// The provider does not answer.
    Unavailable,
}

/// The keys of a provider, which change.
pub(crate) struct Keys {
    issuer: String,
    current: RwLock<Option<Arc<KeySet>>>,
    /// When the provider was asked last. Held while it is asked.
    asked: Mutex<Option<Instant>>,
}

impl KeySet {
    /// Returns the keys that may have signed a token.
    pub(crate) fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &Key> {
        let keys = self.keys.iter();
        keys.filter(move |key| {
            (id.is_none() || key.id.as_deref() == id) && key.algorithms.contains(&algorithm)
        })
    }

    fn is_usable(&self) -> bool {
        self.fetched.elapsed() < USE_AT_MOST
    }
}

impl Keys {
    pub(crate) fn new(issuer: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            current: RwLock::default(),
            asked: Mutex::default(),
        }
    }

    /// Returns the current keys, and asks for new ones if they are old. Waits only if there are none.
    pub(crate) async fn current(self: &Arc<Self>) -> Result<Arc<KeySet>, NoKey> {
        match self.known() {
            Some(set) if set.fetched.elapsed() < REFRESH_AFTER => Ok(set),
            Some(set) if set.is_usable() => {
                let keys = Arc::clone(self);
                tokio::spawn(async move { keys.refresh(REFRESH_AFTER).await });
                Ok(set)
            }
            _ => {
                self.refresh(REFRESH_AFTER).await;
                self.known()
                    .filter(|set| set.is_usable())
                    .ok_or(NoKey::Unavailable)
            }
        }
    }

    /// Returns keys among which is one that may have signed a token.
    pub(crate) async fn with_key(
        self: &Arc<Self>,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Arc<KeySet>, NoKey> {
        let set = self.current().await?;
        if set.find(id, algorithm).next().is_some() {
            return Ok(set);
        }
        // The provider may have a new key.
        self.refresh(Duration::ZERO).await;
        let set = self.known().unwrap_or(set);
        let found = set.find(id, algorithm).next().is_some();
        found.then_some(set).ok_or(NoKey::Unknown)
    }

    pub(crate) fn forget_when_asked(&self) {
        if let Ok(mut asked) = self.asked.try_lock() {
            *asked = None;
        }
    }

    fn known(&self) -> Option<Arc<KeySet>> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Asks the provider for its keys, unless it was asked a moment ago, or the keys are younger than `age`.
    async fn refresh(&self, age: Duration) {
        let mut asked = self.asked.lock().await;
        let is_recent = asked.is_some_and(|asked| asked.elapsed() < ASK_AGAIN_AFTER);
        if is_recent || self.known().is_some_and(|set| set.fetched.elapsed() < age) {
            return;
        }
        let issuer = self.issuer.clone();
        let fetched = tokio::task::spawn_blocking(move || fetch(&issuer)).await;
        *asked = Some(Instant::now());
        match fetched.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(keys) => {
                tracing::debug!(keys = keys.len(), "got the keys of the identity provider");
                let set = KeySet {
                    keys,
                    fetched: Instant::now(),
                    version: next_version(),
                };
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(set));
            }
            Err(why) => tracing::warn!(
                issuer = self.issuer,
                why,
                "no keys of the identity provider"
            ),
        }
    }
}

/// What is used of a provider's description.
#[derive(Deserialize)]
struct Description {
    issuer: String,
    jwks_uri: String,
}

/// The keys of a provider, each read on its own: one that cannot be used does not hide the others.
#[derive(Deserialize)]
struct WrittenKeys {
    keys: Vec<Value>,
}

/// Asks a provider for its keys. Blocks.
pub(crate) fn fetch(issuer: &str) -> Result<Vec<Key>, String> {
    let Description {
        issuer: named,
        jwks_uri,
    } = describe(issuer)?;
    if named != issuer {
        return Err(format!("it calls itself `{named}`, not `{issuer}`"));
    }
    let written: WrittenKeys = get_json(&jwks_uri).map_err(|why| format!("{jwks_uri}: {why}"))?;
    let keys: Vec<Key> = written
        .keys
        .into_iter()
        .take(MAX_KEYS)
        .filter_map(Key::read)
        .collect();
    if keys.is_empty() {
        return Err(format!("{jwks_uri}: it has no key that can be used"));
    }
    Ok(keys)
}

fn describe(issuer: &str) -> Result<Description, String> {
    let mut failed = String::new();
    for address in descriptions(issuer) {
        match get_json(&address) {
            Ok(description) => return Ok(description),
            Err(why) => failed = format!("{address}: {why}"),
        }
    }
    Err(failed)
}

/// Returns the addresses at which a provider may describe itself.
fn descriptions(issuer: &str) -> Vec<String> {
    let issuer = issuer.trim_end_matches('/');
    let start = issuer.find("://").map_or(0, |at| at + "://".len());
    let path_start = issuer[start..]
        .find('/')
        .map_or(issuer.len(), |at| start + at);
    let (origin, path) = issuer.split_at(path_start);
    let inserted = WELL_KNOWN.map(|kind| format!("{origin}/.well-known/{kind}{path}"));
    let appended = format!("{issuer}/.well-known/{}", WELL_KNOWN[1]);
    let is_new = !inserted.contains(&appended);
    inserted
        .into_iter()
        .chain(is_new.then_some(appended))
        .collect()
}

impl Key {
    /// Reads a key, if it is one for signatures that are accepted.
    fn read(value: Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(value).ok()?;
        let usage = &jwk.common.public_key_use;
        if !matches!(usage, None | Some(PublicKeyUse::Signature)) {
            return None;
        }
        let mut algorithms = algorithms(&jwk.algorithm);
        if let Some(only) = jwk.common.key_algorithm {
            algorithms.retain(|algorithm| is_named(*algorithm, only));
        }
        Some(Self {
            public: DecodingKey::from_jwk(&jwk)
                .ok()
                .filter(|_| !algorithms.is_empty())?,
            id: jwk.common.key_id,
            algorithms,
        })
    }
}

/// Returns the algorithms that a key can check.
fn algorithms(parameters: &AlgorithmParameters) -> Vec<Algorithm> {
    match parameters {
        AlgorithmParameters::RSA(_) => {
            let accepted = ACCEPTED.into_iter();
            accepted
                .filter(|it| it.family() == jsonwebtoken::AlgorithmFamily::Rsa)
                .collect()
        }
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => vec![Algorithm::ES256],
            EllipticCurve::P384 => vec![Algorithm::ES384],
            _ => Vec::new(),
        },
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
            vec![Algorithm::EdDSA]
        }
        _ => Vec::new(),
    }
}

fn is_named(algorithm: Algorithm, name: KeyAlgorithm) -> bool {
    format!("{algorithm:?}") == name.to_string()
}

#[cfg(test)]
mod tests {
    use super::descriptions;

    #[test]
    fn provider_with_a_path_is_asked_at_each_address_of_the_standards() {
        insta::assert_snapshot!(descriptions("https://id.example.com/realms/a/").join("\n"), @r"
        https://id.example.com/.well-known/oauth-authorization-server/realms/a
        https://id.example.com/.well-known/openid-configuration/realms/a
        https://id.example.com/realms/a/.well-known/openid-configuration
        ");
        insta::assert_snapshot!(descriptions("http://127.0.0.1:8080").join("\n"), @r"
        http://127.0.0.1:8080/.well-known/oauth-authorization-server
        http://127.0.0.1:8080/.well-known/openid-configuration
        ");
    }
}
