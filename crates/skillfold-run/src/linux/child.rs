//! What happens in the new processes, between `fork` and `exec`. Nothing here allocates or panics: another thread of the
//! host may have held any lock when the process was copied.

use libc::{c_int, c_long, c_uint, c_ulong};

use super::plan::{Item, Plan, Program};
use super::seccomp;
use super::sys::{
    Below, Errno, MOUNT_NO_DEVICES, MOUNT_NO_SETUID, MOUNT_READ_ONLY, attach_mount, change_folder,
    clone_mount, close, close_from, control, drop_capabilities, duplicate, execute, exit,
    lower_limit, make_file, make_folder, make_link, make_mounts_private, mount, open, read_byte,
    reset_signals, restrict_mount, set_signal_mask, syscall, write_all,
};

/// The user in the box.
pub(super) const USER: c_uint = 1000;

/// Descriptors that the first process needs, as the host has opened them. Each is above [`FIRST_FREE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptors {
    pub(super) stdin: c_int,
    pub(super) stdout: c_int,
    pub(super) stderr: c_int,
    /// Where a failed step is reported; closed when the program starts.
    pub(super) setup: c_int,
    /// Where the end of the program is reported.
    pub(super) status: c_int,
    /// Closed by the kernel when the host ends.
    pub(super) lifeline: c_int,
    /// Where the host says that users are mapped, and then that the program may start.
    pub(super) go_on: c_int,
}

const SETUP: c_int = 3;
const STATUS: c_int = 4;
const LIFELINE: c_int = 5;
const GO_ON: c_int = 6;

/// The first number after those above.
pub(super) const FIRST_FREE: c_int = 7;

/// Sent to the host right before the program is executed: a process that was killed on the way there did not send it.
pub(super) const READY: u8 = u8::MAX;

/// A step that failed, as it is sent to the host: its number, then that of the error.
pub(super) const FAILURE_BYTES: usize = 5;

/// The steps before a program starts, by the number under which a failure is reported.
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
    Fork,
    Folder,
    Limits,
    Capabilities,
    Landlock,
    Seccomp,
    Execute,
}

impl Step {
    const ALL: [(Self, &'static str); 19] = [
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
        (Self::Fork, "start the process"),
        (Self::Folder, "enter the skill's folder"),
        (Self::Limits, "set resource limits"),
        (Self::Capabilities, "give up privileges"),
        (Self::Landlock, "enforce landlock"),
        (Self::Seccomp, "install the seccomp filter"),
        (Self::Execute, "execute the interpreter"),
    ];

    /// Returns what a step does, by its number.
    pub(super) fn describe(number: u8) -> &'static str {
        let known = Self::ALL.iter().find(|(step, _)| *step as u8 == number);
        known.map_or("set up the box", |(_, name)| name)
    }
}

type Failure = (Step, Errno);

/// Names the step of an error.
trait At<T> {
    fn at(self, step: Step) -> Result<T, Failure>;
}

impl<T> At<T> for Result<T, Errno> {
    fn at(self, step: Step) -> Result<T, Failure> {
        self.map_err(|error| (step, error))
    }
}

/// Reports a failed step to the host.
fn report(fd: c_int, (step, error): Failure) {
    let [a, b, c, d] = error.to_ne_bytes();
    let _ = write_all(fd, &[step as u8, a, b, c, d]);
}

/// The first process of a box: sets it up, starts the program, and ends with it. When it ends, the kernel ends every other
/// process of the box.
pub(super) fn first_process(plan: &Plan<'_>, from: Descriptors, copies: &mut [c_int]) -> ! {
    if let Err(failure) = set_up(plan, from, copies) {
        report(SETUP, failure);
        exit(1);
    }
    let program = match fork() {
        Ok(0) => start(&plan.program),
        Ok(pid) => pid,
        Err(error) => {
            report(SETUP, (Step::Fork, error));
            exit(1);
        }
    };
    // The pipes must end when the processes of the script do.
    for fd in [0, 1, 2, SETUP] {
        close(fd);
    }
    reap_until(program)
}

