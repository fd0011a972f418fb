//! For people who write skills: lint and fix.

// Modules are listed in dependency order.

pub(crate) mod clients;

mod field_rules;

pub(crate) mod lint;

pub(crate) mod fix;

pub use clients::{ClientField, FieldForm, FieldLevel};
pub use fix::{Fixed, fix, is_fixable};
pub use lint::{BODY_PLACEHOLDER, DESCRIPTION_PLACEHOLDER, lint, lint_skill};
