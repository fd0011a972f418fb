//! A commit of the index, open for reading. It stays readable after newer commits and when its files are deleted.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillfold_core::search::CorpusStatistics;
use tantivy::columnar::ColumnValues;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::footer::Footer;
use tantivy::directory::{Directory, FileSlice};
use tantivy::index::{Index, IndexMeta, SegmentComponent, SegmentId, SegmentMeta, SegmentReader};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocAddress, HasLen as _, Opstamp, ReloadPolicy, Searcher, TantivyError};

use crate::disk::files::{IndexFiles, META_FILE, is_transient};
use crate::disk::handle::FileState;
use crate::disk::key::DocumentKey;
use crate::disk::schema::{Fields, KEY_COLUMNS, TOKENIZER, schema, settings};
use crate::disk::stamp::{self, StampError};
use crate::disk::token::RepeatTokenizer;
use crate::ownership::check_owned_folder;

/// Number of attempts to open an index that another process keeps changing.
const OPEN_ATTEMPTS: usize = 8;
/// The files of a segment.
const COMPONENTS: [SegmentComponent; 6] = [
    SegmentComponent::Terms,
    SegmentComponent::Postings,
    SegmentComponent::Positions,
    SegmentComponent::FieldNorms,
    SegmentComponent::FastFields,
    SegmentComponent::Store,
];
/// Bytes read at a time to compute a checksum.
const CHECKSUM_CHUNK_BYTES: usize = 1024 * 1024;
/// Number of document store blocks to cache.
const CACHED_BLOCKS: usize = 64;

/// Why an index cannot be used and has to be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// It was written by another version.
    Version,
    /// Its files are corrupt.
    Content(Box<str>),
    /// The system could not read it just now. It may be whole, and is not rebuilt.
    Unread(Box<str>),
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version => formatter.write_str("Another version wrote the index"),
            Self::Content(what) => write!(formatter, "The index is damaged: {what}"),
            Self::Unread(what) => write!(formatter, "The index cannot be read right now: {what}"),
        }
    }
}

impl From<TantivyError> for Damage {
    fn from(error: TantivyError) -> Self {
        match error {
            TantivyError::IncompatibleIndex(_)
            | TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(_)) => Self::Version,
            TantivyError::IoError(error)
            | TantivyError::OpenReadError(OpenReadError::IoError {
                io_error: error, ..
            }) if is_transient(&error) => Self::Unread(error.to_string().into()),
            other => Self::Content(other.to_string().into()),
        }
    }
}

impl From<StampError> for Damage {
    fn from(error: StampError) -> Self {
        match error {
            StampError::Version => Self::Version,
            StampError::Damaged => {
                Self::Content("Its statistics don't match the written ones".into())
            }
        }
    }
}

impl From<OpenReadError> for Damage {
    fn from(error: OpenReadError) -> Self {
        TantivyError::from(error).into()
    }
}

/// Converts a panic of the engine.
pub(super) fn panic_damage(panic: &(dyn Any + Send)) -> Damage {
    let message = panic.downcast_ref::<&str>().copied();
    let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Damage::Content(format!("The engine gave up: {}", message.unwrap_or("no reason")).into())
}

/// Files with verified checksums, by name, with their state at that time. An unchanged file is not verified again.
pub(super) type CheckedFiles = BTreeMap<PathBuf, FileState>;

/// The address of each document by key, and whether there is a skill for it.
pub(super) type DocumentAddresses = HashMap<DocumentKey, (DocAddress, Wanted)>;

/// Whether there is a skill for a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Yes,
    No,
}

/// A commit of the index, open for reading.
pub(super) struct OpenIndex {
    pub(super) fields: Fields,
    pub(super) searcher: Searcher,
    pub(super) statistics: CorpusStatistics,
    /// By segment ordinal.
    pub(super) keys: Vec<Keys>,
    /// The contents of `meta.json` that it was opened from.
    meta: Vec<u8>,
    files: IndexFiles,
}

/// The keys of a segment.
pub(super) struct Keys([Arc<dyn ColumnValues<u64>>; 2]);

impl Keys {
    fn new(segment: &SegmentReader) -> Result<Self, Damage> {
        let [high, low] = KEY_COLUMNS.map(|half| segment.fast_fields().u64(half));
        let keys = [high?, low?].map(|half| half.first_or_default_col(0));
        let is_whole = keys.iter().all(|half| half.num_vals() == segment.max_doc());
        let short =
            || Damage::Content("A segment has a different number of keys than documents".into());
        is_whole.then_some(Self(keys)).ok_or_else(short)
    }

