//! Who may write to a file.

use std::path::Path;

/// Returns why a file of the user is unsafe: another user owns it or its folder, or others may write to them. Root may
/// own either.
#[cfg(unix)]
pub(crate) fn other_writer(file: &Path) -> Option<String> {
    let own = rustix::process::geteuid().as_raw();
    writer_besides(&[own, 0], &format!("you ({own})"), file)
}

/// Returns why a file of the machine is unsafe: its owner, or the owner of its folder, is not root, or others may write to them.
#[cfg(all(unix, feature = "registry"))]
pub(crate) fn writer_besides_root(file: &Path) -> Option<String> {
    writer_besides(&[0], "root", file)
}

#[cfg(unix)]
fn writer_besides(owners: &[u32], whom: &str, file: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    for path in [file.parent()?, file] {
        let metadata = std::fs::metadata(path).ok()?;
        let what = if metadata.is_dir() { "folder" } else { "file" };
        if !owners.contains(&metadata.uid()) {
            let owner = metadata.uid();
            return Some(format!(
                "the {what} belongs to another user ({owner}), not to {whom}"
            ));
        }
        if metadata.mode() & 0o022 != 0 {
            let mode = metadata.mode() & 0o7777;
            return Some(format!("others can write to the {what} (mode {mode:04o})"));
        }
    }
    None
}

/// Returns `None`: other systems restrict the user's folders to the user.
#[cfg(not(unix))]
pub(crate) fn other_writer(_: &Path) -> Option<String> {
    None
}

/// Returns `None`: the rights of files of other systems are not read.
#[cfg(all(not(unix), feature = "registry"))]
pub(crate) fn writer_besides_root(_: &Path) -> Option<String> {
    None
}
