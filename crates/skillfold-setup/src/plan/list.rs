//! The setting that turns off a client's own list of skills.
//!
//! A client lists what is new, so the setting follows the skills: what was added is taken out and added again for the
//! skills of now. Taking it out restores every byte, as long as nobody edited it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skillfold::Environment;
use skillfold::client::{Client, ListSwitch, SwitchForm};
use skillfold::core::{Error, Refusal};

use super::{RecordChange, SetupChange, SetupPlan, inserted_text, without_inserted};
use crate::client::SetupClient;
use crate::entry::{SyntaxFault, quoted};
use crate::format::Format;
use crate::record::{self, Added, Record, SetupPart};
use crate::tracked::is_tracked;
use crate::{json, toml};

/// Which of a client's settings turn off skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListFile {
    /// The user's, for the user's skills or the whole list.
    User,
    /// The user's own for the project, for the project's skills.
    Local,
}

impl SetupClient {
    /// Returns the setting that turns off the client's own list of skills; `None` if it has none.
    pub fn list_switch(self) -> Option<ListSwitch> {
        Client::find(self.name())?.list_switch
    }

    /// Returns whether the user chose to turn off the client's own list of skills.
    pub fn has_list_off(self, environment: &Environment) -> bool {
        !SetupPlan::list_files(environment, self).is_empty()
    }

    /// Returns the file with the user's own settings for the project in which a project's skills can be turned off. One that is
    /// under version control is the team's, and an error.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold::core::ErrorKind::Refused) if Git has the file in its index.
    pub fn local_list_file(self, environment: &Environment) -> Result<Option<PathBuf>, Error> {
        let switch = self.list_switch();
        let file = switch.and_then(|switch| switch.local_file(environment));
        match file {
            Some(file) if is_tracked(&file) => {
                let rule = "It is under version control, so the project's skills stay in the client's own list";
                Err(Error::refused(file.to_string_lossy(), Refusal::Write, rule))
            }
            file => Ok(file),
        }
    }
}

impl SetupPlan {
    /// Plans to turn off the client's own list: the whole list, or if the client names each skill, these skills and no
    /// others that `setup` turned off before. Leaves what the user set.
    ///
    /// # Errors
    ///
    /// As for [`add`](Self::add), and [`Invalid`](skillfold::core::ErrorKind::Invalid) if the client has no such setting,
    /// or none in this file; as for [`local_list_file`](SetupClient::local_list_file).
    pub fn turn_off_list(
        environment: &Environment,
        client: SetupClient,
        file: ListFile,
        names: &[String],
    ) -> Result<Self, Error> {
        let switch = client.list_switch();
        let path = match file {
            ListFile::User => switch.and_then(|switch| switch.user_file(environment)),
            ListFile::Local => client.local_list_file(environment)?,
        };
        let (Some(switch), Some(path)) = (switch, path) else {
            let why = format!("{} has no setting for this", client.title());
            return Err(Error::invalid("--list", why));
        };
        let project = (file == ListFile::Local).then(|| environment.project());
        let mut plan = Self::open_file(environment, client, SetupPart::List, path, project)?;
        let text = plan.before.clone().unwrap_or_default();
        plan.with_location(plan.format().parse(&text))?;
        let old = record::find(environment, &plan.file, SetupPart::List);
        let base = match &old {
            Some(record) => plan.with_location(without(switch, plan.format(), &text, record))?,
            None => text.clone(),
        };
        let turned_off = plan.with_location(turn_off(switch, plan.format(), &base, names))?;
        let record = Record {
            client,
            part: SetupPart::List,
            inserted: inserted_text(&base, &turned_off.text)
                .filter(|text| !text.is_empty())
                .into_iter()
                .collect(),
            added: old.as_ref().map_or_else(|| plan.added(), |old| old.added),
            earlier: old.as_ref().map_or_else(Vec::new, |old| {
                let names: BTreeSet<&String> = old.names.iter().chain(&old.earlier).collect();
                let gone = names
                    .into_iter()
                    .filter(|&name| !turned_off.names.contains(name));
                gone.cloned().collect()
            }),
            names: turned_off.names,
            replaced: turned_off.replaced,
        };
        if turned_off.text != text {
            plan.change = SetupChange::Added;
            let is_left_empty = turned_off.text.is_empty() && record.added == Added::File;
            plan.after = (!is_left_empty).then_some(turned_off.text);
        }
        // For the user's file, the record is the choice itself.
        let is_needed = file == ListFile::User || !record.names.is_empty();
        plan.record = match &old {
            Some(_) if !is_needed => RecordChange::Delete,
            Some(old) if *old == record => RecordChange::Keep,
            None if !is_needed => RecordChange::Keep,
            _ => RecordChange::Save(record),
        };
        Ok(plan)
    }

