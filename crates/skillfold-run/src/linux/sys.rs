//! System calls. The functions allocate nothing, so that they may be called between `fork` and `exec`.

use std::ffi::CStr;
use std::ptr;

use libc::{c_char, c_int, c_long, c_uint, c_ulong, c_void};

/// The number of an error of the system.
pub(super) type Errno = c_int;

/// Returns the error of the last call.
pub(super) fn errno() -> Errno {
    // SAFETY: the location is valid for the life of the thread.
    unsafe { *libc::__errno_location() }
}

/// Turns the result of a system call into a value or the error.
pub(super) fn checked(result: c_long) -> Result<c_long, Errno> {
    if result < 0 { Err(errno()) } else { Ok(result) }
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

/// Turns the result into a descriptor; the kernel gives no larger ones.
pub(super) fn descriptor(result: c_long) -> c_int {
    c_int::try_from(result).unwrap_or(-1)
}

pub(super) fn null() -> *const c_void {
    ptr::null()
}

pub(super) fn close(fd: c_int) {
    // SAFETY: closing a number that is not open only fails.
    unsafe { libc::close(fd) };
}

/// Closes every descriptor from `first` on.
pub(super) fn close_from(first: c_uint) -> Result<(), Errno> {
    syscall!(libc::SYS_close_range, first, c_uint::MAX, 0).map(drop)
}

pub(super) fn duplicate(from: c_int, to: c_int, flags: c_int) -> Result<(), Errno> {
    syscall!(libc::SYS_dup3, from, to, flags).map(drop)
}

/// Reads one byte; `false` at the end.
pub(super) fn read_byte(fd: c_int) -> Result<bool, Errno> {
    let mut byte = 0_u8;
    loop {
        match syscall!(libc::SYS_read, fd, &raw mut byte, 1_usize) {
            Err(libc::EINTR) => {}
            result => return result.map(|count| count == 1),
        }
    }
}

/// Writes all bytes.
pub(super) fn write_all(fd: c_int, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match syscall!(libc::SYS_write, fd, bytes.as_ptr(), bytes.len()) {
            Err(libc::EINTR) => {}
            Err(error) => return Err(error),
            Ok(count) => {
                let count = usize::try_from(count).unwrap_or(0);
                bytes = bytes.get(count..).unwrap_or_default();
            }
        }
    }
    Ok(())
}

pub(super) fn open(path: &CStr, flags: c_int, mode: c_uint) -> Result<c_int, Errno> {
    let flags = flags | libc::O_CLOEXEC;
    syscall!(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, mode).map(descriptor)
}

pub(super) fn make_folder(path: &CStr) -> Result<(), Errno> {
    match syscall!(libc::SYS_mkdirat, libc::AT_FDCWD, path.as_ptr(), 0o755) {
        Err(libc::EEXIST) => Ok(()),
        result => result.map(drop),
    }
}

/// Creates a file with this content.
pub(super) fn make_file(path: &CStr, mode: c_uint, bytes: &[u8]) -> Result<(), Errno> {
    let fd = open(
        path,
        libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW,
        mode,
    )?;
    let written = write_all(fd, bytes);
    close(fd);
    written
}

pub(super) fn make_link(target: &CStr, path: &CStr) -> Result<(), Errno> {
    syscall!(
        libc::SYS_symlinkat,
        target.as_ptr(),
        libc::AT_FDCWD,
        path.as_ptr()
    )
    .map(drop)
}

pub(super) fn change_folder(path: &CStr) -> Result<(), Errno> {
    syscall!(libc::SYS_chdir, path.as_ptr()).map(drop)
}

pub(super) fn mount(
    what: &CStr,
    target: &CStr,
    flags: c_ulong,
    options: Option<&CStr>,
) -> Result<(), Errno> {
    let options = options.map_or(null(), |options| options.as_ptr().cast());
    syscall!(
        libc::SYS_mount,
        what.as_ptr(),
        target.as_ptr(),
        what.as_ptr(),
        flags,
        options
    )
    .map(drop)
}

/// Makes a change of a mount in this namespace stay in it.
pub(super) fn make_mounts_private() -> Result<(), Errno> {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    let none = null();
    syscall!(libc::SYS_mount, none, c"/".as_ptr(), none, flags, none).map(drop)
}

/// Opens a path to refer to it. A link anywhere in the path is an error.
pub(super) fn open_without_links(path: &CStr) -> Result<c_int, Errno> {
    #[repr(C)]
    struct How {
        flags: u64,
        mode: u64,
        resolve: u64,
    }
    const NO_LINKS: u64 = 4;
    let how = How {
        flags: u64::from((libc::O_PATH | libc::O_CLOEXEC).unsigned_abs()),
        mode: 0,
        resolve: NO_LINKS,
    };
    let (here, size) = (libc::AT_FDCWD, size_of::<How>());
    syscall!(libc::SYS_openat2, here, path.as_ptr(), &raw const how, size).map(descriptor)
}

/// Returns a detached copy of a mount, with what is mounted below it. A link anywhere in the path is an error: it was resolved
/// when the path was looked at, and may have been made since.
pub(super) fn clone_mount(path: &CStr) -> Result<c_int, Errno> {
    const OPEN_TREE_CLONE: c_uint = 1;
    const OPEN_TREE_CLOEXEC: c_uint = libc::O_CLOEXEC as c_uint;
    const AT_RECURSIVE: c_uint = 0x8000;
    const AT_EMPTY_PATH: c_uint = libc::AT_EMPTY_PATH as c_uint;
    let flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH;
    let place = open_without_links(path)?;
    let copy = syscall!(libc::SYS_open_tree, place, c"".as_ptr(), flags);
    close(place);
    copy.map(descriptor)
}

