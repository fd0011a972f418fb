//! One commit of the index, open for reading. It stays readable when others follow it or when the files are removed.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillfold_core::CorpusStatistics;
use tantivy::columnar::ColumnValues;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::footer::Footer;
use tantivy::directory::{Directory, FileSlice};
use tantivy::index::{Index, IndexMeta, SegmentComponent, SegmentId, SegmentMeta, SegmentReader};
use tantivy::schema::IndexRecordOption;
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{
    DocAddress, DocSet, HasLen as _, Opstamp, ReloadPolicy, Searcher, TERMINATED, TantivyError,
};

use crate::disk::files::{IndexFiles, LIST};
use crate::disk::handle::FileState;
use crate::disk::key::{Key, Spread};
use crate::disk::schema::{Fields, HALVES, TOKENIZER, schema, settings};
use crate::disk::stamp::{self, Misfit};
use crate::disk::token::Repeats;
use crate::ownership::check_own;

/// How often an index is looked at again that another process changes meanwhile.
const ATTEMPTS: usize = 8;
/// What a segment consists of.
const COMPONENTS: [SegmentComponent; 6] = [
    SegmentComponent::Terms,
    SegmentComponent::Postings,
    SegmentComponent::Positions,
    SegmentComponent::FieldNorms,
    SegmentComponent::FastFields,
    SegmentComponent::Store,
];
/// Bytes of a file that are read at once to be summed.
const SUMMED: usize = 1024 * 1024;
/// Blocks of documents that are kept as they were read.
const CACHED_BLOCKS: usize = 64;

/// Why an index cannot be used as it is. It is made again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// Another version wrote it.
    Version,
    /// Its files are not what was written.
    Content(Box<str>),
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version => formatter.write_str("Another version wrote the index"),
            Self::Content(what) => write!(formatter, "The index is damaged: {what}"),
        }
    }
}

impl From<TantivyError> for Damage {
    fn from(error: TantivyError) -> Self {
        match error {
            TantivyError::IncompatibleIndex(_)
            | TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(_)) => Self::Version,
            other => Self::Content(other.to_string().into()),
        }
    }
}

impl From<Misfit> for Damage {
    fn from(misfit: Misfit) -> Self {
        match misfit {
            Misfit::Version => Self::Version,
            Misfit::Damaged => Self::Content("Its statistics are not what was written".into()),
        }
    }
}

impl From<OpenReadError> for Damage {
    fn from(error: OpenReadError) -> Self {
        TantivyError::from(error).into()
    }
}

/// Says what a panic of the engine said.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> Damage {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Damage::Content(format!("The engine gave up: {}", said.unwrap_or("no reason")).into())
}

/// Files whose sums were compared, by name, in the state that they had. A file that is as it was is not read again.
pub(super) type CheckedFiles = BTreeMap<PathBuf, FileState>;

/// Where the document of each key is, and whether there is a skill for it.
pub(super) type DocumentAddresses = HashMap<Key, (DocAddress, Wanted), Spread>;

/// Whether there is a skill for a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Yes,
    No,
}

/// One commit of the index, open for reading.
pub(super) struct OpenIndex {
    pub(super) fields: Fields,
    pub(super) searcher: Searcher,
    pub(super) statistics: CorpusStatistics,
    /// By the number of the segment.
    pub(super) keys: Vec<Keys>,
    /// The list that it was opened by.
    list: Vec<u8>,
    files: IndexFiles,
}

/// The keys of a segment.
pub(super) struct Keys([Arc<dyn ColumnValues<u64>>; 2]);

impl Keys {
    fn new(segment: &SegmentReader) -> Result<Self, Damage> {
        let [high, low] = HALVES.map(|half| segment.fast_fields().u64(half));
        let keys = [high?, low?].map(|half| half.first_or_default_col(0));
        let is_whole = keys.iter().all(|half| half.num_vals() == segment.max_doc());
        let short = || Damage::Content("A segment has not as many keys as documents".into());
        is_whole.then_some(Self(keys)).ok_or_else(short)
    }

