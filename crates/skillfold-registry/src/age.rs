//! What an address means if versions must have an age.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skillfold_core::text::utc;
use skillfold_core::{Error, ErrorKind};

use crate::address::Address;
use crate::lock::Pin;
use crate::policy::MinimumAge;

const HOUR: u64 = 60 * 60;
const WAIT: &str = "Wait, or name an older version after `@`: a tag or a range such as `^1.2`";

/// Which version an address means now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resolved {
    /// The newest.
    Newest(Pin),
    /// The newest that is old enough; a newer one is not.
    OldEnough(Pin, HeldBack),
    /// None is old enough.
    TooNew(HeldBack),
}

impl Resolved {
    /// Returns the version, if one may be used.
    pub fn pin(&self) -> Option<&Pin> {
        match self {
            Self::Newest(pin) | Self::OldEnough(pin, _) => Some(pin),
            Self::TooNew(_) => None,
        }
    }

    /// Returns the newest version, if a policy holds it back.
    pub fn held_back(&self) -> Option<&HeldBack> {
        match self {
            Self::Newest(_) => None,
            Self::OldEnough(_, held) | Self::TooNew(held) => Some(held),
        }
    }

    /// Returns the version.
    ///
    /// # Errors
    ///
    /// [`Refused`](ErrorKind::Refused) if none is old enough.
    pub fn into_pin(self) -> Result<Pin, Error> {
        match self {
            Self::Newest(pin) | Self::OldEnough(pin, _) => Ok(pin),
            Self::TooNew(held) => Err(held.error()),
        }
    }
}

/// A version that is not old enough.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldBack {
    /// The source as typed.
    pub source: String,
    /// The version.
    pub pin: Pin,
    /// How old it is.
    pub age: Duration,
    /// When it is old enough; `None` if that is beyond all time.
    pub until: Option<SystemTime>,
    /// How old it must be.
    pub minimum: MinimumAge,
}

impl HeldBack {
    /// Creates it from the time since when the version is known, in seconds since 1970.
    pub(crate) fn new(
        address: &Address,
        pin: &Pin,
        since: u64,
        age: u64,
        minimum: &MinimumAge,
    ) -> Self {
        let until = Duration::from_secs(since).checked_add(minimum.age);
        Self {
            source: address.source().to_owned(),
            pin: pin.clone(),
            age: Duration::from_secs(age),
            until: until.and_then(|until| UNIX_EPOCH.checked_add(until)),
            minimum: minimum.clone(),
        }
    }

    /// Returns the refusal: which version, which rule, and when it ends.
    pub fn error(&self) -> Error {
        let hours = self.age.as_secs() / HOUR;
        let age = match hours {
            0..48 => format!("{hours} hours"),
            _ => format!("{} days", hours / 24),
        };
        let until = self.until.map(|time| utc(time)[..10].to_owned());
        let until = until.map_or_else(String::new, |day| {
            format!(", and may be used from {day} on")
        });
        let MinimumAge { rule, .. } = &self.minimum;
        let message = format!(
            "{} of `{}` is {age} old{until}: `minimum-age` is {} ({})",
            self.pin, self.source, rule.value, rule.origin
        );
        Error::new(ErrorKind::Refused, message, WAIT)
    }
}
