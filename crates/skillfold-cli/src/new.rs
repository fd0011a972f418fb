//! `skillfold new`

use std::process::ExitCode;

use skillfold::{Home, scaffold};

use crate::arguments::{Global, New};
use crate::failure::Failure;
use crate::host;
use crate::output::Output;

pub(crate) fn run(
    global: &Global,
    options: &New,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let environment = host::environment(global)?;
    let home = match &options.into {
        Some(folder) => Home::Folder(folder.clone()),
        None if options.user => Home::User,
        None => Home::Project,
    };
    let path = scaffold(&environment, &home, &options.name, &options.description)?;
    let shown = path.strip_prefix(environment.directory()).unwrap_or(&path);
    output.line(shown.display())?;
    output.say("Write what the agent should do into it; `skillfold check` judges it");
    Ok(ExitCode::SUCCESS)
}
