//! `skillfold diff`

use std::process::ExitCode;

use skillfold::core::Error;
use skillfold::core::load::Digest;
use skillfold::store::change::unified;
use skillfold::store::{SkillFiles, SkillVersion};

use crate::arguments::{Diff, Global};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::Output;
use crate::terminal::text_diff;

/// How many digits of a digest are enough to name a version.
const MIN_DIGITS: usize = 6;

/// The name of the version before the last.
const PREVIOUS: &str = "previous";

pub(crate) fn run(global: &Global, options: &Diff, output: &mut Output) -> CommandResult {
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
        output.say("No differences");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the version that a user named by the start of its digest; without a name, the one before the last, which is the last
/// one of a skill that was removed.
pub(crate) fn find_version(
    versions: &[SkillVersion],
    name: Option<&str>,
    id: &str,
) -> Result<Digest, Failure> {
    let digests: Vec<Digest> = versions.iter().filter_map(|it| it.digest).collect();
    let Some(name) = name.filter(|name| *name != PREVIOUS) else {
        let is_removed = versions.last().is_some_and(|it| it.digest.is_none());
        let back = usize::from(!is_removed);
        let before = digests.iter().rev().nth(back).copied();
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
