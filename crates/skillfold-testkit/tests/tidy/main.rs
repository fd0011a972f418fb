//! Checks the tree against the house rules.
//!
//! Each rule is one test named after its promise. It checks text with a function, and a second test shows that the
//! function can find an offender.
#![expect(clippy::disallowed_methods, reason = "the tidy test reads the tree")]

// Shared helpers.
mod report;
mod source;
mod test_paths;
mod tree;
mod use_tree;

// The rules.
mod claims;
mod code_map;
mod codes;
mod coverage;
mod decisions;
mod dependencies;
mod files;
mod machine_paths;
mod manifests;
mod messages;
mod modules;
mod names;
mod project_files;
mod promises;
mod public_types;
mod requirements;
mod variables;
mod world;
