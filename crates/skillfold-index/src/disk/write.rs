//! One change of the index: documents that come, documents that go, one commit.

use std::path::Path;

use skillfold_core::{CorpusStatistics, Document};
use tantivy::directory::error::OpenDirectoryError;
use tantivy::index::Index;
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::{DocAddress, IndexWriter, TantivyError};

use crate::disk::files::IndexFiles;
use crate::disk::key::Key;
use crate::disk::merge::{SegmentSize, together};
use crate::disk::opened::{OpenIndex, index, prepare};
use crate::disk::schema::{Fields, Stored, schema, settings};
use crate::disk::stamp;

/// Bytes that a change collects in memory before it becomes a segment: the least the engine can do with.
const SMALL_BYTES: usize = 15_000_000;
/// The same for a change of many documents, which so becomes few segments.
const LARGE_BYTES: usize = 256_000_000;

/// A change that is being made. Without a commit nothing of it stays.
pub(super) struct Change {
    writer: IndexWriter,
    fields: Fields,
    statistics: CorpusStatistics,
    changed: u64,
}

/// How many documents a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Some.
    Some,
    /// All of them.
    All,
}

impl Change {
    /// Begins a change of what is there, or of nothing.
    pub(super) fn begin(
        folder: &Path,
        opened: Option<&OpenIndex>,
        extent: Extent,
    ) -> Result<Self, TantivyError> {
        let (index, fields) = match opened {
            Some(_) => {
                let opened = index(folder);
                let (index, fields, _) =
                    opened.map_err(|damage| TantivyError::SystemError(damage.to_string()))?;
                (index, fields)
            }
            None => create(folder)?,
        };
        let memory = match extent {
            Extent::Some => SMALL_BYTES,
            Extent::All => LARGE_BYTES,
        };
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(memory)
            .build();
        let writer: IndexWriter = index.writer_with_options(options)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self {
            writer,
            fields,
            statistics: opened.map(|opened| opened.statistics).unwrap_or_default(),
            changed: 0,
        })
    }

    /// Takes a document in.
    pub(super) fn add(&mut self, key: Key, document: &Document) -> Result<(), TantivyError> {
        self.statistics.add(document);
        self.changed += 1;
        let record = self.fields.record(key, document);
        self.writer.add_document(record).map(drop)
    }

    /// Takes a document out.
    pub(super) fn remove(
        &mut self,
        opened: &OpenIndex,
        key: Key,
        place: DocAddress,
    ) -> Result<(), TantivyError> {
        let Stored(document) = opened.searcher.doc(place)?;
        let unreadable = || TantivyError::SystemError("A document is not what was written".into());
        self.statistics.remove(&document.ok_or_else(unreadable)?);
        self.changed += 1;
        self.writer.delete_term(self.fields.by_key(key));
        Ok(())
    }

    /// Makes the change, and puts segments together where they are many. Returns how many documents that wrote again.
    pub(super) fn commit(mut self, version: &str) -> Result<u64, TantivyError> {
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&stamp::write(version, &self.statistics));
        commit.commit()?;
        let merged = self.merge()?;
        self.writer.wait_merging_threads()?;
        Ok(merged)
    }

    fn merge(&mut self) -> Result<u64, TantivyError> {
        let metas = self.writer.index().searchable_segment_metas()?;
        let parts = metas.iter().map(|meta| SegmentSize {
            id: meta.id(),
            alive: u64::from(meta.num_docs()),
            gone: u64::from(meta.num_deleted_docs()),
        });
        let chosen = together(parts.collect(), self.changed);
        if chosen.is_empty() {
            return Ok(0);
        }
        self.writer.merge(&chosen).wait()?;
        self.writer.garbage_collect_files().wait()?;
        let merged = metas.iter().filter(|meta| chosen.contains(&meta.id()));
        Ok(merged.map(|meta| u64::from(meta.num_docs())).sum())
    }
}

/// Makes an index without documents, in place of what is there.
fn create(folder: &Path) -> Result<(Index, Fields), TantivyError> {
    IndexFiles::clear(folder)
        .map_err(|cause| OpenDirectoryError::wrap_io_error(cause, folder.into()))?;
    let (schema, fields) = schema();
    let index = Index::create(IndexFiles::open(folder)?, schema, settings())?;
    prepare(&index);
    Ok((index, fields))
}
