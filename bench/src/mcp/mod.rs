//! The HTTP server on the loopback interface under many clients. First, each sends one request per second regardless of
//! earlier ones (an open loop; latency counts from when a request should have been sent). Then fifty send as fast as
//! they can (a closed loop), once repeated questions and once new ones. For comparison: the new ones in process, and a
//! bare server with the same SDK whose constants are as long as our responses.

mod process;
mod question;

mod bare;
mod client;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;
use skillfold::core::{ContextLifetime, Policy};
use skillfold::{Environment, Host};
use tokio::task::JoinSet;

use self::client::{Client, Lifecycle};
use self::process::Process;
use self::question::{Mix, Question};
use crate::layout;
use crate::measure::{median, rounded};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Concurrent clients, each with a connection and one request per second; half of them have sessions
    #[arg(long, default_value_t = 1000)]
    clients: usize,
    /// Seconds of the open loop; the closed loops together take as long
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Number of served skills
    #[arg(long, default_value_t = 500)]
    skills: usize,
    /// Server command; by default the one beside this program
    #[arg(long, value_name = "PATH")]
    skillfold: Option<PathBuf>,
    /// Fail below this share of the bare server's requests per second
    #[arg(long, value_name = "RATIO")]
    at_least: Option<f64>,
    /// Run as the bare server
    #[arg(long, hide = true)]
    bare: bool,
    /// Response size of one of the bare server's tools, as `name=bytes`
    #[arg(long, hide = true)]
    size: Vec<String>,
}

/// Number of clients in the closed loop.
const CLOSED: usize = 50;
/// Closed loops of each kind, alternating.
const ROUNDS: u32 = 5;
/// Number of new questions asked in process.
const NEW_QUESTIONS: usize = 5_000;

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    if arguments.bare {
        return bare::serve(&arguments.size);
    }
    let folder = tempfile::tempdir()?;
    let skills = folder.path().join("skills");
    layout::lay_out(&skills, arguments.skills, None)?;
    let alone = in_process(&skills, arguments.skills)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ours = Process::skillfold(arguments.skillfold.as_deref(), folder.path(), &skills)?;
    let bare = Process::bare(&alone.sizes)?;
    let open = runtime.block_on(open_loop(arguments, &ours))?;
    let slice = Duration::from_secs(arguments.seconds) / (3 * ROUNDS);
    let (mut rates, mut cpus) = <([Vec<f64>; 3], [Vec<f64>; 3])>::default();
    let (mut errors, mut ratios) = (open.errors, Vec::new());
    let mut first = 0;
    for _ in 0..ROUNDS {
        let loops = [
            (&ours, Mix::Repeated),
            (&bare, Mix::Repeated),
            (&ours, Mix::New),
        ];
        for (at, (server, mix)) in loops.into_iter().enumerate() {
            // No round repeats another's new questions.
            first += 1_000_000;
            let asked = closed_loop(server, arguments.skills, slice, mix, first);
            let closed = runtime.block_on(asked)?;
            rates[at].push(closed.rate);
            cpus[at].push(closed.cpu_us);
            errors += closed.errors;
        }
        let newest = |at: usize| rates[at].last().copied().unwrap_or_default();
        ratios.push(newest(0) / newest(1));
    }
    let ratio = median(ratios);
    let [ours, bare, _] = rates.map(median);
    let [ours_cpu, bare_cpu, new_cpu] = cpus.map(median);
    writeln!(
        out,
        "{}",
        json!({
            "clients": arguments.clients,
            "requests": open.requests,
            "errors": errors,
            "p50_ms": rounded(open.p50_ms),
            "p99_ms": rounded(open.p99_ms),
            "max_ms": rounded(open.max_ms),
            "closed50_rps": ours.round(),
            "bare50_rps": bare.round(),
            "ratio": rounded(ratio),
            "cpu_us": rounded(ours_cpu),
            "bare_cpu_us": rounded(bare_cpu),
            "new_cpu_us": rounded(new_cpu),
            "new_in_process_us": rounded(alone.new_us),
            "new_above_us": rounded(new_cpu - alone.new_us),
            "bytes_per_session": open.bytes_per_session,
            "generator_cpu": rounded(open.generator_cpu),
        })
    )?;
    if errors > 0 {
        let first = open.first_error.unwrap_or_default();
        return Err(format!("{errors} requests failed: {first}").into());
    }
    match arguments.at_least {
        Some(bound) if ratio < bound => Err(format!(
            "{ratio:.2} of the bare server's requests a second, and not {bound}"
        )
        .into()),
        _ => Ok(()),
    }
}

