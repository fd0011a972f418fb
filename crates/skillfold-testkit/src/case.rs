//! Conformance cases that every frontend must pass: a file tree, a request and the expected response.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::in_checkout;

/// Where a case's workspace skills are copied to: the user's skills folder.
const USER_SKILLS_PATH: &str = "person/.agents/skills";

/// A case: `input/`, `request.json` and `expected.json` in a folder.
#[derive(Debug)]
pub struct Case {
    /// Its folder's name.
    pub name: String,
    /// The request as JSON.
    pub request: String,
    /// The expected response as JSON, with `INPUT` for the folder that the input was copied to.
    pub expected: String,
    folder: PathBuf,
}

/// Returns the cases in the workspace's `conformance/cases`, by name.
///
/// # Panics
///
/// Panics if there are none: a run without cases proves nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "cases are files in the workspace"
)]
fn cases() -> Vec<Case> {
    let root = in_checkout("conformance/cases");
    let entries = std::fs::read_dir(&root).expect("the workspace has cases");
    let folders = entries.map(|entry| entry.expect("a case can be listed").path());
    let mut cases: Vec<Case> = folders
        .filter(|path| path.is_dir())
        .map(Case::read)
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!cases.is_empty(), "there are no cases");
    cases
}

/// An answer that is not the expected one.
#[non_exhaustive]
pub struct Disagreement {
    /// The case.
    pub case: Case,
    /// What was answered, with `INPUT` for the folder that the input was copied to.
    pub answer: String,
}

impl fmt::Debug for Disagreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.case.name, self.answer)
    }
}

/// Asks for the answer to every case, which is JSON, and returns those that are not as expected. Every frontend is
/// checked by this: `answer` gets the request, and the folder that the input was copied to.
///
/// # Panics
///
/// Panics if a case cannot be read or laid out.
pub fn disagreements(mut answer: impl FnMut(&Value, &Path) -> String) -> Vec<Disagreement> {
    let mut found = Vec::new();
    for case in cases() {
        let folder = case.lay_out();
        // Where the folder is, without links: some systems keep temporary files behind one.
        let input = folder.path().canonicalize().expect("a folder has a path");
        let request: Value = serde_json::from_str(&case.request).expect("a request is JSON");
        let mut answer = answer(&request, &input).replace(&*input.to_string_lossy(), "INPUT");
        if matches!(request["call"].as_str(), Some("prompt" | "why")) {
            // The path of the input is part of what is counted.
            answer = without_counts(&answer);
        }
        let parsed = |text: &str| serde_json::from_str(text).ok().map(with_plain_numbers);
        if parsed(&answer).is_none() || parsed(&answer) != parsed(&case.expected) {
            found.push(Disagreement { case, answer });
        }
    }
    found
}

/// Writes numbers as JavaScript does, which knows no difference between `0` and `0.0`.
fn with_plain_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().into(),
        Value::Array(values) => values.into_iter().map(with_plain_numbers).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .map(|(name, value)| (name, with_plain_numbers(value)))
                .collect()
        }
        other => other,
    }
}

/// Writes 0 for all counts of tokens.
fn without_counts(json: &str) -> String {
    let mut parts = json.split("tokens\":");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let number = part.trim_start();
        let space = &part[..part.len() - number.len()];
        let rest = number.trim_start_matches(|sign: char| sign.is_ascii_digit());
        format!("{text}tokens\":{space}0{rest}")
    })
}

impl Case {
    #[expect(
        clippy::disallowed_methods,
        reason = "cases are files in the workspace"
    )]
    fn read(folder: PathBuf) -> Self {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        Self {
            name: name.into_owned(),
            request: text("request.json"),
            expected: text("expected.json"),
            folder,
        }
    }

    /// Copies the input into a temporary folder, outside the repository that contains the cases, together with the
    /// workspace skills named in the request.
    ///
    /// # Panics
    ///
    /// Panics if a file cannot be copied, or the request names a folder that does not exist.
    pub fn lay_out(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        copy_folder(&self.folder.join("input"), folder.path());
        let request: Value = serde_json::from_str(&self.request).unwrap_or_default();
        if let Some(skills) = request["skills"].as_str() {
            lay_out(skills, &folder.path().join(USER_SKILLS_PATH));
        }
        folder
    }

    /// Writes the response into the case, to be reviewed before it is committed.
    ///
    /// # Panics
    ///
    /// Panics if the file cannot be written.
    #[expect(
        clippy::disallowed_methods,
        reason = "cases are files in the workspace"
    )]
    pub fn accept(&self, answer: &str) {
        std::fs::write(self.folder.join("expected.json"), answer).expect("a case can be written");
    }
}

/// Copies a workspace folder, such as `examples`.
///
/// # Panics
///
/// Panics if it does not exist or cannot be copied.
pub fn lay_out(folder: &str, to: &Path) {
    let from = in_checkout(folder);
    assert!(from.is_dir(), "the workspace has no folder `{folder}`");
    copy_folder(&from, to);
}

#[expect(
    clippy::disallowed_methods,
    reason = "cases are files in the workspace"
)]
fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}
