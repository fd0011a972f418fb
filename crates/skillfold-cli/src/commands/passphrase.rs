//! `skillfold passphrase`

use std::process::ExitCode;

use skillfold::core::{Error, Refusal};

use crate::arguments::Global;
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::ask::ask_secret;
use crate::terminal::output::{GOOD, Output, paint};

pub(crate) fn run(global: &Global, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let store = skills.store()?;
    let mut secret = |question: &str| -> Result<String, Failure> {
        let answer = ask_secret(question, output)?;
        Ok(answer.ok_or_else(|| {
            let rule = "Setting a passphrase needs a terminal";
            Error::refused("passphrase", Refusal::Approval, rule)
        })?)
    };
    let old = if store.has_passphrase()? {
        Some(secret("Current passphrase: ")?)
    } else {
        None
    };
    let new = secret("New passphrase: ")?;
    if new != secret("Repeat: ")? {
        return Err(Error::invalid("passphrase", "The passphrases don't match").into());
    }
    store.set_passphrase(&new, old.as_deref(), skills.now())?;
    output.say(format!(
        "{}; `skillfold config set approval_requires passphrase` makes approvals ask for it",
        paint(GOOD, "The passphrase is set")
    ));
    Ok(ExitCode::SUCCESS)
}
