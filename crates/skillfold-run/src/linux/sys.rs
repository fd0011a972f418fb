//! System calls. The functions do not allocate, so they may be called between `fork` and `exec`.
//!
//! `rustix` makes those it can. It has no Landlock, `close_range`, `mount_setattr` or `signalfd`, and its `clone`,
//! `execve` and signal calls are not public. Its `dup3` requires an open descriptor, and its `getrlimit` cannot fail,
//! though a filter on the host may refuse it.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

use libc::{c_char, c_int, c_long, c_uint, c_void};
use rustix::fs::{self, Mode, OFlags};
use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::mount::{OpenTreeFlags, open_tree};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, remove_capability_from_bounding_set,
    set_capabilities, set_capabilities_secure_bits,
};

use crate::approved_path::open_without_links;
use crate::request::Inode;

/// Converts the result of a system call to a value or an error.
pub(super) fn checked(result: c_long) -> Result<c_long, Errno> {
    if result < 0 {
        let error = io::Error::last_os_error().raw_os_error();
        return Err(Errno::from_raw_os_error(error.unwrap_or(libc::EINVAL)));
    }
    Ok(result)
}

/// Calls the kernel with up to six numbers or pointers.
macro_rules! syscall {
    ($number:expr $(, $argument:expr)* $(,)?) => {{
        // SAFETY: every pointer comes from a live reference, and the kernel checks all of them.
        let result = unsafe { libc::syscall($number $(, $argument)*) };
        $crate::linux::sys::checked(result)
    }};
}
pub(super) use syscall;

/// Converts the result of a call that opens something to a descriptor; the kernel's numbers always fit.
pub(super) fn owned(result: c_long) -> OwnedFd {
    let number = c_int::try_from(result).unwrap_or(c_int::MAX);
    // SAFETY: the kernel has just returned it, and nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(number) }
}

pub(super) fn null() -> *const c_void {
    ptr::null()
}

/// Returns a descriptor with a fixed number in the sandbox.
pub(super) const fn fixed(number: c_int) -> BorrowedFd<'static> {
    // SAFETY: it is open while in use, and the kernel refuses a closed number.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Closes every descriptor from `first` to `last`.
pub(super) fn close_range(first: c_int, last: c_uint) -> Result<(), Errno> {
    syscall!(libc::SYS_close_range, first, last, 0).map(drop)
}

pub(super) fn duplicate(from: c_int, to: c_int, flags: c_int) -> Result<(), Errno> {
    syscall!(libc::SYS_dup3, from, to, flags).map(drop)
}

/// Reads one byte; `false` at end of file.
pub(super) fn read_byte(fd: BorrowedFd<'_>) -> Result<bool, Errno> {
    let mut byte = [0_u8];
    retry_on_intr(|| read(fd, &mut byte)).map(|count| count == 1)
}

/// Writes all bytes.
pub(super) fn write_all(fd: impl AsFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let count = retry_on_intr(|| write(&fd, bytes))?;
        bytes = bytes.get(count..).unwrap_or_default();
    }
    Ok(())
}

pub(super) fn make_folder(path: &CStr) -> Result<(), Errno> {
    match fs::mkdir(path, Mode::from_raw_mode(0o755)) {
        Err(Errno::EXIST) => Ok(()),
        result => result,
    }
}

/// Creates a file with this content.
pub(super) fn make_file(path: &CStr, mode: c_uint, bytes: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    write_all(fs::open(path, flags, Mode::from_raw_mode(mode))?, bytes)
}

/// Opens a path as a reference (`O_PATH`). A link anywhere in the path is an error, and so is another file than the
/// one with this device and inode: what was checked is what is used.
pub(super) fn open_checked(path: &CStr, inode: Option<Inode>) -> Result<OwnedFd, Errno> {
    let opened = open_without_links(Path::new(OsStr::from_bytes(path.to_bytes())))?;
    let found = fs::fstat(&opened)?;
    let found = Inode {
        device: found.st_dev,
        number: found.st_ino,
    };
    if inode.is_some_and(|inode| inode != found) {
        return Err(Errno::STALE);
    }
    Ok(opened)
}

