//! Records what was added to configurations, so that removing it restores every byte.
//!
//! Only the added text is recorded, never what was there before: configurations contain secrets.

use std::path::Path;

use skillfold::Environment;
use skillfold::core::Error;
use skillfold_store::{Access, WriteTarget, other_format};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

/// Maximum size of the records file.
const MAX_RECORDS_BYTES: u64 = 1024 * 1024;

/// What was added to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The added text.
    pub(crate) inserted: String,
    /// Whether the file was created for it.
    pub(crate) added: Added,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    File,
    Entry,
}

/// Returns a file's record.
pub(crate) fn find(environment: &Environment, file: &Path) -> Option<Record> {
    let target = WriteTarget::for_user(&environment.state_folder()?.join(FILE)).ok()?;
    let saved = target.read(MAX_RECORDS_BYTES).ok()?;
    let document: DocumentMut = target.text(saved.as_ref()).ok()??.parse().ok()?;
    let records = document.get(KEY)?.as_array_of_tables()?;
    let record = records.iter().find(|record| is_for(record, file))?;
    Some(Record {
        inserted: record.get("inserted")?.as_str()?.to_owned(),
        added: match record.get("made")?.as_str()? {
            "file" => Added::File,
            _ => Added::Entry,
        },
    })
}

/// Checks that the records can be written: another version may have used another format.
pub(crate) fn check_format(environment: &Environment) -> Result<(), Error> {
    let Some(folder) = environment.state_folder() else {
        return Ok(());
    };
    let file = folder.join(FILE);
    let target = WriteTarget::for_user(&file)?;
    let existing = target.read(MAX_RECORDS_BYTES)?;
    let old = target.text(existing.as_ref()).ok().flatten();
    let Some(document) = old.and_then(|text| text.parse::<DocumentMut>().ok()) else {
        return Ok(());
    };
    let found = document.get("format").and_then(Item::as_integer);
    if found == Some(FORMAT) {
        return Ok(());
    }
    let found = found.map_or_else(|| "no format".to_owned(), |it| format!("format {it}"));
    let other = other_format(&found, &FORMAT.to_string());
    Err(Error::invalid(
        file.to_string_lossy(),
        format!("it {other}"),
    ))
}

/// Replaces a file's record, or deletes it if `record` is `None`. The caller holds the state lock, and has checked the
/// format.
pub(crate) fn save(
    environment: &Environment,
    file: &Path,
    record: Option<&Record>,
) -> Result<(), Error> {
    let (Some(folder), Some(name)) = (environment.state_folder(), file.to_str()) else {
        return Ok(());
    };
    let target = WriteTarget::for_user(&folder.join(FILE))?;
    let existing = target.read(MAX_RECORDS_BYTES)?;
    if existing.is_none() && record.is_none() {
        return Ok(());
    }
    // Losing records does no harm, so an unparsable file is replaced.
    let old = target.text(existing.as_ref()).ok().flatten();
    let mut document: DocumentMut = old.unwrap_or_default().parse().unwrap_or_default();
    document["format"] = toml_edit::value(FORMAT);
    let records = document
        .entry(KEY)
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    if !records.is_array_of_tables() {
        *records = Item::ArrayOfTables(ArrayOfTables::new());
    }
    if let Some(records) = records.as_array_of_tables_mut() {
        records.retain(|record| !is_for(record, file));
        if let Some(record) = record {
            let mut table = Table::new();
            table["file"] = toml_edit::value(name);
            table["made"] = toml_edit::value(match record.added {
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
    target.write(existing.as_ref(), new.as_bytes(), Access::Ordinary)
}

const FILE: &str = "setup.toml";
/// The file format this version reads and writes.
const FORMAT: i64 = 1;
const KEY: &str = "setup";

fn is_for(record: &Table, file: &Path) -> bool {
    let name = record.get("file").and_then(Item::as_str);
    name.map(Path::new) == Some(file)
}
