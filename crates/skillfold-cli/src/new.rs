//! `skillfold new`

use std::path::Path;
use std::process::ExitCode;

use skillfold::view::{Document, WrittenFile};
use skillfold::{SkillLocation, scaffold};

use crate::arguments::{Global, New};
use crate::failure::Failure;
use crate::host;
use crate::output::{Output, shown};

pub(crate) fn run(
    global: &Global,
    options: &New,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let environment = host::environment(global)?;
    let home = match &options.into {
        Some(folder) => SkillLocation::Folder(folder.clone()),
        None if options.user => SkillLocation::User,
        None => SkillLocation::Project,
    };
    let path = scaffold(&environment, &home, &options.name, &options.description)?;
    if output.is_json() {
        output.json(Document::Written(WrittenFile::new(&path)))?;
        return Ok(ExitCode::SUCCESS);
    }
    // From where one stands; another folder's path is whole.
    let is_here = global.directory == Path::new(".");
    let inside = path.strip_prefix(environment.directory());
    output.line(shown(inside.ok().filter(|_| is_here).unwrap_or(&path)))?;
    output.say("Write the agent's instructions in it, then run `skillfold check`");
    Ok(ExitCode::SUCCESS)
}
