//! The same for a transformer.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use skillfold_core::{Embedder, ErrorKind, QuantizedVector};
use skillfold_index::Transformer;

use super::{check_real, real};

fn copied(from: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::copy(from.join(file), folder.path().join(file)).unwrap();
    }
    folder
}

fn refusal_of(from: &Path, file: &str, content: &[u8]) -> String {
    let folder = copied(from);
    let path = folder.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    let error = Transformer::open(folder.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let folder = folder.path().display().to_string();
    error.to_string().replace(&folder, "FOLDER")
}

#[test]
#[ignore = "needs a model"]
fn a_real_transformer_finds_by_meaning() {
    let folder = real("transformer");
    let model = Transformer::open(&folder).unwrap();
    let texts = [
        "He repairs cars",
        "The automobile is mended by him",
        "Soup of the day",
    ];
    let vectors = model.embed(&texts).unwrap();
    let directions: Vec<QuantizedVector> = vectors
        .iter()
        .map(|one| QuantizedVector::new(one).unwrap())
        .collect();
    let near = directions[0].similarity(&directions[1]);
    let far = directions[0].similarity(&directions[2]);
    assert!(near > 0.5 && far < 0.3, "{near} {far}");
    check_real(Arc::new(model));
}

#[test]
#[ignore = "needs a model"]
fn a_transformer_reads_the_start_of_a_long_text() {
    let folder = real("transformer");
    let model = Transformer::open(&folder).unwrap();
    let long = "a car ".repeat(5_000);
    let longer = format!("{long} soup");
    let vectors = model.embed(&[&long, &longer, ""]).unwrap();
    assert_eq!(vectors[0], vectors[1]);
    assert_eq!(vectors[2].len(), vectors[0].len());
}

#[test]
#[ignore = "needs a model"]
fn a_broken_transformer_is_an_error_that_names_the_file() {
    let folder = real("transformer");
    let config = fs::read_to_string(folder.join("config.json")).unwrap();
    let with = |key: &str, value: serde_json::Value| {
        let mut config: serde_json::Value = serde_json::from_str(&config).unwrap();
        config[key] = value;
        config.to_string().into_bytes()
    };
    let refusals = [
        ("config.json", b"{}".to_vec()),
        ("config.json", with("model_type", "t5".into())),
        ("config.json", with("num_attention_heads", 0.into())),
        ("config.json", with("num_hidden_layers", 1_000_000.into())),
        ("config.json", with("max_position_embeddings", 0.into())),
        ("config.json", with("vocab_size", 7.into())),
        ("tokenizer.json", b"{}".to_vec()),
        ("model.safetensors", b"no tensors".to_vec()),
        (
            "1_Pooling/config.json",
            br#"{"pooling_mode_max_tokens":true}"#.to_vec(),
        ),
    ]
    .map(|(file, content)| refusal_of(&folder, file, &content));
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    Could not use the model file `FOLDER/config.json`: `model_type` is not `bert`, which is the only one known
    Could not use the model file `FOLDER/config.json`: `model_type` is not `bert`, which is the only one known
    Could not use the model file `FOLDER/config.json`: `num_attention_heads` is not a number above 0
    Could not use the model file `FOLDER/config.json`: it has more than 64 layers
    Could not use the model file `FOLDER/config.json`: `max_position_embeddings` is not a number above 0
    Could not use the model file `FOLDER/model.safetensors`: shape mismatch for embeddings.word_embeddings.weight, expected: [7, 384], got: [30522, 384]
    Could not use the model file `FOLDER/tokenizer.json`: Model missing. at line 1 column 2
    Could not use the model file `FOLDER/model.safetensors`: header too large
    Could not use the model file `FOLDER/1_Pooling/config.json`: words become one vector by their mean or by the first, not by ["pooling_mode_max_tokens"]
    "#);
}

#[test]
#[ignore = "needs a model"]
fn a_transformer_is_named_by_the_content_of_its_files() {
    let folder = real("transformer");
    let other = copied(&folder);
    let id = |folder: &Path| Transformer::open(folder).unwrap().id().to_owned();
    assert_ne!(id(&folder), id(other.path()), "one has no file on pooling");
}
