//! Digests of files, cached by file revision.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::cache::BoundedCache;
use crate::source::Revision;

/// Maximum number of cached digests, about 2 MB. A hundred real skills have fewer than a thousand files.
const MAX_DIGESTS: usize = 16_384;

/// A SHA-256: of a file's bytes, or of the list of a skill's files.
///
/// ```
/// use skillfold_core::load::Digest;
///
/// let digest = Digest::sha256(b"");
/// assert!(digest.to_string().starts_with("sha256:e3b0c442"));
/// assert_eq!(digest.to_string().parse(), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Computes the SHA-256 of some bytes.
    pub fn sha256(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub(super) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Computes the digest of content that comes piece by piece.
#[derive(Clone, Debug, Default)]
pub struct DigestHasher(Sha256);

impl DigestHasher {
    /// Adds the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all pieces.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("sha256:")?;
        for byte in self.0 {
            write!(formatter, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// A text is not a digest: not `sha256:` and 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidDigest;

display!(
    InvalidDigest,
    |_it| "A digest is `sha256:` and 64 lowercase hexadecimal digits"
);

impl std::error::Error for InvalidDigest {}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let digits = text.strip_prefix("sha256:").ok_or(InvalidDigest)?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if digits.len() != 64 || !digits.bytes().all(is_digit) {
            return Err(InvalidDigest);
        }
        let mut bytes = [0; 32];
        for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| InvalidDigest)?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Digest({self})")
    }
}

/// Digests by file revision.
pub(super) struct DigestCache(BoundedCache<Revision, Digest>);

impl Default for DigestCache {
    fn default() -> Self {
        Self(BoundedCache::new(MAX_DIGESTS, usize::MAX))
    }
}

impl DigestCache {
    /// Returns the digest of a file with this revision, if it is cached.
    pub(super) fn get(&mut self, revision: &Revision) -> Option<Digest> {
        self.0.get(revision).copied()
    }

    /// Caches the digest of a file, if an equal revision guarantees equal content. `now` is the time before the file
    /// was read.
    pub(super) fn insert(&mut self, revision: Revision, digest: Digest, now: SystemTime) {
        // On a system that reports no inode, two files may have the same revision.
        if revision.inode().is_some() && revision.is_settled(now) {
            self.0.insert(revision, digest, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use super::{Digest, DigestCache};
    use crate::source::Revision;

    fn revision(inode: u64, modified: SystemTime) -> Revision {
        Revision::new(1)
            .with_inode(1, inode)
            .with_modified(modified)
    }

    #[test]
    fn digest_is_cached_only_for_a_settled_known_file() {
        let (mut digests, now) = (DigestCache::default(), UNIX_EPOCH + Duration::from_secs(10));
        for (revision, is_cached) in [
            (revision(1, UNIX_EPOCH), true),
            (revision(2, now), false),
            (revision(0, UNIX_EPOCH), false),
        ] {
            digests.insert(revision, Digest::sha256(b"x"), now);
            assert_eq!(digests.get(&revision).is_some(), is_cached, "{revision:?}");
        }
    }
}
