//! Reads skills from files: find, split, parse, repair, convert, lint, fix.
//!
//! Modules are listed in dependency order.

pub(crate) mod source;

pub(crate) mod frontmatter;
pub(crate) mod yaml;

pub(crate) mod clients;
pub(crate) mod field;
pub(crate) mod line_reader;
pub(crate) mod repair;
pub(crate) mod value;

pub(crate) mod manifest;
pub(crate) mod rules;

pub(crate) mod parse;

pub(crate) mod raw_fields;

pub(crate) mod links;

pub(crate) mod lint;

pub(crate) mod fix;

pub(crate) mod discover;

pub(crate) mod body;
