//! Skill selection: which skills a message asks for, and with what confidence.

mod message;
mod trigger;

mod capability;
mod literals;
mod patterns;

mod layers;

pub(crate) mod signal;

pub(crate) mod compiled;

pub(crate) mod match_cache;

pub(crate) mod search;

pub(crate) mod finder;

pub(crate) mod matcher;

pub(crate) mod near_miss;

pub(crate) mod rank;
