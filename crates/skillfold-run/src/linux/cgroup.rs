//! Control groups: limits for all of a run's processes together, where available.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::geteuid;

use crate::limits::RunLimits;

const MOUNT: &str = "/sys/fs/cgroup";

/// Prefix of every group's name; the creating process follows.
const PREFIX: &str = "skillfold-run-";

/// How often to try to remove a group, and how long to wait in between: the kernel may need a moment after its last
/// process exits.
const REMOVALS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(2);

/// One run's control group. Removed on drop.
#[derive(Debug)]
pub(super) struct ControlGroup {
    /// Its folder; `None` for a scope, which systemd removes.
    folder: Option<PathBuf>,
}

impl ControlGroup {
    /// Creates a group with limits and puts a process into it.
    ///
    /// # Errors
    ///
    /// Fails if memory cannot be limited.
    pub(super) fn with_process(limits: &RunLimits, pid: i32) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{count}", std::process::id());
        let memory = limits.memory_bytes.saturating_add(limits.scratch_bytes);
        // One more, for the sandbox's first process.
        let processes = limits.processes.saturating_add(1);
        let (memory, processes) = (memory.to_string(), processes.to_string());
        let created = parent_groups()?.into_iter().find_map(|parent| {
            if count == 0 {
                remove_leftovers(&parent.folder);
            }
            let folder = parent.folder.join(&name);
            fs::create_dir(&folder).ok()?;
            Some((parent, folder))
        });
        let Some((parent, folder)) = created else {
            start_scope(&format!("{name}.scope"), &processes, &memory, pid)?;
            return Ok(Self { folder: None });
        };
        let group = Self {
            folder: Some(folder.clone()),
        };
        parent.version.limit(&folder, &processes, &memory)?;
        set(&folder.join("cgroup.procs"), &pid.to_string())?;
        Ok(group)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let Some(folder) = &self.folder else {
            return;
        };
        for _ in 0..REMOVALS {
            let removed = fs::remove_dir(folder);
            if !removed.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY)) {
                return;
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Removes the groups of killed hosts. A group with processes in it stays.
#[expect(clippy::disallowed_methods, reason = "a folder of the kernel")]
fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
            // If it is in use after all, the kernel refuses.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// A version 1 group limits only memory; the user namespace limits processes.
    One,
    Two,
}

/// A group of this process in which a run's group can be created.
#[derive(Debug)]
struct ParentGroup {
    folder: PathBuf,
    version: Version,
}

impl Version {
    /// Sets a group's limits. Where the kernel supports it, also disables swap and kills all processes when memory runs
    /// out.
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

/// Returns this process's groups that can hold another one.
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel's table of this process's groups"
)]
fn parent_groups() -> io::Result<Vec<ParentGroup>> {
    let table = fs::read_to_string("/proc/self/cgroup")?;
    let mut parent_groups = Vec::new();
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
            parent_groups.push(ParentGroup { folder, version });
            continue;
        }
        // A group with processes in it cannot limit its children, so create a sibling.
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
                parent_groups.push(ParentGroup { folder, version });
            }
        }
    }
    Ok(parent_groups)
}

/// What calls systemd.
const BUSCTL: &str = "/usr/bin/busctl";

/// Has the user's systemd put a process into a scope of its own, with limits, where no group is delegated to this process.
fn start_scope(name: &str, processes: &str, memory: &str, pid: i32) -> io::Result<()> {
    let folder = format!("/run/user/{}", geteuid().as_raw());
    if !Path::new(&folder).join("systemd/private").exists() || !Path::new(BUSCTL).exists() {
        return Err(io::Error::other("no control group can be made here"));
    }
    #[expect(clippy::disallowed_methods, reason = "this is the runner")]
    let mut command = Command::new(BUSCTL);
    let output = command
        .args(scope_call(name, processes, memory, pid))
        .env_clear()
        .env("XDG_RUNTIME_DIR", folder)
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(said))
}

/// Returns the call that starts a scope: the method, its signature, the unit, and its properties, each with its type.
fn scope_call(name: &str, processes: &str, memory: &str, pid: i32) -> Vec<String> {
    let call = format!(
        "--user --timeout=2 call org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager \
         StartTransientUnit ssa(sv)a(sa(sv)) {name} fail \
         4 PIDs au 1 {pid} MemoryMax t {memory} MemorySwapMax t 0 TasksMax t {processes} 0"
    );
    call.split(' ').map(str::to_owned).collect()
}

/// Writes to an existing kernel file.
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
    fn scope_has_the_limits_and_the_process() {
        let call = scope_call("skillfold-run-1-0.scope", "129", "1342177280", 77);
        insta::assert_snapshot!(call[6..].join(" "), @"StartTransientUnit ssa(sv)a(sa(sv)) skillfold-run-1-0.scope fail 4 PIDs au 1 77 MemoryMax t 1342177280 MemorySwapMax t 0 TasksMax t 129 0");
    }

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
        // Without a memory limit there is no group.
        fs::remove_file(group.join("memory.max")).unwrap();
        Version::Two.limit(group, "9", "1000").unwrap_err();
    }
}
