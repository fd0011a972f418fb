//! `skillfold reject`

use std::process::ExitCode;

use skillfold::core::diagnostic::visible;

use crate::arguments::{Global, Reject};
use crate::failure::CommandResult;
use crate::host;
use crate::terminal::output::{GOOD, Output, paint};

pub(crate) fn run(global: &Global, options: &Reject, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let store = skills.store()?;
    let waiting = store.find_proposal(&options.name)?;
    let by = skills.user_name();
    store.reject(waiting.proposal.digest, &by, &options.reason, skills.now())?;
    let name = visible(waiting.proposal.name());
    output.say(format!("{}: {name}", paint(GOOD, "Rejected")));
    Ok(ExitCode::SUCCESS)
}
