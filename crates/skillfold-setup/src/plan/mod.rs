//! A plan changes nothing yet: it has the text before and after the change. The new text is parsed again and must
//! contain exactly what the old one contained, plus the entry; otherwise there is no plan.

mod hook;
mod list;
mod server;

pub use list::ListFile;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skillfold::Environment;
use skillfold::core::text::common_prefix;
use skillfold::core::{Error, Refusal};
use skillfold_store::{Access, ReadFile, WriteTarget, lock_state};

use crate::client::{SetupClient, follow_links};
use crate::entry::SyntaxFault;
use crate::format::Format;
use crate::record::{self, Added, Record, SetupPart};

/// Maximum size of a configuration file. Some clients keep more than settings in it.
const MAX_CONFIGURATION_BYTES: u64 = 64 * 1024 * 1024;

/// What a plan changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetupChange {
    /// Nothing: the configuration is up to date.
    Nothing,
    /// An entry is added.
    Added,
    /// A different entry is replaced; see [`SetupPlan::needs_force`].
    Replaced,
    /// The entry is removed.
    Removed,
    /// An entry that starts another program is removed; see [`SetupPlan::needs_force`].
    RemovedOther,
}

impl SetupChange {
    /// Returns its name in the JSON view.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Added => "added",
            Self::Replaced => "replaced",
            Self::Removed => "removed",
            Self::RemovedOther => "removed_other",
        }
    }
}

/// What a plan does with the record of what it adds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RecordChange {
    Keep,
    Save(Record),
    Delete,
}

/// A planned change to a client's configuration.
#[derive(Clone, Debug)]
pub struct SetupPlan {
    environment: Environment,
    client: SetupClient,
    file: PathBuf,
    target: WriteTarget,
    before: Option<String>,
    after: Option<String>,
    change: SetupChange,
    part: SetupPart,
    record: RecordChange,
    /// The values written by `setup` that this plan removes.
    own_values: BTreeSet<String>,
}

impl SetupPlan {
    fn open_file(
        environment: &Environment,
        client: SetupClient,
        part: SetupPart,
        path: PathBuf,
        project: Option<&Path>,
    ) -> Result<Self, Error> {
        let (path, target) = match project {
            None => {
                let path = follow_links(path);
                (path.clone(), WriteTarget::for_user(&path)?)
            }
            Some(project) => (path.clone(), WriteTarget::within(project, &path)?),
        };
        let existing = target.read(MAX_CONFIGURATION_BYTES)?;
        let before = target.text(existing.as_ref())?.map(str::to_owned);
        Ok(Self {
            environment: environment.clone(),
            client,
            file: path,
            target,
            after: before.clone(),
            before,
            change: SetupChange::Nothing,
            part,
            record: RecordChange::Keep,
            own_values: BTreeSet::new(),
        })
    }

    /// Returns the client.
    pub fn client(&self) -> SetupClient {
        self.client
    }

    /// Returns the part of the setup.
    pub fn part(&self) -> SetupPart {
        self.part
    }

    /// Returns the file to change. Links in a user's path are resolved.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the file's current text; `None` if it does not exist.
    pub fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// Returns the names of all values in the current file.
    pub fn names(&self) -> BTreeSet<String> {
        let text = self.before.as_deref().unwrap_or_default();
        let mut names = BTreeSet::new();
        if let Ok(value) = self.format().parse(text) {
            collect_names(&value, &mut names);
        }
        names
    }

    /// Returns the values in the current file that `setup` wrote and the plan removes. None of them is secret.
    pub fn own_values(&self) -> &BTreeSet<String> {
        &self.own_values
    }

    /// Returns the file's text after the change; `None` if the file is removed.
    pub fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Returns what the plan changes.
    pub fn change(&self) -> SetupChange {
        self.change
    }

    /// Returns whether the change destroys something `setup` did not write.
    pub fn needs_force(&self) -> bool {
        matches!(
            self.change,
            SetupChange::Replaced | SetupChange::RemovedOther
        )
    }

