//! A cheap revision of a file, from its metadata.

use std::time::{SystemTime, UNIX_EPOCH};

/// The revision of a file, taken from the open descriptor. Two equal, settled revisions mean equal content.
///
/// A revision is only meaningful on one machine. To compare across machines, use a digest of the content.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Revision {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: u64,
    /// In nanoseconds since 1970, as the next.
    pub(super) modified_ns: i64,
    pub(super) changed_ns: i64,
}

impl Revision {
    /// Timestamp granularity to allow for: two writes within this time may get the same timestamps.
    const SETTLING_NS: i64 = 2_000_000_000;

    /// Creates the revision of a file with a size in bytes, from a source that knows nothing else about it.
    pub fn new(size: u64) -> Self {
        Self {
            size,
            ..Self::default()
        }
    }

    /// Sets the device and the inode, or another number that a changed file does not keep.
    #[must_use]
    pub fn with_inode(self, device: u64, inode: u64) -> Self {
        Self {
            device,
            inode,
            ..self
        }
    }

    /// Sets the time when the content last changed (`mtime`).
    #[must_use]
    pub fn with_modified(self, time: SystemTime) -> Self {
        Self {
            modified_ns: nanoseconds(time),
            ..self
        }
    }

    /// Sets the time when the content, name or permissions last changed (`ctime`).
    #[must_use]
    pub fn with_changed(self, time: SystemTime) -> Self {
        Self {
            changed_ns: nanoseconds(time),
            ..self
        }
    }

    /// Returns the size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the device and the inode, if the source knows them.
    pub fn inode(&self) -> Option<(u64, u64)> {
        (self.inode != 0).then_some((self.device, self.inode))
    }

    /// Returns bytes that are the same only for an equal revision, for keys and digests.
    pub fn to_bytes(&self) -> [u8; 40] {
        let (modified, changed) = (
            self.modified_ns.cast_unsigned(),
            self.changed_ns.cast_unsigned(),
        );
        let mut bytes = [0; 40];
        let numbers = [self.device, self.inode, self.size, modified, changed];
        for (into, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            into.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// Returns whether the file's last change is long enough before `now` for an equal revision to mean equal content.
    ///
    /// A file that changed less than 2 seconds before, or after, has to be compared by content.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let limit = nanoseconds(now).saturating_sub(Self::SETTLING_NS);
        self.modified_ns <= limit && self.changed_ns <= limit
    }

    /// Returns whether the file changed within 2 seconds of `now`: it may still be being written.
    pub(crate) fn is_recent(&self, now: SystemTime) -> bool {
        // Anyone can set the mtime, but not the ctime.
        let last = if self.changed_ns == 0 {
            self.modified_ns
        } else {
            self.changed_ns
        };
        last != 0 && nanoseconds(now).abs_diff(last) < Self::SETTLING_NS.unsigned_abs()
    }
}

/// Returns a time in nanoseconds since 1970; times in the year 2262 and later are all the same.
fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |before| -before)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::Revision;

    #[test]
    fn recent_or_future_change_is_unsettled() {
        let at = |nanoseconds| UNIX_EPOCH + Duration::from_nanos(nanoseconds);
        let revision = |modified, changed| {
            Revision::new(1)
                .with_modified(at(modified))
                .with_changed(at(changed))
        };
        let now = at(10_000_000_000);
        assert!(revision(8_000_000_000, 0).is_settled(now));
        assert!(!revision(8_000_000_001, 0).is_settled(now));
        assert!(!revision(0, 9_000_000_000).is_settled(now));
        assert!(!revision(10_000_000_001, 0).is_settled(now));
    }

    #[test]
    fn times_before_1970_and_in_the_far_future_do_not_collide() {
        let day = Duration::from_secs(86_400);
        let [early, earlier, late] = [
            UNIX_EPOCH - day,
            UNIX_EPOCH - 2 * day,
            UNIX_EPOCH + 400 * 365 * day,
        ];
        let revision = |time| Revision::new(1).with_modified(time);
        assert_ne!(revision(early), revision(earlier));
        assert!(revision(early).is_settled(UNIX_EPOCH + day));
        assert!(!revision(late).is_settled(UNIX_EPOCH + day));
    }
}
