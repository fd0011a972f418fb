//! The index on disk as a host has it.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use skillfold_core::{Document, Error, Query};
use tantivy::{DocAddress, TantivyError};

use crate::disk::files::{IndexFiles, writer_lock};
use crate::disk::key::Key;
use crate::disk::opened::{CheckedFiles, Damage, DocumentAddresses, OpenIndex, Wanted};
use crate::disk::search::Answer;
use crate::disk::write::{Change, Extent};
use crate::ownership::make_own;

/// Documents of an index at most.
const DOCUMENTS: usize = 4_000_000;

/// The words of many skills in a folder, searchable without reading or holding the skills.
///
/// It is a cache of one set of skills: it can be deleted at any time, also while it is open, and is then made again by
/// [`sync`](Self::sync). Any number of processes may use one folder. One of them writes at a time; the others search what is
/// there, each by the commit that it opened last.
///
/// ```
/// use skillfold_core::{DocumentBuilder, Query, DocumentTexts};
/// use skillfold_index::{DiskIndex, Key};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let root = tempfile::tempdir()?;
/// # let folder = root.path().join("index");
/// let skills = [("pdf", "Fills in forms"), ("mail", "Writes letters")];
/// // A key follows from the content; here it is made up.
/// let key = |number: usize| Key::new([number as u8; 16]);
///
/// let index = DiskIndex::open(folder, "1");
/// let mut documents = DocumentBuilder::new();
/// let synced = index.sync(skills.iter().enumerate().map(|(number, (name, description))| {
///     let texts = DocumentTexts { name, description, ..DocumentTexts::default() };
///     (key(number), documents.from_texts(&texts))
/// }).map(|(key, document)| (key, || Some(document))))?;
/// assert_eq!(synced.added, 2);
///
/// let seen = |found| (0..skills.len()).find(|number| key(*number) == found);
/// let answer = index.search(&Query::new("fill in this form"), 10, seen)?;
/// assert_eq!(skills[answer.hits[0].seen].0, "pdf");
/// # Ok(())
/// # }
/// ```
pub struct DiskIndex {
    folder: PathBuf,
    version: Box<str>,
    state: RwLock<State>,
    /// Held while the files are looked at, so that no sum is compared twice.
    checked: Mutex<CheckedFiles>,
}

#[derive(Clone)]
enum State {
    Absent,
    Damaged(Damage),
    Ready(Arc<OpenIndex>),
}

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Writer {
    /// This call did, or had nothing to write.
    This,
    /// Another process, or another handle of this one, has the lock: nothing was written.
    Another,
}

/// What became of an index when it was brought in step with the skills.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Synced {
    /// Who writes.
    pub writer: Writer,
    /// Documents that were there.
    pub kept: usize,
    /// Documents that came.
    pub added: usize,
    /// Documents that went.
    pub removed: usize,
    /// Documents that are not in the index and are not found by it: those that could not be made, those above the limit of
    /// four million, and, where another one writes, all that are new.
    pub missing: usize,
    /// Documents that were written again to put small parts of the index together.
    pub rewritten: u64,
    /// Why the index was made from nothing, where there was one before.
    pub rebuilt: Option<Damage>,
}

