//! Whether a file is under version control, read from the index of Git.

use std::fs::{Metadata, OpenOptions};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The bytes of an entry before its flags: times, numbers of the file system, and a SHA-1 digest.
const FIXED_BYTES: usize = 60;

/// Maximum bytes of an index to read: some millions of files.
const MAX_BYTES: u64 = 512 * 1024 * 1024;

/// The flag of an entry that has two more bytes of flags.
const EXTENDED: u16 = 0x4000;

/// Returns whether Git has a file in its index, so that others get what is written to it.
pub(crate) fn is_tracked(file: &Path) -> bool {
    let mut folders = file.ancestors().skip(1);
    let Some(root) = folders.find(|folder| folder.join(".git").exists()) else {
        return false;
    };
    let path = file.strip_prefix(root).unwrap_or(file).to_string_lossy();
    let path = path.replace(std::path::MAIN_SEPARATOR, "/");
    let index = git_folder(root).and_then(|folder| read(&folder.join("index")));
    index.is_some_and(|index| names(&index).any(|name| name == path.as_bytes()))
}

/// Returns the folder with the index. In a linked work tree, `.git` is a file that names it.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = String::from_utf8(read(&git)?).ok()?;
    Some(root.join(text.strip_prefix("gitdir:")?.trim()))
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // Opening a pipe would wait.
    path.metadata().ok().filter(Metadata::is_file)?;
    let file = OpenOptions::new().read(true).open(path).ok()?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns the paths in an index, as far as it can be read.
fn names(index: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let number = |at: usize| -> Option<u32> {
        let bytes = index.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    let version = number(4).filter(|_| index.starts_with(b"DIRC"));
    let left = version.and_then(|_| number(8)).unwrap_or(0);
    let mut name = Vec::new();
    let mut at = 12;
    (0..left).map_while(move |_| {
        let start = at;
        let flags = index.get(at + FIXED_BYTES..at + FIXED_BYTES + 2)?;
        let is_extended = u16::from_be_bytes(flags.try_into().ok()?) & EXTENDED != 0;
        at += FIXED_BYTES + 2 + if is_extended { 2 } else { 0 };
        // From version 4, a path begins with how many bytes to drop from the end of the one before.
        let mut kept = 0;
        if version >= Some(4) {
            let (dropped, bytes) = offset(index.get(at..)?)?;
            kept = name.len().checked_sub(dropped)?;
            at += bytes;
        }
        let end = index.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.truncate(kept);
        name.extend_from_slice(&index[at..at + end]);
        at += end + 1;
        if version < Some(4) {
            // Entries end at a multiple of eight bytes.
            at = start + (at - start).next_multiple_of(8);
        }
        Some(name.clone())
    })
}

/// Returns a number as Git writes offsets, and of how many bytes it is.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value: usize = 0;
    for (at, byte) in bytes.iter().enumerate().take(4) {
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}
