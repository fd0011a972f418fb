//! The public interface of the on-disk index.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use skillfold_core::Error;
use skillfold_core::search::{Query, SearchDocument};
use tantivy::{DocAddress, TantivyError};

use crate::disk::files::{IndexFiles, writer_lock};
use crate::disk::key::DocumentKey;
use crate::disk::open_index::{CheckedFiles, Damage, DocumentAddresses, OpenIndex, Wanted};
use crate::disk::search::DiskResults;
use crate::disk::write::{Change, ChangeExtent};
use crate::ownership::create_owned_folder;

/// Maximum documents in an index.
const MAX_DOCUMENTS: usize = 4_000_000;

/// A full-text index of skills in a folder, searchable without loading the skills.
///
/// It caches one set of skills: it can be deleted at any time, even while it is open, and [`sync`](Self::sync) rebuilds
/// it. Any number of processes may use one folder. One of them writes at a time; each of the others searches the commit
/// that it opened last.
///
/// ```
/// use skillfold_core::search::{DocumentBuilder, DocumentTexts, Query};
/// use skillfold_index::{DiskIndex, DocumentKey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let root = tempfile::tempdir()?;
/// # let folder = root.path().join("index");
/// let skills = [("pdf", "Fills in forms"), ("mail", "Writes letters")];
/// // A real key is derived from the content.
/// let key = |number: usize| DocumentKey::new([number as u8; 16]);
///
/// let index = DiskIndex::open(folder, "1");
/// let mut documents = DocumentBuilder::new();
/// let synced = index.sync(skills.iter().enumerate().map(|(number, (name, description))| {
///     let texts = DocumentTexts::default().with_name(name).with_description(description);
///     (key(number), documents.from_texts(&texts))
/// }).map(|(key, document)| (key, || Some(document))))?;
/// assert_eq!(synced.added, 2);
///
/// let resolve = |found| (0..skills.len()).find(|number| key(*number) == found);
/// let answer = index.search(&Query::new("fill in this form"), 10, resolve)?;
/// assert_eq!(skills[answer.hits[0].value].0, "pdf");
/// # Ok(())
/// # }
/// ```
pub struct DiskIndex {
    folder: PathBuf,
    version: Box<str>,
    state: RwLock<State>,
    /// Locked while files are verified, so that no checksum is computed twice.
    checked: Mutex<CheckedFiles>,
}

#[derive(Clone)]
enum State {
    Absent,
    Damaged(Damage),
    Ready(Arc<OpenIndex>),
}

/// Which process writes to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyncWriter {
    /// This call wrote, or had nothing to write.
    This,
    /// Another process, or another handle in this one, holds the lock. Nothing was written.
    Another,
}

/// The result of updating an index.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncReport {
    /// Which process writes.
    pub writer: SyncWriter,
    /// Documents that were in the index already.
    pub kept: usize,
    /// Documents added.
    pub added: usize,
    /// Documents removed.
    pub removed: usize,
    /// Documents missing from the index: those that could not be built, those above the limit of four million and, if
    /// another process writes, all new ones.
    pub missing: usize,
    /// Documents rewritten to merge segments.
    pub rewritten: u64,
    /// Why an existing index was rebuilt from scratch, if it was.
    pub rebuilt: Option<Damage>,
}

impl SyncReport {
    fn new(writer: SyncWriter) -> Self {
        Self {
            writer,
            kept: 0,
            added: 0,
            removed: 0,
            missing: 0,
            rewritten: 0,
            rebuilt: None,
        }
    }
}

impl DiskIndex {
    /// Opens the index in a folder, without writing. A missing folder is created on the first write. The folder must be
    /// used for nothing else.
    ///
    /// `version` identifies how documents are built: an index of another version is rebuilt.
    pub fn open(folder: impl Into<PathBuf>, version: &str) -> Self {
        let index = Self {
            folder: folder.into(),
            version: version.into(),
            state: RwLock::new(State::Absent),
            checked: Mutex::default(),
        };
        index.refresh();
        index
    }

