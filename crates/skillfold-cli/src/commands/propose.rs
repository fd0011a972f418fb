//! `skillfold propose`

use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::store::Author;
use skillfold::view::{Document, ProposalView};

use crate::arguments::{Global, Propose};
use crate::failure::CommandResult;
use crate::host;
use crate::terminal::output::{GOOD, Output, paint};

pub(crate) fn run(global: &Global, options: &Propose, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let author = Author::named(skills.user_name());
    let evidence = options.evidence.as_deref();
    let made = skills.propose_from(
        &options.id,
        &options.from,
        &options.reason,
        evidence,
        author,
    )?;
    let proposal = &made.proposed.proposal;
    if output.is_json() {
        let waiting = skills.store()?.find_proposal(proposal.name())?;
        let view = ProposalView::new(&waiting).with_effects(&waiting, &made.effects);
        return output.json(Document::Proposal(Box::new(view)));
    }
    output.line(visible(proposal.name()))?;
    for line in made.effects.lines() {
        output.line(format!("  {line}"))?;
    }
    let what = if made.proposed.is_repeated {
        "Already pending"
    } else {
        "Proposed"
    };
    output.say(format!(
        "{}: nothing changes until it is approved; `skillfold review` shows it",
        paint(GOOD, what)
    ));
    Ok(ExitCode::SUCCESS)
}