/// Result of the calls without the protocol.
struct Alone {
    /// CPU time per new question, in microseconds.
    new_us: f64,
    /// Each tool's mean response size, as `name=bytes`.
    sizes: Vec<String>,
}

/// Makes the same calls without the protocol.
fn in_process(skills: &std::path::Path, count: usize) -> Result<Alone, Box<dyn Error>> {
    let home = skills.parent().unwrap_or(skills);
    let host = Host::new(Environment::new(home)).set("roots", skills.display().to_string());
    let mut session = host
        .discover()?
        .skills
        .session(Policy::default(), ContextLifetime::History);
    let mut sizes = BTreeMap::new();
    for number in 0..20_000 {
        let question = Question::nth(number, count, Mix::Repeated);
        let answer = session.call(question.tool, &question.arguments.to_string());
        if answer.is_error() {
            return Err(answer.text().into());
        }
        let (bytes, answers) = sizes.entry(question.tool).or_insert((0, 0));
        (*bytes, *answers) = (*bytes + answer.text().len(), *answers + 1);
    }
    // On all cores at once, as in the server: they share caches and memory.
    let threads = std::thread::available_parallelism()?.get();
    let start = cpu();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let mut session = session.clone();
            scope.spawn(move || {
                for number in 0..NEW_QUESTIONS {
                    let question = Question::nth(thread * NEW_QUESTIONS + number, count, Mix::New);
                    session.call(question.tool, &question.arguments.to_string());
                }
            });
        }
    });
    let asked = u32::try_from(threads * NEW_QUESTIONS)?;
    let new_us = (cpu() - start) * 1e6 / f64::from(asked);
    let sizes = sizes.into_iter();
    Ok(Alone {
        new_us,
        sizes: sizes
            .map(|(tool, (bytes, answers))| format!("{tool}={}", bytes / answers))
            .collect(),
    })
}

/// Result of the open loop.
#[derive(Default)]
struct Open {
    requests: usize,
    errors: usize,
    first_error: Option<String>,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    bytes_per_session: u64,
    generator_cpu: f64,
}

