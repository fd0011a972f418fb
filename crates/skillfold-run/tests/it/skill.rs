//! Skills for tests.

use skillfold_core::name::ResourcePath;
use skillfold_run::sandboxes::{Bubblewrap, BuiltIn, Sandbox as _, SandboxReport};
use skillfold_run::{Outcome, Run, RunOptions, SkillCopy};

/// Returns a skill with these files.
pub(crate) fn skill(files: &[(&str, &str)]) -> SkillCopy {
    SkillCopy::new(
        files
            .iter()
            .map(|(path, text)| (self::path(path), text.as_bytes().to_vec())),
    )
    .unwrap()
}

/// Returns the default options, with the sandbox that `TEST_SANDBOX` names: all tests can be run with each one.
pub(crate) fn run_options() -> RunOptions {
    if is_bubblewrap() {
        RunOptions::default().with_sandbox(Bubblewrap)
    } else {
        RunOptions::default().with_sandbox(BuiltIn)
    }
}

/// Returns what that sandbox has here.
pub(crate) fn report() -> SandboxReport {
    if is_bubblewrap() {
        Bubblewrap.report()
    } else {
        BuiltIn.report()
    }
}

pub(crate) fn is_bubblewrap() -> bool {
    match std::env::var("TEST_SANDBOX").as_deref() {
        Ok("bubblewrap") => true,
        Ok("built-in") | Err(_) => false,
        Ok(other) => panic!("unknown sandbox: {other}"),
    }
}

pub(crate) fn path(path: &str) -> ResourcePath {
    path.parse().unwrap()
}

/// Runs a skill that contains only this script.
pub(crate) fn run(name: &str, text: &str, change: impl FnOnce(Run<'_>) -> Run<'_>) -> Outcome {
    let (copy, path) = (skill(&[(name, text)]), path(name));
    let run = Run::new(&copy, &path).with_options(run_options());
    change(run).run().unwrap()
}
