//! What is done to a sandbox that another program has made, from outside.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use libc::c_int;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, retry_on_intr};
use rustix::mount::{MountFlags, mount};
use rustix::process::{Pid, Resource, Rlimit, WaitId, WaitIdOptions, geteuid, prlimit, waitid};
use rustix::thread::{
    Gid, LinkNameSpaceType, Uid, move_into_link_name_space, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

use crate::linux::child::mount_proc;
use crate::linux::loopback::{offer_proxy, take_proxy};
use crate::linux::spawn::NOBODY;
use crate::linux::sys::{exit, null, owned, set_signal_mask, syscall};

/// Returns a socket that listens on the loopback of a process's network namespace.
pub(super) fn listen_in_network_of(pid: Pid) -> io::Result<OwnedFd> {
    let network = open_namespace(pid, "net")?;
    let owner = owner_of(&network)?;
    let (host, end) = UnixStream::pair()?;
    // Only a process with one thread can join a user namespace.
    in_new_process(|| {
        move_into_link_name_space(owner.as_fd(), Some(LinkNameSpaceType::User))?;
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
        offer_proxy(end.as_fd())
    })?;
    take_proxy(host)
}

/// Mounts a `/proc` that shows a sandbox's processes and nothing else over the one that `bwrap` has mounted.
pub(super) fn restrict_proc(pid: Pid) -> io::Result<()> {
    let (processes, mounts) = (open_namespace(pid, "pid")?, open_namespace(pid, "mnt")?);
    let owner = owner_of(&mounts)?;
    in_new_process(|| {
        move_into_link_name_space(owner.as_fd(), Some(LinkNameSpaceType::User))?;
        move_into_link_name_space(processes.as_fd(), Some(LinkNameSpaceType::ProcessID))?;
        move_into_link_name_space(mounts.as_fd(), Some(LinkNameSpaceType::Mount))?;
        // The kernel mounts it for a process that is among them only.
        in_new_process(|| {
            mount_proc()?;
            // The first process has the same user: hide its memory.
            let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
            mount(
                c"tmpfs",
                c"/proc/1",
                c"tmpfs",
                flags,
                c"size=4k,nr_inodes=2",
            )
        })
    })?;
    Ok(())
}

/// Opens a process's namespace.
fn open_namespace(pid: Pid, name: &str) -> io::Result<OwnedFd> {
    let path = format!("/proc/{}/ns/{name}", pid.as_raw_nonzero());
    Ok(open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Returns the user namespace that a namespace belongs to.
fn owner_of(namespace: &OwnedFd) -> io::Result<OwnedFd> {
    const GET_OWNER: c_int = 0xb701;
    let owner = syscall!(libc::SYS_ioctl, namespace.as_raw_fd(), GET_OWNER)?;
    Ok(owned(owner))
}

/// Limits the processes of a sandbox, whose user is `nobody` if root made it.
pub(super) fn limit_processes(pid: Pid, limit: u64) -> io::Result<()> {
    let limit = Rlimit {
        current: Some(limit),
        maximum: Some(limit),
    };
    if !geteuid().is_root() {
        prlimit(Some(pid), Resource::Nproc, limit)?;
        return Ok(());
    }
    // Root of a container may not set limits of others; a process may set those of the same user.
    in_new_process(|| {
        become_nobody()?;
        prlimit(Some(pid), Resource::Nproc, limit).map(drop)
    })?;
    Ok(())
}

/// Gives up root's rights. Uses the per-thread calls: the C library would signal threads that do not exist here.
pub(super) fn become_nobody() -> Result<(), Errno> {
    set_thread_groups(&[])?;
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)
}

/// Calls a function in a process of its own. Neither allocates, so that one can call this in another.
fn in_new_process(job: impl Fn() -> Result<(), Errno>) -> Result<(), Errno> {
    let blocked = set_signal_mask(u64::MAX);
    // Without an exit signal, no host handler notices it, and no `wait` for any child takes its status.
    let cloned = syscall!(libc::SYS_clone, 0_usize, null(), null(), null(), null());
    if cloned == Ok(0) {
        exit(job().map_or_else(Errno::raw_os_error, |()| 0));
    }
    set_signal_mask(blocked);
    let process = c_int::try_from(cloned?).ok().and_then(Pid::from_raw);
    let process = process.ok_or(Errno::SRCH)?;
    let all = WaitIdOptions::from_bits_retain(libc::__WALL.unsigned_abs());
    let ended = retry_on_intr(|| waitid(WaitId::Pid(process), WaitIdOptions::EXITED | all))?;
    match ended.and_then(|ended| ended.exit_status()) {
        Some(0) => Ok(()),
        Some(error) => Err(Errno::from_raw_os_error(error)),
        // It was killed.
        None => Err(Errno::INTR),
    }
}
