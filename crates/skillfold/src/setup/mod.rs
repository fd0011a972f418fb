//! Puts the server into the configuration of a client, and takes it out again.
//!
//! A plan is made first and changes nothing: the text as it is, and as it would be. Before a plan is good, the new text is
//! read back, and it must hold what the old one held, and the entry, and nothing else.

mod entry;

mod json;

mod json_edit;
mod toml;
mod yaml;

mod client;
mod record;

use std::path::{Path, PathBuf};

use serde_json::Value;
use skillfold_core::Error;
use skillfold_core::text::common_start;
use skillfold_store::{Access, ReadFile};

use crate::environment::{CONFIGURATION_BYTES, Environment, resolved};
use crate::setup::client::Format;
use crate::setup::entry::{Entry, NAME, SyntaxFault, at, with};
use crate::setup::record::{Added, Record};
use crate::writable::{Writable, lock};

pub use client::{Client, ClientFile};

/// What a plan does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetupChange {
    /// Nothing: it is as it should be.
    Nothing,
    /// An entry is added.
    Added,
    /// An entry that was made otherwise is replaced; [`SetupPlan::needs_force`].
    Replaced,
    /// The entry is removed.
    Removed,
    /// An entry is removed that starts something else; [`SetupPlan::needs_force`].
    RemovedOther,
}

/// A change to the configuration of a client, not made yet.
#[derive(Clone, Debug)]
pub struct SetupPlan {
    environment: Environment,
    client: Client,
    file: PathBuf,
    writable: Writable,
    before: Option<String>,
    after: Option<String>,
    change: SetupChange,
    record: Option<Record>,
}

impl SetupPlan {
    /// Plans an entry that starts `command`, a path or a name on the path of programs, as a server.
    ///
    /// # Errors
    ///
    /// [`Invalid`](skillfold_core::ErrorKind::Invalid), with the place, if the configuration cannot be understood;
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if a project's configuration, or a folder on the way to it, is a link.
    pub fn add(
        environment: &Environment,
        client: Client,
        file: ClientFile,
        command: &str,
    ) -> Result<Self, Error> {
        let mut plan = Self::of(environment, client, file)?;
        let entry = client.entry(file, command);
        let (value, keys) = plan.holds()?;
        let wanted = entry.value();
        let text = plan.before.clone().unwrap_or_default();
        let after = match at(&value, keys, NAME) {
            Some(there) if *there == wanted => return Ok(plan),
            Some(_) => {
                plan.change = SetupChange::Replaced;
                edit(client, Edit::Replace(&entry), &text, keys)
            }
            None => {
                plan.change = SetupChange::Added;
                edit(client, Edit::Insert(&entry), &text, keys)
            }
        };
        let after = plan.understood(after)?;
        if parsed(client, &after).ok() != Some(with(&value, keys, NAME, &wanted)) {
            return Err(plan.unsafe_edit());
        }
        let made = if plan.before.is_some() {
            Added::Entry
        } else {
            Added::File
        };
        plan.record = inserted(&text, &after).map(|inserted| Record { inserted, made });
        plan.after = Some(after);
        Ok(plan)
    }

    /// Plans to take the entry out. Where nothing else changed since, every byte is as it was before.
    pub fn undo(
        environment: &Environment,
        client: Client,
        file: ClientFile,
    ) -> Result<Self, Error> {
        let mut plan = Self::of(environment, client, file)?;
        let (value, keys) = plan.holds()?;
        let (Some(text), Some(there)) = (plan.before.clone(), at(&value, keys, NAME)) else {
            return Ok(plan);
        };
        plan.change = if is_ours(there) {
            SetupChange::Removed
        } else {
            SetupChange::RemovedOther
        };
        let is_good = |after: &str| {
            parsed(client, after).is_ok_and(|left| {
                at(&left, client.keys(&left), NAME).is_none()
                    && with(&left, keys, NAME, there) == value
            })
        };
        if let Some(record) = record::look_up(environment, &plan.file)
            && text.matches(&record.inserted).count() == 1
        {
            let after = text.replace(&record.inserted, "");
            if after.is_empty() && record.made == Added::File {
                plan.after = None;
                return Ok(plan);
            }
            if is_good(&after) {
                plan.after = Some(after);
                return Ok(plan);
            }
        }
        let after = plan.understood(edit(client, Edit::Remove, &text, keys))?;
        if !is_good(&after) {
            return Err(plan.unsafe_edit());
        }
        plan.after = Some(after);
        Ok(plan)
    }

    fn of(environment: &Environment, client: Client, file: ClientFile) -> Result<Self, Error> {
        let path = client.file(environment, file)?;
        let (path, writable) = match file {
            ClientFile::User => {
                let path = resolved(&path).unwrap_or(path);
                (path.clone(), Writable::of_person(&path)?)
            }
            ClientFile::Project => (path.clone(), Writable::below(environment.project(), &path)?),
        };
        let existing = writable.read(CONFIGURATION_BYTES)?;
        let before = writable.text(existing.as_ref())?.map(str::to_owned);
        Ok(Self {
            environment: environment.clone(),
            client,
            file: path,
            writable,
            after: before.clone(),
            before,
            change: SetupChange::Nothing,
            record: None,
        })
    }

