//! Reads the tree and holds it to the rules of the house.
//!
//! Each rule is one test named by its promise. It judges by a function on text, and a second test beside it shows that
//! the function can find an offender.
#![expect(clippy::disallowed_methods, reason = "the tidy test reads the tree")]

// What the rules stand on.
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
mod promises;
mod public_types;
mod requirements;
mod variables;
mod world;
