//! The world of `wit/toolset.wit` as types.

wasmtime::component::bindgen!({ path: "wit", world: "toolset" });
