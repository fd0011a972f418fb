//! What the store guarantees, through its public API.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks at the disk behind the store's back"
)]

mod below;
mod killed;
mod leftovers;
mod lock;
mod log;
mod proposals;
mod race;
mod versions;
mod write;

use std::fs;
use std::path::Path;

use skillfold_core::Error;
use skillfold_store::{Access, WriteRoot};

/// More than any test writes.
const LIMIT: u64 = 1 << 24;

/// Opens the nearest existing parent of a path, and calls `with` with it and the rest of the path.
fn below<T>(
    path: &Path,
    with: impl FnOnce(&WriteRoot, &Path) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut above = path.ancestors().skip(1);
    let folder = above.find(|folder| folder.is_dir()).unwrap();
    with(
        &WriteRoot::open(folder)?,
        path.strip_prefix(folder).unwrap(),
    )
}

fn create(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    below(path, |base, file| {
        base.create(file, bytes, Access::Ordinary)
    })
}

/// Reads a file and writes it, whether or not it exists.
fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    below(path, |base, file| match base.read(file, LIMIT)? {
        Some(old) => base.replace(file, &old, bytes, Access::Ordinary),
        None => base.create(file, bytes, Access::Ordinary),
    })
}

fn remove(path: &Path) -> Result<(), Error> {
    below(path, |base, file| {
        let old = base.read(file, LIMIT)?;
        base.remove(file, &old.expect("the test made it"))
    })
}

/// Returns the names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| name(entry).unwrap())
        .collect();
    names.sort();
    names
}
