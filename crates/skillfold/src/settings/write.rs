//! Changes a setting in a settings file and leaves everything else in it unchanged.

use std::path::{Path, PathBuf};

use skillfold_core::Error;
use skillfold_core::diagnostic::Severity;
use skillfold_store::{Access, WriteTarget, lock_state};
use toml_edit::{Array, DocumentMut, Item, Value};

use crate::environment::{Environment, MAX_SETTINGS_BYTES};
use crate::settings::key::{Key, Layer};
use crate::settings::layer::{PATH_SEPARATOR, unknown_key};
use crate::settings::root;
use crate::settings::setting::{Origin, SettingFinding, setting_error};
use crate::settings::value::{RawValue, ValueContext, ValueForm};

/// A settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsFile {
    /// The user's file.
    User,
    /// The project's file.
    Project,
}

/// Writes a setting to a file and returns the file's path. Comments and other settings are preserved.
///
/// The value has the form that it has in a variable; a list replaces the existing one. An invalid value is refused with
/// the reason, and the file is left unchanged. Concurrent changes are not lost. A link on the way to a project's file
/// is refused.
pub fn write_setting(
    environment: &Environment,
    file: SettingsFile,
    key: &str,
    value: &str,
) -> Result<PathBuf, Error> {
    let place = place(environment, file, key)?;
    let context = ValueContext::new(environment, place.base, place.origin.clone());
    let item = check_value(key, value, &context)?;
    place.change(environment, |document| match document.get_mut(key) {
        Some(old) => replace_value(old, item),
        None => {
            document.insert(key, Item::Value(item));
        }
    })?;
    Ok(place.path)
}

/// Removes a setting from a file and returns the file's path; `None` if the file does not have it. Other settings and
/// their comments are preserved.
pub fn remove_setting(
    environment: &Environment,
    file: SettingsFile,
    key: &str,
) -> Result<Option<PathBuf>, Error> {
    let place = place(environment, file, key)?;
    if Key::find(key).is_none() {
        let context = ValueContext::new(environment, place.base, place.origin);
        let finding = unknown_key(key, &context);
        return Err(setting_error("argument", &finding.diagnostic.message));
    }
    let mut is_removed = false;
    place.change(environment, |document| {
        is_removed = document.remove(key).is_some();
    })?;
    Ok(is_removed.then_some(place.path))
}

/// What a new settings file says.
const NEW_SETTINGS: &str = "\
# Skillfold settings. `skillfold config` shows them all, `skillfold config set KEY VALUE` writes one.
# A project's file applies only to the project's own skills.
";

/// Creates a settings file without settings; returns whether it did not exist.
pub fn create_settings(environment: &Environment, file: SettingsFile) -> Result<bool, Error> {
    let place = place(environment, file, "settings")?;
    let _lock = lock_state(environment.state_folder().as_deref())?;
    if place.target.read(MAX_SETTINGS_BYTES)?.is_some() {
        return Ok(false);
    }
    place
        .target
        .write(None, NEW_SETTINGS.as_bytes(), Access::Ordinary)?;
    Ok(true)
}

/// A settings file that can be changed.
struct Place<'e> {
    path: PathBuf,
    target: WriteTarget,
    origin: Origin,
    /// Where relative paths in it start.
    base: &'e Path,
}

fn place<'e>(
    environment: &'e Environment,
    file: SettingsFile,
    key: &str,
) -> Result<Place<'e>, Error> {
    match file {
        SettingsFile::Project if environment.home_dir() == Some(environment.project()) => {
            let why = "The project is your home; make the setting in your own file";
            Err(setting_error(key, why))
        }
        SettingsFile::Project => {
            let path = environment.project_settings();
            Ok(Place {
                target: WriteTarget::within(environment.project(), &path)?,
                origin: Origin::Project(path.clone(), 1),
                base: environment.project(),
                path,
            })
        }
        SettingsFile::User => {
            let path = environment
                .user_settings()
                .ok_or_else(|| Error::not_found("home"))?;
            Ok(Place {
                target: WriteTarget::for_user(&path)?,
                origin: Origin::User(path.clone(), 1),
                base: environment.directory(),
                path,
            })
        }
    }
}

impl Place<'_> {
    /// Changes the file's document; the file is left as it is if that changes nothing.
    fn change(
        &self,
        environment: &Environment,
        edit: impl FnOnce(&mut DocumentMut),
    ) -> Result<(), Error> {
        let _lock = lock_state(environment.state_folder().as_deref())?;
        let old = self.target.read(MAX_SETTINGS_BYTES)?;
        let text = self.target.text(old.as_ref())?.unwrap_or_default();
        let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            Error::invalid(self.path.to_string_lossy(), error.message().trim())
        })?;
        edit(&mut document);
        let mut new = document.to_string();
        if new == text {
            return Ok(());
        }
        if !new.ends_with('\n') {
            new.push('\n');
        }
        self.target
            .write(old.as_ref(), new.as_bytes(), Access::Ordinary)
    }
}

/// Replaces a value and keeps the comment after it.
fn replace_value(old: &mut Item, mut new: Value) {
    if let Some(value) = old.as_value() {
        *new.decor_mut() = value.decor().clone();
    }
    *old = Item::Value(new);
}

/// Checks a setting and returns its TOML value.
fn check_value(name: &str, value: &str, context: &ValueContext<'_>) -> Result<Value, Error> {
    let invalid = |finding: &SettingFinding| setting_error("argument", &finding.diagnostic.message);
    let Some(key) = Key::find(name) else {
        return Err(invalid(&unknown_key(name, context)));
    };
    let mut layer = Layer::default();
    layer.set(name, RawValue::Text(value), context);
    let mut errors = layer
        .findings
        .iter()
        .filter(|finding| finding.diagnostic.severity == Severity::Error);
    match errors.next() {
        Some(finding) => Err(invalid(finding)),
        None => Ok(to_toml(key, value, context)),
    }
}

/// Converts a value to TOML in the form of its key. Paths for the user's file become absolute, because the file is not
/// in the folder where they were typed.
fn to_toml(key: &Key, value: &str, context: &ValueContext<'_>) -> Value {
    let text = RawValue::Text(value);
    let list = |separator: char| {
        let entries = text.list(separator).unwrap_or_default();
        let entries = entries.into_iter().filter_map(|entry| entry.text().ok());
        entries.map(str::to_owned).collect::<Vec<String>>()
    };
    let array = |entries: Vec<String>| Value::Array(entries.into_iter().collect::<Array>());
    match key.form {
        ValueForm::Words => array(list(',')),
        ValueForm::Paths | ValueForm::Roots if matches!(context.origin, Origin::Project(..)) => {
            array(list(PATH_SEPARATOR))
        }
        ValueForm::Paths => {
            let path = |entry: String| context.environment.expand_path(&entry, context.base);
            let paths = list(PATH_SEPARATOR).into_iter().map(path);
            array(paths.map(|path| path.display().to_string()).collect())
        }
        ValueForm::Roots => {
            let roots = list(PATH_SEPARATOR).into_iter();
            array(
                roots
                    .map(|entry| root::to_absolute(&entry, context))
                    .collect(),
            )
        }
        ValueForm::Boolean => Value::from(text.boolean().unwrap_or_default()),
        ValueForm::Number => {
            Value::from(i64::try_from(text.number().unwrap_or_default()).unwrap_or(i64::MAX))
        }
        ValueForm::Word if value.contains(',') => array(list(',')),
        // Tables cannot be written as text and were refused before.
        ValueForm::Word | ValueForm::Tables => Value::from(value.trim()),
    }
}
