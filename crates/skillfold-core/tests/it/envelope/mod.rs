//! Envelopes: what they look like, and that a body cannot forge one.

mod break_outs;
mod forged;
mod golden;
