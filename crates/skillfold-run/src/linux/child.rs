//! Runs in the new processes between `fork` and `exec`. Nothing here allocates or panics: another host thread may have
//! held any lock during the fork.

use std::os::fd::OwnedFd;

use libc::{c_int, c_long, c_uint};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, open, symlink, unlinkat};
use rustix::io::{Errno, read};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, UnmountFlags, mount, mount_change,
    move_mount, unmount,
};
use rustix::process::{
    DumpableBehavior, WaitOptions, chdir, pivot_root, set_dumpable_behavior, setsid, umask, wait,
};
use rustix::system::sethostname;
use rustix::thread::{
    Gid, Uid, set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

use super::loopback::offer_proxy;
use super::plan::{Item, Plan, Program};
use super::seccomp;
use super::sys::{
    Below, clone_mount, close_range, drop_capabilities, duplicate, execute, exit, fixed,
    lower_limit, make_file, make_folder, open_checked, owned, read_byte, reset_signals,
    restrict_mount, set_signal_mask, syscall, write_all,
};

/// The user in the sandbox.
pub(super) const USER: c_uint = 1000;

/// Descriptors that the first process needs, as opened by the host. Each is above [`FIRST_FREE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptors {
    pub(super) stdin: c_int,
    pub(super) stdout: c_int,
    pub(super) stderr: c_int,
    /// Reports a failed step; closed when the program starts.
    pub(super) setup: c_int,
    /// Reports how the program ended.
    pub(super) status: c_int,
    /// Closed by the kernel when the host exits.
    pub(super) lifeline: c_int,
    /// The host signals that users are mapped, and then that the program may start.
    pub(super) go_on: c_int,
    /// Takes the socket that the host's proxy listens on, for a run with rules.
    pub(super) proxy: Option<c_int>,
}

const SETUP: c_int = 3;
const STATUS: c_int = 4;
const LIFELINE: c_int = 5;
const GO_ON: c_int = 6;
const PROXY: c_int = 7;

/// The first number after the fixed ones above.
pub(super) const FIRST_FREE: c_int = 8;

/// Sent to the host right before the program is executed: a process killed on the way there did not send it.
pub(super) const READY: u8 = u8::MAX;

/// A failed step as sent to the host: its number, then the error's.
pub(super) const FAILURE_BYTES: usize = 5;

/// The steps before a program starts, numbered for failure reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    Descriptors,
    Session,
    Users,
    PrivateMounts,
    CopyMounts,
    NewRoot,
    Proc,
    Scratch,
    Files,
    AttachMounts,
    ReadOnly,
    Host,
    Proxy,
    Fork,
    Folder,
    Limits,
    Capabilities,
    Landlock,
    Seccomp,
    Execute,
}

impl Step {
    const ALL: [(Self, &'static str); 20] = [
        (Self::Descriptors, "close descriptors"),
        (Self::Session, "start a session"),
        (Self::Users, "become an unprivileged user"),
        (Self::PrivateMounts, "make mounts private"),
        (Self::CopyMounts, "copy mounts"),
        (Self::NewRoot, "change the root"),
        (Self::Proc, "mount /proc"),
        (Self::Scratch, "mount the scratch folder"),
        (Self::Files, "write the skill"),
        (Self::AttachMounts, "attach mounts"),
        (Self::ReadOnly, "make the root read-only"),
        (Self::Host, "set the host name"),
        (Self::Proxy, "open the proxy's port"),
        (Self::Fork, "start the process"),
        (Self::Folder, "enter the working directory"),
        (Self::Limits, "set resource limits"),
        (Self::Capabilities, "give up privileges"),
        (Self::Landlock, "enforce landlock"),
        (Self::Seccomp, "install the seccomp filter"),
        (Self::Execute, "execute the interpreter"),
    ];

    /// Describes a step by its number.
    pub(super) fn describe(number: u8) -> &'static str {
        let known = Self::ALL.iter().find(|(step, _)| *step as u8 == number);
        known.map_or("set up the sandbox", |(_, name)| name)
    }
}

type Failure = (Step, Errno);

/// Attaches a step to an error.
trait At<T> {
    fn at(self, step: Step) -> Result<T, Failure>;
}

impl<T> At<T> for Result<T, Errno> {
    fn at(self, step: Step) -> Result<T, Failure> {
        self.map_err(|error| (step, error))
    }
}

/// Reports a failed step to the host.
fn report((step, error): Failure) {
    let [a, b, c, d] = error.raw_os_error().to_ne_bytes();
    let _ = write_all(fixed(SETUP), &[step as u8, a, b, c, d]);
}