    /// Writes the change atomically. Preserves the file's mode.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold::core::ErrorKind::Refused) if the file changed since the plan was made, is not writable, or
    /// is a link in a project.
    pub fn write(&self) -> Result<(), Error> {
        if self.change == SetupChange::Nothing && self.record == RecordChange::Keep {
            return Ok(());
        }
        let _lock = lock_state(self.environment.state_folder().as_deref())?;
        let now = self.target.read(MAX_CONFIGURATION_BYTES)?;
        if now.as_ref().map(ReadFile::bytes) != self.before.as_deref().map(str::as_bytes) {
            let rule = "The file changed in the meantime; close the client and try again";
            return Err(Error::refused(
                self.file.to_string_lossy(),
                Refusal::Write,
                rule,
            ));
        }
        if self.record != RecordChange::Keep {
            record::check_format(&self.environment)?;
        }
        let save = |record| record::save(&self.environment, &self.file, self.part, record);
        if let RecordChange::Save(record) = &self.record {
            save(Some(record))?;
        }
        match (&now, &self.after) {
            _ if self.after == self.before => {}
            (now, Some(after)) => {
                let (old, new) = (now.as_ref(), after.as_bytes());
                self.target.write(old, new, Access::Ordinary)?;
            }
            (Some(old), None) => self.target.remove(old)?,
            (None, None) => {}
        }
        if self.record == RecordChange::Delete {
            save(None)?;
        }
        record::write_restore_file(&self.environment)
    }

    fn format(&self) -> Format {
        Format::of(&self.file)
    }

    fn added(&self) -> Added {
        match self.before {
            Some(_) => Added::Entry,
            None => Added::File,
        }
    }

    fn with_location<T>(&self, result: Result<T, SyntaxFault>) -> Result<T, Error> {
        let text = self.before.as_deref().unwrap_or_default();
        result
            .map_err(|fault| Error::invalid(self.file.to_string_lossy(), fault.with_position(text)))
    }

    fn unsafe_edit(&self) -> Error {
        let why = "this entry can't be edited without touching others; edit it by hand";
        Error::invalid(self.file.to_string_lossy(), why)
    }
}

fn is_removable(plan: Result<SetupPlan, Error>) -> bool {
    plan.is_ok_and(|plan| plan.change != SetupChange::Nothing)
}

fn collect_names(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                names.insert(name.clone());
                collect_names(value, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        _ => {}
    }
}

fn collect_values(value: &Value, values: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|it| collect_values(it, values)),
        Value::Array(items) => items.iter().for_each(|it| collect_values(it, values)),
        Value::String(text) => _ = values.insert(text.clone()),
        other => _ = values.insert(other.to_string()),
    }
}

/// Returns a text without inserted ones, if it has each as often as it was inserted.
fn without_inserted(text: &str, inserted: &[String]) -> Option<String> {
    let mut inserted: Vec<&String> = inserted.iter().collect();
    // A short one may be inside a longer one.
    inserted.sort_by_key(|part| (Reverse(part.len()), *part));
    let mut left = (!inserted.is_empty()).then(|| text.to_owned())?;
    for same in inserted.chunk_by(|one, other| one == other) {
        if left.matches(&**same[0]).count() != same.len() {
            return None;
        }
        left = left.replace(&**same[0], "");
    }
    Some(left)
}

/// Returns the inserted text if `before` and `after` differ by one insertion. If it could start at several places, it starts
/// with a line, or else with a name or a value.
fn inserted_text(before: &str, after: &str) -> Option<String> {
    let start = common_prefix(after, before).len();
    let rest = before.len() - start;
    let end = after.len().checked_sub(rest)?;
    if start > end || after.get(end..) != before.get(start..) {
        return None;
    }
    let bytes = after.as_bytes();
    let could_start_at = |&shift: &usize| {
        let range = start - shift..end - shift;
        bytes[range.start..start] == bytes[range.end..end] && after.get(range).is_some()
    };
    let shifts = (0..=start).take_while(|shift| *shift == 0 || could_start_at(shift));
    let shifts: Vec<usize> = shifts.collect();
    let is_at_line = |shift: &&usize| bytes.get(start - *shift) == Some(&b'\n');
    let is_at_token = |shift: &&usize| {
        let is_open = |at: usize| matches!(bytes.get(at), Some(b'{' | b'[' | b' ' | b'\t'));
        bytes.get(start - *shift) == Some(&b'"')
            && (start - *shift).checked_sub(1).is_some_and(is_open)
    };
    let mut lines_first = shifts.iter().filter(is_at_line);
    let shift = lines_first
        .next()
        .or_else(|| shifts.iter().find(is_at_token));
    let shift = shift.copied().unwrap_or(0);
    Some(after[start - shift..end - shift].to_owned())
}
