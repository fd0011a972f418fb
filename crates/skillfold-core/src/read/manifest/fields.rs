//! The optional fields of a manifest.

use serde::{Deserialize, Serialize};

use crate::read::value::{Fields, Value};

/// The optional fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OptionalFields {
    pub(super) license: Option<Box<str>>,
    pub(super) compatibility: Option<Box<str>>,
    pub(super) version: Option<Box<str>>,
    pub(super) model: Option<Box<str>>,
    pub(super) brief_description: Option<Box<str>>,
    pub(super) allowed_tools: Box<[Box<str>]>,
    pub(super) tags: Box<[Box<str>]>,
    pub(super) requires: Box<[Box<str>]>,
    pub(super) toolsets: Box<[Box<str>]>,
    pub(super) scripts: Box<[Value]>,
    pub(super) triggers: Option<Triggers>,
    pub(super) disable_model_invocation: Option<bool>,
    pub(super) default_enabled: Option<bool>,
    pub(super) engines: Box<[EngineRequirement]>,
    pub(super) metadata: Fields,
    pub(super) other: Fields,
}

/// A program that a skill needs, and the versions of it that will do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EngineRequirement {
    /// The program: `skillfold`, or the name of a host.
    pub program: Box<str>,
    /// The range of versions as written, such as `>=2.0`.
    pub range: Box<str>,
}

/// The triggers of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Triggers {
    /// A flat list; each entry matches as a substring of the message.
    Flat(Box<[Box<str>]>),
    /// A mapping; keywords and verbs match whole words, patterns are regular expressions.
    Structured {
        /// Keywords.
        keywords: Box<[Box<str>]>,
        /// Verbs.
        verbs: Box<[Box<str>]>,
        /// Regular expressions, not yet compiled.
        patterns: Box<[Box<str>]>,
    },
}
