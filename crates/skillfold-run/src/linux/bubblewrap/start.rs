//! Starts `bwrap`, and waits until the sandbox is set up.

use std::fs::DirBuilder;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::ops::RangeInclusive;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use libc::c_int;
use rustix::fs::Mode;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, PidfdFlags, Resource, Signal, geteuid, pidfd_open, pidfd_send_signal, umask,
};
use serde_json::Value;

use super::arguments::{Arguments, Owner};
use super::outside::{become_nobody, limit_processes, listen_in_network_of, restrict_proc};
use crate::error::RunError;
use crate::layers::Layer;
use crate::linux::cgroup::ControlGroup;
use crate::linux::kernel_mounts::check_kernel_mounts;
use crate::linux::plan::{SKILL, process_limits};
use crate::linux::seccomp::{UnixSockets, filters};
use crate::linux::spawn::{NOBODY, is_ready, lift, memory_file, prefer_to_kill};
use crate::linux::sys::{duplicate, fixed, lower_limit, reset_signals, syscall};
use crate::network::{ConnectionLog, Gate, Proxy};
use crate::permissions::Network;
use crate::process::{Connections, Control, ExitStatus, Process, locked};
use crate::process_group::exit_status;
use crate::request::{RunInput, RunRequest};
use crate::skill_folder::{Readers, SkillFolder};

/// Maximum length of what `bwrap` says about itself, and about a failure.
const MAX_SAID: usize = 4096;

/// The descriptors of the shell that is the first process.
const READY: c_int = 3;
const GO_ON: c_int = 4;

/// The first process of the sandbox: says that it is set up, waits for the host, runs the program without the variables that
/// `bwrap` and the shell add, and ends with it. The kernel then kills what the program has left behind.
const SHELL: &str =
    "echo >&3 && read -r _ <&4 && unset PWD OLDPWD SHLVL && exec 3>&- 4<&- && \"$@\"; exit $?";

/// What it adds to a signal's number.
const SIGNALLED: i32 = 128;

/// The numbers of signals.
const SIGNALS: RangeInclusive<i32> = 1..=64;

/// Starts a request's program.
pub(super) fn launch(
    program: &Path,
    owner: Owner,
    request: &RunRequest<'_>,
) -> Result<Process, RunError> {
    check_kernel_mounts(request)?;
    let what = || format!("Could not start `{}` in bubblewrap", request.script());
    let started = start(program, owner, request);
    started
        .map(|(process, _)| process)
        .map_err(|error| RunError::failed_to_start(what(), error))
}

/// Sets a sandbox up and ends it. Returns whether it has a control group.
pub(super) fn probe(
    program: &Path,
    owner: Owner,
    request: &RunRequest<'_>,
) -> Result<bool, RunError> {
    let started = start(program, owner, request);
    let started = started.map(|(_, has_group)| has_group);
    started.map_err(|error| RunError::failed_to_start("could not set it up", error))
}

fn start(program: &Path, owner: Owner, request: &RunRequest<'_>) -> io::Result<(Process, bool)> {
    let folder = skill_folder(request, owner)?;
    let filters = if request.report.has(Layer::Seccomp) {
        filters(request.network(), UnixSockets::Refused).map_err(io::Error::other)?
    } else {
        Vec::new()
    };
    let mut arguments = Arguments::new(request, owner, &folder, &filters)?;
    let (said, said_end) = io::pipe()?;
    let number = arguments.pass(said_end)?;
    arguments.add(["--info-fd", &number]);
    let (ready, ready_end) = io::pipe()?;
    let (go_on_end, go_on) = io::pipe()?;
    let shell = [lift(ready_end.into())?, lift(go_on_end.into())?];
    let words = lift(arguments.to_file()?)?;
    let mut command = command(program, &words, request);
    let kept = arguments.descriptors.iter().chain([&words]);
    let kept: Vec<c_int> = kept.map(AsRawFd::as_raw_fd).collect();
    prepare(
        &mut command,
        kept,
        shell.each_ref().map(AsRawFd::as_raw_fd),
        request,
    );
    match request.input() {
        RunInput::None => command.stdin(Stdio::null()),
        RunInput::Bytes(bytes) => command.stdin(memory_file(bytes)?),
        RunInput::Pipe => command.stdin(Stdio::piped()),
    };
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (outer, mut pipes) = spawn(command, (arguments, words, shell))?;
    let mut wrapped = Wrapped {
        outer,
        inner: None,
        group: Mutex::new(None),
        proxy: Mutex::new(None),
        connections: Mutex::default(),
        _folder: folder,
    };
    let mut setup = Setup { said, ready, go_on };
    let set_up = wrapped.set_up(&mut setup, owner, request);
    drop(setup);
    if let Err(error) = set_up {
        wrapped.kill();
        let _ = wrapped.wait();
        return Err(with_what_it_said(error, &mut pipes));
    }
    let has_group = locked(&wrapped.group).is_some();
    let mut process = Process::new(Arc::new(wrapped));
    process.stdin = pipes.stdin.map(|pipe| Box::new(pipe) as _);
    process.stdout = pipes.stdout.map(|pipe| Box::new(pipe) as _);
    process.stderr = pipes.stderr.map(|pipe| Box::new(pipe) as _);
    Ok((process, has_group))
}

