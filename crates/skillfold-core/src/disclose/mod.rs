//! Disclosure: what a model is told about skills, within a budget.

pub(crate) mod tokens;

pub(crate) mod budget;

mod clip;

pub(crate) mod fit;

pub(crate) mod style;

pub(crate) mod policy;

pub(crate) mod listing;

pub(crate) mod changes;

pub(crate) mod memory;

mod visible;

pub(crate) mod outcome;

pub(crate) mod text;

pub(crate) mod turn;
