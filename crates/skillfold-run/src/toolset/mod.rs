//! Toolsets: tools that come with a skill, called in the sandbox.
//!
//! A skill lists them in its frontmatter as `toolsets: ["toolsets/index:HelloToolset"]`, a [`ToolsetRef`].
//! [`load_toolset`] finds the file in the [`SkillCopy`](crate::SkillCopy) and picks a loader for it:
//!
//! | file | name | what it is |
//! |---|---|---|
//! | `.json` | a key in the file, `tools` by default | tool definitions, each run by one of the skill's scripts |
//! | any script or program | `mcp` | an MCP server over stdin and stdout |
//! | a script or program without an extension in this table | any | the same |
//! | `.py`, `.js`, `.mjs`, `.cjs`, `.ts`, `.mts`, `.cts` | a module export, or its default | tools in that language |
//! | `.wasm` | `tools`, or none | a WebAssembly component, with the feature `wasm` |
//!
//! A host adds loaders for other files with [`ToolsetOptions::with_loader`].
//!
//! ```no_run
//! use std::sync::Arc;
//! use skillfold_run::SkillCopy;
//! use skillfold_run::toolset::{ToolsetOptions, load_toolset, qualified_name};
//!
//! let module = b"tools = [{
//!     'name': 'greet',
//!     'description': 'Greets someone',
//!     'parameters': {'type': 'object', 'properties': {'name': {'type': 'string'}}, 'required': ['name']},
//!     'execute': lambda args, ctx: 'Hello ' + args['name'],
//! }]";
//! let copy = Arc::new(SkillCopy::new([("toolsets/hello.py".parse()?, module.to_vec())])?);
//! let mut toolset = load_toolset(&copy, &"toolsets/hello:tools".parse()?, &ToolsetOptions::default())?;
//! assert_eq!(qualified_name("hello", &toolset.tools()[0].name)?, "hello__greet");
//! let answer = toolset.call("greet", &serde_json::json!({ "name": "Ada" }))?;
//! assert_eq!(answer.output, "Hello Ada");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Python and JavaScript modules, and servers, run as one process per loaded toolset. Loading starts it, since only it
//! can list its tools, and dropping the toolset kills it. If it crashes or does not respond in time, the call fails and
//! says so, and the next call restarts it. A WebAssembly component works the same without a process: it runs inside the
//! host's, with time and memory limits, and has no access to anything.

mod tool;

mod reference;

mod names;

mod check;

mod options;

mod definition;

mod lines;

mod connection;

mod message;

mod server;

mod language;

#[cfg(feature = "wasm")]
mod wasm;

mod load;

pub use load::load_toolset;
pub use names::{Collision, collisions, qualified_name};
pub use options::{ToolsetLoader, ToolsetOptions};
pub use reference::ToolsetRef;
pub use tool::{ToolOutput, ToolSpec, Toolset};
