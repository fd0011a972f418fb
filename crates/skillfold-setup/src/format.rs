//! The format of a configuration file.

use std::path::Path;

use serde_json::Value;

use crate::entry::SyntaxFault;
use crate::{json, toml, yaml};

/// A configuration's file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Toml,
    Yaml,
}

impl Format {
    /// Returns the format of a file, by its name.
    pub(crate) fn of(file: &Path) -> Self {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Self::Toml,
            Some("yaml") => Self::Yaml,
            _ => Self::Json,
        }
    }

    /// Parses a configuration.
    pub(crate) fn parse(self, text: &str) -> Result<Value, SyntaxFault> {
        let value = match self {
            Self::Json => json::value(text),
            Self::Toml => toml::value(text),
            Self::Yaml => yaml::value(text),
        }?;
        match value {
            Value::Null | Value::Object(_) => Ok(value),
            _ => Err(SyntaxFault::new(0, "Expected an object")),
        }
    }
}
