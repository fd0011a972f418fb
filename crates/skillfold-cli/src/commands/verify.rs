//! `skillfold verify`

use std::collections::BTreeSet;
use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::registry::{VerifiedSkill, VerifyState};
use skillfold::view::{Document, VerificationView};

use crate::arguments::{Global, Verify};
use crate::failure::{CommandResult, EXIT_PROBLEMS};
use crate::host;
use crate::terminal::digest::short;
use crate::terminal::output::{
    BAD, BOLD, DIM, GOOD, Output, PLAIN, display_path, paint, pluralize,
};
use crate::terminal::table::Table;

pub(crate) fn run(global: &Global, options: &Verify, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let registry = skills.registry(options.whose.scope())?;
    let verification = registry.verify()?;
    let problems = verification.problems().count();
    if output.is_json() {
        output.json(Document::Verification(VerificationView::new(&verification)))?;
    } else {
        let mut table = Table::default();
        for skill in verification.problems() {
            table.row([
                (BAD, word(skill.state)),
                (BOLD, &visible(&skill.name)),
                (PLAIN, &what_is_wrong(skill)),
            ]);
        }
        output.table(&table)?;
    }
    let total = pluralize(verification.skills.len(), "skill", "skills");
    if problems == 0 {
        output.say(format!("{}: {total} as locked", paint(GOOD, "OK")));
        return Ok(ExitCode::SUCCESS);
    }
    output.say(format!(
        "{problems} of {total} not as locked in {}",
        display_path(registry.lock_file())
    ));
    let ways = verification.problems().map(|skill| way_out(skill.state));
    for way in ways.collect::<BTreeSet<_>>() {
        output.say(format!("{}: {way}", paint(DIM, "hint")));
    }
    Ok(ExitCode::from(EXIT_PROBLEMS))
}

fn word(state: VerifyState) -> &'static str {
    match state {
        VerifyState::Different => "different",
        VerifyState::Missing => "missing",
        VerifyState::NotLocked => "not locked",
        VerifyState::NotWanted => "not wanted",
        _ => "folder",
    }
}

fn what_is_wrong(skill: &VerifiedSkill) -> String {
    let digest = |digest: Option<skillfold::core::load::Digest>| {
        digest.map_or_else(String::new, |digest| short(&digest.to_string()))
    };
    match skill.state {
        VerifyState::Different => format!(
            "{} installed, {} locked",
            digest(skill.installed),
            digest(skill.locked)
        ),
        VerifyState::Missing => "is not installed".to_owned(),
        VerifyState::NotLocked => "is not in the lock, or from another source".to_owned(),
        VerifyState::NotWanted => "is not in `skills.toml`".to_owned(),
        _ => {
            let folders = skill
                .broken_folders
                .iter()
                .map(|it| display_path(&it.folder));
            folders.collect::<Vec<_>>().join(", ")
        }
    }
}

fn way_out(state: VerifyState) -> &'static str {
    match state {
        VerifyState::Different => {
            "`skillfold update` keeps edits and merges them; `skillfold install --discard-edits` restores what is locked"
        }
        VerifyState::Missing => "`skillfold install` restores what is missing",
        VerifyState::NotLocked => "`skillfold install` looks up what is not locked, and locks it",
        VerifyState::NotWanted => "`skillfold remove` removes what is not wanted",
        _ => "`skillfold install` links a client's folder again",
    }
}