    /// Returns the keys of all documents, including deleted ones.
    fn all(&self) -> Vec<DocumentKey> {
        let halves = self.0.each_ref().map(|half| {
            let mut values = vec![0; half.num_vals() as usize];
            half.get_range(0, &mut values);
            values
        });
        let pairs = halves[0].iter().zip(&halves[1]);
        pairs
            .map(|(high, low)| DocumentKey::from_halves(*high, *low))
            .collect()
    }

    pub(super) fn get(&self, document: u32) -> DocumentKey {
        let [high, low] = &self.0;
        DocumentKey::from_halves(high.get_val(document), low.get_val(document))
    }
}

impl OpenIndex {
    /// Opens the latest commit, or returns `None` if there is no index.
    pub(super) fn open_last(
        folder: &Path,
        version: &str,
        checked: &mut CheckedFiles,
    ) -> Result<Option<Self>, Damage> {
        // Checksums are verified before content is used, so the engine panics only if a file is damaged while it is
        // open.
        catch_unwind(AssertUnwindSafe(|| {
            Self::open_with_retries(folder, version, checked)
        }))
        .unwrap_or_else(|panic| Err(panic_damage(&*panic)))
    }

    /// Returns whether this is still the latest commit.
    pub(super) fn is_current(&self, folder: &Path) -> bool {
        let files = IndexFiles::open(folder);
        files.is_ok_and(|files| {
            files.atomic_read(Path::new(META_FILE)).ok().as_ref() == Some(&self.meta)
        })
    }

    /// Returns what a failed search found, which is not damage if the system could not read a file.
    pub(super) fn explain_failure(&self, damage: Damage) -> Damage {
        match self.files.take_read_fault() {
            Some(fault) => Damage::Unread(fault.to_string().into()),
            None => damage,
        }
    }

    #[cfg(test)]
    pub(super) fn fail_reads(&self, number: i32) {
        self.files.fail_reads(number);
    }

    /// Fails if a file has been written to since its checksum was verified: anything may have been read from it.
    pub(super) fn check_unchanged(&self) -> Result<(), Damage> {
        match self.files.find_modified() {
            None => Ok(()),
            Some(name) => {
                let message = format!("`{}` was written to while it was open", name.display());
                Err(Damage::Content(message.into()))
            }
        }
    }

    /// Returns the addresses of all documents by key, all marked as not wanted.
    pub(super) fn addresses(&self) -> DocumentAddresses {
        let count = self.searcher.num_docs().try_into().unwrap_or(0);
        let mut addresses = DocumentAddresses::with_capacity(count);
        for (ordinal, (segment, keys)) in (0..).zip(self.segments()) {
            let keys = keys.all();
            for document in segment.doc_ids_alive() {
                let address = DocAddress::new(ordinal, document);
                addresses.insert(keys[document as usize], (address, Wanted::No));
            }
        }
        addresses
    }

    pub(super) fn segments(&self) -> impl Iterator<Item = (&SegmentReader, &Keys)> {
        self.searcher.segment_readers().iter().zip(&self.keys)
    }

    /// Opens the latest commit, retrying if it is replaced meanwhile.
    fn open_with_retries(
        folder: &Path,
        version: &str,
        checked: &mut CheckedFiles,
    ) -> Result<Option<Self>, Damage> {
        let mut result = Ok(None);
        for _ in 0..OPEN_ATTEMPTS {
            let meta = match read_meta(folder) {
                Ok(Some(meta)) => meta,
                other => return other.map(|_| None),
            };
            let opened = Self::open_commit(folder, version, checked, meta);
            let is_settled = matches!(&opened, Ok(Some(opened)) if opened.is_current(folder));
            result = opened;
            if is_settled {
                break;
            }
        }
        result
    }

