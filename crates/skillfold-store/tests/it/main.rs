//! What the store promises, by its public API.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks at the disk behind the store's back"
)]

mod killed;
mod leftovers;
mod race;
mod write;

use std::fs;
use std::path::Path;

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
