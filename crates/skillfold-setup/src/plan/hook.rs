//! The hook's entries.

use std::path::PathBuf;
use std::slice;

use serde_json::Value;
use skillfold::Environment;
use skillfold::core::Error;

use super::{
    RecordChange, SetupChange, SetupPlan, collect_values, inserted_text, is_removable,
    without_inserted,
};
use crate::client::{ClientFile, SetupClient};
use crate::hook::{HOOKS_KEY, has_other_hook, hook_command, is_our_hook};
use crate::json;
use crate::record::{self, Added, Record, SetupPart};

impl SetupPlan {
    /// Plans to add the hook: entries that start `command` for each prompt.
    ///
    /// # Errors
    ///
    /// As for [`add`](Self::add), and [`Invalid`](skillfold::core::ErrorKind::Invalid) if the client has no hooks that
    /// can add to a prompt.
    pub fn add_hook(
        environment: &Environment,
        client: SetupClient,
        file: ClientFile,
        command: &str,
    ) -> Result<Self, Error> {
        let mut plan = Self::open_hook(environment, client, file)?;
        let restore = restore_file(environment, file);
        let text = plan.before.clone().unwrap_or_default();
        let value = plan.with_location(json::value(&text))?;
        let entries = client.hook_entries(command, restore.as_deref());
        for (event, _) in &entries {
            plan.check_groups(&value, event)?;
        }
        let has_entry = |(event, entry): &(&str, Value)| hook_items(&value, event).contains(entry);
        if entries.iter().all(has_entry) {
            return Ok(plan);
        }
        let old = record::find(environment, &plan.file, SetupPart::Hook);
        // Our own entries with another version or path are replaced.
        let has_ours = has_our_hook(&value);
        let base = if has_ours {
            plan.without_our_hooks(&text)?
        } else {
            text
        };
        let is_blank = ["", "{}"].contains(&base.trim());
        let added = match old {
            Some(old) => old.added,
            // The first version did not record hooks, and created a file that has nothing else.
            None if has_ours && plan.is_left_blank(&base) => Added::File,
            None => plan.added(),
        };
        let mut text = if is_blank && !client.hook_file_start().is_empty() {
            client.hook_file_start().to_owned()
        } else {
            base.clone()
        };
        let mut wanted = plan.with_location(json::value(&text))?;
        let mut inserted = Vec::new();
        // New ones go before the others.
        for (event, entry) in entries.into_iter().rev() {
            let path = [HOOKS_KEY, event];
            let after =
                plan.with_location(json::append_items(&text, &path, slice::from_ref(&entry)))?;
            inserted.push(inserted_text(&text, &after));
            text = after;
            wanted = with_hook(&wanted, event, entry);
        }
        if plan.with_location(json::value(&text))? != wanted {
            return Err(plan.unsafe_edit());
        }
        let inserted = match inserted_text(&base, &text) {
            Some(whole) => Some(vec![whole]),
            // In several places, if there are other hooks for some of the events.
            None => inserted.into_iter().collect(),
        };
        plan.record = match inserted {
            Some(inserted) => RecordChange::Save(Record {
                client,
                part: SetupPart::Hook,
                inserted,
                added,
                names: Vec::new(),
                earlier: Vec::new(),
                replaced: None,
            }),
            None => RecordChange::Delete,
        };
        plan.change = SetupChange::Added;
        plan.after = Some(text);
        Ok(plan)
    }

    /// Plans to remove the hook.
    pub fn undo_hook(
        environment: &Environment,
        client: SetupClient,
        file: ClientFile,
    ) -> Result<Self, Error> {
        let mut plan = Self::open_hook(environment, client, file)?;
        let restore = restore_file(environment, file);
        let Some(text) = plan.before.clone() else {
            return Ok(plan);
        };
        let before = plan.with_location(json::value(&text))?;
        if !has_our_hook(&before) {
            return Ok(plan);
        }
        for (event, _) in client.hook_entries("", None) {
            plan.check_groups(&before, event)?;
            let ours = hook_items(&before, event).iter();
            for command in ours.filter_map(hook_command) {
                let entries = client
                    .hook_entries(&command, restore.as_deref())
                    .into_iter();
                entries.for_each(|(_, entry)| collect_values(&entry, &mut plan.own_values));
            }
        }
        let left = plan.without_our_hooks(&text)?;
        if left == text {
            return Ok(plan);
        }
        plan.change = SetupChange::Removed;
        plan.record = RecordChange::Delete;
        // A file with only our hooks is removed, unless it was there before. Comments count as content.
        let record = record::find(environment, &plan.file, SetupPart::Hook);
        let was_there = record.is_some_and(|record| record.added == Added::Entry);
        plan.after = (was_there || !plan.is_left_blank(&left)).then_some(left);
        Ok(plan)
    }

