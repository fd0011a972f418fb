//! A transformer: a small network that reads a text as a whole.

use std::fmt;
use std::path::Path;

use candle_core::{DType, Device};
use candle_nn::VarBuilder;
use serde_json::Value;
use skillfold_core::{Embedder, Error};
use tokenizers::{Tokenizer, TruncationParams};

use crate::model::bert::{Bert, Shape};
use crate::model::files::{
    CONFIG, Folder, ModelFiles, TOKENIZER, WEIGHTS, catch_panic, is_valid_vector,
};

/// How texts become vectors: changes with what is computed.
const COMPUTED: &str = "transformer-1";
/// Parts of words of a text that are looked at.
const TOKENS: usize = 256;
/// Layers at most; large models of the kind have 24.
const LAYERS: usize = 64;
/// Where a model says how the vectors of its words become one.
const POOLING: &str = "1_Pooling/config.json";

/// A transformer of the BERT kind, such as `all-MiniLM-L6-v2`. It reads a text as a whole, which takes milliseconds.
pub struct Transformer {
    id: Box<str>,
    folder: Folder,
    tokenizer: Tokenizer,
    model: Bert,
    pooling: Pooling,
}

/// How the vectors of words become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pooling {
    /// Their mean.
    Mean,
    /// That of the mark before the first word.
    First,
}

impl Transformer {
    /// Reads `config.json`, `tokenizer.json` and `model.safetensors` of a folder, and `1_Pooling/config.json` where it is.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let mut files = ModelFiles::read(folder)?;
        let pooling = files.optional(folder, POOLING)?;
        let broken = |file, why: String| files.folder().error(file, &why);
        let pooling = pooling.map_or(Ok(Pooling::Mean), |bytes| Pooling::of(&bytes));
        let pooling = pooling.map_err(|why| broken(POOLING, why))?;
        let shape = shape(&files.config).map_err(|why| broken(CONFIG, why))?;
        let most = TOKENS.min(shape.places);
        let tokenizer = catch_panic(|| tokenizer(&files.tokenizer, most));
        let tokenizer = tokenizer.map_err(|why| broken(TOKENIZER, why))?;
        let model = catch_panic(|| {
            let weights =
                VarBuilder::from_slice_safetensors(&files.weights, DType::F32, &Device::Cpu);
            let model = weights.and_then(|weights| Bert::new(&shape, &weights));
            model.map_err(|error| error.to_string())
        });
        let transformer = Self {
            model: model.map_err(|why| broken(WEIGHTS, why))?,
            id: files.id(COMPUTED),
            folder: files.folder().clone(),
            tokenizer,
            pooling,
        };
        // Weights that do not fit the tokenizer are better known now than at the first search.
        transformer.vector("What does this mean?")?;
        Ok(transformer)
    }

    fn vector(&self, text: &str) -> Result<Vec<f32>, Error> {
        let tokens = catch_panic(|| {
            let encoded = self.tokenizer.encode_fast(text, true);
            encoded.map_err(|error| error.to_string())
        });
        let tokens = tokens.map_err(|why| self.folder.error(TOKENIZER, &why))?;
        let vector = catch_panic(|| {
            let vector = self.run(tokens.get_ids());
            vector.map_err(|error| error.to_string())
        });
        let vector = vector.map_err(|why| self.folder.error(WEIGHTS, &why))?;
        if is_valid_vector(&vector) {
            Ok(vector)
        } else {
            let why = "it gives no vectors, or some that are no numbers";
            Err(self.folder.error(WEIGHTS, why))
        }
    }

    /// Computes one text, so that its vector is the same whatever stands beside it.
    fn run(&self, tokens: &[u32]) -> candle_core::Result<Vec<f32>> {
        let words = self.model.run(tokens)?;
        let vector = match self.pooling {
            Pooling::Mean => words.mean(0)?,
            Pooling::First => words.get(0)?,
        };
        let vector: Vec<f32> = vector.to_vec1()?;
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        let length = length.max(f32::MIN_POSITIVE);
        Ok(vector.into_iter().map(|part| part / length).collect())
    }
}

impl Embedder for Transformer {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        texts.iter().map(|text| self.vector(text)).collect()
    }
}

impl fmt::Debug for Transformer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Transformer")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Pooling {
    fn of(bytes: &[u8]) -> Result<Self, String> {
        let config: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let keys = config.as_object().into_iter().flatten();
        let modes = keys.filter(|(key, on)| key.starts_with("pooling_mode_") && **on == true);
        let modes: Vec<&str> = modes.map(|(key, _)| &**key).collect();
        match modes[..] {
            ["pooling_mode_mean_tokens"] => Ok(Self::Mean),
            ["pooling_mode_cls_token"] => Ok(Self::First),
            _ => Err(format!(
                "words become one vector by their mean or by the first, not by {modes:?}"
            )),
        }
    }
}

/// Reads how a model is built.
fn shape(bytes: &[u8]) -> Result<Shape, String> {
    let config: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let word = |key: &str, only: &str| match config[key].as_str() {
        Some(word) if word == only => Ok(()),
        _ => Err(format!(
            "`{key}` is not `{only}`, which is the only one known"
        )),
    };
    word("model_type", "bert")?;
    word("hidden_act", "gelu")?;
    let number = |key: &str| {
        let number = config[key].as_u64().filter(|number| *number > 0);
        let number = number.and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| format!("`{key}` is not a number above 0"))
    };
    let shape = Shape {
        words: number("vocab_size")?,
        width: number("hidden_size")?,
        layers: number("num_hidden_layers")?,
        heads: number("num_attention_heads")?,
        inner: number("intermediate_size")?,
        places: number("max_position_embeddings")?,
        kinds: number("type_vocab_size")?,
        least: config["layer_norm_eps"].as_f64().unwrap_or(1e-12),
    };
    match () {
        () if !shape.width.is_multiple_of(shape.heads) => {
            Err("`hidden_size` is no multiple of `num_attention_heads`".into())
        }
        () if shape.layers > LAYERS => Err(format!("it has more than {LAYERS} layers")),
        () if shape.places < 8 => Err("`max_position_embeddings` leaves no room for text".into()),
        () => Ok(shape),
    }
}

fn tokenizer(bytes: &[u8], most: usize) -> Result<Tokenizer, String> {
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| error.to_string())?;
    let truncation = TruncationParams {
        max_length: most,
        ..TruncationParams::default()
    };
    tokenizer
        .with_truncation(Some(truncation))
        .map_err(|error| error.to_string())?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}
