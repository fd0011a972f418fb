//! How many requests each identity sends.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;

use crate::identity::Identity;
use crate::identity_kind::IdentityKind;

/// How many identities are counted. Whoever was not there for longest starts over, with a full minute's requests.
const MAX_COUNTED: NonZeroUsize = NonZeroUsize::new(16_384).unwrap();

const MINUTE: Duration = Duration::from_secs(60);

/// The requests of each identity in the last minute.
#[derive(Debug)]
pub(crate) struct Rates(Mutex<LruCache<(IdentityKind, Box<str>), Bucket>>);

/// A minute's requests, which refill all the time.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// How much of a minute is left, in time: a request takes its share of it.
    left: Duration,
    since: Instant,
}

impl Default for Rates {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_COUNTED)))
    }
}

impl Rates {
    /// Counts a request. Returns how long to wait if it is one too many; it does not count then.
    pub(crate) fn count(&self, identity: &Identity, now: Instant) -> Result<(), Duration> {
        let share = MINUTE / identity.role.limits.requests_per_minute.max(1);
        let key = (identity.kind, identity.id.clone());
        let mut rates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let full = Bucket {
            left: MINUTE,
            since: now,
        };
        let bucket = rates.get_or_insert_mut(key, || full);
        bucket.left = MINUTE.min(bucket.left + now.saturating_duration_since(bucket.since));
        bucket.since = now;
        match bucket.left.checked_sub(share) {
            Some(left) => {
                bucket.left = left;
                Ok(())
            }
            None => Err(share.saturating_sub(bucket.left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::Rates;
    use crate::identity::Identity;
    use crate::identity_kind::IdentityKind;
    use crate::role::Role;
    use crate::token_scope::TokenScopes;

    fn identity(id: &str) -> Identity {
        let mut role = Role::new("everybody");
        role.limits.requests_per_minute = 60;
        Identity {
            kind: IdentityKind::Subject,
            id: id.into(),
            name: id.into(),
            role: Arc::new(role),
            scopes: TokenScopes::ALL,
        }
    }

    #[test]
    fn minute_of_requests_is_admitted_at_once_and_then_one_each_second() {
        let (rates, alice, start) = (Rates::default(), identity("alice"), Instant::now());
        let admitted = |at: u64, identity: &Identity| {
            rates
                .count(identity, start + Duration::from_millis(at))
                .is_ok()
        };
        assert_eq!((0..100).filter(|_| admitted(0, &alice)).count(), 60);
        assert!(admitted(0, &identity("bob")), "others have their own");
        assert!(!admitted(999, &alice));
        assert!(admitted(1_000, &alice));
        assert!(!admitted(1_000, &alice));
        assert_eq!((0..100).filter(|_| admitted(11_000, &alice)).count(), 10);
        assert_eq!((0..100).filter(|_| admitted(600_000, &alice)).count(), 60);
    }

    #[test]
    fn wait_is_until_the_next_request_is_admitted() {
        let (rates, alice, start) = (Rates::default(), identity("alice"), Instant::now());
        for _ in 0..60 {
            rates.count(&alice, start).unwrap();
        }
        let wait = rates.count(&alice, start).unwrap_err();
        assert_eq!(wait, Duration::from_secs(1));
        assert!(rates.count(&alice, start + wait).is_ok());
    }
}
