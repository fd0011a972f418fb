//! MCP server for skills.
//!
//! A [`Server`] exposes [`Skills`](skillfold::Skills): tools to list, search, load and read skills, a prompt for each
//! skill that a user may start, and the skills themselves as resources through the `io.modelcontextprotocol/skills`
//! extension. Each request is answered from the current snapshot. [`stdio`] serves one client over the process's
//! streams, [`http`] serves many.
#![forbid(unsafe_code)]

mod host_name;
mod limits;
mod media;
mod metrics;
mod options;
mod page;
mod stdio_lines;
mod token;
mod uri;

mod answer;
mod remembered;

mod definition;

mod conversation;
mod conversations;
mod notices;

mod client_view;

mod prompts;
mod resources;
mod tools;

mod run_tool;
mod sep2640;

mod server;

mod admission;
mod call;
mod connections;
mod direct;
mod http;
mod listen;
mod origin;
mod send_budget;
mod sessions;
mod stdio;

pub use http::{Access, HttpOptions, http};
pub use limits::HttpLimits;
pub use options::{InvalidTools, Options};
pub use server::Server;
pub use stdio::stdio;
pub use token::Token;
