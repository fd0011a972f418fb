//! The `skillfold` command.

use clap::Parser;

/// Work with agent skills
#[derive(Debug, Parser)]
#[command(name = "skillfold", version, arg_required_else_help = true)]
struct Arguments {}

fn main() {
    Arguments::parse();
}
