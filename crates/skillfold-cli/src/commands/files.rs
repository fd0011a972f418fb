//! `skillfold files`

use std::num::NonZeroUsize;
use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::core::source::Cursor;
use skillfold::view::{Document, FileListing};

use crate::arguments::{Files, Global};
use crate::failure::CommandResult;
use crate::host;
use crate::terminal::choose;
use crate::terminal::output::{BOLD, DIM, Output, paint, pluralize, say_diagnostics};

/// Default number of files on a page.
const DEFAULT_LIMIT: usize = 1_000;

pub(crate) fn run(global: &Global, options: &Files, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?.for_user();
    let catalog = skills.catalog();
    let id = choose::skill_id(options.id.as_deref(), &catalog, output)?;
    let cursor = options.after.as_deref().map(Cursor::after);
    let limit = options.limit.map_or(DEFAULT_LIMIT, NonZeroUsize::get);
    let page = skills.files(&id, cursor.as_ref(), limit)?;
    let listing = FileListing::new(&catalog.resolve_or_suggest(&id)?, &page);
    if output.is_json() {
        return output.json(Document::Files(listing));
    }
    for file in &listing.files {
        let path = visible(file.path.as_str());
        let path = if file.is_mentioned {
            paint(BOLD, path)
        } else {
            path.into_owned()
        };
        let mentioned = if file.is_mentioned { "*" } else { " " };
        output.line(format!(
            "{:>10}  {:<12} {mentioned} {path}",
            file.size,
            file.kind.as_str()
        ))?;
    }
    let mentioned = listing
        .files
        .iter()
        .filter(|file| file.is_mentioned)
        .count();
    output.say(paint(
        DIM,
        format!(
            "{} of {}, {mentioned} (*) named in the instructions",
            listing.files.len(),
            pluralize(listing.total, "file", "files")
        ),
    ));
    if let Some(next) = &listing.next {
        output.say(format!("Continue with `--after {}`", visible(next)));
    }
    say_diagnostics(
        page.findings.iter().map(|finding| &finding.diagnostic),
        output,
    );
    Ok(ExitCode::SUCCESS)
}
