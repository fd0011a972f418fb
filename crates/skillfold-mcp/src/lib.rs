//! Skills over the Model Context Protocol: a server for every agent that speaks it.
//!
//! A [`Server`] offers what [`Skills`](skillfold::Skills) has, by the snapshot of each request: tools to list, search, load
//! and read skills; a prompt for each skill that a person may start; and the skills themselves as resources, by the
//! extension `io.modelcontextprotocol/skills`. [`stdio`] serves one client by the streams of the process, [`http`] many.
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