/// The process that becomes the program.
fn start(program: &Program) -> ! {
    let failure = confine(program).err().unwrap_or_else(|| {
        let _ = write_all(SETUP, &[READY]);
        let error = execute(&program.path, program.arguments(), program.environment());
        (Step::Execute, error)
    });
    report(SETUP, failure);
    exit(1);
}

fn fork() -> Result<c_long, Errno> {
    let (flags, zero) = (c_long::from(libc::SIGCHLD), 0_usize);
    syscall!(libc::SYS_clone, flags, zero, zero, zero, zero)
}

fn set_up(plan: &Plan<'_>, from: Descriptors, copies: &mut [c_int]) -> Result<(), Failure> {
    // No handler of the host may run here.
    reset_signals();
    take_descriptors(from).at(Step::Descriptors)?;
    await_host(Step::Users)?;
    syscall!(libc::SYS_setsid).at(Step::Session)?;
    make_mounts_private().at(Step::PrivateMounts)?;
    // As the user of the host: files that only it can reach.
    for (mount, copy) in plan.mounts.iter().zip(copies.iter_mut()) {
        *copy = clone_mount(&mount.source).at(Step::CopyMounts)?;
        restrict_mount(*copy, mount.attributes, Below::Included).at(Step::CopyMounts)?;
    }
    become_user().at(Step::Users)?;
    // This process is a copy of the host; nothing in the box may read its memory.
    control(libc::PR_SET_DUMPABLE, 0, 0).at(Step::Users)?;
    change_root(plan, copies)?;
    let name = c"skill";
    let length = name.count_bytes();
    syscall!(libc::SYS_sethostname, name.as_ptr(), length).at(Step::Host)?;
    await_host(Step::Fork)?;
    close(GO_ON);
    Ok(())
}

