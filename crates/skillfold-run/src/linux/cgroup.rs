//! Control groups: limits of all processes of a run together, where one can be made.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::limits::RunLimits;

const MOUNT: &str = "/sys/fs/cgroup";

/// The start of the name of every group; the process that made it follows.
const PREFIX: &str = "skillfold-run-";

/// How often a group is tried to be removed, and how long to wait in between: the kernel may need a moment after its
/// last process ended.
const REMOVALS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(2);

/// The group of one run. It is removed when this is dropped.
#[derive(Debug)]
pub(super) struct ControlGroup {
    folder: PathBuf,
}

impl ControlGroup {
    /// Makes a group with limits and puts a process into it.
    ///
    /// # Errors
    ///
    /// Fails if the memory cannot be limited.
    pub(super) fn with_process(limits: &RunLimits, pid: i32) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{count}", std::process::id());
        let memory = limits.memory_bytes.saturating_add(limits.scratch_bytes);
        // One more: the first process of the sandbox.
        let processes = limits.processes.saturating_add(1);
        let (memory, processes) = (memory.to_string(), processes.to_string());
        let made = places()?.into_iter().find_map(|place| {
            if count == 0 {
                remove_leftovers(&place.folder);
            }
            let folder = place.folder.join(&name);
            fs::create_dir(&folder).ok()?;
            Some((place, Self { folder }))
        });
        let Some((place, group)) = made else {
            return Err(io::Error::other("no control group can be made here"));
        };
        place.version.limit(&group.folder, &processes, &memory)?;
        set(&group.folder.join("cgroup.procs"), &pid.to_string())?;
        Ok(group)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        for _ in 0..REMOVALS {
            let removed = fs::remove_dir(&self.folder);
            if !removed.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY)) {
                return;
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Removes the groups of hosts that were killed. One with processes in it stays.
#[expect(clippy::disallowed_methods, reason = "a folder of the kernel")]
fn remove_leftovers(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
            // If it is in use after all, the system refuses.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// A group of the first version limits memory alone; the limit of processes is one of the user namespace.
    One,
    Two,
}

/// A group of this process, below which one for a run can be made.
#[derive(Debug)]
struct Place {
    folder: PathBuf,
    version: Version,
}

impl Version {
    /// Sets the limits of a group. Some kernels also have: no memory on disk besides, and the end of all processes when the
    /// memory runs out.
    fn limit(self, group: &Path, processes: &str, memory: &str) -> io::Result<()> {
        let (required, if_known) = match self {
            Self::One => (
                vec![("memory.limit_in_bytes", memory)],
                vec![("memory.memsw.limit_in_bytes", memory)],
            ),
            Self::Two => (
                vec![("pids.max", processes), ("memory.max", memory)],
                vec![("memory.swap.max", "0"), ("memory.oom.group", "1")],
            ),
        };
        for (file, value) in required {
            set(&group.join(file), value)?;
        }
        for (file, value) in if_known {
            let path = group.join(file);
            if path.exists() {
                set(&path, value)?;
            }
        }
        Ok(())
    }
}

/// Returns the groups of this process that can hold another one.
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel's table of this process's groups"
)]
fn places() -> io::Result<Vec<Place>> {
    let table = fs::read_to_string("/proc/self/cgroup")?;
    let mut places = Vec::new();
    for line in table.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let path = path.trim_start_matches('/');
        let version = match controllers {
            "memory" => Version::One,
            "" => Version::Two,
            _ => continue,
        };
        if version != Version::Two {
            let folder = Path::new(MOUNT).join(controllers).join(path);
            places.push(Place { folder, version });
            continue;
        }
        // A group with processes in it cannot limit groups below it, so make one beside it.
        let own = Path::new(MOUNT).join(path);
        let beside = own.parent().filter(|parent| parent.starts_with(MOUNT));
        for folder in beside.into_iter().chain([&*own]) {
            let controllers = fs::read_to_string(folder.join("cgroup.subtree_control"));
            let limits = controllers.is_ok_and(|text| {
                ["pids", "memory"]
                    .iter()
                    .all(|name| text.split_whitespace().any(|word| word == *name))
            });
            if limits {
                let folder = folder.to_owned();
                places.push(Place { folder, version });
            }
        }
    }
    Ok(places)
}

/// Writes to a file of the kernel, which exists already.
fn set(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .open(path)?
        .write_all(value.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test's own files")]
    fn cgroup_disables_swap_and_kills_as_a_group_if_supported() {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path();
        let required = ["pids.max", "memory.max"];
        for file in required {
            fs::write(group.join(file), "").unwrap();
        }
        Version::Two.limit(group, "9", "1000").unwrap();
        assert!(!group.join("memory.swap.max").exists());
        for file in ["memory.swap.max", "memory.oom.group"] {
            fs::write(group.join(file), "").unwrap();
        }
        Version::Two.limit(group, "9", "1000").unwrap();
        let read = |file: &str| fs::read_to_string(group.join(file)).unwrap();
        assert_eq!(read("memory.swap.max"), "0");
        assert_eq!(read("memory.oom.group"), "1");
        // Without a limit of memory there is no group.
        fs::remove_file(group.join("memory.max")).unwrap();
        Version::Two.limit(group, "9", "1000").unwrap_err();
    }
}