    /// Returns the client.
    pub fn client(&self) -> Client {
        self.client
    }

    /// Returns the file that is changed, through links.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the text of the file as it is, if it is there.
    pub fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// Returns the text of the file as it will be; none if the file is removed.
    pub fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Returns what is done.
    pub fn change(&self) -> SetupChange {
        self.change
    }

    /// Returns whether something is lost that `setup` did not write.
    pub fn needs_force(&self) -> bool {
        matches!(
            self.change,
            SetupChange::Replaced | SetupChange::RemovedOther
        )
    }

    /// Does it. The file is whole at each moment, and its mode stays as it is.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the file changed since the plan was made, may not be written, or is
    /// a link in a project.
    pub fn write(&self) -> Result<(), Error> {
        if self.change == SetupChange::Nothing {
            return Ok(());
        }
        let _lock = lock(&self.environment)?;
        let now = self.writable.read(CONFIGURATION_BYTES)?;
        if now.as_ref().map(ReadFile::bytes) != self.before.as_deref().map(str::as_bytes) {
            let rule = "The file changed in the meantime; close the client and try again";
            return Err(Error::refused_write(self.file.to_string_lossy(), rule));
        }
        if self.record.is_some() {
            record::keep(&self.environment, &self.file, self.record.as_ref())?;
        }
        match (&now, &self.after) {
            (now, Some(after)) => {
                let (old, new) = (now.as_ref(), after.as_bytes());
                self.writable.write(old, new, Access::Ordinary)?;
            }
            (Some(old), None) => self.writable.remove(old)?,
            (None, None) => {}
        }
        if self.record.is_none() {
            record::keep(&self.environment, &self.file, None)?;
        }
        Ok(())
    }

    /// Returns what the file holds, and the keys below which servers stand.
    fn holds(&self) -> Result<(Value, &'static [&'static str]), Error> {
        let text = self.before.as_deref().unwrap_or_default();
        let value = self.understood(parsed(self.client, text))?;
        let keys = self.client.keys(&value);
        Ok((value, keys))
    }

    fn understood<T>(&self, result: Result<T, SyntaxFault>) -> Result<T, Error> {
        let text = self.before.as_deref().unwrap_or_default();
        result.map_err(|wrong| Error::invalid(self.file.to_string_lossy(), wrong.placed(text)))
    }

    fn unsafe_edit(&self) -> Error {
        let why = "it cannot be changed without changing more; change it by hand";
        Error::invalid(self.file.to_string_lossy(), why)
    }
}

/// What is done to a text.
enum Edit<'a> {
    Insert(&'a Entry),
    Replace(&'a Entry),
    Remove,
}

fn edit(client: Client, edit: Edit<'_>, text: &str, keys: &[&str]) -> Result<String, SyntaxFault> {
    let key = keys.first().copied().unwrap_or_default();
    match (client.format(), edit) {
        (Format::Json, Edit::Insert(entry)) => json_edit::insert(text, keys, NAME, entry),
        (Format::Json, Edit::Replace(entry)) => json_edit::replace(text, keys, NAME, entry),
        (Format::Json, Edit::Remove) => json_edit::remove(text, keys, NAME),
        (Format::Toml, Edit::Insert(entry)) => toml::insert(text, key, NAME, entry),
        (Format::Toml, Edit::Replace(entry)) => toml::replace(text, key, NAME, entry),
        (Format::Toml, Edit::Remove) => toml::remove(text, key, NAME),
        (Format::Yaml, Edit::Insert(entry)) => yaml::insert(text, key, NAME, entry),
        (Format::Yaml, Edit::Replace(entry)) => yaml::replace(text, key, NAME, entry),
        (Format::Yaml, Edit::Remove) => yaml::remove(text, key, NAME),
    }
}

fn parsed(client: Client, text: &str) -> Result<Value, SyntaxFault> {
    let value = match client.format() {
        Format::Json => json_edit::value(text),
        Format::Toml => toml::value(text),
        Format::Yaml => yaml::value(text),
    }?;
    match value {
        Value::Null | Value::Object(_) => Ok(value),
        _ => Err(SyntaxFault::new(0, "Expected names with values")),
    }
}

/// Returns whether an entry starts this program, under whatever path.
fn is_ours(entry: &Value) -> bool {
    let command = entry.get("command").or_else(|| entry.get("cmd"));
    let command = match command {
        Some(Value::Array(words)) => words.first(),
        other => other,
    };
    let command = command.and_then(Value::as_str).unwrap_or_default();
    let stem = Path::new(command).file_stem();
    stem.is_some_and(|stem| stem == NAME)
}

/// Returns the text that is in `after` and not in `before`, if that is one piece and nothing is missing.
fn inserted(before: &str, after: &str) -> Option<String> {
    let start = common_start(after, before).len();
    let rest = before.len() - start;
    let end = after.len().checked_sub(rest)?;
    let is_whole = start <= end && after.get(end..) == before.get(start..);
    is_whole.then(|| after[start..end].to_owned())
}
