//! Every call that changes the disk fails, or is never reached because the process is killed.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use skillfold_store::{Fault, Step, inject, record, without_exchange};

use crate::check::{Seen, Trial, recover, text};
use crate::home::{Home, folder};
use crate::scenario::{SCENARIOS, Scenario, Subject};
use crate::tree::Tree;

const ENOSPC: i32 = 28;
const EIO: i32 = 5;
const SIGKILL: i32 = 9;

/// The file beside the home that tells a process what to do.
const ORDER: &str = "order";
/// The home's folder name.
const HOME: &str = "home";

/// A scenario that was run once to count its calls.
pub(crate) struct Counted<'a> {
    pub(crate) trial: Trial<'a>,
    /// The home before the operation.
    pub(crate) before: Tree,
    pub(crate) steps: Vec<Step>,
}

/// Sets up the initial state, runs the operation and counts its calls. `look` sees the home just before the operation.
pub(crate) fn count<'a>(
    scenario: &'a Scenario,
    home: &'a Home,
    look: impl FnOnce(&Home),
) -> Counted<'a> {
    fs::create_dir_all(&home.0).unwrap();
    (scenario.before)(home);
    let before = Tree::read(&home.0);
    let (subject, seen) = (Subject::find(home), Seen::of(home).unwrap());
    look(home);
    let (acted, steps) = record(|| (scenario.act)(home, &subject));
    acted.unwrap();
    Counted {
        trial: Trial::new(scenario, home, subject, seen),
        before,
        steps,
    }
}

/// One scenario's fault points: the number of calls, and how many were tried.
struct Tried {
    name: &'static str,
    points: usize,
    runs: usize,
}

/// Tries every call of every scenario. `run` runs the operation with a fault at a call and returns whether it was
/// acknowledged; `None` if it skips this call.
fn try_all(run: impl Fn(&Counted<'_>, &Path, usize) -> Option<bool>) -> Vec<Tried> {
    let mut all = Vec::new();
    let mut failures = Vec::new();
    for scenario in &SCENARIOS {
        let folder = folder();
        let home = Home(folder.path().join(HOME));
        let counted = count(scenario, &home, |_| {});
        let mut tried = Tried {
            name: scenario.name,
            points: counted.steps.len(),
            runs: 0,
        };
        for (at, step) in counted.steps.iter().enumerate() {
            counted.before.write(&home.0);
            let Some(is_acknowledged) = run(&counted, folder.path(), at) else {
                continue;
            };
            tried.runs += 1;
            if let Err(failure) = counted.trial.check(is_acknowledged) {
                let step = match step {
                    Step::Write { bytes, .. } => format!("Write of {} bytes", bytes.len()),
                    step => format!("{step:?}"),
                };
                failures.push(format!("{}, call {at}, {step}: {failure}", scenario.name));
            }
        }
        all.push(tried);
    }
    let (number, few) = (failures.len(), &failures[..failures.len().min(20)]);
    assert!(few.is_empty(), "{number} failures\n{}", few.join("\n\n"));
    all
}

/// Makes a call fail, and lets the rest run.
fn fail(counted: &Counted<'_>, at: usize, fault: Fault) -> bool {
    let trial = &counted.trial;
    let act = || (trial.scenario.act)(trial.home, &trial.subject);
    let (acted, steps) = inject(at, fault, act);
    assert!(steps.len() > at, "{}, call {at}", trial.scenario.name);
    acted.is_ok()
}

fn sum(tried: &[Tried]) -> String {
    let points: usize = tried.iter().map(|it| it.points).sum();
    let runs: usize = tried.iter().map(|it| it.runs).sum();
    let scenarios = tried.len();
    format!("{scenarios} scenarios, {points} points, {runs} runs")
}

#[test]
fn failed_call_leaves_the_old_state_or_the_new() {
    let tried = try_all(|counted, _, at| Some(fail(counted, at, Fault::Error(EIO))));
    for it in &tried {
        println!("{}: {} points", it.name, it.points);
    }
    println!("EIO: {}", sum(&tried));
    let points: usize = tried.iter().map(|it| it.points).sum();
    assert!(points >= 150, "only {points} points");
}

#[test]
fn full_disk_leaves_the_old_state_or_the_new() {
    let tried = try_all(|counted, _, at| Some(fail(counted, at, Fault::Lasting(ENOSPC))));
    println!("ENOSPC from there on: {}", sum(&tried));
}

#[test]
fn short_write_leaves_the_old_state_or_the_new() {
    let tried = try_all(|counted, _, at| {
        let is_write = matches!(counted.steps[at], Step::Write { .. });
        is_write.then(|| fail(counted, at, Fault::ShortWrite))
    });
    println!("short writes: {}", sum(&tried));
}

#[test]
fn killed_process_leaves_the_old_state_or_the_new() {
    let tried = try_all(|counted, folder, at| Some(kill(counted, folder, at, "exchange")));
    println!("kill -9: {}", sum(&tried));
}

#[test]
fn failed_call_does_no_harm_without_atomic_exchange() {
    let fail = |counted: &Counted<'_>, _: &Path, at| Some(fail(counted, at, Fault::Error(EIO)));
    let tried = without_exchange(|| try_all(fail));
    println!("EIO, names not exchanged: {}", sum(&tried));
}

#[test]
fn killed_process_does_no_harm_without_atomic_exchange() {
    let kill = |counted: &Counted<'_>, folder: &Path, at| Some(kill(counted, folder, at, "rename"));
    let tried = without_exchange(|| try_all(kill));
    println!("kill -9, names not exchanged: {}", sum(&tried));
}

/// Starts a process that is killed at a call. `how` says how it exchanges names. Then makes the recovery fail once too,
/// to show that it can be repeated.
fn kill(counted: &Counted<'_>, folder: &Path, at: usize, how: &str) -> bool {
    let Trial { scenario, home, .. } = counted.trial;
    let number = SCENARIOS.iter().position(|it| it.name == scenario.name);
    let order = format!("{} {at} {how}", number.unwrap());
    fs::write(folder.join(ORDER), order).unwrap();
    let process = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "points::child_that_is_killed_at_a_call",
            "--ignored",
        ])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert_eq!(process.unwrap().signal(), Some(SIGKILL));
    let (_, _) = inject(at % 7, Fault::Error(EIO), || recover(home));
    false
}

/// Exits right away if there is no order.
#[test]
#[ignore = "the process that another test starts to be killed"]
fn child_that_is_killed_at_a_call() {
    let folder = env::current_dir().unwrap();
    let Ok(order) = fs::read_to_string(folder.join(ORDER)) else {
        return;
    };
    let words: Vec<&str> = order.split(' ').collect();
    let scenario = &SCENARIOS[words[0].parse::<usize>().unwrap()];
    let home = Home(folder.join(HOME));
    let subject = Subject::find(&home);
    let act = || (scenario.act)(&home, &subject);
    let act = || inject(words[1].parse().unwrap(), Fault::Kill, act).0;
    let acted = match words[2] {
        "rename" => without_exchange(act),
        _ => act(),
    };
    panic!("still alive: {:?}", acted.map_err(text));
}
