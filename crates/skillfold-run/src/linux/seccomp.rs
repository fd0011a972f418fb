//! The seccomp filter: system calls that scripts do not need are refused.
//!
//! A list of what is refused, not of what is allowed: interpreters use new calls with each release, and the other layers
//! hold for what the list does not know.

use libc::{c_int, c_long, sock_filter, sock_fprog};

use super::sys::{Errno, control};
use crate::permissions::Network;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// Calls of x86-64 with 32-bit pointers have this bit.
const X32: u32 = 0x4000_0000;

/// Whether there is a filter for this processor.
pub(super) const IS_KNOWN: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

const RETURN_ALLOW: u32 = 0x7fff_0000;
const RETURN_KILL: u32 = 0x8000_0000;
const RETURN_ERROR: u32 = 0x0005_0000;

/// Offsets in the data that a filter sees.
const NUMBER: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

/// Calls that are refused whatever their arguments are.
const REFUSED: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Parts of the kernel with a history of faults.
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
    libc::SYS_kexec_file_load,
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
    // Memory of other nodes and processes.
    libc::SYS_mbind,
    libc::SYS_set_mempolicy,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// Calls of this processor alone that are refused.
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

/// Calls of the kernel that are newer than the tables of the C library: numbers are the same on every processor.
/// `listmount` and `statmount` show mounts, `open_tree_attr` makes some.
const REFUSED_NEW: &[c_long] = &[457, 458, 467];

/// Calls that set the mode of a file, each with the argument that has it. The number of `fchmodat2` is the same on every
/// processor.
const SET_MODE: &[(c_long, u32)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_mknodat, 2),
    (452, 2),
];
#[cfg(target_arch = "x86_64")]
const SET_MODE_HERE: &[(c_long, u32)] = &[
    (libc::SYS_chmod, 1),
    (libc::SYS_creat, 1),
    (libc::SYS_mknod, 1),
];
#[cfg(not(target_arch = "x86_64"))]
const SET_MODE_HERE: &[(c_long, u32)] = &[];

/// Calls that may make a file, each with the argument that has the flags; the mode is the next one.
#[cfg(target_arch = "x86_64")]
const OPEN: &[(c_long, u32)] = &[(libc::SYS_openat, 2), (libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPEN: &[(c_long, u32)] = &[(libc::SYS_openat, 2)];

/// The bits with which whoever starts a file gets the rights of its owner or group.
const SET_ID: u32 = 0o6000;

/// The flags with which a call that opens a file makes one.
const MAKES_FILE: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)).unsigned_abs();

/// Namespaces that `clone` would make.
const NEW_NAMESPACES: u32 = 0x7e02_0000;

/// Builds the filter.
pub(super) fn filter(network: Network, unix_sockets: UnixSockets) -> Vec<sock_filter> {
    let mut program = FilterProgram::default();
    program.start();
    for number in [REFUSED, REFUSED_HERE, REFUSED_NEW].concat() {
        program.refuse(number, libc::EPERM);
    }
    // Its flags are behind a pointer; programs fall back to `clone`.
    program.refuse(libc::SYS_clone3, libc::ENOSYS);
    program.refuse_if_argument(libc::SYS_clone, 0, Test::HasAny(NEW_NAMESPACES));
    // A program that a run leaves in a granted folder would give the user's rights to whoever starts it.
    for (number, mode) in [SET_MODE, SET_MODE_HERE].concat() {
        program.refuse_if_argument(number, mode, Test::HasAny(SET_ID));
    }
    for (number, flags) in OPEN {
        program.refuse_making_set_id(*number, *flags);
    }
    // Its mode is behind a pointer; programs fall back to `openat`.
    program.refuse(libc::SYS_openat2, libc::ENOSYS);
    // Put characters into the input of a terminal.
    for command in [0x5412, 0x541c] {
        program.refuse_if_argument(libc::SYS_ioctl, 1, Test::Is(command));
    }
    // 0 is the usual one, the other asks for the current one.
    program.allow_only(libc::SYS_personality, 0, &[0, u32::MAX]);
    // Limits of this process alone: the first process of the box has the same user.
    program.allow_only(libc::SYS_prlimit64, 0, &[0]);
    program.allow_only(libc::SYS_socketpair, 0, &[domain(libc::AF_UNIX)]);
    match network {
        Network::None => program.refuse(libc::SYS_socket, libc::EPERM),
        Network::Host => {
            // Only routes, which resolvers ask for.
            program.refuse_netlink_but_routes();
            let mut domains = vec![libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
            if unix_sockets == UnixSockets::Allowed {
                domains.push(libc::AF_UNIX);
            }
            let domains: Vec<u32> = domains.into_iter().map(domain).collect();
            program.allow_only(libc::SYS_socket, 0, &domains);
        }
    }
    program.push(RET, RETURN_ALLOW);
    program.instructions
}

/// Whether sockets of the Unix domain can be made in a box with the network of the host. Those with abstract names belong
/// to the network, so a program of the host could be reached unless Landlock prevents it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnixSockets {
    Allowed,
    Refused,
}