/// Returns a detached copy of a mount and its submounts. The handle cannot come from the host process: the kernel only
/// copies mounts of the caller's own namespace.
pub(super) fn clone_mount(path: &CStr, inode: Option<Inode>) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(open_checked(path, inode)?, c"", flags)
}

/// Whether to include submounts.
#[derive(Clone, Copy)]
pub(super) enum Below {
    Included,
    Excluded,
}

/// Adds attributes to a mount given by its descriptor.
pub(super) fn restrict_mount(fd: &OwnedFd, set: u64, below: Below) -> Result<(), Errno> {
    let attributes = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = match below {
        Below::Included => libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
        Below::Excluded => libc::AT_EMPTY_PATH,
    };
    let (empty, size) = (c"".as_ptr(), size_of::<libc::mount_attr>());
    let (fd, attributes) = (fd.as_raw_fd(), &raw const attributes);
    syscall!(libc::SYS_mount_setattr, fd, empty, flags, attributes, size).map(drop)
}

/// Sets a limit, or keeps the host's if it is lower.
pub(super) fn lower_limit(resource: Resource, soft: u64, hard: u64) -> Result<(), Errno> {
    match set_limit(resource, soft, hard) {
        Err(Errno::PERM) => {}
        result => return result,
    }
    let mut old = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    let number = resource as c_uint;
    syscall!(libc::SYS_prlimit64, 0, number, null(), &raw mut old)?;
    if old.rlim_max > hard {
        return Err(Errno::PERM);
    }
    set_limit(resource, soft.min(old.rlim_max), old.rlim_max)
}

fn set_limit(resource: Resource, soft: u64, hard: u64) -> Result<(), Errno> {
    let (current, maximum) = (Some(soft), Some(hard));
    setrlimit(resource, Rlimit { current, maximum })
}

/// Drops every capability, for this process and its children.
pub(super) fn drop_capabilities() -> Result<(), Errno> {
    // NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off and locked, NO_CAP_AMBIENT_RAISE, each with its lock.
    const SECURE_BITS: u32 = 0b1110_1111;
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        // The kernel refuses the first number it does not know.
        if remove_capability_from_bounding_set(capability) == Err(Errno::INVAL) {
            break;
        }
    }
    // This needs a capability that a process without namespaces lacks. Then there is nothing to drop.
    let bits = CapabilitiesSecureBits::from_bits_retain(SECURE_BITS);
    let _ = set_capabilities_secure_bits(bits);
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none)
}

/// Resets every signal to its default action and unblocks all.
pub(super) fn reset_signals() {
    const LAST: c_int = 64;
    // The kernel's own action struct; all zeros is the default. The C library would refuse the signals it reserves for
    // itself.
    let default = [0_u64; 4];
    for signal in 1..=LAST {
        let (old, size) = (null(), size_of::<u64>());
        let _ = syscall!(libc::SYS_rt_sigaction, signal, default.as_ptr(), old, size);
    }
    set_signal_mask(0);
}

/// Replaces the signal mask, one bit per signal, and returns the old one.
pub(crate) fn set_signal_mask(mask: u64) -> u64 {
    let mut old = 0_u64;
    let (how, size) = (libc::SIG_SETMASK, size_of::<u64>());
    let (new, before) = (&raw const mask, &raw mut old);
    let _ = syscall!(libc::SYS_rt_sigprocmask, how, new, before, size);
    old
}

/// Exits without running any host code.
pub(super) fn exit(code: c_int) -> ! {
    loop {
        let _ = syscall!(libc::SYS_exit_group, code);
    }
}

/// Replaces this process with a program. Both lists are null-terminated. Returns only on failure.
pub(super) fn execute(
    path: &CStr,
    arguments: &[*const c_char],
    environment: &[*const c_char],
) -> Errno {
    let (arguments, environment) = (arguments.as_ptr(), environment.as_ptr());
    let executed = syscall!(libc::SYS_execve, path.as_ptr(), arguments, environment);
    executed.err().unwrap_or(Errno::NOEXEC)
}
