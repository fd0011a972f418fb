//! `skillfold completions`

use std::process::ExitCode;

use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::failure::{CommandResult, Failure};
use crate::terminal::output::Output;

/// The variable through which a shell asks the command for completions.
pub(crate) const COMPLETE_VARIABLE: &str = "SKILLFOLD_COMPLETE";

pub(crate) fn run(shell: Shell, output: &mut Output) -> CommandResult {
    let (shells, name) = (Shells::builtins(), shell.to_string());
    let Some(completer) = shells.completer(&name) else {
        let message = format!("There are no completions for the shell `{name}`");
        return Err(Failure::Usage(message));
    };
    let program = "skillfold";
    let mut text = Vec::new();
    completer.write_registration(COMPLETE_VARIABLE, program, program, program, &mut text)?;
    output.text(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
