//! `skillfold remove`

use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::view::{Document, RemovedSkills};

use crate::arguments::{Global, Remove};
use crate::failure::CommandResult;
use crate::host;
use crate::terminal::output::{GOOD, Output, paint};

pub(crate) fn run(global: &Global, options: &Remove, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let registry = skills.registry(options.whose.scope())?;
    let mut removed = Vec::new();
    for name in &options.names {
        removed.push(registry.remove(name, options.discard_edits)?);
        output.say(format!(
            "{}: `{}`; `skillfold add` installs it again",
            paint(GOOD, "Removed"),
            visible(name)
        ));
    }
    if output.is_json() {
        return output.json(Document::RemovedSkills(RemovedSkills::new(&removed)));
    }
    Ok(ExitCode::SUCCESS)
}
