//! A process in a process group of its own, for sandboxes without a process tree.

use std::io::{self, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::process::{Control, ExitStatus, Process, locked};
use crate::request::RunInput;
use crate::skill_folder::SkillFolder;

/// How often to check whether a process has exited.
const POLL: Duration = Duration::from_millis(5);

/// Who makes the process the leader of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leader {
    /// The command, when it starts its session.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only Linux has it start one")
    )]
    Itself,
    /// This function.
    Host,
}

/// Starts a command with this stdin. The folder is removed after the process.
pub(crate) fn start(
    mut command: Command,
    leader: Leader,
    input: RunInput<'_>,
    folder: SkillFolder,
) -> io::Result<Process> {
    command
        .stdin(match input {
            RunInput::None => Stdio::null(),
            RunInput::Bytes(_) | RunInput::Pipe => Stdio::piped(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if leader == Leader::Host {
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take();
    if let (RunInput::Bytes(bytes), Some(mut pipe)) =
        (input, stdin.take_if(|_| !matches!(input, RunInput::Pipe)))
    {
        let bytes = bytes.to_vec();
        // It ends when the bytes are read or the process closes the pipe.
        thread::Builder::new().spawn(move || pipe.write_all(&bytes))?;
    }
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut process = Process::new(Arc::new(ProcessGroup {
        child: Mutex::new(child),
        _folder: folder,
    }));
    process.stdin = stdin.map(|pipe| Box::new(pipe) as _);
    process.stdout = stdout.map(|pipe| Box::new(pipe) as _);
    process.stderr = stderr.map(|pipe| Box::new(pipe) as _);
    Ok(process)
}

#[derive(Debug)]
struct ProcessGroup {
    child: Mutex<Child>,
    /// Removed after the process.
    _folder: SkillFolder,
}

impl Control for ProcessGroup {
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
fn kill_group(child: &Child) {
    let group = Pid::from_child(child);
    let _ = kill_process_group(group, Signal::KILL);
}

pub(crate) fn exit_status(status: std::process::ExitStatus) -> ExitStatus {
    match status.signal() {
        Some(signal) => ExitStatus::Signalled(signal),
        None => ExitStatus::Exited(status.code().unwrap_or(-1)),
    }
}