/// Waits for a byte from the host. Without one the host has ended or given up.
fn await_host(step: Step) -> Result<(), Failure> {
    if !read_byte(GO_ON).at(step)? {
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
    close_from(FIRST_FREE.unsigned_abs())
}

/// Becomes the user of the box. Calls the kernel directly: the C library would ask threads that are not here.
fn become_user() -> Result<(), Errno> {
    // Only root can give up groups; others keep theirs.
    let _ = syscall!(libc::SYS_setgroups, 0_usize, super::sys::null());
    syscall!(libc::SYS_setresgid, USER, USER, USER)?;
    syscall!(libc::SYS_setresuid, USER, USER, USER).map(drop)
}

fn change_root(plan: &Plan<'_>, copies: &[c_int]) -> Result<(), Failure> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    let (root, scratch) = (Some(&*plan.root_options), Some(&*plan.scratch_options));
    mount(c"tmpfs", &plan.mount_point, flags, root).at(Step::NewRoot)?;
    change_folder(&plan.mount_point).at(Step::NewRoot)?;
    make_folder(c"old").at(Step::NewRoot)?;
    syscall!(libc::SYS_pivot_root, c".".as_ptr(), c"old".as_ptr()).at(Step::NewRoot)?;
    change_folder(c"/").at(Step::NewRoot)?;
    make_folder(c"/tmp").at(Step::Scratch)?;
    mount(c"tmpfs", c"/tmp", flags, scratch).at(Step::Scratch)?;
    mount_proc().at(Step::Proc)?;
    for item in &plan.items {
        make(item).at(Step::Files)?;
    }
    for (mount, copy) in plan.mounts.iter().zip(copies) {
        attach_mount(*copy, &mount.target).at(Step::AttachMounts)?;
        close(*copy);
    }
    let old = c"/old".as_ptr();
    syscall!(libc::SYS_umount2, old, libc::MNT_DETACH).at(Step::NewRoot)?;
    syscall!(libc::SYS_unlinkat, libc::AT_FDCWD, old, libc::AT_REMOVEDIR).at(Step::NewRoot)?;
    let here = open(c"/", libc::O_PATH | libc::O_DIRECTORY, 0).at(Step::ReadOnly)?;
    let attributes = MOUNT_READ_ONLY | MOUNT_NO_SETUID | MOUNT_NO_DEVICES;
    restrict_mount(here, attributes, Below::Excluded).at(Step::ReadOnly)?;
    close(here);
    Ok(())
}

/// Mounts the processes of the box, without the rest of `/proc` where the kernel can do that. In a container that hides
/// parts of `/proc` this is refused; the box then has none.
fn mount_proc() -> Result<(), Errno> {
    make_folder(c"/proc")?;
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    let options = [c"hidepid=2,subset=pid", c"hidepid=2"];
    for options in options {
        match mount(c"proc", c"/proc", flags, Some(options)) {
            Ok(()) => return Ok(()),
            Err(libc::EINVAL | libc::EPERM) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn make(item: &Item<'_>) -> Result<(), Errno> {
    let made = match item {
        Item::Folder(path) => make_folder(path),
        Item::File(path, mode, bytes) => make_file(path, *mode, bytes),
        Item::Link { target, path } => make_link(target, path),
    };
    match made {
        // A granted path below one that is shown already.
        Err(libc::EEXIST) => Ok(()),
        result => result,
    }
}

/// Applies everything that limits a process and does not need namespaces.
pub(super) fn confine(program: &Program) -> Result<(), Failure> {
    reset_signals();
    // Already done where this process is the first of a session.
    let _ = syscall!(libc::SYS_setsid);
    syscall!(libc::SYS_umask, 0o077).at(Step::Folder)?;
    change_folder(&program.folder).at(Step::Folder)?;
    for (resource, soft, hard) in &program.limits {
        lower_limit(*resource, *soft, *hard).at(Step::Limits)?;
    }
    control(libc::PR_SET_NO_NEW_PRIVS, 1, 0).at(Step::Capabilities)?;
    drop_capabilities().at(Step::Capabilities)?;
    if let Some(rules) = &program.rules {
        rules.enforce().at(Step::Landlock)?;
    }
    seccomp::install(&program.filters).at(Step::Seccomp)
}

/// Waits for all processes of the box until the program ends or the host does, and reports how the program ended.
fn reap_until(program: c_long) -> ! {
    let child_ended: u64 = 1 << (libc::SIGCHLD - 1);
    set_signal_mask(&child_ended);
    let (mask, size) = (&raw const child_ended, size_of::<u64>());
    let none: c_int = -1;
    let Ok(signals) = syscall!(
        libc::SYS_signalfd4,
        none,
        mask,
        size,
        libc::SFD_CLOEXEC | libc::SFD_NONBLOCK
    ) else {
        exit(1)
    };
    let signals = super::sys::descriptor(signals);
    loop {
        loop {
            let mut status: c_int = 0;
            let (any, none) = (-1, super::sys::null());
            let options = libc::WNOHANG | libc::__WALL;
            match syscall!(libc::SYS_wait4, any, &raw mut status, options, none) {
                Ok(0) | Err(_) => break,
                Ok(pid) if pid == program => {
                    let _ = write_all(STATUS, &status.to_ne_bytes());
                    exit(0);
                }
                Ok(_) => {}
            }
        }
        let watch = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut watched = [watch(LIFELINE), watch(signals)];
        let count: c_ulong = 2;
        // SAFETY: the list is as long as it says.
        unsafe { libc::poll(watched.as_mut_ptr(), count, -1) };
        let [lifeline, _] = watched;
        if lifeline.revents != 0 {
            exit(1);
        }
        let mut drained = [0_u8; 1024];
        let _ = syscall!(libc::SYS_read, signals, drained.as_mut_ptr(), drained.len());
    }
}
