//! `skillfold init`

use std::process::ExitCode;

use skillfold::settings::{SettingsFile, create_settings};
use skillfold::view::{Document, WrittenFile};

use crate::arguments::{Global, Init};
use crate::commands::trust;
use crate::failure::CommandResult;
use crate::host;
use crate::terminal::output::{GOOD, Output, display_path, paint};

pub(crate) fn run(global: &Global, options: &Init, output: &mut Output) -> CommandResult {
    let environment = host::environment(global)?;
    let created = create_settings(&environment, SettingsFile::Project)?;
    let path = environment.project_settings();
    if output.is_json() {
        output.json(Document::Written(WrittenFile::new(&path)))?;
    } else {
        let state = if created {
            paint(GOOD, "created")
        } else {
            "there already".to_owned()
        };
        output.line(format!("{}  {state}", display_path(&path)))?;
    }
    trust::offer(&environment, None, options.trust, output)?;
    if output.is_json() {
        return Ok(ExitCode::SUCCESS);
    }
    output.say("Next: `skillfold new NAME` creates a skill, `skillfold setup --project` adds the server for everyone who works on it");
    Ok(ExitCode::SUCCESS)
}
