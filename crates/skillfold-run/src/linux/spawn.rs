//! Starts a process in the sandbox.

use std::fs::{self, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libc::{c_int, c_long};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{fcntl_dupfd_cloexec, retry_on_intr};
use rustix::process::{Signal, WaitId, WaitIdOptions, getegid, geteuid, pidfd_send_signal, waitid};

use super::cgroup::ControlGroup;
use super::child::{Descriptors, FAILURE_BYTES, FIRST_FREE, READY, Step, USER, first_process};
use super::kernel_mounts::check_kernel_mounts;
use super::loopback::take_proxy;
use super::plan::Plan;
use super::sys::{null, owned, set_signal_mask, syscall};
use crate::error::RunError;
use crate::limits::RunLimits;
use crate::network::{ConnectionLog, Gate, Proxy};
use crate::permissions::Network;
use crate::process::{Connections, Control, ExitStatus, Process, locked};
use crate::request::{RunInput, RunRequest};

/// Namespaces of every sandbox.
const NAMESPACES: c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// The host user that root's sandboxes run as: `nobody`.
pub(super) const NOBODY: u32 = 65534;

/// Maximum time to set up a sandbox. It takes milliseconds.
const SETUP_TIME: Duration = Duration::from_secs(10);

/// Why a sandbox could not be set up.
#[derive(Debug)]
pub(super) struct SetupFailure {
    pub(super) step: &'static str,
    /// Whether everything but the program itself was set up.
    pub(super) is_program: bool,
    /// Whether a control group was created.
    pub(super) had_group: bool,
    pub(super) error: io::Error,
}

impl SetupFailure {
    fn at(step: &'static str) -> impl Fn(io::Error) -> Self {
        move |error| Self {
            step,
            is_program: false,
            had_group: false,
            error,
        }
    }
}

/// Starts a process in the sandbox.
pub(super) fn spawn(request: &RunRequest<'_>) -> Result<Process, RunError> {
    let failed = |failure: SetupFailure| {
        let message = format!(
            "Could not start `{}` in the sandbox: {}",
            request.script, failure.step
        );
        RunError::failed_to_start(message, failure.error)
    };
    check_kernel_mounts(request)?;
    let prepared = SetupFailure::at("prepare the sandbox");
    let plan = Plan::new(request).map_err(&prepared).map_err(failed)?;
    let streams = Streams::new(request.input)
        .map_err(&prepared)
        .map_err(failed)?;
    let mut boxed = launch(&plan, &streams, request.limits).map_err(failed)?;
    if let Network::Hosts(rules) = plan.network {
        let gate = Gate::new(rules.clone(), request.resolver.clone());
        let log = ConnectionLog::new(request.connections.cloned());
        if let Err(error) = boxed.start_proxy(gate, log) {
            boxed.kill();
            let _ = boxed.wait();
            return Err(failed(SetupFailure::at("start the proxy")(error)));
        }
    }
    let Streams { host, .. } = streams;
    let mut process = Process::new(Arc::new(boxed)).with_output(host.stdout, host.stderr);
    process.stdin = host.stdin.map(|pipe| Box::new(pipe) as _);
    Ok(process)
}

/// Stdin, stdout and stderr: the process's ends and the host's.
#[derive(Debug)]
pub(super) struct Streams {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    host: HostStreams,
}

#[derive(Debug)]
struct HostStreams {
    stdin: Option<PipeWriter>,
    stdout: PipeReader,
    stderr: PipeReader,
}

impl Streams {
    pub(super) fn new(input: RunInput<'_>) -> io::Result<Self> {
        let (stdout, stdout_end) = io::pipe()?;
        let (stderr, stderr_end) = io::pipe()?;
        let (stdin_end, stdin): (OwnedFd, _) = match input {
            RunInput::None => (
                OpenOptions::new().read(true).open("/dev/null")?.into(),
                None,
            ),
            RunInput::Bytes(bytes) => (memory_file(bytes)?, None),
            RunInput::Pipe => {
                let (end, pipe) = io::pipe()?;
                (end.into(), Some(pipe))
            }
        };
        Ok(Self {
            stdin: lift(stdin_end)?,
            stdout: lift(stdout_end.into())?,
            stderr: lift(stderr_end.into())?,
            host: HostStreams {
                stdin,
                stdout,
                stderr,
            },
        })
    }
}

/// Returns an in-memory file with these bytes. A pipe would need a writer thread, and SIGPIPE could kill the host if
/// the process does not read it.
pub(super) fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = fs::File::from(memfd_create(c"stdin", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// Moves a descriptor above the fixed numbers used in a new process.
pub(super) fn lift(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() >= FIRST_FREE {
        return Ok(fd);
    }
    Ok(fcntl_dupfd_cloexec(fd, FIRST_FREE)?)
}

/// A sandbox whose program has started.
#[derive(Debug)]
pub(super) struct Boxed {
    /// The first process.
    process: OwnedFd,
    status: Mutex<PipeReader>,
    ended: Mutex<Option<ExitStatus>>,
    /// Closing this ends the sandbox, so it dies with the host, however that ends.
    _lifeline: PipeWriter,
    group: Mutex<Option<ControlGroup>>,
    /// The end of a pair from which the proxy's socket is received, for a run with rules.
    proxy_end: Option<UnixStream>,
    proxy: Mutex<Option<Proxy>>,
    connections: Mutex<Connections>,
}

impl Boxed {
    /// Starts the proxy, on the socket that the first process has sent. Programs that connect before wait.
    fn start_proxy(&mut self, gate: Gate, log: ConnectionLog) -> io::Result<()> {
        let Some(end) = self.proxy_end.take() else {
            return Ok(());
        };
        let proxy = Proxy::start(take_proxy(end)?, gate, log)?;
        *locked(&self.proxy) = Some(proxy);
        Ok(())
    }
}

/// Sets up a sandbox, and returns once its program has started.
pub(super) fn launch(
    plan: &Plan<'_>,
    streams: &Streams,
    limits: &RunLimits,
) -> Result<Boxed, SetupFailure> {
    let failed = SetupFailure::at("open pipes");
    let pipe = || -> io::Result<(PipeReader, PipeWriter)> { io::pipe() };
    let (mut setup, setup_end) = pipe().map_err(&failed)?;
    let (status, status_end) = pipe().map_err(&failed)?;
    let (lifeline_end, lifeline) = pipe().map_err(&failed)?;
    let (go_on_end, mut go_on) = pipe().map_err(&failed)?;
    let ends = [
        setup_end.into(),
        status_end.into(),
        lifeline_end.into(),
        go_on_end.into(),
    ];
    let [setup_end, status_end, lifeline_end, go_on_end] = ends.map(lift);
    let (setup_end, status_end) = (setup_end.map_err(&failed)?, status_end.map_err(&failed)?);
    let (lifeline_end, go_on_end) = (lifeline_end.map_err(&failed)?, go_on_end.map_err(&failed)?);
    let (proxy_end, proxy) = match plan.network {
        Network::Hosts(_) => {
            let (host, end) = UnixStream::pair().map_err(&failed)?;
            (Some(host), Some(lift(end.into()).map_err(&failed)?))
        }
        Network::None | Network::Host => (None, None),
    };
    let descriptors = Descriptors {
        stdin: streams.stdin.as_raw_fd(),
        stdout: streams.stdout.as_raw_fd(),
        stderr: streams.stderr.as_raw_fd(),
        setup: setup_end.as_raw_fd(),
        status: status_end.as_raw_fd(),
        lifeline: lifeline_end.as_raw_fd(),
        go_on: go_on_end.as_raw_fd(),
        proxy: proxy.as_ref().map(AsRawFd::as_raw_fd),
    };
    let (pid, process) = clone(plan, descriptors).map_err(SetupFailure::at("make namespaces"))?;
    drop((setup_end, status_end, lifeline_end, proxy));
    let boxed = Boxed {
        process,
        status: Mutex::new(status),
        ended: Mutex::new(None),
        _lifeline: lifeline,
        group: Mutex::new(None),
        proxy_end,
        proxy: Mutex::new(None),
        connections: Mutex::default(),
    };
    prefer_to_kill(pid);
    let started = map_users(pid)
        .and_then(|()| go_on.write_all(&[1]))
        .map_err(SetupFailure::at("map users"))
        .and_then(|()| {
            // This takes the kernel a few milliseconds, while the sandbox sets itself up.
            *locked(&boxed.group) = ControlGroup::with_process(limits, pid).ok();
            go_on
                .write_all(&[1])
                .map_err(SetupFailure::at("start the program"))
        })
        .and_then(|()| wait_for_program(&mut setup));
    // Only now: writing to a pipe without a reader could kill the host.
    drop(go_on_end);
    if let Err(mut failure) = started {
        failure.had_group = locked(&boxed.group).is_some();
        boxed.kill();
        let _ = boxed.wait();
        return Err(failure);
    }
    Ok(boxed)
}

/// Creates a sandbox's first process, in its own namespaces. It is a copy of the calling thread.
fn clone(plan: &Plan<'_>, descriptors: Descriptors) -> io::Result<(c_int, OwnedFd)> {
    let mut copies: Vec<Option<OwnedFd>> = plan.mounts.iter().map(|_| None).collect();
    let network = match plan.network {
        Network::None | Network::Hosts(_) => libc::CLONE_NEWNET,
        Network::Host => 0,
    };
    // Without an exit signal, no host handler notices it, and no `wait` for any child takes its status.
    let flags = c_long::from(NAMESPACES | network | libc::CLONE_PIDFD);
    let mut process: c_int = -1;
    let blocked = set_signal_mask(u64::MAX);
    let cloned = syscall!(
        libc::SYS_clone,
        flags,
        null(),
        &raw mut process,
        null(),
        null()
    );
    if cloned == Ok(0) {
        first_process(plan, descriptors, &mut copies);
    }
    set_signal_mask(blocked);
    let pid = c_int::try_from(cloned?).map_err(io::Error::other)?;
    Ok((pid, owned(c_long::from(process))))
}

/// Makes the kernel kill this process and its children first when memory runs out. The run is just as safe without it.
pub(super) fn prefer_to_kill(pid: c_int) {
    let file = format!("/proc/{pid}/oom_score_adj");
    let _ = OpenOptions::new()
        .write(true)
        .open(file)
        .and_then(|mut file| file.write_all(b"1000"));
}

/// Maps the sandbox user to an unprivileged host user: `nobody` for root, otherwise the user who starts it.
///
/// The kernel does not count root's processes, so mapping to root would mean no process limit.
fn map_users(pid: c_int) -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let map = |file: &str, text: &str| {
        let path = format!("/proc/{pid}/{file}");
        OpenOptions::new()
            .write(true)
            .open(path)?
            .write_all(text.as_bytes())
    };
    if user == 0 && map("uid_map", &format!("{USER} {NOBODY} 1")).is_ok() {
        return map("gid_map", &format!("{USER} {NOBODY} 1"));
    }
    map("uid_map", &format!("{USER} {user} 1"))?;
    map("setgroups", "deny")?;
    map("gid_map", &format!("{USER} {group} 1"))
}

/// Waits until the program has started or a step has failed.
fn wait_for_program(setup: &mut PipeReader) -> Result<(), SetupFailure> {
    if !is_ready(setup) {
        let late = io::Error::from(io::ErrorKind::TimedOut);
        return Err(SetupFailure::at("set up the sandbox in time")(late));
    }
    let mut sent = Vec::new();
    let read = setup.take(1 + FAILURE_BYTES as u64).read_to_end(&mut sent);
    read.map_err(SetupFailure::at("wait for the program"))?;
    let (step, a, b, c, d) = match *sent {
        [READY] => return Ok(()),
        [READY, step, a, b, c, d] | [step, a, b, c, d] => (step, a, b, c, d),
        _ => {
            let killed = io::Error::other("its first process was killed");
            return Err(SetupFailure::at("set up the sandbox")(killed));
        }
    };
    Err(SetupFailure {
        step: Step::describe(step),
        is_program: step == Step::Execute as u8,
        had_group: false,
        error: io::Error::from_raw_os_error(c_int::from_ne_bytes([a, b, c, d])),
    })
}

/// Waits until a pipe is readable or closed; a file system that does not respond may stall a sandbox.
pub(super) fn is_ready(pipe: &PipeReader) -> bool {
    let deadline = Instant::now() + SETUP_TIME;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).ok();
        // Interrupted by a signal to the host.
        if let Ok(ready) = poll(&mut [PollFd::new(pipe, PollFlags::IN)], left.as_ref()) {
            return ready > 0;
        }
    }
}