/// Writes the skill where the user of the sandbox can read it: `nobody`, if root starts it.
fn skill_folder(request: &RunRequest<'_>, owner: Owner) -> io::Result<SkillFolder> {
    let is_root = geteuid().is_root();
    let readers = if is_root {
        Readers::Everybody
    } else {
        Readers::Owner
    };
    let folder = SkillFolder::create(request, readers)?;
    let mut own = vec![folder.path().to_owned()];
    if owner == Owner::Root {
        DirBuilder::new().mode(0o700).create(folder.scratch())?;
        own.push(folder.scratch());
    }
    for path in own.iter().filter(|_| is_root) {
        chown(path, Some(NOBODY), Some(NOBODY))?;
    }
    Ok(folder)
}

fn command(program: &Path, words: &OwnedFd, request: &RunRequest<'_>) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the runner")]
    let mut command = Command::new(program);
    let line = request.command_line(SKILL);
    let mut line = line.iter();
    let name = line.next();
    command
        .env_clear()
        .args(["--args", &words.as_raw_fd().to_string(), "--"])
        .args(["/bin/sh", "-c", SHELL, "sh"])
        .arg(request.program());
    // It cannot give another name. A program with many names takes one as its first argument too.
    if let Some(name) = name.filter(|name| request.program() != Path::new(name)) {
        command.arg(name);
    }
    command.args(line);
    command
}

/// Prepares the process: its limits, its user, and the descriptors that it keeps.
fn prepare(command: &mut Command, kept: Vec<c_int>, shell: [c_int; 2], request: &RunRequest<'_>) {
    let mut limits = process_limits(request.limits());
    // It would count all of the user's processes.
    limits.retain(|(resource, ..)| *resource != Resource::Nproc);
    let is_root = geteuid().is_root();
    let prepare = move || {
        const CLOSE_ON_EXEC: u32 = 4;
        reset_signals();
        umask(Mode::from_raw_mode(0o077));
        syscall!(libc::SYS_close_range, 3, u32::MAX, CLOSE_ON_EXEC)?;
        for descriptor in &kept {
            fcntl_setfd(fixed(*descriptor), FdFlags::empty())?;
        }
        duplicate(shell[0], READY, 0)?;
        duplicate(shell[1], GO_ON, 0)?;
        for (resource, soft, hard) in &limits {
            lower_limit(*resource, *soft, *hard)?;
        }
        if is_root {
            become_nobody()?;
        }
        Ok(())
    };
    // SAFETY: nothing here allocates or takes a lock.
    unsafe { command.pre_exec(prepare) };
}

/// The ends of a process's pipes.
#[derive(Debug)]
struct Pipes {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
}

/// The process that `bwrap` starts as, outside the sandbox.
#[derive(Debug)]
struct Outer {
    process: OwnedFd,
    ended: Arc<(Mutex<Option<ExitStatus>>, Condvar)>,
}

/// Starts `bwrap` in a thread of its own, which waits for it: the kernel ends it when the thread that started it ends.
fn spawn(mut command: Command, descriptors: impl Send + 'static) -> io::Result<(Outer, Pipes)> {
    let ended = Arc::new((Mutex::new(None), Condvar::new()));
    let (sender, receiver) = sync_channel(1);
    let end = Arc::clone(&ended);
    let body = move || {
        let started = command.spawn();
        // Its own are the only ones now, so that a pipe closes when it exits.
        drop((command, descriptors));
        wait_for(started, &sender, &end);
    };
    thread::Builder::new()
        .name("skillfold-bwrap".to_owned())
        .spawn(body)?;
    let (process, pipes) = receiver.recv().map_err(io::Error::other)??;
    Ok((Outer { process, ended }, pipes))
}

/// Says that a process has started or could not be, and waits until it has ended.
fn wait_for(
    started: io::Result<Child>,
    sender: &SyncSender<io::Result<(OwnedFd, Pipes)>>,
    ended: &(Mutex<Option<ExitStatus>>, Condvar),
) {
    let opened = started.and_then(|child| {
        let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        Ok((child, handle))
    });
    let (mut child, handle) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let _ = sender.send(Err(error));
            return;
        }
    };
    let pipes = Pipes {
        stdin: child.stdin.take(),
        stdout: child.stdout.take(),
        stderr: child.stderr.take(),
    };
    let _ = sender.send(Ok((handle, pipes)));
    let status = child.wait().map(exit_status);
    let (slot, changed) = ended;
    *locked(slot) = Some(status.unwrap_or(ExitStatus::Signalled(libc::SIGKILL)));
    changed.notify_all();
}

