//! `skillfold audit`

mod text;

use std::process::ExitCode;

use skillfold::core::{Error, Refusal};
use skillfold::store::{CheckedProofs, LogRecords, Store};
use skillfold::view::{Audit, Document};

use crate::arguments::{AuditAction, AuditOptions, Global};
use crate::commands::audit::text::describe;
use crate::failure::{CommandResult, EXIT_FAILED, Failure};
use crate::host;
use crate::terminal::ask::ask_secret;
use crate::terminal::output::{DIM, GOOD, Output, paint, pluralize};

pub(crate) fn run(global: &Global, options: &AuditOptions, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let store = skills.store()?;
    let log = store.log()?;
    match &options.action {
        Some(AuditAction::Verify { head, passphrase }) => {
            let proofs = if *passphrase {
                Some(check_proofs(&store, output)?)
            } else {
                None
            };
            verify(&log, head.as_deref(), proofs.as_ref(), output)
        }
        None => list(&log, output),
    }
}

fn list(log: &LogRecords, output: &mut Output) -> CommandResult {
    if output.is_json() {
        output.json(Document::Audit(Audit::new(log, |_| true)))?;
        return Ok(exit_code(log));
    }
    let width = log.records.len().to_string().len();
    for (record, text) in describe(&log.records) {
        let head = format!("{:width$}  {}", record.number, record.time);
        output.field(&paint(DIM, head), &text)?;
    }
    let records = pluralize(log.records.len(), "record", "records");
    output.say(format!("{records}; `--json` prints them in full"));
    say_newer(log, output);
    say_damage(log, output);
    Ok(exit_code(log))
}

fn exit_code(log: &LogRecords) -> ExitCode {
    match log.damage {
        Some(_) => ExitCode::from(EXIT_FAILED),
        None => ExitCode::SUCCESS,
    }
}

/// Says where the log is damaged.
fn say_damage(log: &LogRecords, output: &mut Output) {
    if let Some(damage) = &log.damage {
        let number = pluralize(log.records.len(), "record", "records");
        output.say(format!(
            "The log is damaged in line {}: {}; intact before it: {number}",
            damage.line, damage.reason
        ));
    }
}

/// Says which records this version does not know, and what is unfinished.
fn say_newer(log: &LogRecords, output: &mut Output) {
    if let Some(record) = log.unknown() {
        output.say(format!(
            "A newer skillfold wrote the log from record {} on; update skillfold to write to it",
            record.number
        ));
    }
    if log.incomplete > 0 {
        let bytes = pluralize(log.incomplete, "byte", "bytes");
        output.say(format!(
            "The last line is unfinished ({bytes}): a crash left it, and the next change removes it"
        ));
    }
}

/// Asks for the passphrase, and checks the approvals with it.
fn check_proofs(store: &Store, output: &mut Output) -> Result<CheckedProofs, Failure> {
    let Some(passphrase) = ask_secret("Passphrase: ", output)? else {
        let rule = "Asking for the passphrase needs a terminal";
        return Err(Error::refused("proofs", Refusal::Approval, rule).into());
    };
    Ok(store.check_proofs(&passphrase)?)
}

/// Says which approvals were given with the passphrase.
fn say_proofs(proofs: &CheckedProofs, output: &mut Output) {
    let approvals = |number| pluralize(number, "approval", "approvals");
    let records = |numbers: &[u64]| {
        let numbers: Vec<_> = numbers.iter().map(u64::to_string).collect();
        numbers.join(", ")
    };
    let with_records = |numbers: &[u64], how: &str| {
        let (number, records) = (approvals(numbers.len()), records(numbers));
        (!numbers.is_empty()).then(|| format!("{number} {how}: {records}"))
    };
    let right = approvals(proofs.right.len());
    let earlier = approvals(proofs.earlier);
    let lines = [
        Some(format!("{right} with the passphrase")),
        with_records(&proofs.without, "without it"),
        (proofs.earlier > 0).then(|| format!("{earlier} from before it was set, not checked")),
        with_records(&proofs.wrong, "with an invalid passphrase signature"),
    ];
    for line in lines.into_iter().flatten() {
        output.say(line);
    }
}

fn verify(
    log: &LogRecords,
    head: Option<&str>,
    proofs: Option<&CheckedProofs>,
    output: &mut Output,
) -> CommandResult {
    let number = pluralize(log.records.len(), "record", "records");
    let is_head = head.is_none_or(|head| log.has_head(head));
    if output.is_json() {
        output.json(Document::Audit(Audit::new(log, |_| false)))?;
    } else if log.damage.is_some() {
        say_damage(log, output);
    } else {
        output.line(&log.head)?;
        output.say(format!(
            "{}: {number}, hash chain intact",
            paint(GOOD, "OK")
        ));
        say_newer(log, output);
    }
    if let Some(proofs) = proofs {
        say_proofs(proofs, output);
    }
    let is_proved = proofs.is_none_or(|proofs| proofs.wrong.is_empty());
    if !is_head {
        output.say("No record has this hash: this is a different log, or its end was cut off");
    }
    if log.damage.is_some() || !is_head || !is_proved {
        return Ok(ExitCode::from(EXIT_FAILED));
    }
    Ok(ExitCode::SUCCESS)
}
