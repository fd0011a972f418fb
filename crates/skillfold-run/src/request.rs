//! What a sandbox starts: a program, what it sees, and its limits.

use std::io;
use std::path::{Path, PathBuf};

use crate::approved_path::{OpenedPath, PathAccess};
use crate::copy::{Executable, SkillCopy};
use crate::dependencies::Installer;
use crate::guard::Guard;
use crate::installed::Installed;
use crate::layers::SandboxReport;
use crate::limits::RunLimits;
use crate::network::{ConnectionObserver, Resolver, proxy_environment};
use crate::packages::Packages;
use crate::permissions::{Network, Permissions};
use crate::process::LanguageHost;

/// Readable by every run: programs and libraries.
const SYSTEM: [&str; 11] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    // Node does not start if this exists but access is denied, as is the case without namespaces.
    "/etc/ssl/openssl.cnf",
];

/// Also readable on macOS: frameworks, the linker's cache, time zones and the configuration of OpenSSL.
const SYSTEM_OF_MACOS: [&str; 5] = [
    "/System",
    "/Library/Frameworks",
    "/opt/homebrew",
    "/private/var/db/timezone",
    "/private/etc/ssl/openssl.cnf",
];

/// Also readable by a run with the host's network: name resolution.
const RESOLUTION: [&str; 7] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
];

/// Also readable by a run with any network access.
const CERTIFICATES: [&str; 3] = [
    "/etc/ssl/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates",
];

const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// A program that a [`Sandbox`](crate::sandbox::Sandbox) starts, what it sees, and its limits. The skill is where the sandbox puts
/// it, and so is the scratch folder.
#[derive(Debug)]
pub struct RunRequest<'a> {
    pub(crate) copy: &'a SkillCopy,
    pub(crate) interpreter: Installed,
    /// The script's path inside the skill.
    pub(crate) script: &'a str,
    pub(crate) host: Option<LanguageHost>,
    pub(crate) arguments: &'a [String],
    pub(crate) input: RunInput<'a>,
    pub(crate) limits: &'a RunLimits,
    pub(crate) permissions: &'a Permissions,
    /// The granted paths.
    pub(crate) granted: Vec<OpenedPath>,
    /// What stays read-only in the granted paths.
    pub(crate) guard: &'a Guard,
    pub(crate) directory: Option<&'a Path>,
    /// Looks up names for the proxy.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "the proxy is on Linux alone")
    )]
    pub(crate) resolver: &'a Resolver,
    /// Receives connections.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "the proxy is on Linux alone")
    )]
    pub(crate) connections: Option<&'a ConnectionObserver>,
    /// The script's packages.
    pub(crate) packages: Option<&'a Packages>,
    pub(crate) report: SandboxReport,
}

/// A process's stdin.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum RunInput<'a> {
    /// Empty.
    None,
    /// These bytes.
    Bytes(&'a [u8]),
    /// A pipe that the host writes to.
    Pipe,
}

/// A file of the skill, or one that the runner puts beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunFile<'a> {
    /// Where the run sees it.
    pub path: PathBuf,
    /// Its content.
    pub bytes: &'a [u8],
    /// Whether it can be executed.
    pub is_executable: bool,
}

/// A file or folder of the host that a run sees.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mount {
    /// Its path on the host, without links.
    pub source: PathBuf,
    /// Where the run sees it.
    pub path: PathBuf,
    /// What the run may do with it.
    pub access: MountAccess,
    /// The device and inode that it must be when it is mounted.
    pub inode: Option<Inode>,
    /// Whether it is a read-only part of a mount before it.
    pub is_part: bool,
    /// Whether the run sees a link if the host has one there, as `/bin` often is.
    pub(crate) keeps_link: bool,
}

/// A device and inode, which identify a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing else to it")]
pub struct Inode {
    /// The device.
    pub device: u64,
    /// The inode.
    pub number: u64,
}

/// What a run may do with a file or folder of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MountAccess {
    /// Read and execute.
    Read,
    /// Read and write, but create nothing: for devices.
    Device,
    /// Everything.
    Write,
}

impl From<PathAccess> for MountAccess {
    fn from(access: PathAccess) -> Self {
        match access {
            PathAccess::Read => Self::Read,
            PathAccess::Write => Self::Write,
        }
    }
}

impl Mount {
    fn new(source: PathBuf, path: &Path, access: MountAccess) -> Self {
        Self {
            source,
            path: path.to_owned(),
            access,
            inode: None,
            is_part: false,
            keeps_link: false,
        }
    }

    #[cfg(test)]
    pub(crate) fn for_tests(path: &str, access: MountAccess) -> Self {
        Self::new(PathBuf::from(path), Path::new(path), access)
    }

    fn with_inode(mut self, (device, number): (u64, u64)) -> Self {
        self.inode = Some(Inode { device, number });
        self
    }
}

