//! `skillfold new`

use std::path::Path;
use std::process::ExitCode;

use skillfold::view::{Document, WrittenFile};
use skillfold::{SkillLocation, scaffold};

use crate::arguments::{Global, New};
use crate::failure::Failure;
use crate::host;
use crate::output::{Output, display_path};
use crate::trust;

pub(crate) fn run(
    global: &Global,
    options: &New,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let environment = host::environment(global)?;
    let location = match &options.into {
        Some(folder) => SkillLocation::Folder(folder.clone()),
        None if options.user => SkillLocation::User,
        None => SkillLocation::Project,
    };
    let path = scaffold(&environment, &location, &options.name, &options.description)?;
    if output.is_json() {
        if options.trust {
            trust::offer(&environment, Some(&path), true, output)?;
        }
        output.json(Document::Written(WrittenFile::new(&path)))?;
        return Ok(ExitCode::SUCCESS);
    }
    // Relative to the working folder; absolute if `-C` names another one.
    let is_here = global.directory == Path::new(".");
    let relative = path.strip_prefix(environment.directory());
    output.line(display_path(
        relative.ok().filter(|_| is_here).unwrap_or(&path),
    ))?;
    output.say("Write the agent's instructions in it, then run `skillfold check`");
    if location == SkillLocation::Project {
        trust::offer(&environment, Some(&path), options.trust, output)?;
    }
    Ok(ExitCode::SUCCESS)
}
