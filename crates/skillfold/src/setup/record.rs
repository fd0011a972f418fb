//! What was put into configurations, so that taking it out again gives back every byte.
//!
//! Only what was added is kept, never what was there: configurations have secrets in them.

use std::path::Path;

use skillfold_core::Error;
use skillfold_store::Access;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

use crate::environment::{Environment, SETTINGS_BYTES, read_settings};
use crate::writable::Writable;

/// What was added to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The text, whole.
    pub(super) inserted: String,
    /// Whether the file was made for it.
    pub(super) made: Added,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    File,
    Entry,
}

/// Returns what was added to a file, if that is known.
pub(super) fn look_up(environment: &Environment, file: &Path) -> Option<Record> {
    let path = environment.state()?.join(FILE);
    let document: DocumentMut = read_settings(&path).ok()??.parse().ok()?;
    let records = document.get(KEY)?.as_array_of_tables()?;
    let record = records.iter().find(|record| is_of(record, file))?;
    Some(Record {
        inserted: record.get("inserted")?.as_str()?.to_owned(),
        made: match record.get("made")?.as_str()? {
            "file" => Added::File,
            _ => Added::Entry,
        },
    })
}

/// Keeps what was added to a file, in the place of what was kept before; or nothing any more. The caller has the lock.
pub(super) fn keep(
    environment: &Environment,
    file: &Path,
    record: Option<&Record>,
) -> Result<(), Error> {
    let (Some(folder), Some(name)) = (environment.state(), file.to_str()) else {
        return Ok(());
    };
    let writable = Writable::of_person(&folder.join(FILE))?;
    let existing = writable.read(SETTINGS_BYTES)?;
    if existing.is_none() && record.is_none() {
        return Ok(());
    }
    // It is a memory, and losable: what cannot be understood is begun anew.
    let old = writable.text(existing.as_ref()).ok().flatten();
    let mut document: DocumentMut = old.unwrap_or_default().parse().unwrap_or_default();
    let records = document
        .entry(KEY)
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    if !records.is_array_of_tables() {
        *records = Item::ArrayOfTables(ArrayOfTables::new());
    }
    if let Some(records) = records.as_array_of_tables_mut() {
        records.retain(|record| !is_of(record, file));
        if let Some(record) = record {
            let mut table = Table::new();
            table["file"] = toml_edit::value(name);
            table["made"] = toml_edit::value(match record.made {
                Added::File => "file",
                Added::Entry => "entry",
            });
            table["inserted"] = toml_edit::value(&*record.inserted);
            records.push(table);
        }
    }
    let new = document.to_string();
    if old == Some(&*new) {
        return Ok(());
    }
    writable.write(existing.as_ref(), new.as_bytes(), Access::Ordinary)
}

const FILE: &str = "setup.toml";
const KEY: &str = "setup";

fn is_of(record: &Table, file: &Path) -> bool {
    let name = record.get("file").and_then(Item::as_str);
    name.map(Path::new) == Some(file)
}
