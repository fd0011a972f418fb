//! Makes a setting in a settings file, and leaves everything else in it as it is.

use std::path::PathBuf;

use skillfold_core::{Error, Severity};
use skillfold_store::Access;
use toml_edit::{Array, DocumentMut, Item, Value};

use crate::environment::{Environment, SETTINGS_BYTES};
use crate::settings::key::{Key, ValueForm};
use crate::settings::layer::{Layer, PATHS, unknown};
use crate::settings::value::{RawValue, ValuePlace};
use crate::settings::{Origin, SettingFinding, root};
use crate::writable::{Writable, lock};

/// A settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsFile {
    /// The person's.
    User,
    /// The project's.
    Project,
}

/// Makes a setting in a file and returns the file's path. Comments and other settings stay as they are.
///
/// The value is written as for a variable; a list replaces the one that was there. What could not be followed is refused
/// with the reason, and the file stays as it is. Of two changes at once none is lost. A link on the way to a project's
/// file is refused.
pub fn write_setting(
    environment: &Environment,
    file: SettingsFile,
    key: &str,
    value: &str,
) -> Result<PathBuf, Error> {
    let (path, writable, origin, base) = match file {
        SettingsFile::Project if environment.home_dir() == Some(environment.project()) => {
            let why = "The project is your home; make the setting in your own file";
            return Err(Error::setting(key, why));
        }
        SettingsFile::Project => {
            let path = environment.project_settings();
            (
                path.clone(),
                Writable::below(environment.project(), &path)?,
                Origin::Project(path, 1),
                environment.project(),
            )
        }
        SettingsFile::User => {
            let path = environment
                .user_settings()
                .ok_or_else(|| Error::not_found("home"))?;
            (
                path.clone(),
                Writable::of_person(&path)?,
                Origin::User(path, 1),
                environment.directory(),
            )
        }
    };
    let place = ValuePlace {
        environment,
        base,
        origin,
        span: None,
        lines: None,
    };
    let item = checked(key, value, &place)?;
    let _lock = lock(environment)?;
    let old = writable.read(SETTINGS_BYTES)?;
    let text = writable.text(old.as_ref())?.unwrap_or_default();
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        Error::invalid(path.to_string_lossy(), error.message().trim().to_owned())
    })?;
    match document.get_mut(key) {
        Some(old) => replace(old, item),
        None => {
            document.insert(key, Item::Value(item));
        }
    }
    let mut bytes = document.to_string();
    if !bytes.ends_with('\n') {
        bytes.push('\n');
    }
    writable.write(old.as_ref(), bytes.as_bytes(), Access::Ordinary)?;
    Ok(path)
}

/// Puts a value in the place of another, with the comment that stands behind it.
fn replace(old: &mut Item, mut new: Value) {
    if let Some(value) = old.as_value() {
        *new.decor_mut() = value.decor().clone();
    }
    *old = Item::Value(new);
}

/// Returns a setting as it is written in a file, if it can be followed.
fn checked(name: &str, value: &str, place: &ValuePlace<'_>) -> Result<Value, Error> {
    let invalid =
        |finding: &SettingFinding| Error::setting("argument", finding.diagnostic.message.clone());
    let Some(key) = Key::find(name) else {
        return Err(invalid(&unknown(name, place)));
    };
    let mut layer = Layer::default();
    layer.set(name, RawValue::Text(value), place);
    let findings = layer.findings.iter();
    let mut errors = findings.filter(|finding| finding.diagnostic.severity == Severity::Error);
    match errors.next() {
        Some(finding) => Err(invalid(finding)),
        None => Ok(written(key, value, place)),
    }
}

/// Writes a value in the form that its key has in a file. A path of the person is written whole: the file stands elsewhere
/// than where it was typed.
fn written(key: &Key, value: &str, place: &ValuePlace<'_>) -> Value {
    let text = RawValue::Text(value);
    let list = |separator: char| {
        let entries = text.list(separator).unwrap_or_default();
        let entries = entries.into_iter().filter_map(|entry| entry.text().ok());
        entries.map(str::to_owned).collect::<Vec<String>>()
    };
    let array = |entries: Vec<String>| Value::Array(entries.into_iter().collect::<Array>());
    match key.kind {
        ValueForm::Words => array(list(',')),
        ValueForm::Paths | ValueForm::Roots if matches!(place.origin, Origin::Project(..)) => {
            array(list(PATHS))
        }
        ValueForm::Paths => {
            let path = |entry: String| place.environment.path(&entry, place.base);
            let paths = list(PATHS).into_iter().map(path);
            array(paths.map(|path| path.display().to_string()).collect())
        }
        ValueForm::Roots => {
            let roots = list(PATHS).into_iter();
            array(roots.map(|entry| root::whole(&entry, place)).collect())
        }
        ValueForm::Boolean => Value::from(text.boolean().unwrap_or_default()),
        ValueForm::Number => {
            Value::from(i64::try_from(text.number().unwrap_or_default()).unwrap_or(i64::MAX))
        }
        ValueForm::Word if value.contains(',') => array(list(',')),
        // What has this form cannot be written as text, and was refused.
        ValueForm::Word | ValueForm::Tables => Value::from(value.trim()),
    }
}