    /// Plans to turn the list on again in one of [`list_files`](Self::list_files).
    pub fn undo_list(
        environment: &Environment,
        client: SetupClient,
        file: &Path,
    ) -> Result<Self, Error> {
        let switch = client.list_switch();
        let record = record::find(environment, file, SetupPart::List);
        let project = switch.as_ref().and_then(|switch| switch.project_of(file));
        let path = file.to_owned();
        let mut plan = Self::open_file(environment, client, SetupPart::List, path, project)?;
        let (Some(switch), Some(record)) = (switch, record) else {
            return Ok(plan);
        };
        plan.record = RecordChange::Delete;
        let Some(text) = plan.before.clone() else {
            return Ok(plan);
        };
        plan.own_values.extend(record.names.iter().cloned());
        let after = plan.with_location(without(switch, plan.format(), &text, &record))?;
        if after != text {
            plan.change = SetupChange::Removed;
            let is_ours = after.trim().is_empty() && record.added == Added::File;
            plan.after = (!is_ours).then_some(after);
        }
        Ok(plan)
    }

    /// Returns the files in which `setup` turned off the client's list.
    pub fn list_files(environment: &Environment, client: SetupClient) -> Vec<PathBuf> {
        let records = record::all(environment).into_iter();
        let own = records.filter(|(_, it)| it.client == client && it.part == SetupPart::List);
        own.map(|(file, _)| file).collect()
    }
}

/// A text in which a list is turned off.
struct TurnedOff {
    text: String,
    names: Vec<String>,
    replaced: Option<String>,
}

fn turn_off(
    switch: ListSwitch,
    format: Format,
    text: &str,
    names: &[String],
) -> Result<TurnedOff, SyntaxFault> {
    let value = format.parse(text)?;
    let current = at(&value, switch.keys);
    let mut after = TurnedOff {
        text: text.to_owned(),
        names: Vec::new(),
        replaced: None,
    };
    let word = match switch.form {
        SwitchForm::False => Some(Value::Bool(false)),
        SwitchForm::Word(word) => Some(word.into()),
        _ => None,
    };
    if let Some(word) = word {
        after.replaced = current.map(Value::to_string);
        if current != Some(&word) {
            after.text = set(format, text, switch.keys, &word)?;
        }
        return Ok(after);
    }
    let is_set = |name: &&String| match current {
        Some(Value::Object(fields)) => fields.contains_key(*name),
        Some(Value::Array(items)) => items.contains(&Value::from(name.as_str())),
        _ => false,
    };
    after.names = names.iter().filter(|name| !is_set(name)).cloned().collect();
    if after.names.is_empty() {
        return Ok(after);
    }
    after.text = match (switch.form, current) {
        (SwitchForm::Folders(word), _) => {
            let fields = after.names.iter().map(|name| (name.clone(), word.into()));
            json::insert_fields(text, switch.keys, &fields.collect())?
        }
        (_, None) => set(format, text, switch.keys, &after.names.clone().into())?,
        (_, Some(_)) => {
            let names: Vec<Value> = after.names.iter().map(|name| (&**name).into()).collect();
            json::append_items(text, switch.keys, &names)?
        }
    };
    Ok(after)
}

/// Returns a text without what a record says was added.
fn without(
    switch: ListSwitch,
    format: Format,
    text: &str,
    record: &Record,
) -> Result<String, SyntaxFault> {
    let edited = edited_without(switch, format, text, record)?;
    if let Some(left) = without_inserted(text, &record.inserted) {
        let is_same = |left: &Value, edited: &Value| {
            let keys = switch.keys;
            pruned(left.clone(), keys) == pruned(edited.clone(), keys)
        };
        if is_same(&format.parse(&left)?, &format.parse(&edited)?) {
            return Ok(left);
        }
    }
    Ok(edited)
}

