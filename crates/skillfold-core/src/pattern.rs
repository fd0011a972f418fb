//! Regular expressions that the engine itself has.

use regex::Regex;

/// Compiles a pattern of the engine.
pub(crate) fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("patterns of the engine are tested")
}
