//! Indexes that nobody has used for long are deleted: each set of roots has one, and projects come and go.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::disk::files::writer_lock;
use crate::ownership::check_own;

/// An index that was not used for so long is deleted.
const AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Indexes that are kept at most, the latest used.
const MOST: usize = 16;

/// Notes that the index `name` in a folder of indexes is used now, and deletes those there that were not for 30 days, and
/// all but the 16 that were used last. Returns the names of those that were deleted.
///
/// One that is being written stays. What is no folder, or not the person's own, is not touched.
pub fn tidy_indexes(folder: &Path, name: &str) -> io::Result<Vec<String>> {
    let used = folder.join(name);
    let now = touch(&used);
    let mut others: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        if path != used && check_own(&path).is_ok() {
            others.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    others.sort_unstable_by(|one, other| other.cmp(one));
    let is_old = |time: SystemTime| now.duration_since(time).is_ok_and(|age| age > AGE);
    let mut deleted = Vec::new();
    for (at, (time, path)) in others.iter().enumerate() {
        // The one in use is kept too.
        if at + 1 < MOST && !is_old(*time) {
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

/// Sets the time of a folder to now, and returns it.
#[expect(
    clippy::disallowed_methods,
    reason = "the time is compared with that of files, and goes into none"
)]
fn touch(folder: &Path) -> SystemTime {
    let now = SystemTime::now();
    // Where a folder cannot be opened so, the time of its last change has to do.
    if let Ok(opened) = File::open(folder) {
        let _ = opened.set_modified(now);
    }
    now
}
