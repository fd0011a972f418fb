//! Static embedding models: a table with a vector per token.

use std::fmt;
use std::path::Path;

use skillfold_core::Error;
use skillfold_core::search::Embedder;

use crate::model::files::{
    CONFIG, Folder, ModelFiles, TOKENIZER, WEIGHTS, catch_panic, is_valid_vector,
};

/// The algorithm and its version. Change it whenever the computed vectors change.
const COMPUTED: &str = "static-1";

/// A static embedding model in the `model2vec` format: a table with a vector per token. The embedding of a text is the
/// mean of its token vectors, which takes microseconds and ignores word order.
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use skillfold_core::{Catalog, CatalogOptions, FsSource, Root, Scope};
/// use skillfold_core::search::{SearchCoverage, SearchIndex};
/// use skillfold_index::StaticModel;
///
/// let skills = FsSource::open(Path::new("/home/user/.agents/skills"))?;
/// let catalog = Catalog::discover(vec![Root::new(Scope::User, "mine", skills)], CatalogOptions::default(), 0);
/// let model = Arc::new(StaticModel::open(Path::new("/home/user/models/static"))?);
/// let index = SearchIndex::with_embedder(&catalog, SearchCoverage::Bodies, model);
/// let found = index.search(&index.query("repair my automobile"), 10, |_| true);
/// # Ok::<(), skillfold_core::Error>(())
/// ```
pub struct StaticModel {
    id: Box<str>,
    folder: Folder,
    model: model2vec_rs::model::StaticModel,
}

impl StaticModel {
    /// Loads `config.json`, `tokenizer.json` and `model.safetensors` from a folder.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let files = ModelFiles::read(folder)?;
        let read = || {
            let (tokenizer, weights) = (&files.tokenizer, &files.weights);
            let model = model2vec_rs::model::StaticModel::from_bytes(
                tokenizer,
                weights,
                &files.config,
                Some(true),
            );
            model.map_err(|error| format!("{error:#}"))
        };
        let model =
            catch_panic(read).map_err(|why| files.folder().error(blamed_file(&why), &why))?;
        let model = Self {
            id: files.id(COMPUTED),
            folder: files.folder().clone(),
            model,
        };
        // Fail now rather than at the first search if the table does not fit the tokenizer.
        model.embed_one("What does this mean?")?;
        Ok(model)
    }

    fn embed_one(&self, text: &str) -> Result<Vec<f32>, Error> {
        let vector = catch_panic(|| Ok(self.model.encode_single(text)));
        let vector = vector.map_err(|why| self.folder.error(WEIGHTS, &why))?;
        if is_valid_vector(&vector) {
            Ok(vector)
        } else {
            let why = "it has no vectors, or vectors that are not numbers";
            Err(self.folder.error(WEIGHTS, why))
        }
    }
}

impl Embedder for StaticModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        texts.iter().map(|text| self.embed_one(text)).collect()
    }
}

impl fmt::Debug for StaticModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StaticModel")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Returns the file that an error of the model loader is about.
fn blamed_file(why: &str) -> &'static str {
    let mentions = |words: &[&str]| words.iter().any(|word| why.contains(word));
    match () {
        () if mentions(&["config.json"]) => CONFIG,
        () if mentions(&["tokenizer", "unk_token", "unigram"]) => TOKENIZER,
        () => WEIGHTS,
    }
}