/// The first process of a sandbox: sets it up, starts the program, and exits with it. When it exits, the kernel kills
/// every other process in the sandbox.
pub(super) fn first_process(
    plan: &Plan<'_>,
    from: Descriptors,
    copies: &mut [Option<OwnedFd>],
) -> ! {
    if let Err(failure) = set_up(plan, from, copies) {
        report(failure);
        exit(1);
    }
    let program = match fork() {
        Ok(0) => start(&plan.program),
        Ok(pid) => pid,
        Err(error) => {
            report((Step::Fork, error));
            exit(1);
        }
    };
    // The pipes must close when the script's processes exit.
    let _ = close_range(0, SETUP.unsigned_abs());
    reap_until(program)
}

/// The process that becomes the program.
fn start(program: &Program) -> ! {
    let failure = confine(program).err().unwrap_or_else(|| {
        let _ = write_all(fixed(SETUP), &[READY]);
        let error = execute(&program.path, program.arguments(), program.environment());
        (Step::Execute, error)
    });
    report(failure);
    exit(1);
}

fn fork() -> Result<c_long, Errno> {
    let (flags, zero) = (c_long::from(libc::SIGCHLD), 0_usize);
    syscall!(libc::SYS_clone, flags, zero, zero, zero, zero)
}

fn set_up(
    plan: &Plan<'_>,
    from: Descriptors,
    copies: &mut [Option<OwnedFd>],
) -> Result<(), Failure> {
    // No signal handler of the host may run here.
    reset_signals();
    take_descriptors(from).at(Step::Descriptors)?;
    await_host(Step::Users)?;
    setsid().at(Step::Session)?;
    // Mount changes stay in this namespace.
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change(c"/", private).at(Step::PrivateMounts)?;
    // Still as the host's user, to reach files only that user can.
    for (mount, copy) in plan.mounts.iter().zip(copies.iter_mut()) {
        let new = clone_mount(&mount.source, mount.inode).at(Step::CopyMounts)?;
        restrict_mount(&new, mount.attributes, Below::Included).at(Step::CopyMounts)?;
        *copy = Some(new);
    }
    become_user().at(Step::Users)?;
    // This process is a copy of the host; nothing in the sandbox may read its memory.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::Users)?;
    change_root(plan, copies)?;
    sethostname(b"skill").at(Step::Host)?;
    if from.proxy.is_some() {
        offer_proxy(fixed(PROXY)).at(Step::Proxy)?;
        close_range(PROXY, PROXY.unsigned_abs()).at(Step::Proxy)?;
    }
    await_host(Step::Fork)?;
    close_range(GO_ON, GO_ON.unsigned_abs()).at(Step::Fork)
}

/// Waits for a byte from the host. Without one the host has exited or given up.
fn await_host(step: Step) -> Result<(), Failure> {
    if !read_byte(fixed(GO_ON)).at(step)? {
        exit(1);
    }
    Ok(())
}

/// Moves the descriptors to their fixed numbers and closes all others.
fn take_descriptors(from: Descriptors) -> Result<(), Errno> {
    duplicate(from.stdin, 0, 0)?;
    duplicate(from.stdout, 1, 0)?;
    duplicate(from.stderr, 2, 0)?;
    duplicate(from.setup, SETUP, libc::O_CLOEXEC)?;
    duplicate(from.status, STATUS, libc::O_CLOEXEC)?;
    duplicate(from.lifeline, LIFELINE, libc::O_CLOEXEC)?;
    duplicate(from.go_on, GO_ON, libc::O_CLOEXEC)?;
    match from.proxy {
        Some(proxy) => duplicate(proxy, PROXY, libc::O_CLOEXEC)?,
        None => close_range(PROXY, PROXY.unsigned_abs())?,
    }
    close_range(FIRST_FREE, c_uint::MAX)
}

/// Becomes the sandbox user. Uses the per-thread calls: the C library would signal threads that do not exist here.
fn become_user() -> Result<(), Errno> {
    // Only root can drop groups; others keep theirs.
    let _ = set_thread_groups(&[]);
    let (user, group) = (Uid::from_raw(USER), Gid::from_raw(USER));
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)
}

