//! Archives of every kind, most of them hostile.

mod agree;
mod build;
mod hostile;
mod hostile_paths;
mod hostile_tar;
mod hostile_zip;
mod limits;
mod ordinary;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use skillfold_core::Error;

use super::unpack;

/// An archive and what is wrong with it.
type Hostile = (String, Vec<u8>);

/// Files by path.
type Files = BTreeMap<String, Vec<u8>>;

/// Unpacks an archive to plain values.
fn files(archive: &[u8]) -> Result<Files, Error> {
    let tree = unpack("x", archive)?;
    let files = tree.into_iter();
    Ok(files
        .map(|(path, bytes)| (path.to_string(), bytes))
        .collect())
}

/// Shows what comes of an archive: its files, or the error.
fn check(archive: &[u8]) -> String {
    let mut text = String::new();
    match files(archive) {
        Ok(files) => {
            for (path, bytes) in files {
                writeln!(text, "{path}: {}", bytes.escape_ascii()).unwrap();
            }
        }
        Err(error) => write!(text, "{error}\nhint: {}", error.hint()).unwrap(),
    }
    text
}
