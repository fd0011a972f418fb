//! The bare search library: one field, each token repeated by its weight, the best 200.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use skillfold_core::search::{MAX_CANDIDATES, Query, SearchDocument, Term};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{DocAddress, Index, IndexReader, IndexWriter, TantivyDocument};

/// Bytes collected in memory before they are written.
const MEMORY: usize = 256_000_000;

/// An index used as the library's documentation shows.
pub(crate) struct Bare {
    folder: PathBuf,
    reader: IndexReader,
    terms: Field,
}

impl Bare {
    pub(crate) fn build(
        folder: &Path,
        documents: &mut dyn Iterator<Item = SearchDocument>,
    ) -> Result<Self, Box<dyn Error>> {
        fs::create_dir(folder)?;
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("whitespace")
            .set_index_option(IndexRecordOption::WithFreqs);
        let terms = schema.add_text_field(
            "terms",
            TextOptions::default().set_indexing_options(indexing),
        );
        let number = schema.add_u64_field("number", FAST);
        let index = Index::create_in_dir(folder, schema.build())?;
        let mut writer: IndexWriter = index.writer_with_num_threads(1, MEMORY)?;
        let mut text = String::new();
        for (place, document) in (0..).zip(documents) {
            text.clear();
            for (term, times) in document.weighted_terms() {
                for _ in 0..times {
                    write!(text, "{} ", token(term))?;
                }
            }
            let mut record = TantivyDocument::default();
            record.add_text(terms, &text);
            record.add_u64(number, place);
            writer.add_document(record)?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        Ok(Self {
            folder: folder.to_owned(),
            reader: index.reader()?,
            terms,
        })
    }

    /// Returns the best documents for a request.
    pub(crate) fn candidates(&self, query: &Query) -> tantivy::Result<Vec<(f32, DocAddress)>> {
        let terms = query.terms().map(|term| {
            let term = tantivy::Term::from_field_text(self.terms, &token(term));
            let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
            Box::new(query) as Box<dyn tantivy::query::Query>
        });
        let query = BooleanQuery::union(terms.collect());
        let best = TopDocs::with_limit(MAX_CANDIDATES).order_by_score();
        self.reader.searcher().search(&query, &best)
    }

    /// Returns the index's size on disk in bytes.
    #[expect(clippy::disallowed_methods, reason = "the folder is the bench's own")]
    pub(crate) fn bytes(&self) -> Result<u64, Box<dyn Error>> {
        let sizes = fs::read_dir(&self.folder)?.map(|entry| Ok(entry?.metadata()?.len()));
        sizes.sum()
    }
}

fn token(term: Term) -> String {
    format!("{:08x}", term.hash())
}
