//! What the engine keeps of a document.

use skillfold_core::Document;
use tantivy::index::IndexSettings;
use tantivy::schema::document::{DeserializeError, DocumentDeserialize, DocumentDeserializer};
use tantivy::schema::{
    BytesOptions, FAST, Field, INDEXED, IndexRecordOption, OwnedValue, Schema, TextFieldIndexing,
    TextOptions,
};
use tantivy::store::Compressor;
use tantivy::{TantivyDocument, Term};

use crate::disk::key::Key;
use crate::disk::token;

/// The name of the tokenizer, in the schema.
pub(super) const TOKENIZER: &str = "skillfold-repeats";
/// The columns with the two halves of the keys.
pub(super) const HALVES: [&str; 2] = ["key_high", "key_low"];
/// Bytes of documents that are stored together. One is read with its neighbours, so there are few of them.
const BLOCK_BYTES: usize = 4 * 1024;

/// The fields of the engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    terms: Field,
    key: Field,
    halves: [Field; 2],
    document: Field,
}

/// Returns the fields, and the schema that has them.
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
        halves: HALVES.map(|name| schema.add_u64_field(name, FAST)),
        document: schema.add_bytes_field("document", BytesOptions::default().set_stored()),
    };
    (schema.build(), fields)
}

/// Returns how the engine stores documents. They are numbers without a pattern: compressing them costs more than it saves.
pub(super) fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::None,
        docstore_blocksize: BLOCK_BYTES,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

impl Fields {
    /// Returns a document as the engine takes it.
    pub(super) fn record(&self, key: Key, document: &Document) -> TantivyDocument {
        let mut record = TantivyDocument::default();
        record.add_text(self.terms, token::text(document));
        record.add_bytes(self.key, key.bytes());
        let (high, low) = key.halves();
        record.add_u64(self.halves[0], high);
        record.add_u64(self.halves[1], low);
        record.add_bytes(self.document, &document.to_bytes());
        record
    }

    /// Returns by what a document is found when it is taken out.
    pub(super) fn by_key(&self, key: Key) -> Term {
        Term::from_field_bytes(self.key, key.bytes())
    }

    /// Returns by what documents with a term are found.
    pub(super) fn by_term(&self, term: skillfold_core::Term) -> Term {
        Term::from_field_text(self.terms, &token::token(term))
    }
}

/// A document as it was stored; nothing, if it is not that.
pub(super) struct Stored(pub(super) Option<Document>);

impl DocumentDeserialize for Stored {
    fn deserialize<'de, D>(mut record: D) -> Result<Self, DeserializeError>
    where
        D: DocumentDeserializer<'de>,
    {
        let value = record.next_field::<OwnedValue>()?;
        Ok(Self(match value {
            Some((_, OwnedValue::Bytes(bytes))) => Document::from_bytes(&bytes),
            _ => None,
        }))
    }
}
