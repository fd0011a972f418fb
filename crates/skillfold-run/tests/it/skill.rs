//! Skills for tests.

use skillfold_core::name::ResourcePath;
use skillfold_run::{Outcome, Run, SkillCopy};

/// Returns a skill with these files.
pub(crate) fn skill(files: &[(&str, &str)]) -> SkillCopy {
    SkillCopy::new(
        files
            .iter()
            .map(|(path, text)| (self::path(path), text.as_bytes().to_vec())),
    )
    .unwrap()
}

pub(crate) fn path(path: &str) -> ResourcePath {
    path.parse().unwrap()
}

/// Runs a skill that contains only this script.
pub(crate) fn run(name: &str, text: &str, change: impl FnOnce(Run<'_>) -> Run<'_>) -> Outcome {
    let (copy, path) = (skill(&[(name, text)]), path(name));
    change(Run::new(&copy, &path)).run().unwrap()
}
