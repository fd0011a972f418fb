//! `skillfold rollback`

use std::process::ExitCode;

use skillfold::core::Error;
use skillfold::core::diagnostic::visible;
use skillfold::store::SkillFiles;
use skillfold::store::change::shown_diff;
use skillfold::view::{Document, History};

use crate::arguments::{Global, Rollback};
use crate::commands::diff::find_version;
use crate::failure::CommandResult;
use crate::host;
use crate::terminal::digest::short;
use crate::terminal::output::{GOOD, Output, paint};
use crate::terminal::{approval, text_diff};

pub(crate) fn run(global: &Global, options: &Rollback, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let store = skills.store()?;
    let place = skills.skill_place(&options.id)?;
    let versions = store.history(&place, skills.now())?;
    let version = find_version(&versions, options.version.as_deref(), &options.id)?;
    let current = place.read()?;
    let base = current.as_ref().map(SkillFiles::digest);
    let Some(target) = store.version(version)? else {
        return Err(Error::not_found(version.to_string()).into());
    };
    let before = current.unwrap_or_default();
    text_diff::show(&shown_diff(&before.edits_to(&target)), output)?;
    let skill = visible(&options.id).into_owned();
    let question = format!("Restore this version of `{skill}`?");
    let approval = approval::approve(&skills, &store, &question, &options.id, output)?;
    let reason = &options.reason;
    store.roll_back(&place, base, version, &approval, reason, skills.now())?;
    if output.is_json() {
        let versions = store.history(&place, skills.now())?;
        return output.json(Document::History(History::new(
            &options.id,
            &place,
            &versions,
        )));
    }
    output.say(format!(
        "{}: `{skill}` is {} again",
        paint(GOOD, "Rolled back"),
        short(&version.to_string())
    ));
    Ok(ExitCode::SUCCESS)
}