/// Puts a detached mount at a path.
pub(super) fn attach_mount(fd: c_int, path: &CStr) -> Result<(), Errno> {
    const MOVE_MOUNT_F_EMPTY_PATH: c_uint = 4;
    let empty = c"".as_ptr();
    let flags = MOVE_MOUNT_F_EMPTY_PATH;
    syscall!(
        libc::SYS_move_mount,
        fd,
        empty,
        libc::AT_FDCWD,
        path.as_ptr(),
        flags
    )
    .map(drop)
}

pub(super) const MOUNT_READ_ONLY: u64 = 1;
pub(super) const MOUNT_NO_SETUID: u64 = 2;
pub(super) const MOUNT_NO_DEVICES: u64 = 4;
pub(super) const MOUNT_NO_EXEC: u64 = 8;

/// Whether the mounts below one are meant too.
#[derive(Clone, Copy)]
pub(super) enum Below {
    Included,
    Excluded,
}

#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Adds attributes to a mount that is given by a descriptor.
pub(super) fn restrict_mount(fd: c_int, set: u64, below: Below) -> Result<(), Errno> {
    const AT_RECURSIVE: c_int = 0x8000;
    let attributes = MountAttributes {
        set,
        clear: 0,
        propagation: 0,
        user_namespace: 0,
    };
    let flags = match below {
        Below::Included => libc::AT_EMPTY_PATH | AT_RECURSIVE,
        Below::Excluded => libc::AT_EMPTY_PATH,
    };
    let (empty, size) = (c"".as_ptr(), size_of::<MountAttributes>());
    syscall!(
        libc::SYS_mount_setattr,
        fd,
        empty,
        flags,
        &raw const attributes,
        size
    )
    .map(drop)
}

/// Sets a limit, or leaves a lower one that the host has.
pub(super) fn lower_limit(resource: c_int, soft: u64, hard: u64) -> Result<(), Errno> {
    match set_limit(resource, soft, hard) {
        Err(libc::EPERM) => {}
        result => return result,
    }
    let mut old = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    syscall!(libc::SYS_prlimit64, 0, resource, null(), &raw mut old)?;
    if old.rlim_max > hard {
        return Err(libc::EPERM);
    }
    set_limit(resource, soft.min(old.rlim_max), old.rlim_max)
}

fn set_limit(resource: c_int, soft: u64, hard: u64) -> Result<(), Errno> {
    let limit = libc::rlimit {
        rlim_cur: soft,
        rlim_max: hard,
    };
    let old = null();
    syscall!(libc::SYS_prlimit64, 0, resource, &raw const limit, old).map(drop)
}

pub(super) fn control(option: c_int, first: c_ulong, second: c_ulong) -> Result<c_long, Errno> {
    let zero: c_ulong = 0;
    syscall!(libc::SYS_prctl, option, first, second, zero, zero)
}

/// Gives up every capability, now and for programs that are started later.
pub(super) fn drop_capabilities() -> Result<(), Errno> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: c_int,
    }
    const VERSION_3: u32 = 0x2008_0522;
    const LAST_POSSIBLE: c_ulong = 63;
    // NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off and locked, NO_CAP_AMBIENT_RAISE, each with its lock.
    const SECURE_BITS: c_ulong = 0b1110_1111;
    for capability in 0..=LAST_POSSIBLE {
        // The first number that the kernel does not know is refused.
        if control(libc::PR_CAPBSET_DROP, capability, 0) == Err(libc::EINVAL) {
            break;
        }
    }
    // Needs a capability, which a process without namespaces does not have. Then there is nothing to give up.
    let _ = control(libc::PR_SET_SECUREBITS, SECURE_BITS, 0);
    let header = Header {
        version: VERSION_3,
        pid: 0,
    };
    let none = [0_u32; 6];
    syscall!(libc::SYS_capset, &raw const header, none.as_ptr()).map(drop)
}

/// Sets every signal to its default action and unblocks all.
pub(super) fn reset_signals() {
    const LAST: c_int = 64;
    // The kernel's own record of an action; all zeros are the default one. The C library would refuse the signals that it
    // keeps for itself.
    let default = [0_u64; 4];
    for signal in 1..=LAST {
        let (old, size) = (null(), size_of::<u64>());
        let _ = syscall!(libc::SYS_rt_sigaction, signal, default.as_ptr(), old, size);
    }
    set_signal_mask(&empty_mask());
}

/// Returns the mask without signals.
pub(super) fn empty_mask() -> u64 {
    0
}

/// Replaces the mask of blocked signals, one bit for each, and returns the old one.
pub(crate) fn set_signal_mask(mask: &u64) -> u64 {
    let mut old = 0_u64;
    let (new, size) = (ptr::from_ref(mask), size_of::<u64>());
    let _ = syscall!(
        libc::SYS_rt_sigprocmask,
        libc::SIG_SETMASK,
        new,
        &raw mut old,
        size
    );
    old
}

/// Ends this process without running anything of the host.
pub(super) fn exit(code: c_int) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}

/// Replaces this process by a program. Returns only if that failed.
pub(super) fn execute(
    path: &CStr,
    arguments: &[*const c_char],
    environment: &[*const c_char],
) -> Errno {
    // SAFETY: both lists end with a null pointer, and their strings live as long as the plan.
    unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    errno()
}
