//! Cost of a discovery and a turn without bindings, for comparison with `bench/python`.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde_json::json;
use skillfold::core::ContextLifetime;
use skillfold::{Environment, Host};

use crate::measure::{measure, rounded};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder of skills
    #[arg(long)]
    folder: PathBuf,
    /// File with one request per line
    #[arg(long)]
    requests: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "requests are a file")]
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let requests = fs::read_to_string(&arguments.requests)?;
    let host = Host::new(Environment::new("/nowhere"))
        .set("default_roots", "false")
        .add("roots", arguments.folder.to_string_lossy());
    let (skills, discovery) = measure(|| host.discover());
    let skills = skills?.skills;
    let policy = skills.report().settings.policy();
    let mut session = skills.session(policy, ContextLifetime::History);
    let mut requests = requests.lines();
    // The first request builds the index.
    session.turn(requests.next().unwrap_or_default());
    let (count, turns) = measure(|| {
        let turns = requests.map(|request| session.turn(request));
        turns.fold(0_u32, |count, _| count + 1)
    });
    writeln!(
        out,
        "{}",
        json!({
            "skills": skills.catalog().len(),
            "discover_ms": rounded(discovery.cpu_ms),
            "turns": count,
            "turn_us": rounded(turns.cpu_ms * 1e3 / f64::from(count.max(1))),
        })
    )?;
    Ok(())
}
