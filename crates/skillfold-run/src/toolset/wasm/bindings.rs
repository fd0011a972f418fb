//! Types generated from the world in `wit/toolset.wit`.

wasmtime::component::bindgen!({ path: "wit", world: "toolset" });