/// A sandbox that `bwrap` has made.
#[derive(Debug)]
struct Wrapped {
    outer: Outer,
    /// The first process in the sandbox. When it ends, all others do.
    inner: Option<OwnedFd>,
    group: Mutex<Option<ControlGroup>>,
    proxy: Mutex<Option<Proxy>>,
    connections: Mutex<Connections>,
    /// Removed after the processes.
    _folder: SkillFolder,
}

impl Wrapped {
    /// Finishes the setup from outside, while the sandbox waits, and lets it go on to the program.
    fn set_up(
        &mut self,
        setup: &mut Setup,
        owner: Owner,
        request: &RunRequest<'_>,
    ) -> io::Result<()> {
        let number = read_pid(&mut setup.said)?;
        let pid = Pid::from_raw(number).ok_or_else(|| io::Error::other("it named no process"))?;
        // It has not been waited for, so it is still this process.
        self.inner = Some(pidfd_open(pid, PidfdFlags::empty())?);
        await_shell(&mut setup.ready)?;
        // Only now it has the user that it keeps. The program starts with its limits.
        prefer_to_kill(number);
        limit_processes(pid, request.limits().processes)?;
        *locked(&self.group) = ControlGroup::with_process(request.limits(), number).ok();
        if owner == Owner::User {
            restrict_proc(pid).map_err(|error| {
                let why = format!("`/proc` cannot be restricted: {error}");
                io::Error::new(error.kind(), why)
            })?;
        }
        if let Network::Hosts(rules) = request.network() {
            let joined = listen_in_network_of(pid);
            let socket = joined.map_err(|error| {
                let why = format!("its network cannot be joined, to limit it to hosts: {error}");
                io::Error::new(error.kind(), why)
            })?;
            let gate = Gate::new(rules.clone(), request.resolver.clone());
            let log = ConnectionLog::new(request.connections.cloned());
            *locked(&self.proxy) = Some(Proxy::start(socket, gate, log)?);
        }
        setup.go_on.write_all(b"\n")
    }
}

/// What the host and a sandbox tell each other while it is set up.
#[derive(Debug)]
struct Setup {
    /// From `bwrap`: the number of the first process.
    said: PipeReader,
    /// From the shell: everything is set up.
    ready: PipeReader,
    /// To the shell: start the program.
    go_on: PipeWriter,
}

/// Waits for a byte from the shell that starts the program: the sandbox is set up.
fn await_shell(ready: &mut PipeReader) -> io::Result<()> {
    await_pipe(ready)?;
    match ready.read(&mut [0])? {
        0 => Err(io::Error::other("it ended before the program started")),
        _ => Ok(()),
    }
}

/// Waits until a pipe can be read or is closed.
fn await_pipe(pipe: &PipeReader) -> io::Result<()> {
    if is_ready(pipe) {
        return Ok(());
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// Reads the number of the first process in the sandbox.
fn read_pid(said: &mut PipeReader) -> io::Result<c_int> {
    let mut text = Vec::new();
    let mut buffer = [0; 1024];
    while text.len() < MAX_SAID {
        await_pipe(said)?;
        let count = said.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        text.extend_from_slice(&buffer[..count]);
        if let Ok(info) = serde_json::from_slice::<Value>(&text) {
            let pid = info["child-pid"].as_i64();
            let pid = pid.and_then(|pid| c_int::try_from(pid).ok());
            return pid.ok_or_else(|| io::Error::other("it named no process"));
        }
    }
    Err(io::Error::other("it ended before the sandbox was set up"))
}

/// Adds what `bwrap` wrote about a failure.
fn with_what_it_said(error: io::Error, pipes: &mut Pipes) -> io::Error {
    let mut text = Vec::new();
    if let Some(stderr) = pipes.stderr.take() {
        let _ = stderr.take(MAX_SAID as u64).read_to_end(&mut text);
    }
    match String::from_utf8_lossy(&text).trim() {
        "" => error,
        said => io::Error::new(error.kind(), said.to_owned()),
    }
}

impl Control for Wrapped {
    fn kill(&self) {
        // It ends all others. The outer process then ends by itself.
        let process = self.inner.as_ref().unwrap_or(&self.outer.process);
        let _ = pidfd_send_signal(process, Signal::KILL);
    }

    fn wait(&self) -> io::Result<ExitStatus> {
        let (slot, changed) = &*self.outer.ended;
        let mut ended = locked(slot);
        let status = loop {
            match *ended {
                Some(status) => break status,
                None => {
                    ended = changed.wait(ended).unwrap_or_else(PoisonError::into_inner);
                }
            }
        };
        drop(ended);
        locked(&self.group).take();
        if let Some(proxy) = locked(&self.proxy).take() {
            let (first, more) = proxy.finish();
            *locked(&self.connections) = Connections { first, more };
        }
        Ok(match status {
            // It passes a signal on as a code, as shells do.
            ExitStatus::Exited(code) if SIGNALS.contains(&(code - SIGNALLED)) => {
                ExitStatus::Signalled(code - SIGNALLED)
            }
            status => status,
        })
    }

    fn take_connections(&self) -> Connections {
        std::mem::take(&mut *locked(&self.connections))
    }
}
