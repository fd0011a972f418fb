//! Says why a run failed, if the sandbox caused it.

use std::path::{Component, Path, PathBuf};

use skillfold_core::diagnostic::visible;
use skillfold_run::{ApprovedPath, Outcome, PathAccess, Permissions};

use crate::scripts::RunnableSkill;
use crate::scripts::project_access::ProjectAccess;
use crate::scripts::shown_path::shown_path;

/// Maximum bytes at the end of a script's errors that are searched for paths.
const MAX_SEARCHED_BYTES: usize = 16 * 1024;

/// Maximum words that are looked at.
const MAX_WORDS: usize = 500;

/// Maximum paths that are explained.
const MAX_EXPLAINED: usize = 5;

/// What programs say if a file is hidden from them, or read-only.
const FAILURES: [&str; 6] = [
    "no such file",
    "not found",
    "enoent",
    "read-only file system",
    "erofs",
    "permission denied",
];

/// What programs put around the names of files.
const QUOTES: [char; 7] = ['\'', '"', '`', '‘', '’', '“', '”'];

/// Why a script could not use a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// It exists, and the script does not see it.
    Hidden,
    /// The script sees the folder, and may not write there.
    ReadOnly,
    /// No script may write there.
    Kept,
}

impl RunnableSkill {
    /// Returns why a run failed, as far as its sandbox caused it: a line for each path among its arguments and errors that
    /// exists and that it did not get, and for each host that it was refused. Also says what was put right after it.
    pub fn explain(&self, arguments: &[String], outcome: &Outcome) -> Vec<String> {
        let mut lines = outcome.corrections.notes();
        lines.extend(self.network_failures(outcome));
        if !outcome.is_success() {
            lines.extend(self.explain_failure(arguments, &outcome.stderr_text()));
        }
        lines
    }

    /// Returns why a failure was caused by the sandbox, from the arguments and what was said.
    pub(crate) fn explain_failure(&self, arguments: &[String], said: &str) -> Vec<String> {
        let Some(directory) = self.project.directory() else {
            return Vec::new();
        };
        let said = last_bytes(said, MAX_SEARCHED_BYTES);
        let lower = said.to_lowercase();
        let failed = FAILURES.iter().any(|words| lower.contains(words));
        let arguments = arguments.iter().flat_map(|argument| {
            let value = argument.split_once('=').map(|(_, value)| value);
            [Some(argument.as_str()), value].into_iter().flatten()
        });
        let is_name = |word: &str| !word.contains(QUOTES) && !word.contains(char::is_whitespace);
        let named = arguments.chain(quoted(said));
        let named = named.map(|word| (word, failed && is_name(word)));
        let words = named.chain(words(said).map(|(word, is_subject)| (word, failed && is_subject)));
        let options = self.options();
        let permissions = options.permissions();
        let mut explained: Vec<(PathBuf, Cause)> = Vec::new();
        for (word, could_be_new) in words.take(MAX_WORDS) {
            let Some(path) = host_path(word, directory, self.home.as_deref()) else {
                continue;
            };
            if explained.iter().any(|(known, _)| *known == path) {
                continue;
            }
            if let Some(cause) = self.cause(&path, permissions, failed, could_be_new) {
                explained.push((path, cause));
            }
            if explained.len() == MAX_EXPLAINED {
                break;
            }
        }
        let mut lines: Vec<String> = (explained.iter())
            .map(|(path, cause)| self.line(path, *cause))
            .collect();
        let is_hidden = explained.iter().any(|(_, cause)| *cause == Cause::Hidden);
        if is_hidden && self.asked.project != ProjectAccess::None {
            let refusal = self.project.check_grant_of(self.asked.project).err();
            lines.extend(refusal.map(|error| format!("{error}. {}", error.hint())));
        }
        lines
    }