    /// Returns the keys of all documents, those that are gone included.
    fn all(&self) -> Vec<Key> {
        let halves = self.0.each_ref().map(|half| {
            let mut values = vec![0; half.num_vals() as usize];
            half.get_range(0, &mut values);
            values
        });
        let pairs = halves[0].iter().zip(&halves[1]);
        pairs
            .map(|(high, low)| Key::from_halves(*high, *low))
            .collect()
    }

    pub(super) fn get(&self, document: u32) -> Key {
        let [high, low] = &self.0;
        Key::from_halves(high.get_val(document), low.get_val(document))
    }
}

impl OpenIndex {
    /// Opens the last commit; none, if there is no index.
    pub(super) fn last(
        folder: &Path,
        version: &str,
        checked: &mut CheckedFiles,
    ) -> Result<Option<Self>, Damage> {
        // The sums are compared before anything is read by them, so only an accident while it is open ends here.
        catch_unwind(AssertUnwindSafe(|| Self::settled(folder, version, checked)))
            .unwrap_or_else(|panic| Err(panicked(&*panic)))
    }

    /// Returns whether it is still the last commit.
    pub(super) fn is_last(&self, folder: &Path) -> bool {
        let files = IndexFiles::open(folder);
        files
            .is_ok_and(|files| files.atomic_read(Path::new(LIST)).ok().as_ref() == Some(&self.list))
    }

    /// Refuses files that somebody wrote to since their sums were compared: what was read of them may be anything.
    pub(super) fn check_unchanged(&self) -> Result<(), Damage> {
        match self.files.changed() {
            None => Ok(()),
            Some(name) => {
                let what = format!("`{}` was written to while it was open", name.display());
                Err(Damage::Content(what.into()))
            }
        }
    }

    /// Returns all keys, each with the place of its document, which nobody has asked for yet.
    pub(super) fn places(&self) -> DocumentAddresses {
        let count = self.searcher.num_docs().try_into().unwrap_or(0);
        let mut places = DocumentAddresses::with_capacity_and_hasher(count, Spread::default());
        for (number, (segment, keys)) in (0..).zip(self.segments()) {
            let keys = keys.all();
            for document in segment.doc_ids_alive() {
                let place = DocAddress::new(number, document);
                places.insert(keys[document as usize], (place, Wanted::No));
            }
        }
        places
    }

    /// Returns the place of the document of one key, if there is one, without looking at the others.
    pub(super) fn place(&self, key: Key) -> Result<Option<DocAddress>, TantivyError> {
        let term = self.fields.by_key(key);
        for (number, segment) in (0..).zip(self.searcher.segment_readers()) {
            let keys = segment.inverted_index(term.field())?;
            let Some(mut with_key) = keys.read_postings(&term, IndexRecordOption::Basic)? else {
                continue;
            };
            let alive = segment.alive_bitset();
            while with_key.doc() != TERMINATED {
                let document = with_key.doc();
                if alive.is_none_or(|alive| alive.is_alive(document)) {
                    return Ok(Some(DocAddress::new(number, document)));
                }
                with_key.advance();
            }
        }
        Ok(None)
    }

    pub(super) fn segments(&self) -> impl Iterator<Item = (&SegmentReader, &Keys)> {
        self.searcher.segment_readers().iter().zip(&self.keys)
    }

    /// Opens the last commit, and looks again if it was replaced meanwhile.
    fn settled(
        folder: &Path,
        version: &str,
        checked: &mut CheckedFiles,
    ) -> Result<Option<Self>, Damage> {
        let mut result = Ok(None);
        for _ in 0..ATTEMPTS {
            let list = match list(folder) {
                Ok(Some(list)) => list,
                other => return other.map(|_| None),
            };
            let opened = Self::open(folder, version, checked, list);
            let is_settled = matches!(&opened, Ok(Some(opened)) if opened.is_last(folder));
            result = opened;
            if is_settled {
                break;
            }
        }
        result
    }

