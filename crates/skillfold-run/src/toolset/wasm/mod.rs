//! Tools of a WebAssembly component, called in this process.
//!
//! A component computes and nothing else: the only function it is given notes a line. Its memory, its time and what it
//! answers have limits, and a fault of it is an error of that call.

mod ticker;

mod bindings;

mod state;

mod guest;

mod functions;

mod component;

mod loader;

pub(super) use loader::WasmLoader;
