//! Restricts a Linux process without namespaces, where the host accepts that they are missing.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use super::child::confine;
use super::plan::Program;
use super::sys::syscall;
use crate::request::RunRequest;

/// Restricts a command with the layers this system has.
pub(super) fn restrict(
    command: &mut Command,
    request: &RunRequest<'_>,
    skill: &Path,
    scratch: &Path,
) -> io::Result<()> {
    let (skill_text, scratch_text) = (skill.to_string_lossy(), scratch.to_string_lossy());
    let mut program = Program::new(request, &skill_text, &scratch_text)?
        .with_host_rules(request, skill, scratch)?;
    // Without a namespace the kernel counts all of the user's processes.
    program.leave_out_process_limit();
    let program = Restriction(program);
    let restrict = move || {
        const CLOSE_ON_EXEC: u32 = 4;
        let Restriction(program) = &program;
        let closed = syscall!(libc::SYS_close_range, 3, u32::MAX, CLOSE_ON_EXEC);
        let confined = closed
            .map(drop)
            .and_then(|()| confine(program).map_err(|(_, error)| error));
        confined.map_err(io::Error::from)
    };
    // SAFETY: nothing here allocates or takes a lock.
    unsafe { command.pre_exec(restrict) };
    Ok(())
}

/// A prepared program, moved to the new process.
struct Restriction(Program);

// SAFETY: its pointers refer to strings that it owns and nobody changes.
unsafe impl Send for Restriction {}
// SAFETY: as above.
unsafe impl Sync for Restriction {}
