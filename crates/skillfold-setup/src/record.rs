//! Records what was added to configurations, so that removing it restores every byte.
//!
//! Only the added text is recorded, never what was there before: configurations contain secrets.

use std::path::{Path, PathBuf};

use skillfold::Environment;
use skillfold::core::Error;
use skillfold_store::{Access, WriteTarget, other_format};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

use crate::client::{ClientFile, SetupClient, follow_links};

/// Maximum size of the records file.
const MAX_RECORDS_BYTES: u64 = 1024 * 1024;

/// A part of what is set up in a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetupPart {
    /// The server.
    Server,
    /// The hook.
    Hook,
    /// The setting that turns off the client's own list of skills.
    List,
}

impl SetupPart {
    /// Returns its name in messages, in the JSON view and in the records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Hook => "hook",
            Self::List => "list",
        }
    }
}

/// What was added to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) client: SetupClient,
    pub(crate) part: SetupPart,
    /// The added texts, each in one place; none if a text was replaced.
    pub(crate) inserted: Vec<String>,
    /// Whether the file was created for it.
    pub(crate) added: Added,
    /// The skills that were turned off.
    pub(crate) names: Vec<String>,
    /// The skills that were turned off before. An editor that had the file open may bring their names back.
    pub(crate) earlier: Vec<String>,
    /// The setting that was replaced, as JSON.
    pub(crate) replaced: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    File,
    Entry,
}

/// Returns the record of a part in a file.
pub(crate) fn find(environment: &Environment, file: &Path, part: SetupPart) -> Option<Record> {
    let mut records = all(environment).into_iter();
    records.find_map(|(path, record)| (path == file && record.part == part).then_some(record))
}

/// Returns all records, each with its file.
pub(crate) fn all(environment: &Environment) -> Vec<(PathBuf, Record)> {
    read_all(environment).unwrap_or_default()
}

fn read_all(environment: &Environment) -> Option<Vec<(PathBuf, Record)>> {
    let target = WriteTarget::for_user(&environment.state_folder()?.join(FILE)).ok()?;
    let saved = target.read(MAX_RECORDS_BYTES).ok()?;
    let document: DocumentMut = target.text(saved.as_ref()).ok()??.parse().ok()?;
    let records = document.get(KEY)?.as_array_of_tables()?;
    let parsed = records.iter().filter_map(|table| parse(environment, table));
    Some(parsed.collect())
}

fn parse(environment: &Environment, table: &Table) -> Option<(PathBuf, Record)> {
    let text = |key: &str| table.get(key).and_then(Item::as_str);
    let parts = [SetupPart::Server, SetupPart::Hook, SetupPart::List];
    let texts = |key: &str| -> Vec<String> {
        let items = table.get(key).and_then(Item::as_array).into_iter();
        let texts = items.flatten().filter_map(|item| item.as_str());
        texts.map(str::to_owned).collect()
    };
    let file = PathBuf::from(text("file")?);
    let record = Record {
        client: match text("client") {
            Some(client) => client.parse().ok()?,
            None => client_of(environment, &file)?,
        },
        part: parts
            .into_iter()
            .find(|part| part_name(table) == Some(part.name()))?,
        inserted: match text("inserted") {
            Some("") => Vec::new(),
            Some(inserted) => vec![inserted.to_owned()],
            None => texts("inserted"),
        },
        added: match text("made")? {
            "file" => Added::File,
            _ => Added::Entry,
        },
        names: texts("names"),
        earlier: texts("earlier"),
        replaced: text("replaced").map(str::to_owned),
    };
    Some((file, record))
}

/// Returns the name of a record's part. The first version recorded servers only, without a part or a client.
fn part_name(table: &Table) -> Option<&str> {
    match table.get("part") {
        Some(part) => part.as_str(),
        None => Some(SetupPart::Server.name()),
    }
}

