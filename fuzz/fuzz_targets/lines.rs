//! Any block: the line reader returns the parser's tree, positions included, or says that the parser refuses, or
//! declines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillfold_core::{Reader, frontmatter_tree};

fuzz_target!(|text: &str| {
    if let Some(tree) = frontmatter_tree(text, Reader::Lines) {
        assert_eq!(Some(tree), frontmatter_tree(text, Reader::Yaml));
    }
});