    /// Opens the latest commit if another process changed the index.
    pub fn refresh(&self) {
        let mut checked = lock_checked(&self.checked);
        if let State::Ready(opened) = self.state()
            && opened.is_current(&self.folder)
            && opened.check_unchanged().is_ok()
        {
            return;
        }
        self.reopen(&mut checked);
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the number of indexed documents.
    pub fn documents(&self) -> u64 {
        match self.state() {
            State::Ready(opened) => opened.statistics.documents(),
            State::Absent | State::Damaged(_) => 0,
        }
    }

    /// Returns why an existing index cannot be used, if so. [`sync`](Self::sync) rebuilds it.
    pub fn damage(&self) -> Option<Damage> {
        match self.state() {
            State::Damaged(damage) => Some(damage),
            State::Absent | State::Ready(_) => None,
        }
    }

    /// Returns the size on disk in bytes.
    pub fn disk_bytes(&self) -> u64 {
        let files = IndexFiles::list(&self.folder).unwrap_or_default();
        files.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Updates the index to contain exactly the given skills. A document is built only if its key is unknown; documents
    /// whose keys are not given are removed. There is one commit, or none if nothing changed.
    ///
    /// A repeated key counts once. A document that cannot be built is `None` and is counted as missing.
    ///
    /// # Errors
    ///
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the folder cannot be written to, belongs to another
    /// user or is writable by others. The previous commit can still be searched.
    pub fn sync<D>(
        &self,
        skills: impl IntoIterator<Item = (DocumentKey, D)>,
    ) -> Result<SyncReport, Error>
    where
        D: FnOnce() -> Option<SearchDocument>,
    {
        let to_error = |cause: io::Error| Error::write(self.folder.to_string_lossy(), cause);
        create_owned_folder(&self.folder).map_err(to_error)?;
        let Some(_lock) = writer_lock(&self.folder).map_err(to_error)? else {
            self.refresh();
            return Ok(self.count_coverage(skills));
        };
        self.refresh();
        if let Some(damage @ Damage::Unread(_)) = self.damage() {
            return Err(self.damage_error(&damage));
        }
        let result = self.sync_locked(skills);
        self.finish_change(result).map_err(to_error)
    }

    /// Returns up to `limit` documents that fit a query best.
    ///
    /// `resolve` maps a key to the caller's value, or to `None` if the document is not visible. Ties go to the lower
    /// value. It is called only for documents that could be among the best.
    ///
    /// # Errors
    ///
    /// [`Unreadable`](skillfold_core::ErrorKind::Unreadable) if the index is damaged, or turns out to be: a damaged
    /// index never returns partial or empty results. If the system could not read it just now, the error
    /// [is transient](Error::is_transient) and the index stays. [`NotFound`](skillfold_core::ErrorKind::NotFound) if there is no
    /// index. The next [`sync`](Self::sync) rebuilds it.
    pub fn search<T: Ord + Copy>(
        &self,
        query: &Query,
        limit: usize,
        resolve: impl Fn(DocumentKey) -> Option<T>,
    ) -> Result<DiskResults<T>, Error> {
        self.read(|opened| opened.search(query, limit, resolve))
    }

    /// Returns the documents that [`search`](Self::search) would rank, in no particular order. For benchmarks.
    ///
    /// # Errors
    ///
    /// As [`search`](Self::search).
    pub fn candidates<T: Copy>(
        &self,
        query: &Query,
        resolve: impl Fn(DocumentKey) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        self.read(|opened| opened.candidates(query, resolve))
    }

    fn read<T>(&self, read: impl FnOnce(&OpenIndex) -> Result<T, Damage>) -> Result<T, Error> {
        match self.state() {
            State::Ready(opened) => {
                read(&opened).map_err(|damage| self.mark_damaged(&opened, damage))
            }
            State::Damaged(damage) => Err(self.damage_error(&damage)),
            State::Absent => Err(self.absent_error()),
        }
    }

    fn state(&self) -> State {
        let state = self.state.read();
        state.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_state(&self, state: State) {
        let mut current = self.state.write().unwrap_or_else(PoisonError::into_inner);
        *current = state;
    }

    fn reopen(&self, checked: &mut CheckedFiles) {
        let last = OpenIndex::open_last(&self.folder, &self.version, checked);
        self.set_state(match (last, self.state()) {
            (Ok(Some(opened)), _) => State::Ready(Arc::new(opened)),
            // The index was cleared because it was damaged; keep the reason.
            (Err(damage), _) | (Ok(None), State::Damaged(damage)) => State::Damaged(damage),
            (Ok(None), _) => State::Absent,
        });
    }

    /// Opens the new commit of a change, if there is one.
    fn finish_change(&self, result: Result<SyncReport, TantivyError>) -> io::Result<SyncReport> {
        let is_unchanged = |synced: &SyncReport| synced.added == 0 && synced.removed == 0;
        if !result.as_ref().is_ok_and(is_unchanged) {
            self.reopen(&mut lock_checked(&self.checked));
        }
        result.map_err(to_io_error)
    }

    /// Marks the index as damaged, unless another commit has been opened meanwhile, and returns the error. An index that cannot be
    /// read just now stays as it is: all processes share it.
    fn mark_damaged(&self, opened: &Arc<OpenIndex>, damage: Damage) -> Error {
        let damage = opened.explain_failure(damage);
        let error = self.damage_error(&damage);
        if matches!(damage, Damage::Unread(_)) {
            return error;
        }
        // Verified files may have changed since.
        lock_checked(&self.checked).clear();
        // Its checksums may still match, so that the next process to open it would be misled again. If clearing fails,
        // the next search detects the damage.
        if let Ok(Some(_lock)) = writer_lock(&self.folder)
            && opened.is_current(&self.folder)
        {
            let _ = IndexFiles::clear(&self.folder);
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(&*state, State::Ready(now) if Arc::ptr_eq(now, opened)) {
            *state = State::Damaged(damage);
        }
        error
    }

    fn damage_error(&self, damage: &Damage) -> Error {
        let kind = match damage {
            Damage::Unread(_) => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidData,
        };
        let cause = io::Error::new(kind, damage.to_string());
        Error::read(self.folder.to_string_lossy(), cause)
    }

    fn absent_error(&self) -> Error {
        Error::not_found(self.folder.to_string_lossy())
    }

    /// Counts which skills are in the index, without writing.
    fn count_coverage<D>(&self, skills: impl IntoIterator<Item = (DocumentKey, D)>) -> SyncReport {
        let addresses = match self.state() {
            State::Ready(opened) => opened.addresses(),
            State::Absent | State::Damaged(_) => DocumentAddresses::default(),
        };
        let keys: BTreeSet<DocumentKey> = skills.into_iter().map(|(key, _)| key).collect();
        let kept = keys
            .iter()
            .filter(|key| addresses.contains_key(key))
            .count();
        SyncReport {
            kept,
            missing: keys.len() - kept,
            ..SyncReport::new(SyncWriter::Another)
        }
    }

    /// Updates the index to the given skills. The caller holds the writer lock.
    fn sync_locked<D>(
        &self,
        skills: impl IntoIterator<Item = (DocumentKey, D)>,
    ) -> Result<SyncReport, TantivyError>
    where
        D: FnOnce() -> Option<SearchDocument>,
    {
        let mut synced = SyncReport::new(SyncWriter::This);
        let opened = match self.state() {
            State::Ready(opened) => Some(opened),
            State::Absent => None,
            State::Damaged(damage) => {
                synced.rebuilt = Some(damage);
                None
            }
        };
        let opened = opened.as_deref();
        let mut addresses = opened.map(OpenIndex::addresses).unwrap_or_default();
        let mut change = PendingChange {
            folder: &self.folder,
            opened,
            change: None,
        };
        let mut new_keys = HashSet::new();
        for (key, build) in skills {
            if let Some((_, wanted)) = addresses.get_mut(&key) {
                synced.kept += usize::from(*wanted == Wanted::No);
                *wanted = Wanted::Yes;
                continue;
            }
            if !new_keys.insert(key) {
                continue;
            }
            let has_room = addresses.len() + new_keys.len() <= MAX_DOCUMENTS;
            match has_room.then(build).flatten() {
                Some(document) => {
                    change.get_or_begin()?.add(key, &document)?;
                    synced.added += 1;
                }
                None => synced.missing += 1,
            }
        }
        synced.removed = change.remove_unwanted(&addresses)?;
        // Commit even without documents, so that there is an index and a damaged one is replaced.
        if opened.is_none() {
            change.get_or_begin()?;
        }
        if let Some(change) = change.change {
            synced.rewritten = change.commit(&self.version)?;
        }
        Ok(synced)
    }
}

impl std::fmt::Debug for DiskIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("DiskIndex")
            .field("folder", &self.folder)
            .field("documents", &self.documents())
            .finish_non_exhaustive()
    }
}

/// A change that begins lazily.
struct PendingChange<'a> {
    folder: &'a Path,
    opened: Option<&'a OpenIndex>,
    change: Option<Change>,
}

impl PendingChange<'_> {
    /// Returns the change, beginning it if necessary.
    fn get_or_begin(&mut self) -> Result<&mut Change, TantivyError> {
        let change = if let Some(change) = self.change.take() {
            change
        } else {
            let extent = self
                .opened
                .map_or(ChangeExtent::Full, |_| ChangeExtent::Partial);
            Change::begin(self.folder, self.opened, extent)?
        };
        Ok(self.change.insert(change))
    }

