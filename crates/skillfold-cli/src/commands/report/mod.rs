//! `skillfold report`

mod html;

mod clients;

mod facts;

mod sections;

use std::path::Path;
use std::process::ExitCode;

use skillfold::view::{Document, WrittenFile};
use skillfold::{
    author::{Overwrite, write_generated},
    reports::{PeriodLength, Stats},
};

use crate::arguments::{Global, ReportPage};
use crate::client_state::all_chosen;
use crate::commands::report::clients::ClientFacts;
use crate::commands::report::facts::Facts;
use crate::commands::report::sections::{MARK, render};
use crate::commands::stats;
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::{Output, display_path, pluralize};

/// What the page calls the hook's log.
const HOOK_LOG: &str = "hook.jsonl";

/// The file name that stands for stdout.
const STDOUT: &str = "-";

pub(crate) fn run(global: &Global, options: &ReportPage, output: &mut Output) -> CommandResult {
    let is_stdout = options.file.as_os_str() == STDOUT;
    if is_stdout && output.is_json() {
        let message = "`--json` prints the path of the file; name a file, or leave it out";
        return Err(Failure::Usage(message.to_owned()));
    }
    let skills = host::skills(global, output)?;
    let log = read_log(global, options)?;
    let environment = host::environment(global)?;
    let (directory, catalog) = (environment.directory(), skills.catalog());
    let clients = all_chosen(options.client, &environment).into_iter();
    let clients = clients.map(|client| ClientFacts::new(&skills, client));
    let facts = Facts::gather(
        &skills,
        &catalog,
        folder_name(directory),
        log,
        clients.collect(),
        &options.request,
    )?;
    let page = render(&facts);
    if is_stdout {
        output.text(&page)?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = directory.join(&options.file);
    let overwrite = if options.force {
        Overwrite::Any
    } else {
        Overwrite::Generated
    };
    write_generated(&path, &page, MARK, overwrite)?;
    if output.is_json() {
        return output.json(Document::Written(WrittenFile::new(&path)));
    }
    // Relative to the working folder; absolute if `-C` names another one.
    let is_here = global.directory == Path::new(".");
    output.line(display_path(if is_here { &options.file } else { &path }))?;
    let shown = pluralize(catalog.len(), "skill", "skills");
    output.say(format!("{shown}; open the file in a browser"));
    host::say_search_problem(&skills, output);
    Ok(ExitCode::SUCCESS)
}

/// Reads the log that was named, or that of the hook if there is one. Returns what to call it, and its statistics.
fn read_log(global: &Global, options: &ReportPage) -> Result<Option<(String, Stats)>, Failure> {
    let Some(log) = &options.log else {
        let stats = stats::read(global, None, PeriodLength::Day).ok();
        return Ok(stats.map(|stats| (HOOK_LOG.to_owned(), stats)));
    };
    let stats = stats::read(global, Some(log), PeriodLength::Day)?;
    Ok(Some((log.to_string_lossy().into_owned(), stats)))
}

/// Returns the name of a folder without the path to it: a page may be shown to others.
fn folder_name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    name.to_string_lossy().into_owned()
}
