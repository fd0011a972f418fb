//! Reads skills: split, parse, repair, convert, discover.

// Modules are listed in dependency order.

pub(crate) mod frontmatter;

pub(crate) mod yaml;

pub(crate) mod field;

pub(crate) mod line_reader;

pub(crate) mod repair;

pub(crate) mod value;
pub(crate) mod version;

pub(crate) mod bare;

pub(crate) mod manifest;

pub(crate) mod rules;

pub(crate) mod trigger;

pub(crate) mod exclusion;

pub(crate) mod links;

pub(crate) mod parse;

pub(crate) mod raw_fields;

pub(crate) mod discover;

pub use discover::{Discovery, ReadOptions, RefusedFolder, Skill, SourceFinding, discover};
pub use exclusion::{Exclusion, exclusions};
pub use manifest::{EngineRequirement, Manifest, ToolCheck, Triggers};
#[doc(hidden)]
pub use parse::{Agreement, readers_agree};
pub use parse::{FrontmatterReader, Parsed, parse, parse_with};
pub use raw_fields::{raw_frontmatter, yaml_fields};
pub use rules::Profile;
pub use value::{Fields, Scalar, ScalarValue, Value};
pub use version::{Version, VersionRange};
