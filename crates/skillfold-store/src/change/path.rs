//! Which of a skill's files a change may name.

use skillfold_core::Error;
use skillfold_core::diagnostic::visible;
use skillfold_core::name::ResourcePath;
use skillfold_core::text::hidden_characters;

use crate::change::parts::{FileChange, SKILL_FILE, invalid};

/// Prefix of names reserved for the store.
const RESERVED_PREFIX: &str = ".skillfold-";

/// Checks a path named on line `line` of the diff.
pub(super) fn check_path(text: &str, line: usize) -> Result<ResourcePath, Error> {
    let refuse = |rule: &str| {
        invalid(format!(
            "line {line} names the file `{}`: {rule}; name a file by its path in the skill's folder, such as \
             `references/forms.md`",
            visible(text)
        ))
    };
    let path: ResourcePath = text.parse().map_err(|error| refuse(&format!("{error}")))?;
    let rule = if hidden_characters(text).next().is_some() {
        "the path has invisible characters, so a reviewer would see a different name"
    } else if path.components().any(is_reserved) {
        "names that start with `.skillfold-` are reserved"
    } else if path.components().any(is_short_name) {
        "Windows may read the name as the short form of another one"
    } else if text != SKILL_FILE && text.eq_ignore_ascii_case(SKILL_FILE) {
        "some file systems treat it as `SKILL.md`, others do not"
    } else {
        return Ok(path);
    };
    Err(refuse(rule))
}

fn is_reserved(component: &str) -> bool {
    let start = component.get(..RESERVED_PREFIX.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(RESERVED_PREFIX))
}

/// Returns whether a name looks like a Windows 8.3 short name: `SCRIPT~1.PY`.
fn is_short_name(component: &str) -> bool {
    let stem = component.split('.').next().unwrap_or_default();
    let number = stem.rsplit_once('~').map(|(_, number)| number);
    stem.len() <= 8
        && number.is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// Checks that a file is not the same as another one, nor a parent folder of it, on any file system.
pub(super) fn check_unique(file: &FileChange, others: &[FileChange]) -> Result<(), Error> {
    let is_inside = |path: &str, folder: &str| {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let folded = file.path.as_str().to_lowercase();
    let clash = others.iter().find(|other| {
        let other = other.path.as_str().to_lowercase();
        is_inside(&folded, &other) || is_inside(&other, &folded)
    });
    let Some(other) = clash else { return Ok(()) };
    let (path, line) = (&file.path, file.line);
    let reason = if *path == other.path {
        format!(
            "line {line} starts a second part for `{path}`, the first starts at line {}; put all hunks of a file under \
             one header",
            other.line
        )
    } else {
        format!(
            "line {line} names `{path}` and line {} names `{}`, which some file systems cannot tell apart; \
             change one of them, or choose another name",
            other.line, other.path
        )
    };
    Err(invalid(reason))
}
