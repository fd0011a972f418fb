//! Any block: the line reader returns the parser's tree, positions included, or says that the parser refuses, or
//! declines.

use skillfold_core::read::{Agreement, readers_agree};

pub(crate) fn run(text: &str) {
    assert_ne!(readers_agree(text), Agreement::Different);
}