impl RunRequest<'_> {
    /// Returns the program's path, without links.
    pub fn program(&self) -> &Path {
        &self.interpreter.path
    }

    /// Returns the script's path inside the skill, for messages.
    pub fn script(&self) -> &str {
        self.script
    }

    /// Returns the process's arguments, starting with its own name, for a skill in `folder`.
    pub fn command_line(&self, folder: &str) -> Vec<String> {
        let mut words = vec![self.interpreter.name.clone()];
        words.extend(self.interpreter.arguments.iter().cloned());
        let host = self.host.map(|host| host.path(folder.as_ref()));
        words.extend(host.map(|path| path.to_string_lossy().into_owned()));
        words.push(format!("{folder}/{}", self.script));
        words.extend(self.arguments.iter().cloned());
        words
    }

    /// Returns the whole environment, `NAME=value`, for a process with this home, which is also its temporary folder, and for
    /// a skill at this path.
    pub fn environment(&self, home: &str, skill: &str) -> Vec<String> {
        let variables = self.variables(home, skill).into_iter();
        variables
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    pub(crate) fn variables(&self, home: &str, skill: &str) -> Vec<(String, String)> {
        let mut folders: Vec<String> = Vec::new();
        let own = self.interpreter.path.parent().map(PathBuf::from);
        folders.extend(own.map(|folder| folder.to_string_lossy().into_owned()));
        folders.extend(["/usr/bin", "/bin"].map(str::to_owned));
        folders.dedup();
        let fixed = [
            ("PATH", folders.join(":")),
            ("HOME", home.to_owned()),
            ("TMPDIR", home.to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
        ];
        let fixed = fixed
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        let python = (self.packages.iter())
            .filter(|packages| packages.installer == Installer::Uv)
            .map(|packages| packages.path(skill.as_ref()))
            .map(|path| ("PYTHONPATH".to_owned(), path.to_string_lossy().into_owned()));
        let proxy = match self.permissions.network() {
            Network::Hosts(_) => proxy_environment(),
            Network::None | Network::Host => Vec::new(),
        };
        let granted = self.permissions.environment().iter().cloned();
        fixed.chain(python).chain(proxy).chain(granted).collect()
    }

    /// Returns the working directory, if it is not the skill's folder.
    pub fn directory(&self) -> Option<&Path> {
        self.directory
    }

    /// Returns stdin.
    pub fn input(&self) -> RunInput<'_> {
        self.input
    }

    /// Returns the sandbox's report, as it was when the run was allowed to start.
    pub fn report(&self) -> &SandboxReport {
        &self.report
    }

    /// Returns the limits.
    pub fn limits(&self) -> &RunLimits {
        self.limits
    }

    /// Returns the network that the run may use. A sandbox that cannot limit it to the named hosts refuses the run.
    pub fn network(&self) -> &Network {
        self.permissions.network()
    }

    /// Returns the skill's files, and those that the runner adds, for a skill in `folder`.
    pub fn files(&self, folder: &Path) -> Vec<RunFile<'_>> {
        let own = self.copy.files().map(|(path, bytes, executable)| RunFile {
            path: folder.join(path.as_str()),
            bytes,
            is_executable: executable == Executable::Yes,
        });
        let host = self.host.map(|host| host.files(folder, self.copy));
        let host = host.into_iter().flatten().map(|(path, bytes)| RunFile {
            path,
            bytes,
            is_executable: false,
        });
        own.chain(host).collect()
    }

    /// Returns the host's files and folders that the run sees, each after those that it is in, for a skill in `folder`.
    ///
    /// # Errors
    ///
    /// Fails if one cannot be found.
    pub fn mounts(&self, folder: &Path) -> io::Result<Vec<Mount>> {
        let mut mounts = self.system_mounts();
        for granted in self.granted_paths() {
            let mount = Mount::new(granted.real.clone(), &granted.path, granted.access.into());
            #[cfg(unix)]
            let mount = mount.with_inode(granted.inode);
            mounts.push(mount);
        }
        for part in &self.guard.parts {
            let mount = Mount::new(part.real.clone(), &part.path, MountAccess::Read);
            mounts.push(Mount {
                is_part: true,
                ..mount.with_inode(part.inode)
            });
        }
        if let Some(packages) = self.packages {
            let (source, seen) = (packages.source().canonicalize()?, packages.path(folder));
            mounts.push(Mount::new(source, &seen, MountAccess::Read));
        }
        Ok(mounts)
    }

    /// Returns the granted paths, and the interpreter that the user named.
    pub(crate) fn granted_paths(&self) -> impl Iterator<Item = &OpenedPath> {
        let named = self.interpreter.named.iter();
        let is_visible = |path: &&OpenedPath| is_system(&path.real);
        let named = named.filter(move |path| !is_visible(path));
        self.granted.iter().chain(named)
    }

    /// Returns what a run sees without a grant.
    fn system_mounts(&self) -> Vec<Mount> {
        let mut mounts = Vec::new();
        let mut add = |path: &Path, access, keeps_link| {
            // Whatever this system has.
            if let Ok(source) = path.canonicalize() {
                mounts.push(Mount {
                    keeps_link,
                    ..Mount::new(source, path, access)
                });
            }
        };
        let of_macos = SYSTEM_OF_MACOS.iter().filter(|_| cfg!(target_os = "macos"));
        for path in SYSTEM.iter().chain(of_macos) {
            add(path.as_ref(), MountAccess::Read, true);
        }
        for path in DEVICES {
            add(path.as_ref(), MountAccess::Device, false);
        }
        let network: &[&[&str]] = match self.permissions.network() {
            Network::None => &[],
            // The proxy resolves names.
            Network::Hosts(_) => &[&CERTIFICATES],
            Network::Host => &[&RESOLUTION, &CERTIFICATES],
        };
        for path in network.iter().copied().flatten() {
            add(path.as_ref(), MountAccess::Read, false);
        }
        let Installed {
            path,
            folders,
            named,
            ..
        } = &self.interpreter;
        if named.is_empty() && !is_system(path) {
            for path in [path].into_iter().chain(folders) {
                add(path, MountAccess::Read, false);
            }
        }
        mounts
    }
}

/// Returns whether every run sees a path.
fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}
