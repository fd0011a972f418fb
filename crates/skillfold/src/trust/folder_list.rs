//! A list of folders in the user's state folder: trusted folders, trusted skills.
//!
//! It is a TOML file with `format` and one `[[folder]]` for each entry. A program writes it, and the user may read and edit it. A
//! list of another format, that another user owns, or that others may write to, decides nothing. So does an entry with a key that
//! this version does not know: a later version may have used it to narrow the entry.

#[cfg(feature = "store")]
use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use skillfold_core::Code;
use skillfold_core::diagnostic::visible;
#[cfg(feature = "store")]
use skillfold_core::{Error, Refusal};
#[cfg(feature = "store")]
use skillfold_store::{Access, Operation, Store, WriteTarget, lock_state};
use toml::Spanned;

#[cfg(feature = "store")]
use crate::environment::now;
use crate::environment::{Environment, other_writer, read_user_file};
use crate::settings::{Origin, SettingFinding, finding};

/// Maximum size of a list.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum folders in a list.
const MAX_FOLDERS: usize = 50_000;

/// An entry of a list.
pub(crate) trait FolderRecord: DeserializeOwned {
    /// The number of the list's format.
    type Format: DeserializeOwned + Serialize + Default;

    /// The name of the list in messages, such as `List of trusted folders`.
    const LIST: &'static str;

    /// The comment at the top of a new list.
    #[cfg(feature = "store")]
    const HEADER: &'static str;

    /// Returns the path of the list; `None` without a home.
    fn list_file(environment: &Environment) -> Option<PathBuf>;

    /// Returns the path of the folder.
    fn path(&self) -> &Path;
}

/// The file of a list, and what was in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListFile {
    pub(crate) path: Option<PathBuf>,
    /// The text when it was read, or why it is not used.
    text: Option<Result<String, String>>,
}

impl ListFile {
    /// Returns whether the file is still what was read. A file that can no longer be read counts as absent.
    pub(crate) fn is_unchanged(&self) -> bool {
        let read = |file: &PathBuf| read_list(file).ok().flatten();
        self.path.as_ref().and_then(read) == self.text
    }
}

/// A list that was read.
#[derive(Debug)]
pub(crate) struct FolderList<R> {
    pub(crate) file: ListFile,
    /// The entries, each with its place in the file.
    pub(crate) entries: Vec<(R, Origin)>,
    pub(crate) findings: Vec<SettingFinding>,
}

/// What a list of any format has.
#[derive(serde::Deserialize)]
struct ListHead<F> {
    #[serde(rename = "format")]
    _format: F,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ListTable<F> {
    #[serde(rename = "format")]
    _format: F,
    #[serde(default)]
    folder: Vec<Spanned<toml::Value>>,
}

/// Returns the text of a list, or why it is unsafe to use. `None` if there is no list.
fn read_list(file: &Path) -> io::Result<Option<Result<String, String>>> {
    let text = read_user_file(file, MAX_BYTES)?;
    Ok(text.map(|text| other_writer(file).map_or(Ok(text), Err)))
}

impl<R: FolderRecord> FolderList<R> {
    /// Reads the list. Invalid entries are left out and reported in the findings.
    pub(crate) fn load(environment: &Environment) -> Self {
        let mut list = Self {
            file: ListFile {
                path: R::list_file(environment),
                text: None,
            },
            entries: Vec::new(),
            findings: Vec::new(),
        };
        let Some(file) = list.file.path.clone() else {
            return list;
        };
        match read_list(&file) {
            Ok(text) => list.file.text = text,
            Err(error) => list.report_unreadable(&file, 1, &error.to_string()),
        }
        match list.file.text.clone() {
            None => {}
            Some(Ok(text)) => list.parse(&file, &text),
            Some(Err(why)) => {
                let message = format!("{} is not used: {why}", R::LIST);
                let origin = Origin::List(file, 1);
                list.findings
                    .push(finding(Code::TrustListUnsafe, &origin, None, message));
            }
        }
        list
    }

    fn parse(&mut self, file: &Path, text: &str) {
        let line_at = line_counter(text);
        let head = toml::from_str::<ListHead<R::Format>>(text);
        let table = match head.and_then(|_| toml::from_str::<ListTable<R::Format>>(text)) {
            Ok(table) => table,
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                return self.report_unreadable(file, line_at(start), error.message());
            }
        };
        if table.folder.len() > MAX_FOLDERS {
            let why = format!("it has more than {MAX_FOLDERS} folders, and the rest are ignored");
            self.report_unreadable(file, 1, &why);
        }
        for folder in table.folder.into_iter().take(MAX_FOLDERS) {
            let line = line_at(folder.span().start);
            match folder.into_inner().try_into::<R>() {
                Ok(record) if record.path().is_absolute() => {
                    let origin = Origin::List(file.to_owned(), line);
                    self.entries.push((record, origin));
                }
                Ok(_) => self.report_unreadable(file, line, "its path is not absolute"),
                Err(error) => self.report_unreadable(file, line, error.message()),
            }
        }
    }

    fn report_unreadable(&mut self, file: &Path, line: u32, why: &str) {
        let message = format!("{} cannot be parsed: {}", R::LIST, visible(why.trim()));
        let origin = Origin::List(file.to_owned(), line);
        self.findings
            .push(finding(Code::TrustUnreadable, &origin, None, message));
    }
}

