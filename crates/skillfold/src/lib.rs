//! The skills engine for AI agents: what a host adds to its program.
//!
//! This crate assembles the engine with the world: it will find the roots of skills, read settings and watch for
//! changes. For now it carries the engine, [`skillfold_core`], under its own name.

pub use skillfold_core as core;

/// Runs the examples of the README as they are printed.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
