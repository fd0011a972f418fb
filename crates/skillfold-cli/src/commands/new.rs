//! `skillfold new`

use std::path::Path;
use std::process::ExitCode;

use skillfold::author::{NewSkill, SkillLocation, ToolsetLanguage, scaffold};
use skillfold::core::catalog::Status;
use skillfold::core::diagnostic::visible;
use skillfold::view::{Document, WrittenFile};

use crate::arguments::{Global, LanguageName, New};
use crate::commands::trust;
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::{Output, display_path};

pub(crate) fn run(global: &Global, options: &New, output: &mut Output) -> CommandResult {
    let environment = host::environment(global)?;
    let location = match &options.into {
        Some(folder) => SkillLocation::Folder(folder.clone()),
        None if options.user => SkillLocation::User,
        None => SkillLocation::Project,
    };
    let mut skill = NewSkill::new(&options.name, &options.description);
    skill.triggers.clone_from(&options.trigger);
    skill.toolset = options.toolset.map(|language| match language {
        LanguageName::Python => ToolsetLanguage::Python,
        LanguageName::Javascript => ToolsetLanguage::JavaScript,
    });
    let path = scaffold(&environment, &location, &skill)?;
    if output.is_json() {
        if options.trust {
            trust::offer(&environment, Some(&path), true, output)?;
        }
        return output.json(Document::Written(WrittenFile::new(&path)));
    }
    // Relative to the working folder; absolute if `-C` names another one.
    let is_here = global.directory == Path::new(".");
    let relative = path.strip_prefix(environment.directory());
    output.line(display_path(
        relative.ok().filter(|_| is_here).unwrap_or(&path),
    ))?;
    output.say("Write the agent's instructions in it, then run `skillfold check`");
    if skill.toolset.is_some() {
        let name = &skill.name;
        output.say(format!(
            "Its toolset is in `toolsets` beside it; `skillfold allow {name}` lets it run"
        ));
    }
    if location == SkillLocation::Project {
        trust::offer(&environment, Some(&path), options.trust, output)?;
    }
    say_held(global, &path, output)?;
    Ok(ExitCode::SUCCESS)
}

/// Says that the new skill is held, if it is. Not everyone who creates a skill is the user, so it is not trusted here.
fn say_held(global: &Global, file: &Path, output: &mut Output) -> Result<(), Failure> {
    let skills = host::host(global)?.discover_lenient().skills;
    let catalog = skills.catalog();
    let mut held = catalog
        .entries()
        .filter(|entry| entry.status() == Status::Held);
    if let Some(entry) = held.find(|entry| entry.file().as_deref() == Some(file)) {
        let id = visible(entry.id());
        output.say(format!(
            "It is held like every new skill; `skillfold trust {id}` lets models have it"
        ));
    }
    Ok(())
}
