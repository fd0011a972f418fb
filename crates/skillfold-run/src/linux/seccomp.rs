//! The seccomp filter: refuses system calls that scripts do not need.
//!
//! A deny list rather than an allow list: interpreters use new calls with each release, and the other layers cover what
//! the list misses.

use std::collections::BTreeMap;
use std::env::consts;

use libc::{c_int, c_long};
use rustix::io::Errno;
use seccompiler::SeccompCmpOp::{self, Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter, sock_filter,
};

use crate::permissions::Network;

/// Whether there is a filter for this architecture.
pub(super) const IS_KNOWN: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

#[cfg(not(target_arch = "aarch64"))]
const KEXEC_FILE_LOAD: c_long = libc::SYS_kexec_file_load;
// The crate has it on other architectures alone.
#[cfg(target_arch = "aarch64")]
const KEXEC_FILE_LOAD: c_long = 294;

/// Calls refused whatever their arguments.
const REFUSED: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Kernel features with a history of vulnerabilities.
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
    libc::SYS_memfd_secret,
    // Keys.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    // The system as a whole.
    libc::SYS_kexec_load,
    KEXEC_FILE_LOAD,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    // Memory of other NUMA nodes and processes.
    libc::SYS_mbind,
    libc::SYS_set_mempolicy,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// Refused calls that only this architecture has.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// Calls newer than the C library's tables; the numbers are the same on every architecture. `listmount` and `statmount`
/// show mounts, `open_tree_attr` creates them.
const REFUSED_NEW: &[c_long] = &[457, 458, 467];

/// Calls that set a file's mode, each with the index of the mode argument. The number of `fchmodat2` is the same on
/// every architecture.
const SET_MODE: &[(c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_mknodat, 2),
    (452, 2),
];
#[cfg(target_arch = "x86_64")]
const SET_MODE_HERE: &[(c_long, u8)] = &[
    (libc::SYS_chmod, 1),
    (libc::SYS_creat, 1),
    (libc::SYS_mknod, 1),
];
#[cfg(not(target_arch = "x86_64"))]
const SET_MODE_HERE: &[(c_long, u8)] = &[];

/// Calls that may create a file, each with the index of the flags argument; the mode is the next one.
#[cfg(target_arch = "x86_64")]
const OPEN: &[(c_long, u8)] = &[(libc::SYS_openat, 2), (libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPEN: &[(c_long, u8)] = &[(libc::SYS_openat, 2)];

/// Calls that set or remove extended attributes: access lists, capabilities and labels would stay on files that a run
/// leaves behind. The numbers of the last two are the same on every architecture: `setxattrat` and `removexattrat`.
const SET_ATTRIBUTES: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    463,
    466,
];

/// The setuid and setgid bits, which give whoever runs a file the rights of its owner or group.
const SET_ID: u32 = 0o6000;

/// The open flags that create a file.
const MAKES_FILE: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)).unsigned_abs();

/// `clone` flags that create namespaces.
const NEW_NAMESPACES: u32 = 0x7e02_0000;

