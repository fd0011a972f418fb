//! Paths in a source: text with `/`, relative to its top.

use crate::tree::{ReadLimits, TooLarge};

/// The file that makes a folder a skill.
pub(super) const SKILL_FILE: &str = "SKILL.md";
/// How large a `SKILL.md` or plugin manifest may be, and all that are read at once.
pub(super) const MANIFESTS: ReadLimits = ReadLimits {
    each: 1 << 20,
    total: 256 << 20,
    rule: "All `SKILL.md` files together may have at most 256 MiB; add one of its folders instead of the whole source",
};

pub(super) const ANOTHER_REPOSITORY: &str = "Folder is another repository, a git submodule";

/// Returns a file's folder if it has this name.
pub(super) fn folder_of<'p>(path: &'p str, name: &str) -> Option<&'p str> {
    match path.strip_suffix(name)? {
        "" => Some(""),
        folder => folder.strip_suffix('/').filter(|folder| !folder.is_empty()),
    }
}

/// Returns the path of something in a folder; `""` is the top.
pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() || name.is_empty() {
        return format!("{folder}{name}");
    }
    format!("{folder}/{name}")
}

/// Returns the last name of a path.
pub(super) fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the folder that a path is in.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the names of a path; none for the top.
pub(super) fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(move |_| !path.is_empty())
}

/// Returns a folder, then those above it up to the top.
pub(super) fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| {
        let is_top = folder.is_empty();
        (!is_top).then_some(parent(folder))
    })
}

/// Returns whether a path is a folder, or in it.
pub(super) fn is_in(path: &str, folder: &str) -> bool {
    let inner = path.strip_prefix(folder);
    inner.is_some_and(|inner| folder.is_empty() || inner.is_empty() || inner.starts_with('/'))
}

/// Returns why a manifest is left out that is not read.
pub(super) fn too_large(TooLarge(bytes): TooLarge) -> String {
    format!("File has {bytes} bytes, the limit is 1 MiB")
}
