//! `skillfold approve`

use std::process::ExitCode;

use skillfold::core::diagnostic::visible;

use crate::arguments::{Approve, Global};
use crate::commands::add::say_conflicts;
use crate::commands::proposals;
use crate::failure::CommandResult;
use crate::host;
use crate::terminal::approval;
use crate::terminal::digest::short;
use crate::terminal::output::{GOOD, Output, paint};

pub(crate) fn run(global: &Global, options: &Approve, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let store = skills.store()?;
    let waiting = store.find_proposal(&options.name)?;
    let waiting = match skills.merge_if_moved(&waiting)? {
        Some(merged) => {
            output.say("The skill has changed since; this is the change merged with it");
            say_conflicts(&waiting.proposal.skill, &merged.conflicts, output);
            merged.proposal
        }
        None => waiting,
    };
    let effects = skills.effects(&waiting.proposal)?;
    proposals::show(&store, &waiting, &effects, output)?;
    let proposal = &waiting.proposal;
    let skill = visible(&proposal.skill);
    let question = match proposal.base {
        Some(_) => format!("Change `{skill}` like this?"),
        None => format!("Add the skill `{skill}` like this?"),
    };
    let approval = approval::approve(&skills, &store, &question, &proposal.skill, output)?;
    let applied = skills.approve(proposal, &approval)?;
    output.say(format!(
        "{}: `{skill}` is now {}; undo with `skillfold rollback`",
        paint(GOOD, "Approved"),
        short(&applied.after.to_string())
    ));
    Ok(ExitCode::SUCCESS)
}