async fn open_loop(arguments: &Arguments, server: &Process) -> Result<Open, Box<dyn Error>> {
    let mut clients = Vec::new();
    // What the server allocates on first use does not belong to a session.
    let mut first = Client::connect(server, Lifecycle::Session).await?;
    for number in 0..200 {
        first
            .ask(&Question::nth(number, arguments.skills, Mix::Repeated))
            .await?;
    }
    let before = server.memory()?;
    for number in 0..arguments.clients / 2 {
        let mut client = Client::connect(server, Lifecycle::Session).await?;
        client
            .ask(&Question::nth(number, arguments.skills, Mix::Repeated))
            .await?;
        clients.push(client);
    }
    let sessions = u64::try_from(clients.len().max(1))?;
    let bytes_per_session = server.memory()?.saturating_sub(before) / sessions;
    while clients.len() < arguments.clients {
        let mut client = Client::connect(server, Lifecycle::Request).await?;
        // The server keeps few connections that have sent no request.
        client
            .ask(&Question::nth(0, arguments.skills, Mix::Repeated))
            .await?;
        clients.push(client);
    }
    let (count, skills, seconds) = (clients.len(), arguments.skills, arguments.seconds);
    let start = tokio::time::Instant::now() + Duration::from_millis(200);
    let mut tasks = JoinSet::new();
    let (joined, sample) = {
        for (at, mut client) in clients.into_iter().enumerate() {
            // Alternates clients with and without sessions, spread evenly over the second.
            let place = (at * 2) % count + (at * 2) / count;
            let offset = Duration::from_secs(1) * u32::try_from(place)? / u32::try_from(count)?;
            tasks.spawn(async move {
                let (mut times, mut errors) = (Vec::new(), Vec::new());
                for second in 0..seconds {
                    let intended = start + offset + Duration::from_secs(second);
                    tokio::time::sleep_until(intended).await;
                    let number = at + usize::try_from(second).unwrap_or_default() * 31;
                    if let Err(error) = client.ask(&Question::nth(number, skills, Mix::All)).await {
                        errors.push(error.to_string());
                    }
                    times.push(intended.elapsed().as_secs_f64() * 1e3);
                }
                (times, errors)
            });
        }
        let started = cpu();
        let joined = tasks.join_all().await;
        (joined, cpu() - started)
    };
    let mut times: Vec<f64> = joined
        .iter()
        .flat_map(|(times, _)| times)
        .copied()
        .collect();
    let errors: Vec<&String> = joined.iter().flat_map(|(_, errors)| errors).collect();
    #[expect(clippy::cast_precision_loss, reason = "seconds of a bench")]
    let generator_cpu = sample / seconds as f64;
    Ok(Open {
        requests: times.len(),
        errors: errors.len(),
        first_error: errors.first().map(ToString::to_string),
        p50_ms: percentile(&mut times, 50),
        p99_ms: percentile(&mut times, 99),
        max_ms: percentile(&mut times, 100),
        bytes_per_session,
        generator_cpu,
    })
}

/// Returns this process's CPU seconds.
fn cpu() -> f64 {
    crate::measure::cpu_time().as_secs_f64()
}

/// Result of a closed loop.
struct Closed {
    rate: f64,
    /// The server's CPU time per request, in microseconds.
    cpu_us: f64,
    errors: usize,
}

async fn closed_loop(
    server: &Process,
    skills: usize,
    slice: Duration,
    mix: Mix,
    first: usize,
) -> Result<Closed, Box<dyn Error>> {
    let mut clients = Vec::new();
    for number in 0..CLOSED {
        let lifecycle = match number % 2 {
            0 => Lifecycle::Session,
            _ => Lifecycle::Request,
        };
        clients.push(Client::connect(server, lifecycle).await?);
    }
    let (cpu, start) = (server.cpu()?, Instant::now());
    let mut tasks = JoinSet::new();
    for (at, mut client) in clients.into_iter().enumerate() {
        tasks.spawn(async move {
            let (mut asked, mut errors) = (0_u32, 0_usize);
            while start.elapsed() < slice {
                let number = first + at * 7919 + asked as usize;
                let question = Question::nth(number, skills, mix);
                errors += usize::from(client.ask(&question).await.is_err());
                asked += 1;
            }
            (asked, errors)
        });
    }
    let joined = tasks.join_all().await;
    let (took, cpu) = (start.elapsed(), server.cpu()? - cpu);
    let requests: u32 = joined.iter().map(|(asked, _)| asked).sum();
    Ok(Closed {
        rate: f64::from(requests) / took.as_secs_f64(),
        cpu_us: cpu * 1e6 / f64::from(requests.max(1)),
        errors: joined.iter().map(|(_, errors)| errors).sum(),
    })
}

/// Returns the given percentile of the times.
fn percentile(times: &mut [f64], percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    let last = times.len().saturating_sub(1);
    let at = (times.len() * percent / 100).min(last);
    times.get(at).copied().unwrap_or_default()
}