impl Control for Boxed {
    fn kill(&self) {
        let _ = pidfd_send_signal(&self.process, Signal::KILL);
    }

    fn wait(&self) -> io::Result<ExitStatus> {
        let mut ended = locked(&self.ended);
        if let Some(status) = *ended {
            return Ok(status);
        }
        let all = WaitIdOptions::from_bits_retain(libc::__WALL.unsigned_abs());
        retry_on_intr(|| {
            let process = WaitId::PidFd(self.process.as_fd());
            waitid(process, WaitIdOptions::EXITED | all)
        })?;
        let mut sent = [0; 4];
        let status = match locked(&self.status).read_exact(&mut sent) {
            Ok(()) => exit_status(c_int::from_ne_bytes(sent)),
            // The first process was killed, and all others with it.
            Err(_) => ExitStatus::Signalled(libc::SIGKILL),
        };
        locked(&self.group).take();
        if let Some(proxy) = locked(&self.proxy).take() {
            let (first, more) = proxy.finish();
            *locked(&self.connections) = Connections { first, more };
        }
        *ended = Some(status);
        Ok(status)
    }

    fn take_connections(&self) -> Connections {
        std::mem::take(&mut *locked(&self.connections))
    }
}

fn exit_status(status: c_int) -> ExitStatus {
    if libc::WIFSIGNALED(status) {
        ExitStatus::Signalled(libc::WTERMSIG(status))
    } else {
        ExitStatus::Exited(libc::WEXITSTATUS(status))
    }
}
