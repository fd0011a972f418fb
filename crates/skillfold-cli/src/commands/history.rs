//! `skillfold history`

use std::fmt::Write as _;
use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::store::LogRecords;
use skillfold::view::{Document, History, VersionRow};

use crate::arguments::{Global, HistoryOptions};
use crate::failure::CommandResult;
use crate::host;
use crate::terminal::digest::short;
use crate::terminal::output::{BOLD, DIM, Output, PLAIN, pluralize};
use crate::terminal::table::Table;

pub(crate) fn run(global: &Global, options: &HistoryOptions, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let place = skills.skill_place(&options.id)?;
    let store = skills.store()?;
    let versions = store.history(&place, skills.now())?;
    say_missing_records(&store.log()?, output);
    let history = History::new(&options.id, &place, &versions);
    if output.is_json() {
        return output.json(Document::History(history));
    }
    let mut table = Table::default();
    for row in history.versions.iter().rev() {
        let digest = row.digest.as_deref();
        let digest = digest.map_or_else(|| "removed".to_owned(), short);
        let what = what_happened(row);
        table.row([(BOLD, &digest), (DIM, &row.time), (PLAIN, &what)]);
    }
    output.table(&table)?;
    match versions.len() {
        0 => output.say("No history yet: no change to it was approved"),
        number => {
            let number = pluralize(number, "version", "versions");
            output.say(format!(
                "{number}, the newest first; `skillfold diff` compares them, `skillfold rollback` restores one"
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says why versions may be missing.
fn say_missing_records(log: &LogRecords, output: &mut Output) {
    if let Some(damage) = &log.damage {
        output.say(format!(
            "The log is damaged in line {}: what was recorded from there on is missing; `skillfold audit verify` checks it",
            damage.line
        ));
    }
    if let Some(record) = log.unknown() {
        output.say(format!(
            "A newer skillfold wrote the log from record {} on, so versions may be missing; update this one",
            record.number
        ));
    }
}

/// Returns what made a version, by whom and why.
pub(crate) fn what_happened(row: &VersionRow) -> String {
    let mut text = row.cause.replace('_', " ");
    if let (Some(by), Some(how)) = (&row.by, &row.how) {
        let _ = write!(text, " by {} ({how})", visible(by));
    }
    if !row.is_kept && row.digest.is_some() {
        text.push_str(", no longer kept");
    }
    let reason = row.reason.as_deref().and_then(|it| it.lines().next());
    if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
        let _ = write!(text, ": {}", visible(reason));
    }
    text
}