/// Returns the client whose servers are in a file.
fn client_of(environment: &Environment, file: &Path) -> Option<SetupClient> {
    SetupClient::ALL.into_iter().find(|client| {
        let is_its = |which| {
            let path = client.file(environment, which);
            path.is_ok_and(|path| path == file || follow_links(path) == file)
        };
        is_its(ClientFile::User) || is_its(ClientFile::Project)
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
    if found.is_some_and(|found| READ_FORMATS.contains(&found)) {
        return Ok(());
    }
    let found = found.map_or_else(|| "no format".to_owned(), |it| format!("format {it}"));
    let other = other_format(&found, &FORMAT.to_string());
    Err(Error::invalid(
        file.to_string_lossy(),
        format!("it {other}"),
    ))
}

/// Replaces the record of a part in a file, or deletes it if `record` is `None`. The caller holds the state lock, and has
/// checked the format.
pub(crate) fn save(
    environment: &Environment,
    file: &Path,
    part: SetupPart,
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
        let is_same = |table: &Table| {
            let text = |key: &str| table.get(key).and_then(Item::as_str);
            text("file") == Some(name) && part_name(table) == Some(part.name())
        };
        records.retain(|table| !is_same(table));
        records.extend(record.map(|record| table(name, record)));
    }
    let new = document.to_string();
    if old == Some(&*new) {
        return Ok(());
    }
    target.write(existing.as_ref(), new.as_bytes(), Access::Ordinary)
}

fn table(file: &str, record: &Record) -> Table {
    let mut table = Table::new();
    table["file"] = toml_edit::value(file);
    table["client"] = toml_edit::value(record.client.name());
    table["part"] = toml_edit::value(record.part.name());
    table["made"] = toml_edit::value(match record.added {
        Added::File => "file",
        Added::Entry => "entry",
    });
    table["inserted"] = match &*record.inserted {
        [] => toml_edit::value(""),
        [inserted] => toml_edit::value(inserted),
        inserted => toml_edit::value(toml_edit::Array::from_iter(inserted)),
    };
    for (key, names) in [("names", &record.names), ("earlier", &record.earlier)] {
        if !names.is_empty() {
            table[key] = toml_edit::value(toml_edit::Array::from_iter(names));
        }
    }
    if let Some(replaced) = &record.replaced {
        table["replaced"] = toml_edit::value(replaced);
    }
    table
}

/// Returns the file that says how to undo everything by hand.
pub(crate) fn restore_file(environment: &Environment) -> Option<PathBuf> {
    Some(environment.state_folder()?.join("restore.txt"))
}

/// Writes how to undo everything by hand. The caller holds the state lock.
pub(crate) fn write_restore_file(environment: &Environment) -> Result<(), Error> {
    let Some(file) = restore_file(environment) else {
        return Ok(());
    };
    let target = WriteTarget::for_user(&file)?;
    let existing = target.read(MAX_RECORDS_BYTES)?;
    let records = all(environment);
    if records.is_empty() {
        return existing.map_or(Ok(()), |old| target.remove(&old));
    }
    let mut text =
        "What `skillfold setup` added. If Skillfold is gone, undo it by hand. In JSON, also remove a comma that is left over.\n".to_owned();
    for (file, record) in records {
        let file = file.display();
        let what = match (
            &*record.inserted,
            &record.replaced,
            record.client.list_switch(),
        ) {
            (_, Some(old), Some(switch)) => {
                format!("In {file}, set `{}` to {old}.\n", switch.keys.join("."))
            }
            ([], ..) => format!("In {file}, take out: {}\n", record.names.join(", ")),
            (inserted, ..) => {
                let inserted = inserted.iter().map(|text| shown(text, record.added));
                let text = inserted.collect::<Vec<_>>().join("\n\nand:\n\n");
                let rest = match record.added {
                    Added::File => ", and delete it if nothing else is in it",
                    Added::Entry => "",
                };
                format!("In {file}, take out the following{rest}:\n\n{text}\n")
            }
        };
        let (client, part) = (record.client.title(), record.part.name());
        text += &["\n== ", client, ": ", part, "\n", &what].concat();
    }
    target.write(existing.as_ref(), text.as_bytes(), Access::Ordinary)
}

/// Returns an inserted text as it is shown to the user: of a whole JSON file what is between the braces, as there may be more
/// in it now.
fn shown(inserted: &str, added: Added) -> &str {
    let text = inserted.trim_matches(['\n', '\r']);
    let inside = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    match (added, inside) {
        (Added::File, Some(inside)) => inside.trim_matches(['\n', '\r']),
        _ => text,
    }
}

const FILE: &str = "setup.toml";
/// The file format this version writes.
const FORMAT: i64 = 2;
/// The file formats this version reads. Without the records of the first, what it added could not be restored to the byte.
const READ_FORMATS: [i64; 2] = [1, FORMAT];
const KEY: &str = "setup";
