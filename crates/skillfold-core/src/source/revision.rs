//! A cheap revision of a file, from its metadata.

/// The revision of a file, taken from the open descriptor. Two equal, settled revisions mean equal content.
///
/// A revision is only meaningful on one machine. To compare across machines, use a digest of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts with their own sources set all fields"
)]
pub struct Revision {
    /// The device; 0 if the system does not provide it.
    pub device: u64,
    /// The inode; 0 if the system does not provide it.
    pub inode: u64,
    /// The size in bytes.
    pub size: u64,
    /// The last change of the content (`mtime`), in nanoseconds since 1970.
    pub modified_ns: i64,
    /// The last change of the content, name or permissions (`ctime`), in nanoseconds since 1970; 0 if the system does
    /// not provide it.
    pub changed_ns: i64,
}

impl Revision {
    /// Timestamp granularity to allow for: two writes within this time may get the same timestamps.
    const SETTLING_NS: i64 = 2_000_000_000;

    /// Returns whether the file's last change is long enough before `now_ns` for an equal revision to mean equal
    /// content.
    ///
    /// A file that changed less than 2 seconds before, or after, has to be compared by content.
    pub fn is_settled(&self, now_ns: i64) -> bool {
        let limit = now_ns.saturating_sub(Self::SETTLING_NS);
        self.modified_ns <= limit && self.changed_ns <= limit
    }

    /// Returns whether the file changed within 2 seconds of `now_ns`: it may still be being written.
    pub(crate) fn is_recent(&self, now_ns: i64) -> bool {
        // Anyone can set the mtime, but not the ctime.
        let last = if self.changed_ns == 0 {
            self.modified_ns
        } else {
            self.changed_ns
        };
        last != 0 && now_ns.abs_diff(last) < Self::SETTLING_NS.unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::Revision;

    #[test]
    fn recent_or_future_change_is_unsettled() {
        let at = |modified_ns, changed_ns| Revision {
            device: 1,
            inode: 1,
            size: 1,
            modified_ns,
            changed_ns,
        };
        let now = 10_000_000_000;
        assert!(at(8_000_000_000, 0).is_settled(now));
        assert!(!at(8_000_000_001, 0).is_settled(now));
        assert!(!at(0, 9_000_000_000).is_settled(now));
        assert!(!at(now + 1, 0).is_settled(now));
    }
}
