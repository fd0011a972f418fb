//! Finds a toolset's file, and the loader for it.

use std::sync::Arc;

use super::check::Checked;
use super::definition::DefinitionLoader;
use super::language::LanguageLoader;
use super::options::{ToolsetLoader, ToolsetOptions};
use super::reference::{ToolsetRef, extension};
use super::server::ServerLoader;
use super::tool::Toolset;
use crate::copy::SkillCopy;
use crate::error::{RunError, RunErrorKind};

/// The built-in loaders. The first one that takes a file loads it.
const LOADERS: &[&dyn ToolsetLoader] = &[
    &DefinitionLoader,
    &LanguageLoader,
    #[cfg(feature = "wasm")]
    &super::wasm::WasmLoader,
    &ServerLoader,
];

/// Loads a skill's toolset. Checks its tools, and the arguments of each call.
///
/// # Errors
///
/// Fails with `invalid_toolset` if there is no such file, no loader takes it, or it breaks a rule: at most 256 tools,
/// names of 1 to 128 visible characters without spaces, unique names, descriptions of at most 4,096 bytes, object
/// schemas of at most 64 KiB. Fails like a run if its process cannot be started.
pub fn load_toolset(
    copy: &Arc<SkillCopy>,
    reference: &ToolsetRef,
    options: &ToolsetOptions,
) -> Result<Box<dyn Toolset>, RunError> {
    let file = reference.resolve(copy)?;
    let mut loaders = options
        .loaders()
        .iter()
        .map(AsRef::as_ref)
        .chain(LOADERS.iter().copied());
    let Some(loader) = loaders.find(|loader| loader.takes(copy, &file, reference)) else {
        if extension(&file) == Some("wasm") {
            let message = format!(
                "This build of Skillfold has no WebAssembly, which the toolset `{file}` needs"
            );
            let hint = "Build it with the feature `wasm`, such as `cargo install skillfold-cli --features wasm`; or add a \
                        loader of your own";
            return Err(RunError::new(
                RunErrorKind::InterpreterMissing,
                message,
                hint,
            ));
        }
        let message = format!("No loader is known for the toolset `{file}`");
        let hint = "Write it as a `.json`, `.py`, `.js` or `.ts` file, or start a server's script with `#!`";
        return Err(RunError::new(RunErrorKind::InvalidToolset, message, hint));
    };
    let toolset = loader.load(copy, &file, reference, options)?;
    Ok(Box::new(Checked::new(toolset, &file)?))
}
