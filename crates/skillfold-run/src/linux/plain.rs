//! A process without namespaces, where the host accepts that they are missing.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::geteuid;

use super::confine::restrict;
use crate::error::{RunError, RunErrorKind};
use crate::process::Process;
use crate::process_group::{self, Leader};
use crate::request::RunRequest;
use crate::skill_folder::{Readers, SkillFolder};

/// Starts a process in its own folder.
pub(super) fn spawn(request: &RunRequest<'_>) -> Result<Process, RunError> {
    let failed = |error| {
        let message = format!("Could not start `{}`", request.script);
        RunError::failed_to_start(message, error)
    };
    if geteuid().is_root() {
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

fn start(request: &RunRequest<'_>) -> io::Result<Process> {
    let folder = SkillFolder::create(request, Readers::Owner)?.with_scratch(request)?;
    let (skill, scratch) = (folder.skill(), folder.scratch());
    let (skill_text, scratch_text) = (skill.to_string_lossy(), scratch.to_string_lossy());
    let words = request.command_line(&skill_text);
    #[expect(clippy::disallowed_methods, reason = "this is the runner")]
    let mut command = Command::new(request.program());
    command
        .arg0(&request.interpreter.name)
        .args(words.iter().skip(1))
        .env_clear()
        .envs(request.variables(&scratch_text, &skill_text))
        .current_dir(request.directory.unwrap_or(&skill));
    restrict(&mut command, request, &skill, &scratch)?;
    process_group::start(command, Leader::Itself, request.input, folder)
}
