//! A skill's scripts.

use skillfold_core::name::ResourcePath;

use crate::copy::SkillCopy;
use crate::error::{RunError, RunErrorKind};
use crate::interpreter::{self, Interpreter};

/// The folder that contains scripts.
const FOLDER: &str = "scripts/";

/// A skill's script.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Script {
    /// The path inside the skill.
    pub path: ResourcePath,
    /// The programs that can run it, in order of preference; empty if none is known.
    pub interpreters: Vec<Interpreter>,
}

/// A declared script that cannot be run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnusableScript {
    /// The path as declared by the skill.
    pub path: String,
    /// Why it cannot be run.
    pub reason: &'static str,
}

/// A skill's scripts, and those that cannot be run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scripts {
    /// The scripts, ordered by path.
    pub scripts: Vec<Script>,
    /// Scripts that cannot be run, and why.
    pub unusable: Vec<UnusableScript>,
}

/// Lists the files below `scripts/` and those declared in the frontmatter.
///
/// ```
/// use skillfold_run::{SkillCopy, scripts};
///
/// let copy = SkillCopy::new([
///     ("scripts/fill.py".parse()?, b"print('ok')".to_vec()),
///     ("scripts/data.csv".parse()?, b"1,2".to_vec()),
/// ])?;
/// let listed = scripts(&copy, ["tool.sh"]);
/// assert_eq!(listed.scripts[0].interpreters[0].program, "python3");
/// assert_eq!(listed.unusable[0].reason, "It is not a file of the skill");
/// assert_eq!(listed.unusable[1].reason, "Nothing is known to run it: it has no `#!` line and no known extension");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn scripts<'a>(copy: &SkillCopy, declared: impl IntoIterator<Item = &'a str>) -> Scripts {
    let mut listed = Scripts::default();
    let in_folder = |path: &&ResourcePath| path.as_str().starts_with(FOLDER);
    let mut paths: Vec<ResourcePath> = copy.paths().filter(in_folder).cloned().collect();
    for text in declared {
        let path = text.strip_prefix("./").unwrap_or(text);
        match path.parse::<ResourcePath>() {
            Ok(path) if copy.file(&path).is_some() => paths.push(path),
            Ok(_) => listed.push_unusable(text, "It is not a file of the skill"),
            Err(_) => listed.push_unusable(text, "It is not a path inside the skill"),
        }
    }
    paths.sort();
    paths.dedup();
    for path in paths {
        match script(copy, &path) {
            Ok(script) => listed.scripts.push(script),
            Err(_) => listed.push_unusable(path.as_str(), NO_PROGRAM),
        }
    }
    listed
}

const NO_PROGRAM: &str = "Nothing is known to run it: it has no `#!` line and no known extension";

impl Scripts {
    fn push_unusable(&mut self, path: &str, reason: &'static str) {
        self.unusable.push(UnusableScript {
            path: path.to_owned(),
            reason,
        });
    }
}

/// Returns one of a skill's scripts.
///
/// # Errors
///
/// Fails with `not_a_script` if the skill has no such file or no known program runs it.
pub fn script(copy: &SkillCopy, path: &ResourcePath) -> Result<Script, RunError> {
    let refused =
        |message: String, hint: &str| Err(RunError::new(RunErrorKind::NotAScript, message, hint));
    let Some(bytes) = copy.file(path) else {
        let message = format!("The skill has no file `{path}`");
        let is_meant = |other: &&ResourcePath| file_name(other) == file_name(path);
        return match copy.paths().find(is_meant) {
            Some(meant) => refused(message, &format!("Did you mean `{meant}`?")),
            None => refused(
                message,
                "Check the path against the list of the skill's scripts",
            ),
        };
    };
    let interpreters = interpreter::candidates(path, bytes);
    if interpreters.is_empty() {
        let hint = "Add a first line such as `#!/usr/bin/env python3`, or a known extension";
        return refused(format!("Nothing is known to run `{path}`"), hint);
    }
    Ok(Script {
        path: path.clone(),
        interpreters,
    })
}

fn file_name(path: &ResourcePath) -> &str {
    path.as_str().rsplit('/').next().unwrap_or_default()
}
