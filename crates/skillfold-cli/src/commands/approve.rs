//! `skillfold approve`, `skillfold reject` and `skillfold rollback`

use std::process::ExitCode;

use skillfold::core::Error;
use skillfold::core::diagnostic::visible;
use skillfold::store::change::unified;
use skillfold::store::{Author, Proposal, SkillFiles, Store, Waiting};
use skillfold::view::{Document, History};
use skillfold::{Environment, Skills};

use crate::arguments::{Approve, Global, Reject, Rollback};
use crate::commands::history::find_version;
use crate::commands::proposals;
use crate::failure::Failure;
use crate::host;
use crate::terminal::digest::short;
use crate::terminal::editor;
use crate::terminal::output::{GOOD, Output, paint};
use crate::terminal::{approval, text_diff};

pub(crate) fn approve(
    global: &Global,
    options: &Approve,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let skills = host::skills(global, output)?;
    let store = skills.store()?;
    let waiting = store.find_proposal(&options.name)?;
    let waiting = match skills.merge_if_moved(&waiting)? {
        Some(merged) => {
            output.say("The skill has changed since; this is the change merged with it");
            merged
        }
        None => waiting,
    };
    let effects = skills.effects(&waiting.proposal)?;
    proposals::show(&waiting, &effects, output)?;
    let proposal = &waiting.proposal;
    let skill = visible(&proposal.skill);
    let question = match proposal.base {
        Some(_) => format!("Change `{skill}` like this?"),
        None => format!("Add the skill `{skill}` like this?"),
    };
    let approval = approval::approve(&skills, &store, &question, &proposal.skill, output)?;
    let now = skills.now();
    let applied = store.approve(proposal.digest, proposal.base, &approval, now)?;
    output.say(format!(
        "{}: `{skill}` is now {}; `skillfold rollback` takes it back",
        paint(GOOD, "Approved"),
        short(&applied.after.to_string())
    ));
    Ok(ExitCode::SUCCESS)
}

/// Lets the user edit what a proposal would write, and returns their own proposal; `None` if they changed nothing.
pub(crate) fn edit(
    environment: &Environment,
    skills: &Skills,
    store: &Store,
    waiting: &Waiting,
) -> Result<Option<Proposal>, Failure> {
    let (mut edits, _) = store.merged(&waiting.proposal)?;
    let Some(edit) = edits.iter_mut().find(|edit| edit.new.is_some()) else {
        return Ok(None);
    };
    let old = edit.new.clone().unwrap_or_default();
    let new = editor::edit_text(environment, &old)?;
    if new == old {
        return Ok(None);
    }
    edit.new = Some(new);
    let author = Author::named(skills.user_name());
    let edited = skills.replace_proposal(waiting, &edits, author, "Edited")?;
    Ok(Some(edited))
}

pub(crate) fn reject(
    global: &Global,
    options: &Reject,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let skills = host::skills(global, output)?;
    let store = skills.store()?;
    let waiting = store.find_proposal(&options.name)?;
    let by = skills.user_name();
    store.reject(waiting.proposal.digest, &by, &options.reason, skills.now())?;
    let name = visible(waiting.proposal.name());
    output.say(format!("{}: {name}", paint(GOOD, "Rejected")));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn rollback(
    global: &Global,
    options: &Rollback,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
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
    if let Some(current) = &current {
        text_diff::show(&unified(&current.edits_to(&target)), output)?;
    }
    let skill = visible(&options.id).into_owned();
    let question = format!("Restore this version of `{skill}`?");
    let approval = approval::approve(&skills, &store, &question, &options.id, output)?;
    let reason = &options.reason;
    store.roll_back(&place, base, version, &approval, reason, skills.now())?;
    if output.is_json() {
        let versions = store.history(&place, skills.now())?;
        output.json(Document::History(History::new(
            &options.id,
            &place,
            &versions,
        )))?;
        return Ok(ExitCode::SUCCESS);
    }
    output.say(format!(
        "{}: `{skill}` is {} again",
        paint(GOOD, "Rolled back"),
        short(&version.to_string())
    ));
    Ok(ExitCode::SUCCESS)
}
