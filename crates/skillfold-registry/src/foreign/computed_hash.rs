//! The hash of a skill's files that `npx skills` writes into its lock files.

use std::cmp::Ordering;

use sha2::{Digest as _, Sha256};

use crate::tree::FileTree;

/// ASCII characters in the order of the Unicode collation, except letters, which differ in case only after everything
/// else is equal.
const COLLATION: &[u8] = b" _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ";

/// Returns the hash of a skill's files as `npx skills` 1.7.4 computes it: the SHA-256 of all paths and contents in the
/// order of JavaScript's `localeCompare`, in 64 hexadecimal digits. Folders named `.git` and `node_modules` are skipped.
///
/// Returns `None` if a path has characters outside ASCII, whose order depends on the version of Unicode.
///
/// A different hash is not proof of a change: `localeCompare` follows the user's language, and some languages order
/// letters differently (`aa` in Danish); and folders of other version control systems, which a [`FileTree`] never has,
/// count there. The same hash is not proof of equality: paths and contents are hashed without a separator, so `a` with
/// `bc` is the same as `ab` with `c`.
pub fn computed_hash(files: &FileTree) -> Option<String> {
    let mut counted: Vec<(&str, &[u8])> = Vec::new();
    for (path, content) in files.iter() {
        let path = path.as_str();
        let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
        if folders
            .split('/')
            .any(|name| matches!(name, ".git" | "node_modules"))
        {
            continue;
        }
        if !path.bytes().all(|byte| COLLATION.contains(&byte)) {
            return None;
        }
        counted.push((path, content));
    }
    counted.sort_by(|(a, _), (b, _)| locale_compare(a, b));
    let mut hash = Sha256::new();
    for (path, content) in counted {
        hash.update(path);
        hash.update(content);
    }
    Some(format!("{:x}", hash.finalize()))
}

/// Compares two ASCII texts as `localeCompare` does: without case first, then lower case before upper case.
fn locale_compare(a: &str, b: &str) -> Ordering {
    let weights = |text: &str| -> Vec<usize> {
        let weight = |byte: u8| {
            COLLATION
                .iter()
                .position(|it| *it == byte)
                .unwrap_or(COLLATION.len())
        };
        text.bytes()
            .map(|byte| weight(byte.to_ascii_lowercase()))
            .collect()
    };
    let cases =
        |text: &str| -> Vec<bool> { text.bytes().map(|byte| byte.is_ascii_uppercase()).collect() };
    weights(a)
        .cmp(&weights(b))
        .then_with(|| cases(a).cmp(&cases(b)))
}