    /// Opens a commit by its list; none, if it was replaced meanwhile, or if nothing was committed yet.
    fn open(
        folder: &Path,
        version: &str,
        checked: &mut CheckedFiles,
        list: Vec<u8>,
    ) -> Result<Option<Self>, Damage> {
        let (index, fields, files) = index(folder)?;
        let metas = index.load_metas()?;
        let Some(stamp) = &metas.payload else {
            // Another process makes it right now, or was killed when it did.
            return Ok(None);
        };
        let statistics = stamp::read(version, stamp)?;
        check_sums(&files, &metas, checked)?;
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
            return Err(Damage::Content("The number of documents is another".into()));
        }
        let segments = searcher.segment_readers().iter();
        let keys = segments.map(Keys::new).collect::<Result<_, _>>()?;
        Ok(Some(Self {
            fields,
            searcher,
            statistics,
            keys,
            list,
            files,
        }))
    }
}

/// Opens the engine on what is there.
pub(super) fn index(folder: &Path) -> Result<(Index, Fields, IndexFiles), Damage> {
    let (schema, fields) = schema();
    let files = IndexFiles::open(folder).map_err(TantivyError::from)?;
    let index = Index::open(files.clone())?;
    if index.schema() != schema || *index.settings() != settings() {
        return Err(Damage::Version);
    }
    prepare(&index);
    Ok((index, fields, files))
}

/// Tells the engine how tokens are read.
pub(super) fn prepare(index: &Index) {
    let analyzer = TextAnalyzer::from(Repeats::default());
    index.tokenizers().register(TOKENIZER, analyzer);
}

/// Reads the list of the last commit, if there is one.
fn list(folder: &Path) -> Result<Option<Vec<u8>>, Damage> {
    if !folder.join(LIST).exists() {
        return Ok(None);
    }
    check_own(folder).map_err(|cause| Damage::Content(cause.to_string().into()))?;
    let files = IndexFiles::open(folder).map_err(TantivyError::from)?;
    match files.atomic_read(Path::new(LIST)) {
        Ok(list) => Ok(Some(list)),
        Err(OpenReadError::FileDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Compares the sums of the files that belong to a commit and were not compared yet. All of them have to be there: the engine
/// opens some only when they are needed.
fn check_sums(
    files: &IndexFiles,
    metas: &IndexMeta,
    checked: &mut CheckedFiles,
) -> Result<(), Damage> {
    let names: BTreeSet<PathBuf> = metas.segments.iter().flat_map(files_of).collect();
    checked.retain(|name, _| names.contains(name));
    let sums = files.sums()?;
    for name in names {
        let handle = files.handle(&name)?;
        let state = handle.state();
        if checked.get(&name) == Some(&state) {
            continue;
        }
        let unread = |cause| OpenReadError::wrap_io_error(cause, name.clone());
        let file = FileSlice::new(handle);
        if !has_sum(file, sums.get(&name).copied()).map_err(unread)? {
            let what = format!("`{}` has another sum", name.display());
            return Err(Damage::Content(what.into()));
        }
        checked.insert(name, state);
    }
    Ok(())
}

/// Returns whether a file is the one that was written with a sum; it is read in parts, as it may be large.
fn has_sum(file: FileSlice, written: Option<u32>) -> io::Result<bool> {
    let (footer, content) = Footer::extract_footer(file)?;
    let mut sum = crc32fast::Hasher::new();
    let mut start = 0;
    while start < content.len() {
        let end = content.len().min(start + SUMMED);
        sum.update(&content.read_bytes_slice(start..end)?);
        start = end;
    }
    Ok(written == Some(footer.crc) && sum.finalize() == footer.crc)
}

fn files_of(segment: &SegmentMeta) -> impl Iterator<Item = PathBuf> {
    let deleted = segment.has_deletes().then_some(SegmentComponent::Delete);
    let parts = COMPONENTS.into_iter().chain(deleted);
    parts.map(|part| segment.relative_path(part))
}
