//! `skillfold history` and `skillfold diff`

use std::fmt::Write as _;
use std::process::ExitCode;

use anstyle::Style;
use skillfold::core::Error;
use skillfold::core::diagnostic::visible;
use skillfold::core::load::Digest;
use skillfold::store::change::unified;
use skillfold::store::{LogRecords, SkillFiles, SkillVersion};
use skillfold::view::{Document, History, VersionRow};

use crate::arguments::{Diff, Global, HistoryOptions};
use crate::failure::Failure;
use crate::host;
use crate::terminal::digest::short;
use crate::terminal::output::{BOLD, DIM, Output, pluralize};
use crate::terminal::table::Table;
use crate::terminal::text_diff;

/// How many digits of a digest are enough to name a version.
const MIN_DIGITS: usize = 6;

pub(crate) fn run(
    global: &Global,
    options: &HistoryOptions,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let skills = host::skills(global, output)?;
    let place = skills.skill_place(&options.id)?;
    let store = skills.store()?;
    let versions = store.history(&place, skills.now())?;
    say_missing_records(&store.log()?, output);
    let history = History::new(&options.id, &place, &versions);
    if output.is_json() {
        output.json(Document::History(history))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::default();
    for row in history.versions.iter().rev() {
        table.row([
            (
                BOLD,
                row.digest
                    .as_deref()
                    .map_or_else(|| "removed".to_owned(), short),
            ),
            (DIM, row.time.clone()),
            (Style::new(), what_happened(row)),
        ]);
    }
    output.table(&table)?;
    match versions.len() {
        0 => output.say("No change of it was approved, so there is no history yet"),
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
fn what_happened(row: &VersionRow) -> String {
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

pub(crate) fn diff(
    global: &Global,
    options: &Diff,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let skills = host::skills(global, output)?;
    let store = skills.store()?;
    let place = skills.skill_place(&options.id)?;
    let versions = store.history(&place, skills.now())?;
    let files = |version: Digest| -> Result<SkillFiles, Failure> {
        // The skill as it is now may not be recorded yet.
        let current = || Ok(place.read()?.filter(|files| files.digest() == version));
        let files = store
            .version(version)?
            .map_or_else(current, |it| Ok::<_, Error>(Some(it)))?;
        Ok(files.ok_or_else(|| Error::not_found(version.to_string()))?)
    };
    let from = find_version(&versions, options.from.as_deref(), &options.id)?;
    let to = match &options.to {
        Some(to) => files(find_version(&versions, Some(to), &options.id)?)?,
        None => place.read()?.unwrap_or_default(),
    };
    let edits = files(from)?.edits_to(&to);
    text_diff::show(&unified(&edits), output)?;
    if edits.is_empty() {
        output.say("They are the same");
    }
    Ok(ExitCode::SUCCESS)
}

/// The name of the version before the last.
const PREVIOUS: &str = "previous";

/// Returns the version that a user named by the start of its digest; without a name, the one before the last.
pub(crate) fn find_version(
    versions: &[SkillVersion],
    name: Option<&str>,
    id: &str,
) -> Result<Digest, Failure> {
    let digests: Vec<Digest> = versions.iter().filter_map(|it| it.digest).collect();
    let Some(name) = name.filter(|name| *name != PREVIOUS) else {
        let before = digests.iter().rev().nth(1).copied();
        return Ok(before.ok_or_else(|| {
            Error::new(
                skillfold::core::ErrorKind::NotFound,
                format!("There is no earlier version of `{id}`"),
                "Versions are kept from the first approved change on",
            )
        })?);
    };
    let digits = name.trim_start_matches("sha256:");
    let is_meant = |digest: &&Digest| {
        let text = digest.to_string();
        digits.len() >= MIN_DIGITS && text.trim_start_matches("sha256:").starts_with(digits)
    };
    let found = digests.iter().find(is_meant).copied();
    Ok(found.ok_or_else(|| {
        Error::new(
            skillfold::core::ErrorKind::NotFound,
            format!("`{id}` has no version `{name}`"),
            "`skillfold history` lists them; six digits are enough, and `previous` is the one before the last",
        )
    })?)
}
