//! `skillfold check --watch`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, SystemTime};

use skillfold::CheckTarget;

use crate::failure::Failure;
use crate::output::{BOLD, Output, paint};

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(400);

/// A file, and when it and its folder changed last.
type FileState = (PathBuf, [Option<SystemTime>; 2]);

/// Checks the files now, and again whenever their states differ, until the process is stopped.
pub(super) fn run(
    states: impl Fn() -> Result<Vec<FileState>, Failure>,
    check: impl Fn(&mut Output) -> Result<ExitCode, Failure>,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let mut checked = None;
    loop {
        if checked != Some(states()?) {
            if checked.is_some() {
                output.line(paint(BOLD, "--- changed"))?;
            }
            check(output)?;
            output.say("Waiting for changes; Ctrl-C ends it");
            output.finish()?;
            // A fix changes files too.
            checked = Some(states()?);
        }
        thread::sleep(INTERVAL);
    }
}

/// Returns when each file that is checked, and its folder, changed last.
pub(super) fn file_states<'t>(targets: impl Iterator<Item = &'t CheckTarget>) -> Vec<FileState> {
    let changed = |path: &Path| {
        path.metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
    };
    let states = targets.map(|target| {
        let file = target.file();
        let states = [changed(&file), file.parent().and_then(changed)];
        (file, states)
    });
    states.collect()
}