/// Removes key by key what was added. What somebody else changed since stays.
fn edited_without(
    switch: ListSwitch,
    format: Format,
    text: &str,
    record: &Record,
) -> Result<String, SyntaxFault> {
    let value = format.parse(text)?;
    let Some((last, parents)) = switch.keys.split_last() else {
        return Ok(text.to_owned());
    };
    let is_inserted = |key: &str| {
        let mut inserted = record.inserted.iter();
        inserted.any(|text| text.contains(&quoted(key)))
    };
    let mut text = text.to_owned();
    match switch.form {
        SwitchForm::False | SwitchForm::Word(_) => {
            let ours = match switch.form {
                SwitchForm::Word(word) => word.into(),
                _ => Value::Bool(false),
            };
            let old = record.replaced.as_deref();
            let old = old.and_then(|old| serde_json::from_str::<Value>(old).ok());
            match old {
                _ if at(&value, switch.keys) != Some(&ours) => {}
                Some(old) if old == ours => {}
                Some(old) => text = set(format, &text, switch.keys, &old)?,
                None => text = remove(format, &text, parents, last)?,
            }
        }
        SwitchForm::Folders(word) => {
            let fields = at(&value, switch.keys);
            let is_ours = |name: &&str| fields.and_then(|it| it.get(name)?.as_str()) == Some(word);
            let names = record.names.iter().chain(&record.earlier);
            let names = names.map(String::as_str).filter(is_ours);
            text = json::remove(&text, switch.keys, &names.collect::<Vec<_>>())?;
        }
        _ => {
            let items = at(&value, switch.keys).and_then(Value::as_array);
            let ours = record.names.iter().chain(&record.earlier);
            let mut ours: BTreeSet<&str> = ours.map(String::as_str).collect();
            let number = items.map_or(0, Vec::len);
            let items = items.into_iter().flatten().enumerate();
            // One that is there twice was added by somebody else too.
            let found = items.filter(|(_, item)| item.as_str().is_some_and(|it| ours.remove(it)));
            let found: Vec<usize> = found.map(|(index, _)| index).collect();
            if found.len() == number && number > 0 && !is_inserted(last) {
                // The list was there before.
                text = json::set(&text, switch.keys, &Value::Array(Vec::new()))?;
            } else if !found.is_empty() {
                text = json::remove_items(&text, switch.keys, &found)?;
            }
        }
    }
    // Objects that were added for it, and are empty now.
    for depth in (1..=switch.keys.len()).rev() {
        let keys = &switch.keys[..depth];
        let (Some((last, parents)), Ok(value)) = (keys.split_last(), format.parse(&text)) else {
            break;
        };
        let is_empty = at(&value, keys).is_some_and(is_empty);
        if is_empty && is_inserted(last) {
            text = remove(format, &text, parents, last)?;
        }
    }
    Ok(text)
}

fn at<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().try_fold(value, |value, key| value.get(key))
}

fn is_empty(value: &Value) -> bool {
    *value == serde_json::json!({}) || *value == serde_json::json!([])
}

/// Returns a value without the objects on a path that are empty.
fn pruned(mut value: Value, keys: &[&str]) -> Value {
    if let (Value::Object(fields), [key, below @ ..]) = (&mut value, keys)
        && let Some(inner) = fields.remove(*key)
    {
        let inner = pruned(inner, below);
        if !inner.is_null() {
            fields.insert((*key).to_owned(), inner);
        }
    }
    if is_empty(&value) { Value::Null } else { value }
}

fn set(format: Format, text: &str, keys: &[&str], value: &Value) -> Result<String, SyntaxFault> {
    match (format, keys) {
        (Format::Toml, [table, name]) => toml::set(text, table, name, value),
        _ => json::set(text, keys, value),
    }
}

fn remove(format: Format, text: &str, parents: &[&str], name: &str) -> Result<String, SyntaxFault> {
    match (format, parents) {
        (Format::Toml, [table]) => toml::remove(text, table, name),
        (Format::Toml, _) => Ok(text.to_owned()),
        _ => json::remove(text, parents, &[name]),
    }
}
