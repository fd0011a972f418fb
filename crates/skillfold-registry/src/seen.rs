//! When this machine first saw the versions of a source.

use std::collections::BTreeMap;
use std::fs::{OpenOptions, create_dir_all};
use std::io::{self, Read, Seek, Write};

use skillfold_core::Error;

use crate::options::FetchOptions;

/// Folder of these files in the cache: one for each source.
const FOLDER: &str = "seen";
/// Maximum bytes of such a file.
const MAX_BYTES: u64 = 64 << 20;

/// When the versions were seen that a source has when it is asked for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstLook {
    /// At some time before.
    Before,
    /// Now.
    Now,
}

/// Returns when this machine first saw versions of a source, in seconds since 1970, or 0 if that was at some time before it first
/// looked. Those that it never saw are seen now, and recorded.
///
/// # Errors
///
/// [`Unreadable`](skillfold_core::ErrorKind::Unreadable) or [`Unwritable`](skillfold_core::ErrorKind::Unwritable): a version whose
/// age cannot be recorded has none.
pub(crate) fn first_seen(
    options: &FetchOptions,
    source: &str,
    ids: &[&str],
    first: FirstLook,
    now: u64,
) -> Result<BTreeMap<String, u64>, Error> {
    let path = options.cached(FOLDER, source);
    let failed = |error: io::Error| Error::write(path.to_string_lossy(), error);
    create_dir_all(options.cache.join(FOLDER)).map_err(failed)?;
    let mut file = OpenOptions::new();
    let file = file.create(true).append(true).read(true).open(&path);
    let mut file = file.map_err(failed)?;
    file.lock().map_err(failed)?;
    file.rewind().map_err(failed)?;
    let mut text = String::new();
    let read = (&mut file).take(MAX_BYTES).read_to_string(&mut text);
    read.map_err(|error| Error::read(path.to_string_lossy(), error))?;
    let mut seen: BTreeMap<String, u64> = text.lines().filter_map(entry).collect();
    let time = match first {
        FirstLook::Before if text.is_empty() => 0,
        FirstLook::Before | FirstLook::Now => now,
    };
    let mut new = String::new();
    if text.is_empty() {
        new = format!("# When versions of {source} were first seen here; 0 is before this file\n");
    } else if !text.ends_with('\n') {
        new.push('\n');
    }
    let start = new.len();
    for id in ids {
        if !seen.contains_key(*id) {
            new.extend([&time.to_string(), " ", *id, "\n"]);
            seen.insert((*id).to_owned(), time);
        }
    }
    if new.len() > start || text.is_empty() {
        file.write_all(new.as_bytes()).map_err(failed)?;
    }
    Ok(seen)
}

/// Reads a line `SECONDS ID`. One that was torn is as if its version was never seen.
fn entry(line: &str) -> Option<(String, u64)> {
    let (time, id) = line.split_once(' ')?;
    Some((id.to_owned(), time.parse().ok()?))
}
