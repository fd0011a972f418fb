//! Skills over the Model Context Protocol: a server for every agent that speaks it.
//!
//! A [`Server`] offers what [`Skills`](skillfold::Skills) has, by the snapshot of each request: tools to list, search, load
//! and read skills; a prompt for each skill that a person may start; and the skills themselves as resources, by the
//! extension `io.modelcontextprotocol/skills`. [`stdio`] serves one client by the streams of the process, [`http`] many.
#![forbid(unsafe_code)]

mod host_name;
mod limits;
mod lines;
mod media;
mod metrics;
mod options;
mod page;
mod token;
mod uri;

mod answer;
mod remembered;

mod definition;

mod conversation;
mod conversations;
mod notices;

mod offer;

mod prompts;
mod resources;
mod tools;

mod run_tool;
mod sep2640;

mod server;

mod call;
mod direct;
mod door;
mod http;
mod listen;
mod origin;
mod room;
mod sending;
mod sessions;
mod stdio;

pub use http::{Access, HttpOptions, http};
pub use limits::HttpLimits;
pub use options::{InvalidTools, Options};
pub use server::Server;
pub use stdio::stdio;
pub use token::Token;
