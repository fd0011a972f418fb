//! `skillfold proposals`

use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::store::change::shown_diff;
use skillfold::store::{PendingProposal, Store};
use skillfold::view::{Document, ProposalList, ProposalView};
use skillfold::{Skills, improve::Effects};

use crate::arguments::{Global, Proposals};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::{BOLD, DIM, Output, PLAIN, WARN, paint, pluralize};
use crate::terminal::table::Table;
use crate::terminal::text_diff;

pub(crate) fn run(global: &Global, options: &Proposals, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    match &options.name {
        Some(name) => show_one(&skills, name, output),
        None => list(&skills, output),
    }
}

fn list(skills: &Skills, output: &mut Output) -> CommandResult {
    let proposals = skills.store()?.proposals()?;
    if output.is_json() {
        return output.json(Document::Proposals(ProposalList::new(&proposals)));
    }
    let mut table = Table::default();
    for waiting in &proposals.waiting {
        let proposal = &waiting.proposal;
        let what = if proposal.base.is_some() {
            "change"
        } else {
            "new"
        };
        let first = proposal.justification.lines().next().unwrap_or_default();
        table.row([
            (BOLD, proposal.name()),
            (DIM, what),
            (DIM, &proposal.author.name),
            (PLAIN, first),
        ]);
    }
    output.table(&table)?;
    for error in &proposals.unreadable {
        output.say(format!("Not a proposal: {}", error.with_cause()));
    }
    match proposals.waiting.len() {
        0 => output.say("No pending proposals"),
        number => {
            let number = pluralize(number, "proposal waits", "proposals wait");
            output.say(format!(
                "{number}; `skillfold review` shows them one by one, `skillfold proposals NAME` shows one"
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show_one(skills: &Skills, name: &str, output: &mut Output) -> CommandResult {
    let store = skills.store()?;
    let waiting = store.find_proposal(name)?;
    let effects = skills.effects(&waiting.proposal)?;
    if output.is_json() {
        let view = ProposalView::new(&waiting).with_effects(&waiting, &effects);
        return output.json(Document::Proposal(Box::new(view)));
    }
    show(&store, &waiting, &effects, output)?;
    let name = visible(waiting.proposal.name());
    output.say(format!(
        "Decide with `skillfold approve {name}` or `skillfold reject {name}`"
    ));
    Ok(ExitCode::SUCCESS)
}

/// Shows a proposal as a reviewer needs it: who and why, what it does, and the change.
pub(crate) fn show(
    store: &Store,
    waiting: &PendingProposal,
    effects: &Effects,
    output: &mut Output,
) -> Result<(), Failure> {
    let proposal = &waiting.proposal;
    let what = match proposal.base {
        Some(_) => "Change of",
        None => "New skill",
    };
    let skill = visible(&proposal.skill);
    output.show(paint(BOLD, format!("{what} {skill}")))?;
    let session = proposal.author.session.as_deref();
    let session = session.map_or_else(String::new, |it| format!(" in {}", visible(it)));
    let author = visible(&proposal.author.name);
    output.show(format!("by {author}{session}, {}", visible(&proposal.time)))?;
    output.show(visible(&proposal.place.path().to_string_lossy()))?;
    if !waiting.is_recorded {
        let text = "This proposal was edited outside Skillfold";
        output.show(paint(WARN, text))?;
    }
    if waiting.repeated > 0 {
        let times = pluralize(waiting.repeated, "more time", "more times");
        output.show(format!("proposed {times}"))?;
    }
    for (by, verdict, reason) in &waiting.recommendations {
        output.show(format!(
            "{}'s recommendation: {verdict} ({})",
            visible(by),
            visible(reason)
        ))?;
    }
    let texts = [
        ("Why", Some(proposal.justification.as_str())),
        ("Evidence", proposal.evidence.as_deref()),
    ];
    for (heading, text) in texts {
        let Some(text) = text else { continue };
        output.show(format!("\n{}", paint(BOLD, heading)))?;
        for line in text.lines() {
            output.show_drawing(format!("  │ {}", visible(line)))?;
        }
    }
    output.show(format!("\n{}", paint(BOLD, "What it does")))?;
    for line in effects.lines() {
        output.show(format!("  {line}"))?;
    }
    output.show("")?;
    // What is installed is the stored version, whatever the file says.
    let diff = match proposal.after {
        Some(_) => shown_diff(&store.preview(proposal)?.edits),
        None => proposal.diff.clone(),
    };
    text_diff::show(&diff, output)
}
