//! Everything a sandboxed process needs, prepared before it starts: nothing may allocate after `fork`.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Duration;

use libc::{
    MOUNT_ATTR_NODEV, MOUNT_ATTR_NOEXEC, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY, c_char, c_uint,
};
use rustix::process::Resource;
use seccompiler::BpfProgram;

use super::landlock::{Rules, VERSION_WITH_SCOPES, version};
use super::seccomp::{UnixSockets, filters};
use crate::layers::Layer;
use crate::limits::RunLimits;
use crate::permissions::Network;
use crate::process::LanguageHost;
use crate::request::{Inode, Mount, MountAccess, RunRequest};

/// The skill's folder in the sandbox.
pub(super) const SKILL: &str = "/skill";

/// The scratch folder in the sandbox, also the home.
pub(super) const SCRATCH: &str = "/tmp";

/// Links that programs expect.
pub(super) const LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
    ("/tmp", "/dev/shm"),
];

/// The sandbox user, for programs that look up their user name.
pub(super) const FILES: [(&str, &[u8]); 2] = [
    ("/etc/passwd", b"skill:x:1000:1000::/tmp:/bin/sh\n"),
    ("/etc/group", b"skill:x:1000:\n"),
];

/// What is created in the new root, in this order.
#[derive(Debug)]
pub(super) enum Item<'a> {
    Folder(CString),
    File(CString, c_uint, &'a [u8]),
    Link { target: CString, path: CString },
}

/// A [`Mount`] with what the kernel gets.
#[derive(Debug)]
pub(super) struct PreparedMount {
    pub(super) source: CString,
    pub(super) target: CString,
    /// Attributes to add.
    pub(super) attributes: u64,
    /// What it must be.
    pub(super) inode: Option<Inode>,
    /// Whether it is mounted over itself, inside a mount before it. Its path there must lead to the same inode.
    pub(super) is_over_itself: bool,
}

/// What a process needs, with or without namespaces.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: CString,
    pub(super) folder: CString,
    arguments: Strings,
    environment: Strings,
    /// Resources with their soft and hard limits.
    pub(super) limits: Vec<(Resource, u64, u64)>,
    pub(super) rules: Option<Rules>,
    pub(super) filters: Vec<BpfProgram>,
}

impl Program {
    pub(super) fn arguments(&self) -> &[*const c_char] {
        &self.arguments.pointers
    }

    pub(super) fn environment(&self) -> &[*const c_char] {
        &self.environment.pointers
    }
}

/// C strings, and a null-terminated array of pointers to them.
#[derive(Debug)]
struct Strings {
    _strings: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Strings {
    fn new(texts: impl IntoIterator<Item = String>) -> io::Result<Self> {
        let strings: Vec<CString> = texts.into_iter().map(c_string).collect::<Result<_, _>>()?;
        let pointers = strings.iter().map(|string| string.as_ptr());
        Ok(Self {
            pointers: pointers.chain([ptr::null()]).collect(),
            _strings: strings,
        })
    }
}

/// Everything a sandbox's first process does before it starts the program.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// A host folder that the new root is briefly mounted on.
    pub(super) mount_point: CString,
    pub(super) root_options: CString,
    pub(super) scratch_options: CString,
    pub(super) items: Vec<Item<'a>>,
    pub(super) mounts: Vec<PreparedMount>,
    pub(super) network: &'a Network,
    pub(super) program: Program,
}

impl<'a> Plan<'a> {
    pub(super) fn new(request: &'a RunRequest<'_>) -> io::Result<Self> {
        let mut layout = Layout::default();
        for mount in request.mounts(SKILL.as_ref())? {
            layout.add_mount(&mount)?;
        }
        if let Some(directory) = request.directory {
            layout.add_folder(directory)?;
        }
        for (target, path) in LINKS {
            layout.add_link(target.as_ref(), path.as_ref())?;
        }
        for (path, bytes) in FILES {
            layout.add_file(path.as_ref(), 0o444, bytes)?;
        }
        let mut bytes = 0;
        layout.add_folder(SKILL.as_ref())?;
        for file in request.files(SKILL.as_ref()) {
            let mode = if file.is_executable { 0o555 } else { 0o444 };
            layout.add_file(&file.path, mode, file.bytes)?;
            // An extra page each: files on the scratch file system take whole pages.
            bytes += file.bytes.len() + 8192;
        }
        let scratch = request.limits.scratch_bytes;
        let places = ["/tmp", "/run", "/mnt", "/usr"];
        let mount_point = places.into_iter().find(|path| Path::new(path).is_dir());
        Ok(Self {
            mount_point: c_string(mount_point.unwrap_or("/tmp"))?,
            root_options: c_string(format!("mode=0755,size={}", bytes + 1024 * 1024))?,
            scratch_options: c_string(format!("mode=0700,size={scratch},nr_inodes=65536"))?,
            items: layout.items,
            mounts: layout.mounts,
            network: request.permissions.network(),
            program: Program::new(request, SKILL, SCRATCH)?.with_box_rules(request)?,
        })
    }
}

impl Program {
    /// Prepares a program with the skill and scratch folder at these paths.
    pub(super) fn new(request: &RunRequest<'_>, skill: &str, scratch: &str) -> io::Result<Self> {
        let environment = request.environment(scratch, skill);
        let limits = request.limits;
        let network = request.permissions.network();
        let has = |layer| request.report.has(layer);
        let version = version().unwrap_or(0);
        let unix_sockets = if version >= VERSION_WITH_SCOPES {
            UnixSockets::Allowed
        } else {
            UnixSockets::Refused
        };
        let filters = if has(Layer::Seccomp) {
            filters(network, unix_sockets).map_err(io::Error::other)?
        } else {
            Vec::new()
        };
        Ok(Self {
            path: c_string(request.interpreter.path.as_os_str())?,
            folder: c_string(request.directory.unwrap_or(Path::new(skill)))?,
            arguments: Strings::new(request.command_line(skill))?,
            environment: Strings::new(environment)?,
            limits: process_limits(limits),
            rules: has(Layer::Landlock).then(|| Rules::new(version, network)),
            filters,
        })
    }

