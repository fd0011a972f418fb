//! `skillfold cache`

use std::path::Path;
use std::process::ExitCode;

use skillfold::core::Error;
use skillfold::discovery::{CachePart, cache_parts, clean_cache};
use skillfold::view::{CacheView, Document};

use crate::arguments::{Cache, CacheAction, Global};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::{BOLD, DIM, Output, PLAIN, display_path, pluralize};
use crate::terminal::table::Table;

pub(crate) fn run(global: &Global, options: &Cache, output: &mut Output) -> CommandResult {
    let folder = host::environment(global)?.cache_folder();
    let folder = folder.ok_or_else(|| Error::not_found("home"))?;
    let parts = match options.action {
        Some(CacheAction::Clean) => clean_cache(&folder)?,
        _ => cache_parts(&folder)?,
    };
    if output.is_json() {
        return output.json(Document::Cache(CacheView::new(&folder, parts)));
    }
    match options.action {
        Some(CacheAction::Dir) => output.line(display_path(&folder))?,
        Some(CacheAction::Clean) => {
            let files = pluralize(parts.iter().map(|part| part.files).sum(), "file", "files");
            let bytes = size_text(parts.iter().map(|part| part.bytes).sum());
            output.say(format!(
                "Deleted {files}, {bytes}; it is rebuilt when needed"
            ));
        }
        None => print(&folder, &parts, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(folder: &Path, parts: &[CachePart], output: &mut Output) -> Result<(), Failure> {
    let mut table = Table::default();
    for part in parts {
        table.row([
            (BOLD, part.name),
            (PLAIN, &pluralize(part.files, "file", "files")),
            (PLAIN, &size_text(part.bytes)),
            (DIM, part.description),
        ]);
    }
    output.table(&table)?;
    let folder = display_path(folder);
    output.say(format!("In {folder}; `skillfold cache clean` empties it"));
    Ok(())
}

/// Returns a number of bytes in the largest unit that it fills.
fn size_text(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let mut units = UNITS.iter();
    match units.find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => {
            let tenths = bytes * 10 / size;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}