fn change_root(plan: &Plan<'_>, copies: &mut [Option<OwnedFd>]) -> Result<(), Failure> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let (point, root, scratch) = (
        &*plan.mount_point,
        &*plan.root_options,
        &*plan.scratch_options,
    );
    mount(c"tmpfs", point, c"tmpfs", flags, root).at(Step::NewRoot)?;
    chdir(point).at(Step::NewRoot)?;
    make_folder(c"old").at(Step::NewRoot)?;
    pivot_root(c".", c"old").at(Step::NewRoot)?;
    chdir(c"/").at(Step::NewRoot)?;
    make_folder(c"/tmp").at(Step::Scratch)?;
    mount(c"tmpfs", c"/tmp", c"tmpfs", flags, scratch).at(Step::Scratch)?;
    make_folder(c"/proc").at(Step::Proc)?;
    match mount_proc() {
        // A container that masks parts of `/proc` refuses it; the sandbox then has none.
        Err(Errno::INVAL | Errno::PERM) => {}
        result => result.at(Step::Proc)?,
    }
    for item in &plan.items {
        make(item).at(Step::Files)?;
    }
    for (mount, copy) in plan.mounts.iter().zip(copies) {
        let Some(copy) = copy.take() else { continue };
        let whole = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        if mount.is_over_itself {
            // Another run may change the folder that it is in just now.
            let target = open_checked(&mount.target, mount.inode).at(Step::AttachMounts)?;
            let onto = whole | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
            move_mount(copy, c"", target, c"", onto).at(Step::AttachMounts)?;
        } else {
            move_mount(copy, c"", CWD, &*mount.target, whole).at(Step::AttachMounts)?;
        }
    }
    unmount(c"/old", UnmountFlags::DETACH).at(Step::NewRoot)?;
    unlinkat(CWD, c"/old", AtFlags::REMOVEDIR).at(Step::NewRoot)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let here = open(c"/", flags, Mode::empty()).at(Step::ReadOnly)?;
    let attributes = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    restrict_mount(&here, attributes, Below::Excluded).at(Step::ReadOnly)
}

/// Mounts `/proc` with the sandbox's processes, and nothing else where the kernel supports that.
pub(super) fn mount_proc() -> Result<(), Errno> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    for options in [c"hidepid=2,subset=pid", c"hidepid=2"] {
        match mount(c"proc", c"/proc", c"proc", flags, options) {
            Err(Errno::INVAL) => {}
            result => return result,
        }
    }
    Err(Errno::INVAL)
}

fn make(item: &Item<'_>) -> Result<(), Errno> {
    let created = match item {
        Item::Folder(path) => make_folder(path),
        Item::File(path, mode, bytes) => make_file(path, *mode, bytes),
        Item::Link { target, path } => symlink(&**target, &**path),
    };
    match created {
        // A granted path below one that is already visible.
        Err(Errno::EXIST) => Ok(()),
        result => result,
    }
}

/// Applies every restriction that works without namespaces.
pub(super) fn confine(program: &Program) -> Result<(), Failure> {
    reset_signals();
    // Already done if this process leads a session.
    let _ = setsid();
    umask(Mode::from_raw_mode(0o077));
    chdir(&*program.folder).at(Step::Folder)?;
    for (resource, soft, hard) in &program.limits {
        lower_limit(*resource, *soft, *hard).at(Step::Limits)?;
    }
    set_no_new_privs(true).at(Step::Capabilities)?;
    drop_capabilities().at(Step::Capabilities)?;
    if let Some(rules) = &program.rules {
        rules.enforce().at(Step::Landlock)?;
    }
    seccomp::install(&program.filters).at(Step::Seccomp)
}

/// Reaps all sandbox processes until the program or the host exits, and reports how the program ended.
fn reap_until(program: c_long) -> ! {
    let child_ended: u64 = 1 << (libc::SIGCHLD - 1);
    set_signal_mask(child_ended);
    let (new, mask, size) = (-1, &raw const child_ended, size_of::<u64>());
    let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
    let Ok(signals) = syscall!(libc::SYS_signalfd4, new, mask, size, flags).map(owned) else {
        exit(1)
    };
    let any = WaitOptions::NOHANG | WaitOptions::from_bits_retain(libc::__WALL.unsigned_abs());
    loop {
        while let Ok(Some((pid, status))) = wait(any) {
            if c_long::from(pid.as_raw_nonzero().get()) == program {
                let _ = write_all(fixed(STATUS), &status.as_raw().to_ne_bytes());
                exit(0);
            }
        }
        let lifeline = fixed(LIFELINE);
        let mut watched = [
            PollFd::from_borrowed_fd(lifeline, PollFlags::IN),
            PollFd::new(&signals, PollFlags::IN),
        ];
        let _ = poll(&mut watched, None);
        let [lifeline, _] = watched;
        if !lifeline.revents().is_empty() {
            exit(1);
        }
        let _ = read(&signals, &mut [0_u8; 1024]);
    }
}
