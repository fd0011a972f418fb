//! What `bwrap` is told.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use seccompiler::BpfProgram;

use crate::linux::child::USER;
use crate::linux::plan::{FILES, LINKS, SCRATCH, SKILL, c_string};
use crate::linux::spawn::{lift, memory_file};
use crate::linux::sys::open_checked;
use crate::permissions::Network;
use crate::request::{Mount, MountAccess, RunRequest};
use crate::skill_folder::SkillFolder;

/// Who owns the namespaces that `bwrap` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// This user, who can join them.
    User,
    /// Root, as `bwrap` is setuid. Nobody can restrict its `/proc`, so there is none, and it does not limit file systems in
    /// memory, so the scratch folder is on disk.
    Root,
}

/// Arguments, and the descriptors that they name.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    bytes: Vec<u8>,
    pub(super) descriptors: Vec<OwnedFd>,
    folders: BTreeSet<PathBuf>,
}

impl Arguments {
    /// Returns what makes the sandbox of a request whose skill is in a folder.
    pub(super) fn new(
        request: &RunRequest<'_>,
        owner: Owner,
        folder: &SkillFolder,
        filters: &[BpfProgram],
    ) -> io::Result<Self> {
        let mut arguments = Self::default();
        arguments.confine(request);
        match owner {
            Owner::User => {
                let size = request.limits().scratch_bytes.to_string();
                arguments.add(["--proc", "/proc"]);
                arguments.add(["--perms", "0700", "--size", &size, "--tmpfs", SCRATCH]);
            }
            Owner::Root => {
                let scratch = open_checked(&c_string(folder.scratch())?, None)?;
                let scratch = arguments.pass(scratch)?;
                arguments.add(["--bind-fd", &scratch, SCRATCH]);
            }
        }
        for mount in request.mounts(SKILL.as_ref())? {
            arguments.mount(&mount)?;
        }
        arguments.folder(Path::new("/dev"));
        for (target, path) in LINKS {
            arguments.add(["--symlink", target, path]);
        }
        for (path, bytes) in FILES {
            let file = arguments.pass(memory_file(bytes)?)?;
            arguments.parent(Path::new(path));
            arguments.add(["--perms", "0444", "--file", &file, path]);
        }
        if let Some(directory) = request.directory() {
            arguments.folder(directory);
        }
        #[expect(clippy::disallowed_methods, reason = "our own temporary folder")]
        for entry in fs::read_dir(folder.path())? {
            let entry = entry?;
            if entry.path() == folder.scratch() {
                continue;
            }
            let source = open_checked(&c_string(entry.path())?, None)?;
            let source = arguments.pass(source)?;
            arguments.add(["--ro-bind-fd", &source]);
            arguments.add([Path::new("/").join(entry.file_name())]);
        }
        for filter in filters {
            let file = arguments.pass(memory_file(&filter_bytes(filter))?)?;
            arguments.add(["--add-seccomp-fd", &file]);
        }
        // The system takes some from the environment of a setuid program.
        for (name, value) in request.variables(SCRATCH, SKILL) {
            arguments.add(["--setenv", &name, &value]);
        }
        arguments.add(["--remount-ro", "/", "--chdir"]);
        arguments.add([request.directory().unwrap_or(SKILL.as_ref())]);
        Ok(arguments)
    }

    /// Adds the namespaces, and what is in every sandbox.
    fn confine(&mut self, request: &RunRequest<'_>) {
        self.add(["--unshare-user", "--unshare-pid", "--unshare-ipc"]);
        self.add(["--unshare-uts", "--unshare-cgroup"]);
        match request.network() {
            Network::None | Network::Hosts(_) => self.add(["--unshare-net"]),
            Network::Host => {}
        }
        let user = USER.to_string();
        self.add(["--uid", &user, "--gid", &user, "--hostname", "skill"]);
        self.add(["--as-pid-1", "--die-with-parent", "--new-session"]);
        self.add(["--cap-drop", "ALL"]);
    }

    /// Adds a file or folder of the host by a handle. It is checked that it is what it was, here and by `bwrap`.
    fn mount(&mut self, mount: &Mount) -> io::Result<()> {
        if mount.keeps_link
            && let Ok(target) = fs::read_link(&mount.path)
        {
            self.parent(&mount.path);
            self.add(["--symlink"]);
            self.add([&target, &mount.path]);
            return Ok(());
        }
        if !mount.is_part {
            self.parent(&mount.path);
        }
        // It takes no handle of a device; these are the kernel's.
        if mount.access == MountAccess::Device {
            self.add(["--dev-bind"]);
            self.add([&mount.source, &mount.path]);
            return Ok(());
        }
        let source = open_checked(&c_string(&mount.source)?, mount.inode)?;
        let source = self.pass(source)?;
        let option = match mount.access {
            MountAccess::Write => "--bind-fd",
            MountAccess::Read | MountAccess::Device => "--ro-bind-fd",
        };
        self.add([option, &source]);
        self.add([&mount.path]);
        Ok(())
    }

    fn parent(&mut self, path: &Path) {
        if let Some(parent) = path.parent() {
            self.folder(parent);
        }
    }

    /// Adds a folder that others can see into: `bwrap` makes those above a mount for itself only.
    fn folder(&mut self, path: &Path) {
        let taken = path == Path::new("/") || path == Path::new(SCRATCH);
        if taken || !self.folders.insert(path.to_owned()) {
            return;
        }
        self.parent(path);
        self.add(["--perms", "0755", "--dir"]);
        self.add([path]);
    }

    /// Keeps a descriptor open for `bwrap`, and returns its number.
    pub(super) fn pass(&mut self, descriptor: impl Into<OwnedFd>) -> io::Result<String> {
        let descriptor = lift(descriptor.into())?;
        let number = descriptor.as_raw_fd().to_string();
        self.descriptors.push(descriptor);
        Ok(number)
    }

    pub(super) fn add<T: AsRef<OsStr>>(&mut self, words: impl IntoIterator<Item = T>) {
        for word in words {
            self.bytes.extend_from_slice(word.as_ref().as_bytes());
            self.bytes.push(0);
        }
    }

    /// Returns a file with all arguments. In a command line, every process of this system could read them.
    pub(super) fn to_file(&self) -> io::Result<OwnedFd> {
        memory_file(&self.bytes)
    }
}

/// Returns a filter as the kernel reads it.
fn filter_bytes(filter: &BpfProgram) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(filter.len() * 8);
    for one in filter {
        bytes.extend_from_slice(&one.code.to_ne_bytes());
        bytes.extend_from_slice(&[one.jt, one.jf]);
        bytes.extend_from_slice(&one.k.to_ne_bytes());
    }
    bytes
}
