//! Finds file systems of the kernel that are mounted inside a granted folder, as in the root of a container.

use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::error::{RunError, RunErrorKind};
use crate::request::RunRequest;

/// File systems whose files are the kernel's, not the user's.
const KERNEL: [&str; 15] = [
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "mqueue",
    "proc",
    "pstore",
    "securityfs",
    "sysfs",
    "tracefs",
];

/// Refuses a run that was granted a folder with such a file system in or around it.
pub(super) fn check_kernel_mounts(request: &RunRequest<'_>) -> Result<(), RunError> {
    let folders = request.granted.iter().map(|path| &*path.real);
    let Some(point) = kernel_mount_in(folders) else {
        return Ok(());
    };
    let message = format!(
        "Granted folder contains a file system of the kernel: `{}`",
        point.display()
    );
    let hint = "Unmount it, or grant a folder without it";
    Err(RunError::new(RunErrorKind::NotPermitted, message, hint))
}

fn kernel_mount_in<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Option<PathBuf> {
    let mut folders = folders.into_iter().peekable();
    folders.peek()?;
    #[expect(
        clippy::disallowed_methods,
        reason = "it is the kernel's, not a skill's"
    )]
    let mounts = fs::read("/proc/self/mountinfo").ok()?;
    let points = kernel_mounts(&mounts);
    folders.find_map(|folder| {
        let mut points = points.iter();
        points
            .find(|point| point.starts_with(folder) || folder.starts_with(point))
            .cloned()
    })
}

fn kernel_mounts(table: &[u8]) -> Vec<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n');
    let point = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b' ');
        let point = fields.nth(4)?.to_vec();
        let system = fields.skip_while(|field| *field != b"-").nth(1)?;
        let is_kernels = KERNEL.iter().any(|known| known.as_bytes() == system);
        is_kernels.then(|| PathBuf::from(std::ffi::OsString::from_vec(unescape(&point))))
    };
    lines.filter_map(point).collect()
}

/// Replaces `\040` and the like, with which the kernel writes spaces and line breaks.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let digits = after
            .get(..3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        let (byte, length) = match escaped {
            Some(byte) if first == b'\\' => (byte, 3),
            _ => (first, 0),
        };
        plain.push(byte);
        rest = &after[length..];
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_file_systems_of_the_kernel_count() {
        let table = b"22 27 0:21 / /proc rw,nosuid shared:12 - proc proc rw\n\
            27 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n\
            30 27 0:25 / /srv/a\\040b/sys ro - sysfs sysfs rw\n\
            31 27 0:26 / /home/user/data rw - fuse.sshfs host: rw\n\
            short line\n";
        let points = kernel_mounts(table);
        assert_eq!(points, [Path::new("/proc"), Path::new("/srv/a b/sys")]);
    }
}