    pub(super) fn leave_out_process_limit(&mut self) {
        self.limits
            .retain(|(resource, ..)| *resource != Resource::Nproc);
    }

    /// Adds rules for the sandbox's root: all of it is readable, scratch and granted paths are writable.
    fn with_box_rules(mut self, request: &RunRequest<'_>) -> io::Result<Self> {
        if let Some(rules) = &mut self.rules {
            rules.allow_folder(c"/".to_owned(), MountAccess::Read);
            rules.allow_folder(c"/dev".to_owned(), MountAccess::Device);
            rules.allow_folder(c_string(SCRATCH)?, MountAccess::Write);
            for granted in request.granted_paths() {
                add_rule(rules, &granted.path, granted.access.into())?;
            }
        }
        Ok(self)
    }

    /// Adds rules for a process in the host's file system.
    pub(super) fn with_host_rules(
        mut self,
        request: &RunRequest<'_>,
        skill: &Path,
        scratch: &Path,
    ) -> io::Result<Self> {
        if let Some(rules) = &mut self.rules {
            for mount in request.mounts(skill)? {
                add_rule(rules, &mount.source, mount.access)?;
                rules.require_inode(mount.inode);
            }
            add_rule(rules, &skill.canonicalize()?, MountAccess::Read)?;
            if request.host.is_some() {
                let folder = skill.with_file_name(LanguageHost::FOLDER);
                add_rule(rules, &folder.canonicalize()?, MountAccess::Read)?;
            }
            add_rule(rules, &scratch.canonicalize()?, MountAccess::Write)?;
        }
        Ok(self)
    }
}

fn add_rule(rules: &mut Rules, path: &Path, access: MountAccess) -> io::Result<()> {
    let text = c_string(path.as_os_str())?;
    if path.is_dir() {
        rules.allow_folder(text, access);
    } else {
        rules.allow_file(text, access);
    }
    Ok(())
}

/// Collects the entries of the new root, each folder before its contents.
#[derive(Default)]
struct Layout<'a> {
    items: Vec<Item<'a>>,
    mounts: Vec<PreparedMount>,
    folders: BTreeSet<PathBuf>,
}

impl<'a> Layout<'a> {
    /// Exposes a host path. A system link is recreated, so that it leads to the same place in the sandbox.
    fn add_mount(&mut self, mount: &Mount) -> io::Result<()> {
        if mount.keeps_link
            && let Ok(target) = fs::read_link(&mount.path)
        {
            return self.add_link(&target, &mount.path);
        }
        if mount.source.is_dir() {
            self.add_folder(&mount.path)?;
        } else {
            self.add_file(&mount.path, 0o444, b"")?;
        }
        let attributes = match mount.access {
            MountAccess::Read => MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
            MountAccess::Device => MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
            MountAccess::Write => MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
        };
        self.mounts.push(PreparedMount {
            source: c_string(mount.source.as_os_str())?,
            target: c_string(mount.path.as_os_str())?,
            attributes,
            inode: mount.inode,
            is_over_itself: mount.is_part,
        });
        Ok(())
    }

    fn add_link(&mut self, target: &Path, path: &Path) -> io::Result<()> {
        self.add_parent(path)?;
        self.items.push(Item::Link {
            target: c_string(target.as_os_str())?,
            path: c_string(path.as_os_str())?,
        });
        Ok(())
    }

    fn add_file(&mut self, path: &Path, mode: c_uint, bytes: &'a [u8]) -> io::Result<()> {
        self.add_parent(path)?;
        self.items
            .push(Item::File(c_string(path.as_os_str())?, mode, bytes));
        Ok(())
    }

    fn add_parent(&mut self, path: &Path) -> io::Result<()> {
        path.parent()
            .map_or(Ok(()), |parent| self.add_folder(parent))
    }

    fn add_folder(&mut self, path: &Path) -> io::Result<()> {
        let taken = path == Path::new("/") || path == Path::new(SCRATCH);
        if taken || self.folders.contains(path) {
            return Ok(());
        }
        self.add_parent(path)?;
        self.folders.insert(path.to_owned());
        self.items.push(Item::Folder(c_string(path.as_os_str())?));
        Ok(())
    }
}

pub(super) fn process_limits(limits: &RunLimits) -> Vec<(Resource, u64, u64)> {
    let cpu = seconds(limits.cpu_time);
    let fixed = [
        (Resource::Data, limits.memory_bytes),
        (Resource::Nproc, limits.processes),
        (Resource::Nofile, limits.open_files),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Core, 0),
        (Resource::Msgqueue, 0),
    ];
    let fixed = fixed.map(|(resource, value)| (resource, value, value));
    // The soft limit sends a signal that says why, the hard limit kills.
    let cpu = (Resource::Cpu, cpu, cpu.saturating_add(1));
    fixed.into_iter().chain([cpu]).collect()
}

/// Returns whole seconds, at least one; [`Duration::MAX`] means no limit.
fn seconds(time: Duration) -> u64 {
    if time == Duration::MAX {
        libc::RLIM_INFINITY
    } else {
        time.as_secs().clamp(1, u64::from(u32::MAX))
    }
}

/// Creates a C string; an embedded NUL is an error.
pub(super) fn c_string(text: impl AsRef<OsStr>) -> io::Result<CString> {
    CString::new(text.as_ref().as_bytes()).map_err(io::Error::other)
}
