//! Answers, and errors as the packages raise them.

use std::fmt::Display;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use skillfold::core::Error;
use skillfold::run::RunError;
use skillfold::scripts::ScriptError;
use skillfold::view::{Document, Failure};

/// An answer as JSON on one line.
pub type Answer = Result<String, CallError>;

/// Why a call has no answer.
#[derive(Debug)]
pub struct CallError(Box<Failure>);

impl CallError {
    /// Returns the view of the error as JSON.
    pub fn into_json(self) -> String {
        Document::Error(*self.0).to_compact_json()
    }
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        Self(Box::new(Failure::new(&error)))
    }
}

impl From<RunError> for CallError {
    fn from(error: RunError) -> Self {
        Self(Box::new(Failure::run(&error)))
    }
}

impl From<ScriptError> for CallError {
    fn from(error: ScriptError) -> Self {
        Self(Box::new(error.failure()))
    }
}

/// Returns a view as JSON.
pub(crate) fn view(document: Document) -> String {
    document.to_compact_json()
}

/// Returns a value that is no view, such as a list of ids, as JSON.
pub(crate) fn value(value: impl Serialize) -> Answer {
    let text = serde_json::to_string(&value);
    text.map_err(|error| Error::invalid("the answer", error.to_string()).into())
}

/// Reads a call or its options.
pub(crate) fn read<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, Error> {
    serde_json::from_str(json).map_err(|error| Error::invalid(what, error.to_string()))
}

/// Parses a word of a call.
pub(crate) fn parse<T: FromStr<Err: Display>>(what: &str, word: &str) -> Result<T, Error> {
    word.parse::<T>()
        .map_err(|error| Error::invalid(what, error.to_string()))
}