/// Returns a function from offsets in a text to lines. A list may be long, so the lines are counted once.
fn line_counter(text: &str) -> impl Fn(usize) -> u32 {
    let ends = text.bytes().enumerate();
    let ends: Vec<usize> = ends
        .filter_map(|(at, byte)| (byte == b'\n').then_some(at))
        .collect();
    move |offset| {
        let before = ends.partition_point(|end| *end < offset);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

/// Whether an edit changed the list.
#[cfg(feature = "store")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListEdit {
    Changed,
    Unchanged,
}

/// Adds an entry in the place of one for the same folder.
#[cfg(feature = "store")]
pub(crate) fn put_entry<R: FolderRecord>(
    environment: &Environment,
    act: Operation,
    entry: toml_edit::Table,
) -> Result<(), Error> {
    edit_list::<R>(environment, act, |folders| {
        folders.retain(|known| path_of(known) != path_of(&entry));
        folders.push(entry);
        ListEdit::Changed
    })?;
    Ok(())
}

/// Removes the entry of a folder. Fails if it is not in the list.
#[cfg(feature = "store")]
pub(crate) fn remove_entry<R: FolderRecord>(
    environment: &Environment,
    act: Operation,
    folder: &Path,
) -> Result<(), Error> {
    let not_found = || Error::not_found(folder.to_string_lossy());
    if !R::list_file(environment).is_some_and(|list| list.exists()) {
        return Err(not_found());
    }
    let change = edit_list::<R>(environment, act, |folders| {
        let before = folders.len();
        folders.retain(|entry| path_of(entry).map(Path::new) != Some(folder));
        if folders.len() < before {
            ListEdit::Changed
        } else {
            ListEdit::Unchanged
        }
    })?;
    match change {
        ListEdit::Changed => Ok(()),
        ListEdit::Unchanged => Err(not_found()),
    }
}

/// Returns the path of an entry.
#[cfg(feature = "store")]
pub(crate) fn path_of(table: &toml_edit::Table) -> Option<&str> {
    table.get("path")?.as_str()
}

/// Edits a list in its file and leaves everything else there unchanged, and writes to the log what was done. Concurrent edits
/// are not lost. Only the user can access the file and its folder afterwards.
#[cfg(feature = "store")]
pub(crate) fn edit_list<R: FolderRecord>(
    environment: &Environment,
    act: Operation,
    edit: impl FnOnce(&mut toml_edit::ArrayOfTables) -> ListEdit,
) -> Result<ListEdit, Error> {
    let file = R::list_file(environment).ok_or_else(|| Error::not_found("home"))?;
    let invalid = |why: &str| Error::invalid(file.to_string_lossy(), why.trim());
    // Entries that others added must not become the user's decisions.
    if file.exists() && other_writer(&file).is_some() {
        let rule = "It belongs to another user or is writable by others; fix the folder and the file with `chown` and \
                    `chmod go-w`, then check its content";
        return Err(Error::refused(file.to_string_lossy(), Refusal::Write, rule));
    }
    let target = WriteTarget::for_user(&file)?;
    let _lock = lock_state(environment.state_folder().as_deref())?;
    let old = target.read(MAX_BYTES)?;
    let text = target.text(old.as_ref())?;
    if let Some(text) = text {
        toml::from_str::<ListHead<R::Format>>(text).map_err(|error| invalid(error.message()))?;
    }
    let format = serde_json::json!(R::Format::default());
    let mut document: toml_edit::DocumentMut = text
        .map_or_else(|| format!("format = {format}\n"), ToOwned::to_owned)
        .parse()
        .map_err(|error: toml_edit::TomlError| invalid(error.message()))?;
    let folders = document
        .entry("folder")
        .or_insert_with(|| toml_edit::Item::ArrayOfTables(toml_edit::ArrayOfTables::new()));
    let Some(folders) = folders.as_array_of_tables_mut() else {
        return Err(invalid("`folder` is not a list of tables"));
    };
    if edit(folders) == ListEdit::Unchanged {
        return Ok(ListEdit::Unchanged);
    }
    if folders.len() > MAX_FOLDERS {
        return Err(invalid(&format!(
            "it would have more than {MAX_FOLDERS} folders"
        )));
    }
    let header = if text.is_some() { "" } else { R::HEADER };
    let new = format!("{header}{document}");
    let is_written = Cell::new(false);
    let write = || {
        is_written.set(true);
        target.write(old.as_ref(), new.as_bytes(), Access::Private)
    };
    let takes_back = matches!(
        act,
        Operation::Distrust { .. } | Operation::DistrustSkill { .. } | Operation::Disallow { .. }
    );
    let data = environment.data_folder();
    let data = data.ok_or_else(|| Error::not_found("home"))?;
    let recorded = Store::open(&data)
        .and_then(|store| store.record_change(act, &file, Some(new.as_bytes()), now(), write));
    match recorded {
        // What is taken back is taken back, even if the log is damaged or full.
        Err(_) if takes_back && !is_written.get() => {
            target.write(old.as_ref(), new.as_bytes(), Access::Private)?;
        }
        recorded => recorded?,
    }
    Ok(ListEdit::Changed)
}
