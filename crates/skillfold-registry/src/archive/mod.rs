//! Unpacks archives in memory.
//!
//! An archive may be hostile, so it is read strictly, by readers of our own: what they accept, every other reader reads in
//! the same way, and what they do not understand they refuse. Only files and folders are accepted. Modes, owners, times
//! and extended attributes are ignored, because a skill has none.

mod unpacking;

mod tar;
mod zip;

#[cfg(test)]
mod tests;

use flate2::bufread::MultiGzDecoder;
use skillfold_core::Error;

use self::unpacking::{Unpacking, invalid};
use crate::tree::FileTree;

/// Unpacks an archive: tar, tar compressed with gzip, or zip, by its content. `name` is its address, for messages.
///
/// A folder that all files are in is kept.
pub(crate) fn unpack(name: &str, bytes: &[u8]) -> Result<FileTree, Error> {
    let mut unpacking = Unpacking::new(name, bytes.len());
    let is_gzip = bytes.starts_with(&[0x1f, 0x8b]);
    match (is_gzip, tar::is_tar(bytes), zip::is_zip(bytes)) {
        (true, false, false) => tar::read(&mut MultiGzDecoder::new(bytes), &mut unpacking)?,
        (false, true, false) => tar::read(&mut &*bytes, &mut unpacking)?,
        (false, false, true) => zip::read(bytes, &mut unpacking)?,
        (false, false, false) => {
            let reason = "it is neither tar (plain or with gzip) nor zip";
            return Err(invalid(name, reason));
        }
        _ => {
            let reason = "it is an archive in two formats, which programs would read differently";
            return Err(invalid(name, reason));
        }
    }
    let files = unpacking.entries.into_iter();
    Ok(files
        .filter_map(|(path, content)| Some((path, content?)))
        .collect())
}