impl Synced {
    fn by(writer: Writer) -> Self {
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
    /// Opens the index in a folder. Nothing is written; a folder that is not there is made when something is.
    ///
    /// `version` says how documents are made: an index of another version is made again. The folder is the index's own.
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

    /// Looks whether another process changed the index, and opens what it wrote.
    pub fn refresh(&self) {
        let mut checked = lock(&self.checked);
        if let State::Ready(opened) = self.state()
            && opened.is_last(&self.folder)
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

    /// Returns how many documents are searched.
    pub fn documents(&self) -> u64 {
        match self.state() {
            State::Ready(opened) => opened.statistics.documents(),
            State::Absent | State::Damaged(_) => 0,
        }
    }

    /// Returns why nothing is searched, where there is an index that cannot be used. [`sync`](Self::sync) makes it again.
    pub fn damage(&self) -> Option<Damage> {
        match self.state() {
            State::Damaged(damage) => Some(damage),
            State::Absent | State::Ready(_) => None,
        }
    }

    /// Returns the bytes that it takes on disk.
    pub fn bytes(&self) -> u64 {
        let files = IndexFiles::list(&self.folder).unwrap_or_default();
        files.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Brings the index in step with the skills that there are, each by its key; a document is made only where its key is
    /// unknown, and what has no skill any more goes. There is one commit, or none if nothing changed.
    ///
    /// A key that is given twice counts once. A document that cannot be made is `None`, and is counted as missing.
    ///
    /// # Errors
    ///
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the folder cannot be written to, or belongs to another
    /// person or can be written to by others. What was searched before still is.
    pub fn sync<D>(&self, skills: impl IntoIterator<Item = (Key, D)>) -> Result<Synced, Error>
    where
        D: FnOnce() -> Option<Document>,
    {
        let failed = |cause: io::Error| Error::write(self.folder.to_string_lossy(), cause);
        make_own(&self.folder).map_err(failed)?;
        let Some(_lock) = writer_lock(&self.folder).map_err(failed)? else {
            self.refresh();
            return Ok(self.uncovered(skills));
        };
        self.refresh();
        let made = self.made(skills);
        self.ended(made).map_err(failed)
    }

    /// Takes some documents in and some out, for who knows what changed: the others are not looked at, so that the work goes
    /// by the change and not by the index. Returns nothing where there is no index that can be changed;
    /// [`sync`](Self::sync) makes one.
    ///
    /// What comes and is there is kept, and counted as such; what goes and is not there is passed over; what comes and goes
    /// stays. A document that cannot be made is `None`, and is counted as missing.
    ///
    /// ```
    /// # use skillfold_core::{Document, DocumentBuilder, DocumentTexts};
    /// # use skillfold_index::{DiskIndex, Key};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let root = tempfile::tempdir()?;
    /// # let document = || Some(DocumentBuilder::new().from_texts(&DocumentTexts { name: "pdf", ..DocumentTexts::default() }));
    /// let index = DiskIndex::open(root.path().join("index"), "1");
    /// let (old, new) = (Key::new([1; 16]), Key::new([2; 16]));
    /// index.sync([(old, document)])?;
    ///
    /// let changed = index.change([(new, document)], [old])?.expect("there is an index");
    /// assert_eq!((changed.added, changed.removed, index.documents()), (1, 1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`sync`](Self::sync).
    pub fn change<D>(
        &self,
        added: impl IntoIterator<Item = (Key, D)>,
        removed: impl IntoIterator<Item = Key>,
    ) -> Result<Option<Synced>, Error>
    where
        D: FnOnce() -> Option<Document>,
    {
        let failed = |cause: io::Error| Error::write(self.folder.to_string_lossy(), cause);
        make_own(&self.folder).map_err(failed)?;
        let lock_of_writer = writer_lock(&self.folder).map_err(failed)?;
        self.refresh();
        let State::Ready(opened) = self.state() else {
            return Ok(None);
        };
        let changed = match lock_of_writer {
            Some(_) => self.changed(&opened, added, removed),
            None => not_covered(&opened, added),
        };
        self.ended(changed).map(Some).map_err(failed)
    }

    /// Returns the documents that answer a request best, at most so many.
    ///
    /// `seen` tells as what a document is seen, or that it may not be; of equal documents the one that is seen as less comes
    /// first. It is asked for few documents: those that could be among the best.
    ///
    /// # Errors
    ///
    /// [`Unreadable`](skillfold_core::ErrorKind::Unreadable) if the index is damaged, or turns out to be: of what is
    /// damaged nothing is answered, rather than that there is nothing. [`NotFound`](skillfold_core::ErrorKind::NotFound) if
    /// there is none. The next [`sync`](Self::sync) makes it.
    pub fn search<T: Ord + Copy>(
        &self,
        query: &Query,
        limit: usize,
        seen: impl Fn(Key) -> Option<T>,
    ) -> Result<Answer<T>, Error> {
        match self.state() {
            State::Ready(opened) => {
                let answer = opened.search(query, limit, seen);
                answer.map_err(|damage| self.damaged(&opened, damage))
            }
            State::Damaged(damage) => Err(self.unreadable(&damage)),
            State::Absent => Err(self.absent()),
        }
    }

    /// Returns the documents that [`search`](Self::search) looks at closely, in no order: a part of its work, to be measured.
    ///
    /// # Errors
    ///
    /// As [`search`](Self::search).
    pub fn candidates<T: Copy>(
        &self,
        query: &Query,
        seen: impl Fn(Key) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        match self.state() {
            State::Ready(opened) => {
                let candidates = opened.candidates(query, seen);
                candidates.map_err(|damage| self.damaged(&opened, damage))
            }
            State::Damaged(damage) => Err(self.unreadable(&damage)),
            State::Absent => Err(self.absent()),
        }
    }

    fn state(&self) -> State {
        let state = self.state.read();
        state.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, state: State) {
        let mut current = self.state.write().unwrap_or_else(PoisonError::into_inner);
        *current = state;
    }

    fn reopen(&self, checked: &mut CheckedFiles) {
        let last = OpenIndex::last(&self.folder, &self.version, checked);
        self.set(match (last, self.state()) {
            (Ok(Some(opened)), _) => State::Ready(Arc::new(opened)),
            // What was given up before still is why there is none.
            (Err(damage), _) | (Ok(None), State::Damaged(damage)) => State::Damaged(damage),
            (Ok(None), _) => State::Absent,
        });
    }

    /// Opens what a change wrote, if it wrote something.
    fn ended(&self, changed: Result<Synced, TantivyError>) -> io::Result<Synced> {
        let is_as_it_was = |synced: &Synced| synced.added == 0 && synced.removed == 0;
        if !changed.as_ref().is_ok_and(is_as_it_was) {
            self.reopen(&mut lock(&self.checked));
        }
        changed.map_err(as_io)
    }

    /// Notes that what was open turned out to be damaged, unless another one is open by now.
    fn damaged(&self, opened: &Arc<OpenIndex>, damage: Damage) -> Error {
        let error = self.unreadable(&damage);
        // What was compared may have changed since.
        lock(&self.checked).clear();
        // Its sums may still be right: who opens it next would be deceived again. Where it stays, the next search tells.
        if let Ok(Some(_lock)) = writer_lock(&self.folder)
            && opened.is_last(&self.folder)
        {
            let _ = IndexFiles::clear(&self.folder);
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(&*state, State::Ready(now) if Arc::ptr_eq(now, opened)) {
            *state = State::Damaged(damage);
        }
        error
    }

    fn unreadable(&self, damage: &Damage) -> Error {
        let cause = io::Error::new(io::ErrorKind::InvalidData, damage.to_string());
        Error::read(self.folder.to_string_lossy(), cause)
    }

    fn absent(&self) -> Error {
        Error::not_found(self.folder.to_string_lossy())
    }

    /// Says what of the skills is not covered.
    fn uncovered<D>(&self, skills: impl IntoIterator<Item = (Key, D)>) -> Synced {
        let places = match self.state() {
            State::Ready(opened) => opened.places(),
            State::Absent | State::Damaged(_) => DocumentAddresses::default(),
        };
        let keys: BTreeSet<Key> = skills.into_iter().map(|(key, _)| key).collect();
        let kept = keys.iter().filter(|key| places.contains_key(key)).count();
        Synced {
            kept,
            missing: keys.len() - kept,
            ..Synced::by(Writer::Another)
        }
    }

    /// Makes a change of some documents, with the lock of the writer.
    fn changed<D>(
        &self,
        opened: &OpenIndex,
        added: impl IntoIterator<Item = (Key, D)>,
        removed: impl IntoIterator<Item = Key>,
    ) -> Result<Synced, TantivyError>
    where
        D: FnOnce() -> Option<Document>,
    {
        let mut synced = Synced::by(Writer::This);
        let mut change = Pending {
            folder: &self.folder,
            opened: Some(opened),
            change: None,
        };
        let known = usize::try_from(opened.statistics.documents()).unwrap_or(usize::MAX);
        let mut wanted = HashSet::new();
        for (key, make) in added {
            if !wanted.insert(key) {
                continue;
            }
            if opened.place(key)?.is_some() {
                synced.kept += 1;
                continue;
            }
            let room = known.saturating_add(synced.added) < DOCUMENTS;
            match room.then(make).flatten() {
                Some(document) => {
                    change.begun()?.add(key, &document)?;
                    synced.added += 1;
                }
                None => synced.missing += 1,
            }
        }
        for key in removed {
            if !wanted.insert(key) {
                continue;
            }
            if let Some(place) = opened.place(key)? {
                change.begun()?.remove(opened, key, place)?;
                synced.removed += 1;
            }
        }
        if let Some(change) = change.change {
            synced.rewritten = change.commit(&self.version)?;
        }
        Ok(synced)
    }

    /// Makes the change, with the lock of the writer.
    fn made<D>(&self, skills: impl IntoIterator<Item = (Key, D)>) -> Result<Synced, TantivyError>
    where
        D: FnOnce() -> Option<Document>,
    {
        let mut synced = Synced::by(Writer::This);
        let opened = match self.state() {
            State::Ready(opened) => Some(opened),
            State::Absent => None,
            State::Damaged(damage) => {
                synced.rebuilt = Some(damage);
                None
            }
        };
        let opened = opened.as_deref();
        let mut known = opened.map(OpenIndex::places).unwrap_or_default();
        let mut change = Pending {
            folder: &self.folder,
            opened,
            change: None,
        };
        let mut unknown = HashSet::new();
        for (key, make) in skills {
            if let Some((_, wanted)) = known.get_mut(&key) {
                synced.kept += usize::from(*wanted == Wanted::No);
                *wanted = Wanted::Yes;
                continue;
            }
            if !unknown.insert(key) {
                continue;
            }
            let room = known.len() + unknown.len() <= DOCUMENTS;
            match room.then(make).flatten() {
                Some(document) => {
                    change.begun()?.add(key, &document)?;
                    synced.added += 1;
                }
                None => synced.missing += 1,
            }
        }
        synced.removed = change.remove_unwanted(&known)?;
        // Also an index without documents is one; a damaged one is replaced by it.
        if opened.is_none() {
            change.begun()?;
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

/// A change that begins when there is something to change.
struct Pending<'a> {
    folder: &'a Path,
    opened: Option<&'a OpenIndex>,
    change: Option<Change>,
}

impl Pending<'_> {
    fn begun(&mut self) -> Result<&mut Change, TantivyError> {
        let change = if let Some(change) = self.change.take() {
            change
        } else {
            let extent = self.opened.map_or(Extent::All, |_| Extent::Some);
            Change::begin(self.folder, self.opened, extent)?
        };
        Ok(self.change.insert(change))
    }

    fn remove_unwanted(&mut self, known: &DocumentAddresses) -> Result<usize, TantivyError> {
        let gone = known
            .iter()
            .filter(|(_, (_, wanted))| *wanted == Wanted::No);
        let mut gone: Vec<(DocAddress, Key)> =
            gone.map(|(key, (place, _))| (*place, *key)).collect();
        gone.sort_unstable();
        let Some(opened) = self.opened else {
            return Ok(0);
        };
        for (place, key) in &gone {
            self.begun()?.remove(opened, *key, *place)?;
        }
        Ok(gone.len())
    }
}

/// Says what of some documents is not covered while another one writes.
fn not_covered<D>(
    opened: &OpenIndex,
    added: impl IntoIterator<Item = (Key, D)>,
) -> Result<Synced, TantivyError> {
    let mut synced = Synced::by(Writer::Another);
    let keys: BTreeSet<Key> = added.into_iter().map(|(key, _)| key).collect();
    for key in keys {
        match opened.place(key)? {
            Some(_) => synced.kept += 1,
            None => synced.missing += 1,
        }
    }
    Ok(synced)
}

fn lock(checked: &Mutex<CheckedFiles>) -> std::sync::MutexGuard<'_, CheckedFiles> {
    checked.lock().unwrap_or_else(PoisonError::into_inner)
}

fn as_io(error: TantivyError) -> io::Error {
    match error {
        TantivyError::IoError(cause) => io::Error::new(cause.kind(), cause),
        other => io::Error::other(other),
    }
}
