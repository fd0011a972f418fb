//! `skillfold check --watch`

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use skillfold::author::CheckTarget;

use crate::failure::{CommandResult, Failure};
use crate::terminal::output::{BOLD, Output, paint};
use crate::terminal::print_failure::print_failure;

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(400);

/// Maximum files and folders of a skill that are looked at.
const MAX_FILES: usize = 500;

/// A skill's file, and when it and the files beside it changed last.
type FileState = (PathBuf, Vec<Option<SystemTime>>);

/// Checks the files now, and again whenever their states differ, until the process is stopped. What fails for a moment,
/// such as a skill that is replaced, is printed.
pub(super) fn run(
    states: impl Fn() -> Result<Vec<FileState>, Failure>,
    check: impl Fn(&mut Output) -> CommandResult,
    is_fixing: bool,
    output: &mut Output,
) -> CommandResult {
    let mut checked = states()?;
    check(output)?;
    loop {
        output.say("Waiting for changes; press Ctrl-C to stop");
        output.finish()?;
        if is_fixing {
            // Its own changes are none.
            checked = states().unwrap_or_default();
        }
        let mut failed = false;
        let changed = loop {
            thread::sleep(INTERVAL);
            match states() {
                Ok(now) if now != checked || failed => break now,
                Err(failure) if !failed => {
                    print_failure(&failure, output);
                    failed = true;
                }
                _ => {}
            }
        };
        checked = changed;
        output.line(paint(BOLD, "--- changed"))?;
        if let Err(failure) = check(output) {
            print_failure(&failure, output);
        }
    }
}

/// Returns when each file that is checked, and what is beside it, changed last.
pub(super) fn file_states<'t>(targets: impl Iterator<Item = &'t CheckTarget>) -> Vec<FileState> {
    let states = targets.map(|target| {
        let file = target.file();
        let mut times = vec![changed(&file)];
        if let Some(folder) = file.parent() {
            add_times(folder, &mut times);
        }
        (file, times)
    });
    states.collect()
}

fn changed(path: &Path) -> Option<SystemTime> {
    let metadata = path.symlink_metadata();
    metadata.and_then(|metadata| metadata.modified()).ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "it only looks at times, and follows no link"
)]
fn add_times(folder: &Path, times: &mut Vec<Option<SystemTime>>) {
    times.push(changed(folder));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if times.len() >= MAX_FILES {
            return;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => add_times(&entry.path(), times),
            _ => times.push(changed(&entry.path())),
        }
    }
}
