//! Names of files that a write later renames or removes.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hasher, RandomState};

/// Prefix of temporary file names.
pub(crate) const TEMPORARY_PREFIX: &str = ".skillfold-write-";

/// Returns a random temporary name.
pub(crate) fn temporary_name() -> OsString {
    random_name(TEMPORARY_PREFIX)
}

pub(crate) fn random_name(prefix: &str) -> OsString {
    let random = RandomState::new().build_hasher().finish();
    format!("{prefix}{random:016x}").into()
}

pub(crate) fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes()
        .starts_with(TEMPORARY_PREFIX.as_bytes())
}
