//! Tools in a WebAssembly component, called in this process.
//!
//! A component can only compute: its single import logs a line. Its memory, time and output are limited, and a fault is
//! an error of that call.

mod ticker;

mod bindings;

mod state;

mod guest;

mod functions;

mod component;

mod loader;

pub(super) use loader::WasmLoader;
