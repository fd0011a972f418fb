//! Tools written in Python, JavaScript or TypeScript.

use std::sync::Arc;

use skillfold_core::name::ResourcePath;

use super::options::{ToolsetLoader, ToolsetOptions};
use super::reference::{ToolsetRef, extension};
use super::server::{SERVER, Server, ServerToolset};
use super::tool::Toolset;
use crate::copy::SkillCopy;
use crate::error::{RunError, RunErrorKind};
use crate::imports::AGENT_TOOLS;
use crate::interpreter::DENO;
use crate::process::{LanguageHost, Module};

const PYTHON: LanguageHost = LanguageHost {
    files: &[("host.py", include_str!("host.py"))],
    interpreters: &[&["python3"], &["python"]],
    module: None,
};

const JAVASCRIPT: LanguageHost = LanguageHost {
    files: &[
        ("host.mjs", include_str!("host.mjs")),
        ("load_tools.mjs", include_str!("load_tools.mjs")),
    ],
    interpreters: &[&["node"], &["bun"], DENO],
    module: Some(Module {
        name: AGENT_TOOLS,
        text: include_str!("agent_tools.js"),
    }),
};

/// Makes Node run TypeScript. Node before 22.6 rejects this option, and says so.
const STRIP_TYPES: &str = "--experimental-strip-types";

const TYPESCRIPT: LanguageHost = LanguageHost {
    interpreters: &[&["bun"], DENO, &["node", STRIP_TYPES]],
    ..JAVASCRIPT
};

/// The language host for each extension.
const HOSTS: [(&str, LanguageHost); 7] = [
    ("py", PYTHON),
    ("js", JAVASCRIPT),
    ("mjs", JAVASCRIPT),
    ("cjs", JAVASCRIPT),
    ("ts", TYPESCRIPT),
    ("mts", TYPESCRIPT),
    ("cts", TYPESCRIPT),
];

/// Loads modules: a language host imports them and serves their tools.
#[derive(Debug)]
pub(super) struct LanguageLoader;

impl ToolsetLoader for LanguageLoader {
    fn takes(&self, _: &SkillCopy, file: &ResourcePath, reference: &ToolsetRef) -> bool {
        host(file).is_some() && reference.name() != Some(SERVER)
    }

    fn load(
        &self,
        copy: &Arc<SkillCopy>,
        file: &ResourcePath,
        reference: &ToolsetRef,
        options: &ToolsetOptions,
    ) -> Result<Box<dyn Toolset>, RunError> {
        let server = Server {
            copy: Arc::clone(copy),
            file: file.clone(),
            host: host(file),
            arguments: vec![reference.name().unwrap_or_default().to_owned()],
            options: options.clone(),
        };
        match ServerToolset::start(server) {
            Ok(toolset) => Ok(Box::new(toolset)),
            Err(error) if error.to_string().contains(STRIP_TYPES) => {
                let message = format!("The installed Node is too old for the toolset `{file}`");
                let hint = "TypeScript needs Bun, Deno, or Node 22.6 or newer; or give the skill a `.js` file";
                Err(RunError::new(
                    RunErrorKind::InterpreterMissing,
                    message,
                    hint,
                ))
            }
            Err(error) => Err(error),
        }
    }
}

fn host(file: &ResourcePath) -> Option<LanguageHost> {
    let extension = extension(file)?;
    let known = HOSTS.iter().find(|(known, _)| *known == extension);
    known.map(|(_, host)| *host)
}
