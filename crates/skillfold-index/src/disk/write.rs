//! A change of the index: added and removed documents in one commit.

use std::path::Path;

use skillfold_core::search::{CorpusStatistics, SearchDocument};
use tantivy::directory::error::OpenDirectoryError;
use tantivy::index::Index;
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::{DocAddress, IndexWriter, TantivyError};

use crate::disk::files::IndexFiles;
use crate::disk::key::DocumentKey;
use crate::disk::merge::{SegmentSize, select_merge};
use crate::disk::open_index::{OpenIndex, open_engine, register_tokenizer};
use crate::disk::schema::{Fields, StoredDocument, schema, settings};
use crate::disk::stamp;

/// Memory budget of a small change: the minimum that the engine accepts.
const SMALL_CHANGE_BYTES: usize = 15_000_000;
/// Memory budget of a change of many documents, so that it creates few segments.
const LARGE_CHANGE_BYTES: usize = 256_000_000;

/// A change in progress. It has no effect unless it is committed.
pub(super) struct Change {
    writer: IndexWriter,
    fields: Fields,
    statistics: CorpusStatistics,
    changed: u64,
}

/// How much of the index a change affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeExtent {
    /// Some documents.
    Partial,
    /// All documents.
    Full,
}

impl Change {
    /// Begins a change of an open index, or of a new one.
    pub(super) fn begin(
        folder: &Path,
        opened: Option<&OpenIndex>,
        extent: ChangeExtent,
    ) -> Result<Self, TantivyError> {
        let (index, fields) = match opened {
            Some(_) => {
                let opened = open_engine(folder);
                let (index, fields, _) =
                    opened.map_err(|damage| TantivyError::SystemError(damage.to_string()))?;
                (index, fields)
            }
            None => create_index(folder)?,
        };
        let memory = match extent {
            ChangeExtent::Partial => SMALL_CHANGE_BYTES,
            ChangeExtent::Full => LARGE_CHANGE_BYTES,
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

    /// Adds a document.
    pub(super) fn add(
        &mut self,
        key: DocumentKey,
        document: &SearchDocument,
    ) -> Result<(), TantivyError> {
        self.statistics.add(document);
        self.changed += 1;
        let record = self.fields.build_record(key, document);
        self.writer.add_document(record).map(drop)
    }

    /// Removes a document.
    pub(super) fn remove(
        &mut self,
        opened: &OpenIndex,
        key: DocumentKey,
        address: DocAddress,
    ) -> Result<(), TantivyError> {
        let StoredDocument(document) = opened.searcher.doc(address)?;
        let corrupt =
            || TantivyError::SystemError("A document doesn't match what was written".into());
        self.statistics.remove(&document.ok_or_else(corrupt)?);
        self.changed += 1;
        self.writer.delete_term(self.fields.key_term(key));
        Ok(())
    }

    /// Commits the change and merges segments if necessary. Returns the number of documents rewritten by merging.
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
        let segments = metas.iter().map(|meta| SegmentSize {
            id: meta.id(),
            live: u64::from(meta.num_docs()),
            deleted: u64::from(meta.num_deleted_docs()),
        });
        let chosen = select_merge(segments.collect(), self.changed);
        if chosen.is_empty() {
            return Ok(0);
        }
        self.writer.merge(&chosen).wait()?;
        self.writer.garbage_collect_files().wait()?;
        let merged = metas.iter().filter(|meta| chosen.contains(&meta.id()));
        Ok(merged.map(|meta| u64::from(meta.num_docs())).sum())
    }
}

/// Creates an empty index, replacing an existing one.
fn create_index(folder: &Path) -> Result<(Index, Fields), TantivyError> {
    IndexFiles::clear(folder)
        .map_err(|cause| OpenDirectoryError::wrap_io_error(cause, folder.into()))?;
    let (schema, fields) = schema();
    let index = Index::create(IndexFiles::open(folder)?, schema, settings())?;
    register_tokenizer(&index);
    Ok((index, fields))
}
