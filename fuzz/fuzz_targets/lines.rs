//! Any block: the line reader returns the parser's tree, positions included, or says that the parser refuses, or
//! declines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillfold_core::read::{Agreement, readers_agree};

fuzz_target!(|text: &str| assert_ne!(readers_agree(text), Agreement::Different));