    /// Removes the documents without a skill and returns their number.
    fn remove_unwanted(&mut self, addresses: &DocumentAddresses) -> Result<usize, TantivyError> {
        let unwanted = addresses
            .iter()
            .filter(|(_, (_, wanted))| *wanted == Wanted::No);
        let mut unwanted: Vec<(DocAddress, DocumentKey)> = unwanted
            .map(|(key, (address, _))| (*address, *key))
            .collect();
        unwanted.sort_unstable();
        let Some(opened) = self.opened else {
            return Ok(0);
        };
        for (address, key) in &unwanted {
            self.get_or_begin()?.remove(opened, *key, *address)?;
        }
        Ok(unwanted.len())
    }
}

fn lock_checked(checked: &Mutex<CheckedFiles>) -> std::sync::MutexGuard<'_, CheckedFiles> {
    checked.lock().unwrap_or_else(PoisonError::into_inner)
}

fn to_io_error(error: TantivyError) -> io::Error {
    match error {
        TantivyError::IoError(cause) => io::Error::new(cause.kind(), cause),
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use skillfold_core::search::{DocumentBuilder, DocumentTexts, Query, SearchDocument};

    use super::{DiskIndex, DocumentKey, State};

    /// The number of the error of a disk that cannot read a block.
    const EIO: i32 = 5;

    fn document(number: u8) -> SearchDocument {
        let texts = DocumentTexts::default().with_description("Fills in forms");
        DocumentBuilder::new().from_texts(&texts.with_name(&format!("pdf-{number}")))
    }

    #[test]
    fn temporarily_unreadable_index_is_not_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let index = DiskIndex::open(&path, "1");
        let skills = || (0..3).map(|number| (DocumentKey::new([number; 16]), number));
        let sync =
            || index.sync(skills().map(|(key, number)| (key, move || Some(document(number)))));
        sync().unwrap();
        // Without what it had in memory.
        let index = DiskIndex::open(&path, "1");
        let search = || index.search(&Query::new("forms"), 10, Some);
        let State::Ready(opened) = index.state() else {
            panic!("it was just written");
        };
        opened.fail_reads(EIO);
        let error = search().unwrap_err();
        assert!(error.is_transient(), "{}", error.with_cause());
        opened.fail_reads(0);
        assert_eq!(index.damage(), None);
        assert_eq!(search().unwrap().hits.len(), 3);
        assert_eq!(DiskIndex::open(&path, "1").documents(), 3);
    }
}