    /// Opens a commit. Returns `None` if it was replaced meanwhile or nothing has been committed yet.
    fn open_commit(
        folder: &Path,
        version: &str,
        checked: &mut CheckedFiles,
        meta: Vec<u8>,
    ) -> Result<Option<Self>, Damage> {
        let (index, fields, files) = open_engine(folder)?;
        let metas = index.load_metas()?;
        let Some(stamp) = &metas.payload else {
            // Another process is creating it, or was killed while doing so.
            return Ok(None);
        };
        let statistics = stamp::read(version, stamp)?;
        verify_checksums(&files, &metas, checked)?;
        let reader = index.reader_builder();
        let reader = reader
            .reload_policy(ReloadPolicy::Manual)
            .doc_store_cache_num_blocks(CACHED_BLOCKS)
            .try_into()?;
        let searcher = reader.searcher();
        let listed = metas.segments.iter();
        let listed: BTreeMap<SegmentId, Option<Opstamp>> = listed
            .map(|meta| (meta.id(), meta.delete_opstamp()))
            .collect();
        if *searcher.generation().segments() != listed {
            return Ok(None);
        }
        if searcher.num_docs() != statistics.documents() {
            return Err(Damage::Content("The number of documents differs".into()));
        }
        let segments = searcher.segment_readers().iter();
        let keys = segments.map(Keys::new).collect::<Result<_, _>>()?;
        Ok(Some(Self {
            fields,
            searcher,
            statistics,
            keys,
            meta,
            files,
        }))
    }
}

/// Opens the engine on an existing index.
pub(super) fn open_engine(folder: &Path) -> Result<(Index, Fields, IndexFiles), Damage> {
    let (schema, fields) = schema();
    let files = IndexFiles::open(folder).map_err(TantivyError::from)?;
    let index = Index::open(files.clone())?;
    if index.schema() != schema || *index.settings() != settings() {
        return Err(Damage::Version);
    }
    register_tokenizer(&index);
    Ok((index, fields, files))
}

/// Registers the tokenizer that the schema names.
pub(super) fn register_tokenizer(index: &Index) {
    let analyzer = TextAnalyzer::from(RepeatTokenizer::default());
    index.tokenizers().register(TOKENIZER, analyzer);
}

/// Reads `meta.json` of the latest commit, if there is one.
fn read_meta(folder: &Path) -> Result<Option<Vec<u8>>, Damage> {
    if !folder.join(META_FILE).exists() {
        return Ok(None);
    }
    check_owned_folder(folder).map_err(|cause| Damage::Content(cause.to_string().into()))?;
    let files = IndexFiles::open(folder).map_err(TantivyError::from)?;
    match files.atomic_read(Path::new(META_FILE)) {
        Ok(meta) => Ok(Some(meta)),
        Err(OpenReadError::FileDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Verifies the checksums of the files of a commit that have not been verified yet. All files must exist, because the
/// engine opens some of them lazily.
fn verify_checksums(
    files: &IndexFiles,
    metas: &IndexMeta,
    checked: &mut CheckedFiles,
) -> Result<(), Damage> {
    let names: BTreeSet<PathBuf> = metas.segments.iter().flat_map(segment_files).collect();
    checked.retain(|name, _| names.contains(name));
    let checksums = files.checksums()?;
    for name in names {
        let handle = files.handle(&name)?;
        let state = handle.state();
        if checked.get(&name) == Some(&state) {
            continue;
        }
        let to_error = |cause| OpenReadError::wrap_io_error(cause, name.clone());
        let file = FileSlice::new(handle);
        if !matches_checksum(file, checksums.get(&name).copied()).map_err(to_error)? {
            let message = format!("`{}` has a different checksum", name.display());
            return Err(Damage::Content(message.into()));
        }
        checked.insert(name, state);
    }
    Ok(())
}

/// Returns whether a file matches its recorded checksum. It is read in chunks, since it may be large.
fn matches_checksum(file: FileSlice, recorded: Option<u32>) -> io::Result<bool> {
    let (footer, content) = Footer::extract_footer(file)?;
    let mut hasher = crc32fast::Hasher::new();
    let mut start = 0;
    while start < content.len() {
        let end = content.len().min(start + CHECKSUM_CHUNK_BYTES);
        hasher.update(&content.read_bytes_slice(start..end)?);
        start = end;
    }
    Ok(recorded == Some(footer.crc) && hasher.finalize() == footer.crc)
}

fn segment_files(segment: &SegmentMeta) -> impl Iterator<Item = PathBuf> {
    let deletions = segment.has_deletes().then_some(SegmentComponent::Delete);
    let components = COMPONENTS.into_iter().chain(deletions);
    components.map(|component| segment.relative_path(component))
}
