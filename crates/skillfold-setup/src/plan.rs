//! A plan changes nothing yet: it has the text before and after the change. The new text is parsed again and must
//! contain exactly what the old one contained, plus the entry; otherwise there is no plan.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skillfold::Environment;
use skillfold::core::text::common_prefix;
use skillfold::core::{Error, Refusal};
use skillfold_store::{Access, ReadFile, WriteTarget, lock_state};

use crate::client::{ClientFile, Format, SetupClient};
use crate::entry::{Entry, NAME, SyntaxFault, entry_at, with_entry};
use crate::hook::{HOOKS_KEY, has_other_hook, hook_command, is_our_hook};
use crate::record::{Added, Record};
use crate::{json, record, toml, yaml};

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
    record: Option<Record>,
    /// Whether it concerns the hook, which needs no record.
    is_hook: bool,
    /// The values written by `setup` that this plan removes.
    own_values: BTreeSet<String>,
}

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
                edit(client, Edit::Replace(&entry), &text, keys)
            }
            None => {
                plan.change = SetupChange::Added;
                edit(client, Edit::Insert(&entry), &text, keys)
            }
        };
        let after = plan.with_location(after)?;
        if parse(client, &after).ok() != Some(with_entry(&value, keys, NAME, &wanted)) {
            return Err(plan.unsafe_edit());
        }
        let added = if plan.before.is_some() {
            Added::Entry
        } else {
            Added::File
        };
        plan.record = inserted_text(&text, &after).map(|inserted| Record { inserted, added });
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
        plan.change = match our_command(existing) {
            Some(command) => {
                let entry = client.entry(file, command).value();
                collect_values(&entry, &mut plan.own_values);
                SetupChange::Removed
            }
            None => SetupChange::RemovedOther,
        };
        let is_good = |after: &str| {
            parse(client, after).is_ok_and(|left| {
                entry_at(&left, client.server_keys(&left), NAME).is_none()
                    && with_entry(&left, keys, NAME, existing) == value
            })
        };
        if let Some(record) = record::find(environment, &plan.file)
            && text.matches(&record.inserted).count() == 1
        {
            let after = text.replace(&record.inserted, "");
            if after.is_empty() && record.added == Added::File {
                plan.after = None;
                return Ok(plan);
            }
            if is_good(&after) {
                plan.after = Some(after);
                return Ok(plan);
            }
        }
        let after = plan.with_location(edit(client, Edit::Remove, &text, keys))?;
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
        Self::open_file(environment, client, file, path)
    }

    fn open_file(
        environment: &Environment,
        client: SetupClient,
        file: ClientFile,
        path: PathBuf,
    ) -> Result<Self, Error> {
        let (path, target) = match file {
            ClientFile::User => {
                let path = follow_links(path);
                (path.clone(), WriteTarget::for_user(&path)?)
            }
            ClientFile::Project => (
                path.clone(),
                WriteTarget::within(environment.project(), &path)?,
            ),
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
            record: None,
            is_hook: false,
            own_values: BTreeSet::new(),
        })
    }

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
        let before = plan.before.clone().unwrap_or_default();
        let is_blank = ["", "{}"].contains(&before.trim());
        let mut text = if is_blank && !client.hook_file_start().is_empty() {
            client.hook_file_start().to_owned()
        } else {
            before
        };
        let mut wanted = plan.with_location(json::value(&text))?;
        // New ones go before the others.
        for (event, entry) in client.hook_entries(command).into_iter().rev() {
            plan.check_groups(&wanted, event)?;
            let path = [HOOKS_KEY, event];
            if hook_items(&wanted, event).contains(&entry) {
                continue;
            }
            for index in our_indices(&wanted, event) {
                text = plan.with_location(json::remove_item(&text, &path, index))?;
            }
            text = plan.with_location(json::append_item(&text, &path, &entry))?;
            // Our own entry with another version or path may be replaced.
            plan.change = SetupChange::Added;
            wanted = with_hook(&wanted, event, entry);
        }
        if plan.with_location(json::value(&text))? != wanted {
            return Err(plan.unsafe_edit());
        }
        if plan.change == SetupChange::Nothing {
            return Ok(plan);
        }
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
        let Some(mut text) = plan.before.clone() else {
            return Ok(plan);
        };
        let before = plan.with_location(json::value(&text))?;
        for (event, _) in client.hook_entries("") {
            plan.check_groups(&before, event)?;
            let value = plan.with_location(json::value(&text))?;
            let ours = hook_items(&value, event).iter();
            for command in ours.filter_map(hook_command) {
                let entries = client.hook_entries(&command).into_iter();
                entries.for_each(|(_, entry)| collect_values(&entry, &mut plan.own_values));
            }
            for index in our_indices(&value, event) {
                text = plan.with_location(json::remove_item(&text, &[HOOKS_KEY, event], index))?;
                plan.change = SetupChange::Removed;
            }
        }
        let value = plan.with_location(json::value(&text))?;
        if value
            .get(HOOKS_KEY)
            .is_some_and(|hooks| *hooks == serde_json::json!({}))
        {
            text = plan.with_location(json::remove(&text, &[], HOOKS_KEY))?;
        }
        if plan.change == SetupChange::Nothing {
            return Ok(plan);
        }
        if without_hooks(&plan.with_location(json::value(&text))?) != without_hooks(&before) {
            return Err(plan.unsafe_edit());
        }
        // A file with only our hooks is removed. Comments count as content.
        let start = client.hook_file_start();
        let blank = |text: &str| text.split_whitespace().collect::<String>();
        let is_blank = [String::new(), "{}".to_owned(), blank(start)].contains(&blank(&text));
        plan.after = (!is_blank).then_some(text);
        Ok(plan)
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
        let mut plan = Self::open_file(environment, client, file, path)?;
        plan.is_hook = true;
        Ok(plan)
    }

    /// Returns the client.
    pub fn client(&self) -> SetupClient {
        self.client
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
        let value = if self.is_hook {
            json::value(text)
        } else {
            parse(self.client, text)
        };
        let mut names = BTreeSet::new();
        if let Ok(value) = value {
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
        if self.change == SetupChange::Nothing {
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
        if self.record.is_some() || !self.is_hook {
            record::check_format(&self.environment)?;
        }
        if self.record.is_some() {
            record::save(&self.environment, &self.file, self.record.as_ref())?;
        }
        match (&now, &self.after) {
            (now, Some(after)) => {
                let (old, new) = (now.as_ref(), after.as_bytes());
                self.target.write(old, new, Access::Ordinary)?;
            }
            (Some(old), None) => self.target.remove(old)?,
            (None, None) => {}
        }
        if self.record.is_none() && !self.is_hook {
            record::save(&self.environment, &self.file, None)?;
        }
        Ok(())
    }

    /// Parses the current text, and returns its value and the key path to the servers.
    fn parse_before(&self) -> Result<(Value, &'static [&'static str]), Error> {
        let text = self.before.as_deref().unwrap_or_default();
        let value = self.with_location(parse(self.client, text))?;
        let keys = self.client.server_keys(&value);
        Ok((value, keys))
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

impl SetupClient {
    /// Returns whether the client's user configuration has a server `skillfold`; `false` if it cannot be read.
    pub fn has_server(self, environment: &Environment) -> bool {
        is_removable(SetupPlan::undo(environment, self, ClientFile::User))
    }

    /// Returns whether the client's user configuration has our hook; `false` if it cannot be read.
    pub fn has_hook(self, environment: &Environment) -> bool {
        is_removable(SetupPlan::undo_hook(environment, self, ClientFile::User))
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

/// Resolves links in a path, if it exists.
#[expect(
    clippy::disallowed_methods,
    reason = "dotfile managers link a user's own files; the store opens the result without following a link"
)]
fn follow_links(path: PathBuf) -> PathBuf {
    std::fs::canonicalize(&path).unwrap_or(path)
}

/// An edit to a configuration's text.
enum Edit<'a> {
    Insert(&'a Entry),
    Replace(&'a Entry),
    Remove,
}

fn edit(
    client: SetupClient,
    edit: Edit<'_>,
    text: &str,
    keys: &[&str],
) -> Result<String, SyntaxFault> {
    let key = keys.first().copied().unwrap_or_default();
    match (client.format(), edit) {
        (Format::Json, Edit::Insert(entry)) => json::insert(text, keys, NAME, entry),
        (Format::Json, Edit::Replace(entry)) => json::replace(text, keys, NAME, entry),
        (Format::Json, Edit::Remove) => json::remove(text, keys, NAME),
        (Format::Toml, Edit::Insert(entry)) => toml::insert(text, key, NAME, entry),
        (Format::Toml, Edit::Replace(entry)) => toml::replace(text, key, NAME, entry),
        (Format::Toml, Edit::Remove) => toml::remove(text, key, NAME),
        (Format::Yaml, Edit::Insert(entry)) => yaml::insert(text, key, NAME, entry),
        (Format::Yaml, Edit::Replace(entry)) => yaml::replace(text, key, NAME, entry),
        (Format::Yaml, Edit::Remove) => yaml::remove(text, key, NAME),
    }
}

fn parse(client: SetupClient, text: &str) -> Result<Value, SyntaxFault> {
    let value = match client.format() {
        Format::Json => json::value(text),
        Format::Toml => toml::value(text),
        Format::Yaml => yaml::value(text),
    }?;
    match value {
        Value::Null | Value::Object(_) => Ok(value),
        _ => Err(SyntaxFault::new(0, "Expected an object")),
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

/// Returns the inserted text if `before` and `after` differ by one insertion.
fn inserted_text(before: &str, after: &str) -> Option<String> {
    let start = common_prefix(after, before).len();
    let rest = before.len() - start;
    let end = after.len().checked_sub(rest)?;
    let is_whole = start <= end && after.get(end..) == before.get(start..);
    is_whole.then(|| after[start..end].to_owned())
}
