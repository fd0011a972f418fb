//! A file header in a diff: which file, and what happens to it.

use skillfold_core::Error;
use skillfold_core::name::ResourcePath;

use crate::change::parts::{FileAction, SKILL_FILE, invalid, quoted};
use crate::change::path::check_path;

/// What the lines before a file's hunks say.
#[derive(Default)]
pub(super) struct FileHeader<'a> {
    /// The two names on a `diff --git` line.
    pub(super) git: Option<&'a str>,
    /// The action that git's header states.
    mode: Option<FileAction>,
    /// Whether git's header makes the file executable.
    pub(super) is_executable: bool,
    /// The names after `---` and `+++`.
    pub(super) names: Option<(&'a str, &'a str)>,
}

impl FileHeader<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.git.is_none() && self.names.is_none()
    }

    /// Reads one of the lines git writes below `diff --git`.
    pub(super) fn read_git_line(&mut self, text: &str, line: usize) -> Result<(), Error> {
        let refuse = |why: &str| Err(invalid(format!("line {line} {why}")));
        let is_any = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
        let (mode, action) = if let Some(mode) = text.strip_prefix("new file mode ") {
            (mode, FileAction::Create)
        } else if let Some(mode) = text.strip_prefix("deleted file mode ") {
            (mode, FileAction::Delete)
        } else if is_any(&["index ", "similarity index ", "dissimilarity index "]) {
            return Ok(());
        } else if is_any(&["rename ", "copy "]) {
            return refuse(
                "renames or copies a file, which a change cannot; add the new file with `--- /dev/null`, and delete the \
                 old one with `+++ /dev/null`",
            );
        } else if is_any(&["old mode ", "new mode "]) {
            return refuse("changes the mode of a file, which a change cannot; remove the line");
        } else {
            return refuse(&format!(
                "is not part of the header of a file: {}; after `diff --git` come `--- ` and `+++ ` lines",
                quoted(text)
            ));
        };
        if !mode.starts_with("100") {
            return refuse("is about a link or a submodule; only text files can be changed");
        }
        self.mode = Some(action);
        self.is_executable = action == FileAction::Create && mode.starts_with("1007");
        Ok(())
    }

    /// Returns the file and its action. The header spans lines `start` to `end`.
    pub(super) fn file(
        &self,
        start: usize,
        end: usize,
    ) -> Result<(ResourcePath, FileAction), Error> {
        let git = self.git.and_then(git_name);
        let (name, action, line) = match (self.names, git) {
            (Some((old, new)), _) => {
                let (name, action) = joined_names(old, new, end)?;
                (name, action, end)
            }
            (None, Some(name)) => (name, FileAction::Edit, start),
            (None, None) if self.git.is_none() => (SKILL_FILE, FileAction::Edit, start),
            (None, None) => {
                return Err(invalid(format!(
                    "line {start} does not say which file it is; write `--- ` and `+++ ` lines below it"
                )));
            }
        };
        if git.is_some_and(|git| git != name) {
            return Err(invalid(format!(
                "line {start} and line {line} name different files; name the same file in both"
            )));
        }
        let action = match (action, self.mode) {
            (FileAction::Edit, Some(mode)) => mode,
            (action, mode) if mode.is_none_or(|mode| mode == action) => action,
            _ => {
                return Err(invalid(format!(
                    "lines {start} to {line} both add and delete `{name}`; write `/dev/null` after `---` to add a file, or \
                     after `+++` to delete it"
                )));
            }
        };
        Ok((check_path(name, line)?, action))
    }
}

/// Returns the name if both names on a `diff --git` line agree.
fn git_name(names: &str) -> Option<&str> {
    let middle = names.len() / 2;
    let (old, new) = (names.get(..middle)?, names.get(middle + 1..)?);
    let is_split = names.as_bytes().get(middle) == Some(&b' ');
    let old = old.strip_prefix("a/").unwrap_or(old);
    let new = new.trim_end();
    (is_split && new.strip_prefix("b/").unwrap_or(new) == old).then_some(old)
}

/// Returns the file that the names after `---` and `+++` refer to. Strips `a/` and `b/`, as git does.
fn joined_names<'n>(
    old: &'n str,
    new: &'n str,
    line: usize,
) -> Result<(&'n str, FileAction), Error> {
    // A tab precedes the timestamp.
    let [old, new] = [old, new].map(|name| name.split('\t').next().unwrap_or(name).trim());
    if old.starts_with('"') || new.starts_with('"') {
        return Err(invalid(format!(
            "line {line} has a file name in quotes; write it without quotes and escapes"
        )));
    }
    let without_a = old.strip_prefix("a/").unwrap_or(old);
    let without_b = new.strip_prefix("b/").unwrap_or(new);
    match (old, new) {
        ("/dev/null", "/dev/null") => Err(invalid(format!(
            "line {line} names no file; write `/dev/null` only after `---` to add a file, or only after `+++` to delete it"
        ))),
        ("/dev/null", _) => Ok((without_b, FileAction::Create)),
        (_, "/dev/null") => Ok((without_a, FileAction::Delete)),
        (old, new) if old == new => Ok((old, FileAction::Edit)),
        _ if without_a == without_b => Ok((without_a, FileAction::Edit)),
        _ => Err(invalid(format!(
            "line {line} names another file than the line above it: {} and {}; a change cannot rename a file, but delete \
             one with `+++ /dev/null` and add the other with `--- /dev/null`",
            quoted(old),
            quoted(new)
        ))),
    }
}
