//! Benchmarks for Skillfold. Each subcommand prints one JSON object as its last line.

mod allocator;
mod corpus;
mod labelled;
mod measure;
mod random;

mod bootstrap;

mod layout;
mod run_hosts;
mod search;

mod activation;
mod agreement;
mod catalog;
mod disclose;
mod discover;
mod engine;
mod exclusions;
mod futures;
mod load;
mod matching;
mod mcp;
mod memory;
mod month;
mod pipeline;
mod reload;
mod run;
mod seeds;
mod sessions;
mod tokens;
#[cfg(feature = "wasm")]
mod wasm;
mod words;

use std::error::Error;
use std::io;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "skillfold-bench", version)]
struct Arguments {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// Count how often a hook gives or names the right skill, and how often it responds when nothing is needed
    Activation(activation::Arguments),
    /// Compare the linter's verdicts with the reference validator's
    Agreement(agreement::Arguments),
    /// Look up skills and list pages in a small and a large catalog, and read one during refreshes
    Catalog(catalog::Arguments),
    /// Read every real `SKILL.md` in a corpus and count what was loaded, repaired and refused
    Corpus(corpus::Arguments),
    /// Count the tokens of requests that need no skill, in each mode
    Disclose(disclose::Arguments),
    /// Find skills in a folder, compared with opening and reading the files
    Discover(discover::Arguments),
    /// Discover a folder and answer requests without bindings, for comparison with `bench/python`
    Engine(engine::Arguments),
    /// Count how many of the clauses that say what a skill is not for are found
    Exclusions(exclusions::Arguments),
    /// Discover, take turns and load as futures, and measure how late another task on the same thread gets
    Futures(futures::Arguments),
    /// Load skills for the first time and repeatedly, compared with reading the files and calling stat
    Load(load::Arguments),
    /// Match messages against all skills' triggers, compared with case folding alone and a loop over all triggers
    Match(matching::Arguments),
    /// Query the server over HTTP with a thousand clients, compared with calls in process and a bare server
    Mcp(mcp::Arguments),
    /// Count the bytes taken by metadata, ten loaded skills and everything at once
    Memory(memory::Arguments),
    /// Let users send prompts for a month, with a hook that learns from what they use and with one that does not
    Month(month::Arguments),
    /// Take every real skill in a corpus through everything the engine does, and fail on any fault
    Pipeline(pipeline::Arguments),
    /// Change watched files, and measure how soon that is seen and what it costs
    Reload(reload::Arguments),
    /// Run a trivial script in the sandbox, compared with starting it bare
    Run(run::Arguments),
    /// Search skills for labelled requests: how often the right one comes first, and how long a request takes
    Search(search::Arguments),
    /// Write inputs for fuzz targets from the real skills in a corpus
    Seeds(seeds::Arguments),
    /// Run many concurrent conversations while the skills are swapped
    Sessions(sessions::Arguments),
    /// Compare the token estimate with an exact count
    Tokens(tokens::Arguments),
    /// Call a tool in a WebAssembly component, compared with the same function in this program
    #[cfg(feature = "wasm")]
    Wasm(wasm::Arguments),
    /// Count how common words are in real skills, for the engine's table
    Words(words::Arguments),
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let result = match Arguments::parse().question {
        Question::Activation(arguments) => activation::run(&arguments, &mut out),
        Question::Agreement(arguments) => agreement::run(&arguments, &mut out),
        Question::Catalog(arguments) => catalog::run(&arguments, &mut out),
        Question::Corpus(arguments) => corpus::run(&arguments, &mut out),
        Question::Disclose(arguments) => disclose::run(&arguments, &mut out),
        Question::Discover(arguments) => discover::run(&arguments, &mut out),
        Question::Engine(arguments) => engine::run(&arguments, &mut out),
        Question::Exclusions(arguments) => exclusions::run(&arguments, &mut out),
        Question::Futures(arguments) => futures::run(&arguments, &mut out),
        Question::Load(arguments) => load::run(&arguments, &mut out),
        Question::Match(arguments) => matching::run(&arguments, &mut out),
        Question::Mcp(arguments) => mcp::run(&arguments, &mut out),
        Question::Memory(arguments) => memory::run(&arguments, &mut out),
        Question::Month(arguments) => month::run(&arguments, &mut out),
        Question::Pipeline(arguments) => pipeline::run(&arguments, &mut out),
        Question::Reload(arguments) => reload::run(&arguments, &mut out),
        Question::Run(arguments) => run::run(&arguments, &mut out),
        Question::Search(arguments) => search::run(&arguments, &mut out),
        Question::Seeds(arguments) => seeds::run(&arguments, &mut out),
        Question::Sessions(arguments) => sessions::run(&arguments, &mut out),
        Question::Tokens(arguments) => tokens::run(&arguments, &mut out),
        #[cfg(feature = "wasm")]
        Question::Wasm(arguments) => wasm::run(&arguments, &mut out),
        Question::Words(arguments) => words::run(&arguments, &mut out),
    };
    match result {
        // The reader closed the pipe, which is not an error.
        Err(error) if is_broken_pipe(&*error) => Ok(()),
        result => result,
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