/// Builds the filters. A call must pass all of them.
pub(super) fn filters(
    network: &Network,
    unix_sockets: UnixSockets,
) -> Result<Vec<BpfProgram>, BackendError> {
    let calls = [REFUSED, REFUSED_HERE, REFUSED_NEW].concat();
    let mut refused: RefusedCalls = calls.into_iter().map(|call| (call, Vec::new())).collect();
    let mut refuse_if = |call, rules: Vec<Vec<Condition>>| {
        let rules: Result<_, _> = rules.into_iter().map(rule).collect();
        refused.insert(call, rules?);
        Ok::<_, BackendError>(())
    };
    refuse_if(libc::SYS_clone, with_any(0, NEW_NAMESPACES))?;
    // A setuid program left in a granted folder would give the user's rights to whoever runs it.
    for (call, mode) in [SET_MODE, SET_MODE_HERE].concat() {
        refuse_if(call, with_any(mode, SET_ID))?;
    }
    // The mode only counts if a file is created.
    for (call, flags) in OPEN {
        let modes = with_any(flags + 1, SET_ID);
        let makes = with_any(*flags, MAKES_FILE).into_iter();
        let both =
            makes.flat_map(|makes| modes.iter().map(move |mode| [&makes[..], mode].concat()));
        refuse_if(*call, both.collect())?;
    }
    // These inject characters into a terminal's input.
    refuse_if(
        libc::SYS_ioctl,
        [0x5412, 0x541c]
            .map(|command| vec![(1, Eq, command)])
            .into(),
    )?;
    // 0 is the default, the other queries the current one.
    refuse_if(libc::SYS_personality, vec![other_than(&[0, u32::MAX])])?;
    // A process may only limit itself: the sandbox's first process has the same user.
    refuse_if(libc::SYS_prlimit64, vec![other_than(&[0])])?;
    refuse_if(
        libc::SYS_socketpair,
        vec![other_than(&[domain(libc::AF_UNIX)])],
    )?;
    let sockets = match network {
        Network::None => Vec::new(),
        Network::Hosts(_) => only_tcp(),
        Network::Host => {
            let mut domains = vec![libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
            if unix_sockets == UnixSockets::Allowed {
                domains.push(libc::AF_UNIX);
            }
            let domains: Vec<u32> = domains.into_iter().map(domain).collect();
            // Only routing, which resolvers use.
            let netlink = (0, Eq, domain(libc::AF_NETLINK));
            let no_routes = vec![netlink, (2, Ne, domain(libc::NETLINK_ROUTE))];
            vec![other_than(&domains), no_routes]
        }
    };
    refuse_if(libc::SYS_socket, sockets)?;
    // The flags of one and the mode of the other are behind a pointer; programs fall back to `clone` and `openat`.
    let unknown = [libc::SYS_clone3, libc::SYS_openat2].map(|call| (call, Vec::new()));
    // Programs that copy files go on without attributes where the file system has none.
    let attributes = SET_ATTRIBUTES.iter().map(|call| (*call, Vec::new()));
    let mut filters = vec![
        compile(refused, libc::EPERM)?,
        compile(unknown.into(), libc::ENOSYS)?,
        compile(attributes.collect(), libc::EOPNOTSUPP)?,
    ];
    if cfg!(target_arch = "x86_64") {
        filters.push(no_x32().into());
    }
    Ok(filters)
}

/// Rules by call number. A call is refused if any of its rules matches, or if it has none.
type RefusedCalls = BTreeMap<c_long, Vec<SeccompRule>>;

/// An argument's index, and the comparison with its lower half.
type Condition = (u8, SeccompCmpOp, u32);

/// Returns a rule that matches if all conditions hold.
fn rule(conditions: Vec<Condition>) -> Result<SeccompRule, BackendError> {
    let condition = |(argument, operator, value)| {
        SeccompCondition::new(
            argument,
            SeccompCmpArgLen::Dword,
            operator,
            u64::from(value),
        )
    };
    let conditions: Result<_, _> = conditions.into_iter().map(condition).collect();
    SeccompRule::new(conditions?)
}

/// Returns one condition per bit, each matching an argument with that bit set.
fn with_any(argument: u8, bits: u32) -> Vec<Vec<Condition>> {
    let each = (0..u32::BITS).map(|bit| bits & (1 << bit));
    let set = each.filter(|bit| *bit != 0);
    set.map(|bit| vec![(argument, MaskedEq(u64::from(bit)), bit)])
        .collect()
}

/// Returns the conditions for a first argument that is none of these values.
fn other_than(values: &[u32]) -> Vec<Condition> {
    values.iter().map(|value| (0, Ne, *value)).collect()
}

/// Returns the conditions for sockets other than TCP. Unix sockets are refused too: those of host programs may be in granted
/// folders.
fn only_tcp() -> Vec<Vec<Condition>> {
    const KINDS: u32 = 0xf;
    let stream = libc::SOCK_STREAM.unsigned_abs();
    let others = (0..=KINDS).filter(|kind| *kind != stream);
    let kinds = others.map(|kind| vec![(1, MaskedEq(u64::from(KINDS)), kind)]);
    let protocols = [libc::IPPROTO_IP, libc::IPPROTO_TCP].map(|it| (2, Ne, it.unsigned_abs()));
    let domains = other_than(&[libc::AF_INET, libc::AF_INET6].map(domain));
    kinds.chain([domains, protocols.to_vec()]).collect()
}

/// Compiles a filter. It kills processes that use another architecture's calls, whose numbers mean something else.
fn compile(refused: RefusedCalls, error: c_int) -> Result<BpfProgram, BackendError> {
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let processor = consts::ARCH.try_into()?;
    SeccompFilter::new(refused, SeccompAction::Allow, refuse, processor)?.try_into()
}

/// Returns the filter that kills processes using x32 calls (x86-64 with 32-bit pointers), whose numbers have an extra
/// bit set. Written by hand, since a compiled filter only matches whole numbers.
fn no_x32() -> [sock_filter; 4] {
    const LOAD: u16 = 0x20;
    const RETURN: u16 = 0x06;
    const JUMP_ANY_BIT: u16 = 0x45;
    const NUMBER_AT: u32 = 0;
    const X32: u32 = 0x4000_0000;
    let one = |code, k, jf| sock_filter { code, jt: 0, jf, k };
    [
        one(LOAD, NUMBER_AT, 0),
        one(JUMP_ANY_BIT, X32, 1),
        one(RETURN, libc::SECCOMP_RET_KILL_PROCESS, 0),
        one(RETURN, libc::SECCOMP_RET_ALLOW, 0),
    ]
}

/// Whether Unix sockets can be created in a sandbox with the host's network. Abstract names belong to the network
/// namespace, so host programs would be reachable unless Landlock prevents it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnixSockets {
    Allowed,
    Refused,
}

/// Installs filters for this process and its children. Allocates nothing.
pub(super) fn install(filters: &[BpfProgram]) -> Result<(), Errno> {
    for filter in filters {
        apply_filter(filter).map_err(|error| match error {
            seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => {
                Errno::from_io_error(&error).unwrap_or(Errno::INVAL)
            }
            _ => Errno::INVAL,
        })?;
    }
    Ok(())
}

fn domain(domain: c_int) -> u32 {
    domain.unsigned_abs()
}