/// Installs a filter for this process and all that it starts. Allocates nothing.
pub(super) fn install(filter: &[sock_filter]) -> Result<(), Errno> {
    let program = sock_fprog {
        len: u16::try_from(filter.len()).map_err(|_| libc::E2BIG)?,
        filter: filter.as_ptr().cast_mut(),
    };
    let mode = u64::from(libc::SECCOMP_MODE_FILTER);
    control(libc::PR_SET_SECCOMP, mode, (&raw const program) as u64).map(drop)
}

const LOAD: u16 = 0x20;
const RET: u16 = 0x06;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_ANY_BIT: u16 = 0x45;

#[derive(Clone, Copy)]
enum Test {
    Is(u32),
    HasAny(u32),
}

#[derive(Default)]
struct FilterProgram {
    instructions: Vec<sock_filter>,
}

impl FilterProgram {
    fn push(&mut self, code: u16, value: u32) {
        self.push_jump(code, value, 0, 0);
    }

    /// Adds a test that skips as many instructions if it holds, or if it does not.
    fn push_jump(&mut self, code: u16, value: u32, if_true: u8, if_false: u8) {
        self.instructions.push(sock_filter {
            code,
            jt: if_true,
            jf: if_false,
            k: value,
        });
    }

    /// Ends processes that use the calls of another processor, whose numbers mean something else.
    fn start(&mut self) {
        self.push(LOAD, ARCHITECTURE_AT);
        self.push_jump(JUMP_EQUAL, ARCHITECTURE, 1, 0);
        self.push(RET, RETURN_KILL);
        self.push(LOAD, NUMBER);
        self.push_jump(JUMP_ANY_BIT, X32, 0, 1);
        self.push(RET, RETURN_KILL);
    }

    fn refuse(&mut self, number: c_long, error: c_int) {
        self.push_jump(JUMP_EQUAL, unsigned(number), 0, 1);
        self.push(RET, RETURN_ERROR | unsigned(c_long::from(error)));
    }

    fn refuse_if_argument(&mut self, number: c_long, argument: u32, test: Test) {
        let (code, value) = match test {
            Test::Is(value) => (JUMP_EQUAL, value),
            Test::HasAny(bits) => (JUMP_ANY_BIT, bits),
        };
        self.push_jump(JUMP_EQUAL, unsigned(number), 0, 4);
        self.push(LOAD, ARGUMENTS_AT + 8 * argument);
        self.push_jump(code, value, 0, 1);
        self.push(RET, RETURN_ERROR | unsigned(c_long::from(libc::EPERM)));
        self.push(LOAD, NUMBER);
    }

    /// Refuses to make a file that gives its owner's rights away. The mode counts only where a file is made.
    fn refuse_making_set_id(&mut self, number: c_long, flags: u32) {
        self.push_jump(JUMP_EQUAL, unsigned(number), 0, 6);
        self.push(LOAD, ARGUMENTS_AT + 8 * flags);
        self.push_jump(JUMP_ANY_BIT, MAKES_FILE, 0, 3);
        self.push(LOAD, ARGUMENTS_AT + 8 * (flags + 1));
        self.push_jump(JUMP_ANY_BIT, SET_ID, 0, 1);
        self.push(RET, RETURN_ERROR | unsigned(c_long::from(libc::EPERM)));
        self.push(LOAD, NUMBER);
    }

    /// Refuses a call unless its argument is one of some values.
    fn allow_only(&mut self, number: c_long, argument: u32, values: &[u32]) {
        let count = u8::try_from(values.len()).unwrap_or(0);
        self.push_jump(JUMP_EQUAL, unsigned(number), 0, count + 3);
        self.push(LOAD, ARGUMENTS_AT + 8 * argument);
        for (value, left) in values.iter().zip((1..=count).rev()) {
            self.push_jump(JUMP_EQUAL, *value, left, 0);
        }
        self.push(RET, RETURN_ERROR | unsigned(c_long::from(libc::EPERM)));
        self.push(LOAD, NUMBER);
    }

    fn refuse_netlink_but_routes(&mut self) {
        self.push_jump(JUMP_EQUAL, unsigned(libc::SYS_socket), 0, 6);
        self.push(LOAD, ARGUMENTS_AT);
        self.push_jump(JUMP_EQUAL, domain(libc::AF_NETLINK), 0, 3);
        self.push(LOAD, ARGUMENTS_AT + 16);
        self.push_jump(JUMP_EQUAL, domain(libc::NETLINK_ROUTE), 1, 0);
        self.push(RET, RETURN_ERROR | unsigned(c_long::from(libc::EPERM)));
        self.push(LOAD, NUMBER);
    }
}

fn unsigned(number: c_long) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn domain(domain: c_int) -> u32 {
    domain.unsigned_abs()
}
