//! Asks for an approval: of a person at a terminal, and with the passphrase if the settings require it.

use skillfold::core::{Error, Refusal};
use skillfold::store::{Approval, Store};
use skillfold::{Skills, settings::ApprovalRequires};

use crate::failure::Failure;
use crate::terminal::ask::{Answer, ask, ask_secret};
use crate::terminal::output::Output;

const NO_TERMINAL: &str = "Approving needs a terminal; run the command in one yourself";
const CANCELLED: &str = "Cancelled; nothing was changed";

/// The answer of a person who may approve.
pub(crate) enum Asked {
    Yes(Approval),
    No,
}

/// Asks at the terminal; a no is an error.
pub(crate) fn approve(
    skills: &Skills,
    store: &Store,
    question: &str,
    what: &str,
    output: &mut Output,
) -> Result<Approval, Failure> {
    match ask_approval(skills, store, question, what, output)? {
        Asked::Yes(approval) => Ok(approval),
        Asked::No => Err(Error::refused(what, Refusal::Approval, CANCELLED).into()),
    }
}

/// Asks at the terminal. There is no option that answers in advance: a script or an agent must not approve.
pub(crate) fn ask_approval(
    skills: &Skills,
    store: &Store,
    question: &str,
    what: &str,
    output: &mut Output,
) -> Result<Asked, Failure> {
    let refused = |rule| Failure::from(Error::refused(what, Refusal::Approval, rule));
    match ask(question, output) {
        Answer::Yes => {}
        Answer::No => return Ok(Asked::No),
        Answer::NoTerminal => return Err(refused(NO_TERMINAL)),
    }
    let approval = Approval::at_terminal(skills.user_name());
    let report = skills.report();
    if report.settings.approval_requires.value != ApprovalRequires::Passphrase {
        return Ok(Asked::Yes(approval));
    }
    if !store.has_passphrase()? {
        let rule = "No passphrase is set; set one with `skillfold passphrase`";
        return Err(refused(rule));
    }
    match ask_secret("Passphrase: ", output)? {
        Some(passphrase) => Ok(Asked::Yes(approval.with_passphrase(passphrase))),
        None => Err(refused(NO_TERMINAL)),
    }
}
