//! A process without namespaces: other systems, and Linux where the host accepts that they are missing.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::copy::{Executable, SkillCopy};
use crate::error::{RunError, RunErrorKind};
use crate::process::{Control, ExitStatus, Input, Process, Request, locked};

/// How often to check whether a process has exited.
const POLL: Duration = Duration::from_millis(5);

/// Starts a process in its own folder.
pub(crate) fn spawn(request: &Request<'_>) -> Result<Process, RunError> {
    let failed = |error| {
        let message = format!("Could not start `{}`", request.script);
        RunError::failed_to_start(message, error)
    };
    if is_root() {
        let message = "Root cannot run scripts without the layer `namespaces`";
        let hint =
            "Run as an ordinary user: the other layers do not protect the modes of root's files";
        return Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
    }
    if let Some(part) = request.guard.parts.first() {
        let message = format!(
            "Without the layer `namespaces` nothing stays read-only in a folder that a script may write: `{}`",
            part.path.display()
        );
        let hint = "Let it read the folder only";
        return Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
    }
    start(request).map_err(failed)
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

fn start(request: &Request<'_>) -> io::Result<Process> {
    let folder = tempfile::Builder::new()
        .prefix("skillfold-run-")
        .tempdir()?;
    let (skill, scratch) = (folder.path().join("skill"), folder.path().join("tmp"));
    fs::create_dir(&skill)?;
    fs::create_dir(&scratch)?;
    write_skill(request.copy, &skill)?;
    if let Some(host) = request.host {
        for (path, bytes) in host.files(&skill, request.copy) {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            write_file(&path, bytes, Executable::No)?;
        }
    }
    #[cfg(unix)]
    if let Some(packages) = request.packages {
        std::os::unix::fs::symlink(packages.source(), packages.path(&skill))?;
    }
    let words = request.command_line(&skill.to_string_lossy());
    #[expect(clippy::disallowed_methods, reason = "this is the runner")]
    let mut command = Command::new(&request.interpreter.path);
    command
        .args(words.iter().skip(1))
        .env_clear()
        .envs(request.environment(&scratch.to_string_lossy(), &skill.to_string_lossy()))
        .current_dir(request.directory.unwrap_or(&skill))
        .stdin(match request.input {
            Input::None => Stdio::null(),
            Input::Bytes(_) | Input::Pipe => Stdio::piped(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.arg0(&request.interpreter.name);
        if !cfg!(target_os = "linux") {
            command.process_group(0);
        }
    }
    #[cfg(target_os = "linux")]
    crate::linux::confine::restrict(&mut command, request, &skill, &scratch)?;
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take();
    if let (Input::Bytes(bytes), Some(mut pipe)) = (
        request.input,
        stdin.take_if(|_| !matches!(request.input, Input::Pipe)),
    ) {
        let bytes = bytes.to_vec();
        // It ends when the bytes are read or the process closes the pipe.
        thread::Builder::new().spawn(move || pipe.write_all(&bytes))?;
    }
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    Ok(Process {
        stdin: stdin.map(|pipe| Box::new(pipe) as _),
        stdout: stdout.map(|pipe| Box::new(pipe) as _),
        stderr: stderr.map(|pipe| Box::new(pipe) as _),
        control: Arc::new(Plain {
            child: Mutex::new(child),
            _folder: folder,
        }),
    })
}

fn write_skill(copy: &SkillCopy, skill: &Path) -> io::Result<()> {
    for (path, bytes, executable) in copy.files() {
        let target = skill.join(path.as_str());
        target.parent().map_or(Ok(()), fs::create_dir_all)?;
        write_file(&target, bytes, executable)?;
    }
    Ok(())
}

fn write_file(path: &Path, bytes: &[u8], executable: Executable) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(match executable {
            Executable::Yes => 0o500,
            Executable::No => 0o400,
        });
    }
    #[cfg(not(unix))]
    let (Executable::Yes | Executable::No) = executable;
    options.open(path)?.write_all(bytes)
}

/// A process in its own process group.
#[derive(Debug)]
struct Plain {
    child: Mutex<Child>,
    /// Removed after the process.
    _folder: TempDir,
}

impl Control for Plain {
    fn kill(&self) {
        let mut child = locked(&self.child);
        if matches!(child.try_wait(), Ok(None)) {
            kill_group(&child);
            let _ = child.kill();
        }
    }

    fn wait(&self) -> io::Result<ExitStatus> {
        loop {
            let mut child = locked(&self.child);
            if let Some(status) = child.try_wait()? {
                kill_group(&child);
                return Ok(exit_status(status));
            }
            drop(child);
            thread::sleep(POLL);
        }
    }
}

/// Kills every process that is still in the group.
#[cfg(unix)]
fn kill_group(child: &Child) {
    let group = rustix::process::Pid::from_child(child);
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
}

#[cfg(not(unix))]
fn kill_group(_: &Child) {}

fn exit_status(status: std::process::ExitStatus) -> ExitStatus {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return ExitStatus::Signalled(signal);
        }
    }
    ExitStatus::Exited(status.code().unwrap_or(-1))
}
