//! MCP server for skills.
//!
//! A [`Server`] exposes [`Skills`](skillfold::Skills): tools to list, search, load and read skills, a prompt for each
//! skill that a user may start, and the skills themselves as resources through the `io.modelcontextprotocol/skills`
//! extension. Each request is answered from the current snapshot. [`stdio`] serves one client over the process's
//! streams, [`http`] serves many.
#![forbid(unsafe_code)]

mod ask;
mod caller;
mod introduction;
mod metrics;
mod notices;
mod options;
mod read_permit;
mod request_head;
mod stdio_lines;

mod conversation;
mod tools;

mod state;

mod protocol;
mod roots;

mod project;
mod tool_calls;

mod server;

mod http;
mod stdio;

pub use http::{HttpAccess, HttpLimits, HttpOptions, http, router};
pub use options::Options;
pub use server::Server;
pub use skillfold_http::Token;
pub use stdio::stdio;
