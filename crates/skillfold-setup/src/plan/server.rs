//! The server's entry.

use std::path::{Path, PathBuf};

use serde_json::Value;
use skillfold::Environment;
use skillfold::core::Error;

use super::{
    RecordChange, SetupChange, SetupPlan, collect_values, inserted_text, is_removable,
    without_inserted,
};
use crate::client::{ClientFile, SetupClient};
use crate::entry::{Entry, NAME, SyntaxFault, entry_at, with_entry};
use crate::format::Format;
use crate::record::{self, Added, Record, SetupPart};
use crate::{json, toml, yaml};

impl SetupPlan {
    /// Plans to add an entry that starts `command` as a server. The command is a path, or a name to look up in `PATH`.
    ///
    /// # Errors
    ///
    /// [`Invalid`](skillfold::core::ErrorKind::Invalid), with line and column, if the configuration cannot be parsed;
    /// [`Refused`](skillfold::core::ErrorKind::Refused) if a project's configuration or a folder on the way to it is a
    /// link.
    pub fn add(
        environment: &Environment,
        client: SetupClient,
        file: ClientFile,
        command: &str,
    ) -> Result<Self, Error> {
        let mut plan = Self::open(environment, client, file)?;
        let entry = client.entry(file, command);
        let (value, keys) = plan.parse_before()?;
        let wanted = entry.value();
        let text = plan.before.clone().unwrap_or_default();
        let after = match entry_at(&value, keys, NAME) {
            Some(existing) if *existing == wanted => return Ok(plan),
            Some(_) => {
                plan.change = SetupChange::Replaced;
                edit(plan.format(), Edit::Replace(&entry), &text, keys)
            }
            None => {
                plan.change = SetupChange::Added;
                edit(plan.format(), Edit::Insert(&entry), &text, keys)
            }
        };
        let after = plan.with_location(after)?;
        if plan.format().parse(&after).ok() != Some(with_entry(&value, keys, NAME, &wanted)) {
            return Err(plan.unsafe_edit());
        }
        plan.record = match inserted_text(&text, &after) {
            Some(inserted) => RecordChange::Save(Record {
                client,
                part: SetupPart::Server,
                inserted: vec![inserted],
                added: plan.added(),
                names: Vec::new(),
                earlier: Vec::new(),
                replaced: None,
            }),
            None => RecordChange::Delete,
        };
        plan.after = Some(after);
        Ok(plan)
    }

    /// Plans to remove the entry. If nothing else changed since it was added, restores the file's original bytes.
    pub fn undo(
        environment: &Environment,
        client: SetupClient,
        file: ClientFile,
    ) -> Result<Self, Error> {
        let mut plan = Self::open(environment, client, file)?;
        let (value, keys) = plan.parse_before()?;
        let (Some(text), Some(existing)) = (plan.before.clone(), entry_at(&value, keys, NAME))
        else {
            return Ok(plan);
        };
        plan.record = RecordChange::Delete;
        plan.change = match our_command(existing) {
            Some(command) => {
                let entry = client.entry(file, command).value();
                collect_values(&entry, &mut plan.own_values);
                SetupChange::Removed
            }
            None => SetupChange::RemovedOther,
        };
        let format = plan.format();
        let is_good = |after: &str| {
            format.parse(after).is_ok_and(|left| {
                entry_at(&left, client.server_keys(&left), NAME).is_none()
                    && with_entry(&left, keys, NAME, existing) == value
            })
        };
        if let Some(record) = record::find(environment, &plan.file, SetupPart::Server)
            && let Some(after) = without_inserted(&text, &record.inserted)
        {
            if after.is_empty() && record.added == Added::File {
                plan.after = None;
                return Ok(plan);
            }
            if is_good(&after) {
                plan.after = Some(after);
                return Ok(plan);
            }
        }
        let after = plan.with_location(edit(plan.format(), Edit::Remove, &text, keys))?;
        if !is_good(&after) {
            return Err(plan.unsafe_edit());
        }
        plan.after = Some(after);
        Ok(plan)
    }

    fn open(
        environment: &Environment,
        client: SetupClient,
        file: ClientFile,
    ) -> Result<Self, Error> {
        let path = client.file(environment, file)?;
        let project = file.project(environment);
        Self::open_file(environment, client, SetupPart::Server, path, project)
    }

    /// Parses the current text, and returns its value and the key path to the servers.
    fn parse_before(&self) -> Result<(Value, &'static [&'static str]), Error> {
        let text = self.before.as_deref().unwrap_or_default();
        let value = self.with_location(self.format().parse(text))?;
        let keys = self.client.server_keys(&value);
        Ok((value, keys))
    }
}

/// An edit to a configuration's text.
enum Edit<'a> {
    Insert(&'a Entry),
    Replace(&'a Entry),
    Remove,
}

fn edit(format: Format, edit: Edit<'_>, text: &str, keys: &[&str]) -> Result<String, SyntaxFault> {
    let key = keys.first().copied().unwrap_or_default();
    match (format, edit) {
        (Format::Json, Edit::Insert(entry)) => json::insert(text, keys, NAME, entry),
        (Format::Json, Edit::Replace(entry)) => json::replace(text, keys, NAME, entry),
        (Format::Json, Edit::Remove) => json::remove(text, keys, &[NAME]),
        (Format::Toml, Edit::Insert(entry)) => toml::insert(text, key, NAME, entry),
        (Format::Toml, Edit::Replace(entry)) => toml::replace(text, key, NAME, entry),
        (Format::Toml, Edit::Remove) => toml::remove(text, key, NAME),
        (Format::Yaml, Edit::Insert(entry)) => yaml::insert(text, key, NAME, entry),
        (Format::Yaml, Edit::Replace(entry)) => yaml::replace(text, key, NAME, entry),
        (Format::Yaml, Edit::Remove) => yaml::remove(text, key, NAME),
    }
}

/// Returns an entry's command if it starts this program, from any path.
fn our_command(entry: &Value) -> Option<&str> {
    let command = entry.get("command").or_else(|| entry.get("cmd"));
    let command = match command {
        Some(Value::Array(words)) => words.first(),
        other => other,
    };
    let command = command.and_then(Value::as_str)?;
    let stem = Path::new(command).file_stem();
    stem.is_some_and(|stem| stem == NAME).then_some(command)
}

impl SetupClient {
    /// Returns the program that the client's user configuration starts as our server, if it does not exist: the client then
    /// has no server. A name without a folder is not looked up.
    pub fn missing_program(self, environment: &Environment) -> Option<PathBuf> {
        let plan = SetupPlan::open(environment, self, ClientFile::User).ok()?;
        let (value, keys) = plan.parse_before().ok()?;
        let program = Path::new(our_command(entry_at(&value, keys, NAME)?)?);
        (program.is_absolute() && !program.exists()).then(|| program.to_owned())
    }

    /// Returns whether the client's user configuration has a server `skillfold`; `false` if it cannot be read.
    pub fn has_server(self, environment: &Environment) -> bool {
        is_removable(SetupPlan::undo(environment, self, ClientFile::User))
    }
}