    /// Returns whether a text without our hooks has nothing else.
    fn is_left_blank(&self, left: &str) -> bool {
        let blank = |text: &str| text.split_whitespace().collect::<String>();
        let start = blank(self.client.hook_file_start());
        [String::new(), "{}".to_owned(), start].contains(&blank(left))
    }

    /// Returns a text without our hooks: without what was inserted, or item by item if somebody changed that since.
    fn without_our_hooks(&self, text: &str) -> Result<String, Error> {
        let before = self.with_location(json::value(text))?;
        let is_same = |value: &Value| without_hooks(value) == without_hooks(&before);
        let record = record::find(&self.environment, &self.file, SetupPart::Hook);
        let left = record.and_then(|record| without_inserted(text, &record.inserted));
        let is_good = |left: &String| {
            json::value(left).is_ok_and(|value| is_same(&value) && !has_our_hook(&value))
        };
        if let Some(left) = left.filter(is_good) {
            return Ok(left);
        }
        let mut text = text.to_owned();
        for (event, _) in self.client.hook_entries("", None) {
            for index in our_indices(&self.with_location(json::value(&text))?, event) {
                text =
                    self.with_location(json::remove_items(&text, &[HOOKS_KEY, event], &[index]))?;
            }
        }
        let value = self.with_location(json::value(&text))?;
        if value.get(HOOKS_KEY) == Some(&serde_json::json!({})) {
            text = self.with_location(json::remove(&text, &[], &[HOOKS_KEY]))?;
        }
        if !is_same(&self.with_location(json::value(&text))?) {
            return Err(self.unsafe_edit());
        }
        Ok(text)
    }

    /// Refuses to change a group that contains our hook and another one.
    fn check_groups(&self, value: &Value, event: &str) -> Result<(), Error> {
        let is_mixed = |item: &Value| is_our_hook(item) && has_other_hook(item);
        if hook_items(value, event).iter().any(is_mixed) {
            let why = format!(
                "under `{event}` our hook shares a group with another one; remove it by hand"
            );
            return Err(Error::invalid(self.file.to_string_lossy(), why));
        }
        Ok(())
    }

    fn open_hook(
        environment: &Environment,
        client: SetupClient,
        file: ClientFile,
    ) -> Result<Self, Error> {
        let path = client.hook_file(environment, file)?;
        let project = file.project(environment);
        Self::open_file(environment, client, SetupPart::Hook, path, project)
    }
}

/// Returns the file that a user's hook names if the program is gone. Others have their own.
fn restore_file(environment: &Environment, file: ClientFile) -> Option<PathBuf> {
    match file {
        ClientFile::User => record::restore_file(environment),
        ClientFile::Project => None,
    }
}

/// Returns an event's hooks.
fn hook_items<'v>(value: &'v Value, event: &str) -> &'v [Value] {
    let items = value.get(HOOKS_KEY).and_then(|hooks| hooks.get(event));
    items.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the indices of our hooks for an event, last first.
fn our_indices(value: &Value, event: &str) -> Vec<usize> {
    let items = hook_items(value, event).iter().enumerate().rev();
    let ours = items.filter(|(_, item)| is_our_hook(item));
    ours.map(|(index, _)| index).collect()
}

fn has_our_hook(value: &Value) -> bool {
    let events = value.get(HOOKS_KEY).and_then(Value::as_object);
    let items = events.into_iter().flat_map(|events| events.values());
    items.filter_map(Value::as_array).flatten().any(is_our_hook)
}

/// Returns a configuration with exactly one of our hooks for an event.
fn with_hook(value: &Value, event: &str, entry: Value) -> Value {
    let mut fields = value.as_object().cloned().unwrap_or_default();
    let hooks = fields
        .entry(HOOKS_KEY)
        .or_insert_with(|| serde_json::json!({}));
    if let Some(hooks) = hooks.as_object_mut() {
        let kept = hook_items(value, event)
            .iter()
            .filter(|item| !is_our_hook(item));
        let items: Vec<Value> = kept.cloned().chain([entry]).collect();
        hooks.insert(event.to_owned(), Value::Array(items));
    }
    Value::Object(fields)
}

/// Returns a configuration without our hooks, and without keys that become empty.
fn without_hooks(value: &Value) -> Value {
    let mut value = value.clone();
    let Some(fields) = value.as_object_mut() else {
        return value;
    };
    if let Some(hooks) = fields.get_mut(HOOKS_KEY).and_then(Value::as_object_mut) {
        for items in hooks.values_mut().filter_map(Value::as_array_mut) {
            items.retain(|item| !is_our_hook(item));
        }
        hooks.retain(|_, items| *items != serde_json::json!([]));
        if hooks.is_empty() {
            fields.remove(HOOKS_KEY);
        }
    }
    value
}

impl SetupClient {
    /// Returns whether the client's user configuration has our hook; `false` if it cannot be read.
    pub fn has_hook(self, environment: &Environment) -> bool {
        is_removable(SetupPlan::undo_hook(environment, self, ClientFile::User))
    }
}
