//! Deletes unused indexes: there is one per set of roots, and projects come and go.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::disk::files::writer_lock;
use crate::ownership::check_owned_folder;

/// Time after which an unused index is deleted.
const MAX_IDLE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Maximum number of indexes to keep.
const MAX_INDEXES: usize = 16;

/// Marks the index `name` in a folder of indexes as used now, and deletes those that were not used for 30 days and all
/// but the 16 most recently used. Returns the names of the deleted ones.
///
/// An index that is being written is kept. Anything that is not a folder, or not owned by the user alone, is not
/// touched.
pub fn delete_unused_indexes(folder: &Path, name: &str) -> io::Result<Vec<String>> {
    let used = folder.join(name);
    let now = touch(&used);
    let mut others: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        if path != used && check_owned_folder(&path).is_ok() {
            others.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    others.sort_unstable_by(|first, second| second.cmp(first));
    let is_old = |time: SystemTime| now.duration_since(time).is_ok_and(|age| age > MAX_IDLE);
    let mut deleted = Vec::new();
    for (position, (time, path)) in others.iter().enumerate() {
        // The index in use counts as well.
        if position + 1 < MAX_INDEXES && !is_old(*time) {
            continue;
        }
        let Ok(Some(_lock)) = writer_lock(path) else {
            continue;
        };
        fs::remove_dir_all(path)?;
        let name = path.file_name().map(OsStr::to_string_lossy);
        deleted.push(name.unwrap_or_default().into_owned());
    }
    Ok(deleted)
}

/// Sets the modification time of a folder to now, and returns it.
#[expect(
    clippy::disallowed_methods,
    reason = "the time is compared with file times and not written to any file"
)]
fn touch(folder: &Path) -> SystemTime {
    let now = SystemTime::now();
    // On systems where a folder cannot be opened, the time of its last change has to do.
    if let Ok(opened) = File::open(folder) {
        let _ = opened.set_modified(now);
    }
    now
}
