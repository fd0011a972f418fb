//! The Tantivy schema.

use skillfold_core::search::SearchDocument;
use tantivy::index::IndexSettings;
use tantivy::schema::document::{DeserializeError, DocumentDeserialize, DocumentDeserializer};
use tantivy::schema::{
    BytesOptions, FAST, Field, INDEXED, IndexRecordOption, OwnedValue, Schema, TextFieldIndexing,
    TextOptions,
};
use tantivy::store::Compressor;
use tantivy::{TantivyDocument, Term};

use crate::disk::key::DocumentKey;
use crate::disk::token;

/// The name of the tokenizer in the schema.
pub(super) const TOKENIZER: &str = "skillfold-repeats";
/// The columns for the two halves of a key.
pub(super) const KEY_COLUMNS: [&str; 2] = ["key_high", "key_low"];
/// Block size of the document store. A document is read with its whole block, so blocks are small.
const BLOCK_BYTES: usize = 4 * 1024;

/// The fields of the schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    terms: Field,
    key: Field,
    key_columns: [Field; 2],
    document: Field,
}

/// Returns the schema and its fields.
pub(super) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(true);
    let fields = Fields {
        terms: schema.add_text_field(
            "terms",
            TextOptions::default().set_indexing_options(indexing),
        ),
        key: schema.add_bytes_field("key", INDEXED),
        key_columns: KEY_COLUMNS.map(|name| schema.add_u64_field(name, FAST)),
        document: schema.add_bytes_field("document", BytesOptions::default().set_stored()),
    };
    (schema.build(), fields)
}

/// Returns the index settings. Documents are not compressed: they are mostly random numbers, so it would cost more than
/// it saves.
pub(super) fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::None,
        docstore_blocksize: BLOCK_BYTES,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

impl Fields {
    /// Builds the engine document for a document and its key.
    pub(super) fn build_record(
        &self,
        key: DocumentKey,
        document: &SearchDocument,
    ) -> TantivyDocument {
        let mut record = TantivyDocument::default();
        record.add_text(self.terms, token::encode_terms(document));
        record.add_bytes(self.key, &key.bytes());
        let (high, low) = key.halves();
        record.add_u64(self.key_columns[0], high);
        record.add_u64(self.key_columns[1], low);
        record.add_bytes(self.document, &document.to_bytes());
        record
    }

    /// Returns the engine term for a key.
    pub(super) fn key_term(&self, key: DocumentKey) -> Term {
        Term::from_field_bytes(self.key, &key.bytes())
    }

    /// Returns the engine term for a search term.
    pub(super) fn search_term(&self, term: skillfold_core::search::Term) -> Term {
        Term::from_field_text(self.terms, &token::token(term))
    }
}

/// A document from the store, or `None` if its bytes are not valid.
pub(super) struct StoredDocument(pub(super) Option<SearchDocument>);

impl DocumentDeserialize for StoredDocument {
    fn deserialize<'de, D>(mut record: D) -> Result<Self, DeserializeError>
    where
        D: DocumentDeserializer<'de>,
    {
        let value = record.next_field::<OwnedValue>()?;
        Ok(Self(match value {
            Some((_, OwnedValue::Bytes(bytes))) => SearchDocument::from_bytes(&bytes),
            _ => None,
        }))
    }
}
