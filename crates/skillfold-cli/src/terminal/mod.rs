//! What prints on the terminal, and what asks there.

pub(crate) mod digest;
pub(crate) mod progress;
pub(crate) mod table;

pub(crate) mod output;

pub(crate) mod chart;
pub(crate) mod finding_counts;
pub(crate) mod print_failure;
pub(crate) mod sarif;
pub(crate) mod signals;
pub(crate) mod text_diff;

pub(crate) mod editor;
pub(crate) mod screen;
pub(crate) mod skill_review;

pub(crate) mod ask;
pub(crate) mod skill_table;

pub(crate) mod approval;
pub(crate) mod choose;
