//! The calls as futures on a single-threaded runtime: how late a task that runs every millisecond gets while skills are
//! discovered and loaded and turns taken, compared with the idle runtime.

use std::error::Error;
use std::future::Future;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;
use skillfold::tokio::{AsyncSkills, discover};
use skillfold::{Budget, ContextLifetime, Environment, Host, Policy};
use tokio::runtime::Builder;
use tokio::time::{MissedTickBehavior, interval};

use crate::layout::lay_out;
use crate::measure::rounded;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Number of skills
    #[arg(long, default_value_t = 10_000)]
    skills: usize,
    /// Number of turns, and of loads
    #[arg(long, default_value_t = 1_000)]
    calls: usize,
    /// Repetitions of the measurement; the median counts
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

/// Time between two ticks.
const TICK: Duration = Duration::from_millis(1);
/// Maximum extra delay of a tick due to the calls, at the 99th percentile.
const MAX_DELAY_MS: f64 = 5.0;

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    lay_out(folder.path(), arguments.skills, None)?;
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let mut runs = Vec::new();
    for _ in 0..arguments.runs.max(1) {
        let busy = runtime.block_on(ticked(work(folder.path(), arguments.calls)));
        let (taken, busy) = (busy.0?, busy.1);
        let idle = runtime.block_on(async { ticked(tokio::time::sleep(taken)).await.1 });
        runs.push([p99_ms(idle.clone()), p99_ms(busy.clone()), max_ms(&busy)]);
        writeln!(out, "{} ticks in {taken:?}", busy.len())?;
    }
    let median = |at: usize| crate::measure::median(runs.iter().map(|run| run[at]).collect());
    let later = crate::measure::median(runs.iter().map(|run| run[1] - run[0]).collect());
    let result = json!({
        "skills": arguments.skills,
        "calls": arguments.calls,
        "idle_p99_ms": rounded(median(0)),
        "busy_p99_ms": rounded(median(1)),
        "busy_max_ms": rounded(median(2)),
        "later_p99_ms": rounded(later),
    });
    writeln!(out, "{result}")?;
    if later > MAX_DELAY_MS {
        return Err(format!("a tick is {later:.1} ms later, more than {MAX_DELAY_MS}").into());
    }
    Ok(())
}

/// Discovers skills, takes turns and loads skills. Returns how long it took.
async fn work(folder: &std::path::Path, calls: usize) -> Result<Duration, skillfold::Error> {
    let start = Instant::now();
    let host = Host::new(Environment::new("/nowhere")).add("roots", folder.to_string_lossy());
    let skills = AsyncSkills::new(discover(host).await?.skills);
    let policy = Policy::hybrid(Budget::tokens(4_000));
    let session = skills.session(policy, ContextLifetime::History).await;
    session.listing().await;
    let catalog = skills.skills().catalog();
    let ids: Vec<String> = (catalog.visible())
        .map(|entry| entry.id().to_owned())
        .collect();
    for number in 0..calls {
        let id = &ids[number % ids.len()];
        session
            .turn(&format!("Please use {id} for report {number}"))
            .await;
        session.load(id, "").await?;
    }
    Ok(start.elapsed())
}

/// Runs a future beside a task that runs every millisecond. Returns how late each tick was.
async fn ticked<T>(future: impl Future<Output = T>) -> (T, Vec<Duration>) {
    let mut late = Vec::new();
    let ticker = async {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let due = ticks.tick().await;
            late.push(tokio::time::Instant::now() - due);
        }
    };
    let result = tokio::select! {
        result = future => result,
        () = ticker => unreachable!("it never ends"),
    };
    (result, late)
}

fn p99_ms(mut late: Vec<Duration>) -> f64 {
    late.sort_unstable();
    let at = late.len() * 99 / 100;
    late.get(at).map_or(0.0, |late| late.as_secs_f64() * 1e3)
}

fn max_ms(late: &[Duration]) -> f64 {
    late.iter()
        .max()
        .map_or(0.0, |late| late.as_secs_f64() * 1e3)
}
