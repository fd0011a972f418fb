//! Landlock: the kernel refuses files, TCP and signals outside what was granted.

use std::ffi::CString;
use std::os::fd::{AsRawFd as _, OwnedFd};

use libc::{c_int, c_long};
use rustix::io::Errno;

use super::sys::{null, open_checked, owned, syscall};
use crate::network::PROXY_PORT;
use crate::permissions::Network;
use crate::request::{Inode, MountAccess};

const CREATE_RULESET: c_long = 444;
const ADD_RULE: c_long = 445;
const RESTRICT_SELF: c_long = 446;

const RULE_PATH_BENEATH: c_int = 1;
const RULE_NET_PORT: c_int = 2;
const CREATE_RULESET_VERSION: u32 = 1;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_FOLDER: u64 = 1 << 3;
const TRUNCATE: u64 = 1 << 14;

/// Rights that a rule for a single file may have.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;

const BIND_TCP: u64 = 1;
const CONNECT_TCP: u64 = 1 << 1;
const SCOPE_ABSTRACT_SOCKETS: u64 = 1;
const SCOPE_SIGNALS: u64 = 1 << 1;

/// The first version that isolates abstract sockets and signals.
pub(super) const VERSION_WITH_SCOPES: i64 = 6;

#[repr(C)]
#[derive(Debug)]
struct RulesetAttributes {
    files: u64,
    network: u64,
    scopes: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: c_int,
}

#[repr(C)]
struct NetPort {
    allowed: u64,
    port: u64,
}

/// What is allowed below a path.
#[derive(Debug)]
struct Rule {
    path: CString,
    rights: u64,
    /// What the path must be.
    inode: Option<Inode>,
}

/// The ruleset, prepared before the process starts.
#[derive(Debug)]
pub(super) struct Rules {
    attributes: RulesetAttributes,
    /// Older kernels know fewer attributes.
    attributes_size: usize,
    paths: Vec<Rule>,
    /// The one port that can be connected to.
    port: Option<u16>,
}

/// Returns the Landlock version, or the OS error.
pub(super) fn version() -> Result<i64, Errno> {
    syscall!(CREATE_RULESET, null(), 0_usize, CREATE_RULESET_VERSION)
}

impl Rules {
    pub(super) fn new(version: i64, network: &Network) -> Self {
        // Each version added rights at the end: 13 in the first, then REFER, TRUNCATE and IOCTL_DEV.
        let rights = match version {
            1 => 13,
            2 => 14,
            3 | 4 => 15,
            _ => 16,
        };
        let tcp = match network {
            Network::None | Network::Hosts(_) if version >= 4 => BIND_TCP | CONNECT_TCP,
            _ => 0,
        };
        let has_port = tcp != 0 && matches!(network, Network::Hosts(_));
        let scopes = if version >= VERSION_WITH_SCOPES {
            SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS
        } else {
            0
        };
        Self {
            attributes: RulesetAttributes {
                files: (1 << rights) - 1,
                network: tcp,
                scopes,
            },
            attributes_size: match version {
                1..=3 => 8,
                4 | 5 => 16,
                _ => 24,
            },
            paths: Vec::new(),
            port: has_port.then_some(PROXY_PORT),
        }
    }

    /// Grants access below a folder.
    pub(super) fn allow_folder(&mut self, path: CString, access: MountAccess) {
        let rights = match access {
            MountAccess::Read => EXECUTE | READ_FILE | READ_FOLDER,
            MountAccess::Device => READ_FILE | WRITE_FILE | READ_FOLDER,
            MountAccess::Write => u64::MAX,
        };
        let rights = rights & self.attributes.files;
        let inode = None;
        self.paths.push(Rule {
            path,
            rights,
            inode,
        });
    }

    /// Grants access to a file.
    pub(super) fn allow_file(&mut self, path: CString, access: MountAccess) {
        self.allow_folder(path, access);
        if let Some(rule) = self.paths.last_mut() {
            rule.rights &= OF_FILES;
        }
    }

    /// Makes the last rule fail if its path is another file or folder.
    pub(super) fn require_inode(&mut self, inode: Option<Inode>) {
        if let Some(rule) = self.paths.last_mut() {
            rule.inode = inode;
        }
    }

    /// Restricts this process and its children. Allocates nothing.
    pub(super) fn enforce(&self) -> Result<(), Errno> {
        let (attributes, size) = (&raw const self.attributes, self.attributes_size);
        let ruleset = owned(syscall!(CREATE_RULESET, attributes, size, 0)?);
        for rule in &self.paths {
            allow(&ruleset, rule)?;
        }
        if let Some(port) = self.port {
            let rule = NetPort {
                allowed: CONNECT_TCP,
                port: u64::from(port),
            };
            let (ruleset, rule) = (ruleset.as_raw_fd(), &raw const rule);
            syscall!(ADD_RULE, ruleset, RULE_NET_PORT, rule, 0)?;
        }
        syscall!(RESTRICT_SELF, ruleset.as_raw_fd(), 0).map(drop)
    }
}

fn allow(ruleset: &OwnedFd, rule: &Rule) -> Result<(), Errno> {
    let parent = match open_checked(&rule.path, rule.inode) {
        // A missing path needs no rule.
        Err(Errno::NOENT) => return Ok(()),
        result => result?,
    };
    let rule = PathBeneath {
        allowed: rule.rights,
        parent: parent.as_raw_fd(),
    };
    let (ruleset, rule) = (ruleset.as_raw_fd(), &raw const rule);
    syscall!(ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0).map(drop)
}