    /// Returns why a script could not use a path of the host, if the sandbox is the cause. A path that does not exist may
    /// be one that the script wanted to create.
    fn cause(
        &self,
        path: &Path,
        permissions: &Permissions,
        failed: bool,
        could_be_new: bool,
    ) -> Option<Cause> {
        // Nobody learns whether a protected file exists.
        if permissions.is_protected(path) {
            return None;
        }
        let mut granted = permissions.paths().iter();
        let granted = granted.find(|granted| path.starts_with(granted.path()));
        let is_there = path.symlink_metadata().is_ok();
        let is_new = || could_be_new && path.parent().is_some_and(Path::is_dir);
        match granted.map(ApprovedPath::access) {
            None if is_in_sandbox(path) => None,
            None if is_there || self.is_in_project(path) && is_new() => Some(Cause::Hidden),
            Some(PathAccess::Read) if failed && !is_there && is_new() => Some(Cause::ReadOnly),
            Some(PathAccess::Read) if could_be_new && is_there && path.is_file() => {
                Some(Cause::ReadOnly)
            }
            Some(PathAccess::Write) if failed && permissions.stays_read_only(path) => {
                Some(Cause::Kept)
            }
            _ => None,
        }
    }

    fn is_in_project(&self, path: &Path) -> bool {
        let folder = self.project.folder();
        folder.is_some_and(|folder| path.starts_with(folder))
    }

    fn line(&self, path: &Path, cause: Cause) -> String {
        let id = visible(&self.id);
        let directory = self.project.directory();
        let relative = directory.and_then(|directory| path.strip_prefix(directory).ok());
        let relative = relative.filter(|relative| !relative.as_os_str().is_empty());
        let shown = match relative {
            Some(relative) => visible(&relative.to_string_lossy()).into_owned(),
            None => shown_path(path, self.home.as_deref()),
        };
        let is_project = self.is_in_project(path);
        let can_be = |access| self.project.check_grant_of(access).is_ok();
        let is_there = path.exists();
        let (verb, access) = if is_there {
            ("read", ProjectAccess::Read)
        } else {
            ("write", ProjectAccess::Write)
        };
        match cause {
            Cause::Hidden if is_project && can_be(access) => format!(
                "`{shown}` is in your project, which this skill may not {verb}: `skillfold allow {id} --project {}`",
                access.as_str()
            ),
            Cause::Hidden if !is_there => {
                format!("`{shown}` would be in a folder that this skill does not see")
            }
            Cause::Hidden => format!(
                "`{shown}` exists, but this skill does not see it: `--read {shown}` shows it to one `skillfold run`"
            ),
            Cause::ReadOnly if is_project && can_be(ProjectAccess::Write) => format!(
                "`{shown}` is in your project, which this skill may read but not write: `skillfold allow {id} --project write`"
            ),
            Cause::ReadOnly if !is_project => format!(
                "`{shown}` is where this skill may read but not write: `--write {shown}` lets one `skillfold run`"
            ),
            Cause::ReadOnly | Cause::Kept => format!(
                "`{shown}` stays read-only for every skill: repositories, client settings and skills are not written by scripts"
            ),
        }
    }
}

/// Returns what is quoted in a text and looks like a path.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split(QUOTES);
    pieces.filter(|piece| !piece.contains(char::is_whitespace) && piece.contains(['.', '/']))
}

/// Returns the words of a text, without what surrounds them, and whether each looks like the path that the text is about,
/// as in `cannot create out/a.csv: Read-only file system`.
fn words(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_around = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | ',' | ';');
    let bare = text.split(is_around);
    bare.map(|word| {
        let is_subject = word.ends_with(':') && word.contains(['.', '/']);
        (
            word.trim_matches(QUOTES).trim_end_matches([':', '.']),
            is_subject,
        )
    })
}

/// Returns the path of the host that a word means, if it could be one.
fn host_path(word: &str, directory: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let is_path = !word.is_empty() && word.len() < 1024 && !word.contains(['\0', '\n']);
    if !is_path || word.starts_with('-') {
        return None;
    }
    let path = match (word.strip_prefix("~/"), home) {
        (Some(inside), Some(home)) => home.join(inside),
        (Some(_), None) => return None,
        (None, _) => directory.join(word),
    };
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    (plain != directory).then_some(plain)
}

/// Returns whether a path means something else in the sandbox, or the same as outside.
fn is_in_sandbox(path: &Path) -> bool {
    let own = [
        "/skill",
        "/proc",
        "/dev",
        "/sys",
        "/usr",
        "/bin",
        "/sbin",
        "/lib",
        "/lib64",
        "/etc",
        "/packages",
        "/node_modules",
    ];
    path == Path::new("/")
        || path == Path::new("/tmp")
        || own.iter().any(|own| path.starts_with(own))
}

fn last_bytes(text: &str, max: usize) -> &str {
    let mut start = text.len().saturating_sub(max);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}
