//! Hundreds of attempts to escape the sandbox, as root and as an ordinary user, and the same without the sandbox.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillfold_run::{Accept, Layer, Permissions, Run, RunLimits};

use crate::host::{CANARY, Host};
use crate::skill::{is_bubblewrap, path, run_options, skill};

/// Every user can run it, wherever the tests were built.
const RUNNER: &str = "runner";

/// Fewer probes would leave out classes of attacks.
const PROBES: usize = 400;

type Results = BTreeMap<String, Option<String>>;

#[test]
fn no_probe_escapes_the_sandbox_as_root_or_user() {
    needs_sandbox!();
    for (user, prefix) in users() {
        // Each has its own host, since successful probes remove its files.
        let control = run_without_sandbox(&Host::new(), &prefix);
        let successes = control.values().flatten().count();
        let (results, output) = run_in_sandbox(&Host::new(), &prefix, "whole");
        let is_known = |name: &str| is_bubblewrap() && OF_BUBBLEWRAP.contains(&name);
        let escapes: Vec<_> = results
            .iter()
            .filter(|(name, got)| got.is_some() && !is_known(name))
            .collect();
        assert!(escapes.is_empty(), "as {user}: {escapes:#?}");
        assert!(
            results.len() >= PROBES,
            "as {user}: {} probes",
            results.len()
        );
        assert!(!output.contains(CANARY), "as {user}: a canary was seen");
        // The probes are effective: most of those that are harmless to try succeed outside.
        println!(
            "{user}: {} probes in the sandbox, 0 escape, {} on its first process succeed; without it {successes} of {} succeed",
            results.len(),
            results.values().flatten().count(),
            control.len()
        );
        assert!(successes >= 300, "as {user}: {successes}: {control:#?}");
        assert!(
            control["inherit a descriptor"].is_some() && control["inherit a variable"].is_some()
        );
    }
}

/// What a run can do to the first process of bubblewrap's sandbox, a shell with the same user and no more rights. The kernel
/// ignores signals that it does not handle.
const OF_BUBBLEWRAP: &[&str] = &[
    "kill the first process",
    "open the first process as a descriptor",
    "see another process",
    "set priority of the first process",
    "signal 0 to the first process",
    "signal 18 to the first process",
];

/// What a run without namespaces can do, by probe name prefix: Landlock does not hide that files exist, nor protect
/// their mode and times; processes and shared memory are the host's; links in `/etc` lead to `/usr`.
const WITHOUT_NAMESPACES: &[&str] = &[
    "stat:",
    "access:",
    "open as a path:",
    "change the mode:",
    "enter ",
    "set limits of",
    "set priority of",
    "read cwd of",
    "read exe of",
    "read root of",
    "have capability",
    "signal everyone",
    "read shared memory of the host",
    "read /etc/os-release",
];

/// The remaining layers are those of the built-in sandbox; bubblewrap has nothing without namespaces.
#[test]
fn without_namespaces_a_run_is_refused_or_the_remaining_layers_hold() {
    needs_sandbox!();
    // An ordinary user in a user namespace that cannot create namespaces.
    let shell = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all \"$@\"";
    let (_, mut user) = users().pop().unwrap();
    user.extend([
        "unshare",
        "--user",
        "--map-current-user",
        "--keep-caps",
        "sh",
        "-c",
        shell,
        "sh",
    ]);
    let (_, refusal) = probe_in_sandbox(&Host::new(), &user, "whole");
    assert_eq!(refusal["code"], "sandbox_unavailable");
    assert_eq!(refusal["layer"], "namespaces");
    if is_bubblewrap() {
        return;
    }
    let (_, refusal) = probe_in_sandbox(&Host::new(), &user, "hosts without namespaces");
    assert_eq!(refusal["code"], "sandbox_unavailable");
    let message = refusal["message"].as_str().unwrap();
    assert!(
        message
            .starts_with("The network cannot be limited to hosts without the layer `namespaces`"),
        "{message}"
    );
    let (results, outcome) = probe_in_sandbox(&Host::new(), &user, "without namespaces");
    let results = results.unwrap_or_else(|| panic!("{outcome}"));
    let is_known = |name: &str| {
        WITHOUT_NAMESPACES
            .iter()
            .any(|known| name.starts_with(known))
    };
    let escapes: Vec<_> = results
        .iter()
        .filter(|(name, got)| got.is_some() && !is_known(name))
        .collect();
    assert!(escapes.is_empty(), "{escapes:#?}");
    assert!(!outcome.to_string().contains(CANARY), "a canary was seen");
    println!(
        "without namespaces {} probes succeed",
        results.values().flatten().count()
    );
}

#[test]
fn network_permission_does_not_open_unix_sockets_of_the_host() {
    needs_sandbox!();
    let (_, outcome) = probe_in_sandbox(&Host::new(), &[], "network");
    let results: Results = serde_json::from_str(outcome["stdout"].as_str().unwrap()).unwrap();
    assert!(results["connect to 127.0.0.1"].is_some());
    for closed in [
        "connect to a socket file",
        "connect to an abstract socket",
        "socket of family 17, type 3",
    ] {
        assert!(results[closed].is_none(), "{closed}");
    }
    let files = results
        .iter()
        .filter(|(name, _)| name.contains("home/.ssh"));
    assert!(files.into_iter().all(|(_, got)| got.is_none()));
}

#[test]
fn sandbox_ends_with_its_host() {
    needs_sandbox!();
    let host = Host::new();
    let beat = host.path().join("scratch/beat");
    let mut runner = runner(&host, &[], "heart").spawn().unwrap();
    let input =
        json!({"host": {"beat": beat}, "mode": "heart", "scratch": host.path().join("scratch")});
    runner
        .stdin
        .take()
        .unwrap()
        .write_all(input.to_string().as_bytes())
        .unwrap();
    let size = || fs::metadata(&beat).map_or(0, |beat| beat.len());
    let deadline = Instant::now() + Duration::from_secs(20);
    while size() == 0 {
        assert!(Instant::now() < deadline, "the script did not start");
        thread::sleep(Duration::from_millis(20));
    }
    runner.kill().unwrap();
    runner.wait().unwrap();
    thread::sleep(Duration::from_millis(200));
    let then = size();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(size(), then, "the script goes on");
}

/// Returns the users to test, each with a command that becomes that user.
pub(crate) fn users() -> Vec<(&'static str, Vec<&'static str>)> {
    let id = Command::new("id").arg("-u").output().unwrap().stdout;
    if id.trim_ascii() == b"0" {
        let nobody = [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ];
        vec![("root", Vec::new()), ("nobody", nobody.to_vec())]
    } else {
        vec![("this user", Vec::new())]
    }
}

fn run_in_sandbox(host: &Host, user: &[&str], mode: &str) -> (Results, String) {
    let (results, outcome) = probe_in_sandbox(host, user, mode);
    (
        results.unwrap_or_else(|| panic!("{outcome}")),
        outcome.to_string(),
    )
}

/// Returns a command that runs [`inside`] as a user.
fn runner(host: &Host, user: &[&str], name: &str) -> Command {
    let runner = host.path().join(name);
    copy_of_this_program(&runner);
    let mut words = user.to_vec();
    words.push(runner.to_str().unwrap());
    words.extend([
        "--ignored",
        "--exact",
        "probes::child_that_runs_the_probes",
        "--nocapture",
    ]);
    let mut command = host.command(words[0], &words[1..]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Runs the probes in the sandbox. Returns their results, if they ran, and the full outcome.
fn probe_in_sandbox(host: &Host, user: &[&str], mode: &str) -> (Option<Results>, Value) {
    let result = host.path().join("result");
    // Without namespaces the real host's files are visible too, so only harmless probes run.
    let harmless = mode == "without namespaces";
    let input = json!({"host": host.describe("/tmp", harmless), "result": result, "mode": mode});
    let printed = feed(runner(host, user, RUNNER), &input.to_string());
    let output = fs::read_to_string(&result).unwrap_or_else(|_| panic!("{printed}"));
    let outcome: Value = serde_json::from_str(&output).unwrap();
    let stdout = outcome["stdout"].as_str().unwrap_or_default();
    (serde_json::from_str(stdout).ok(), outcome)
}

/// The control: the same probes, in a mount namespace so that none of their mounts stay.
fn run_without_sandbox(host: &Host, user: &[&str]) -> Results {
    let script = host.path().join("probes.py");
    fs::write(&script, include_str!("probes.py")).unwrap();
    let scratch = host.path().join("scratch");
    let mut words: Vec<&str> = Vec::new();
    if user.is_empty() && users().len() == 2 {
        words.extend(["unshare", "--mount", "--uts"]);
    }
    words.extend(user);
    words.extend(["/usr/bin/python3", script.to_str().unwrap()]);
    let input = host.describe(scratch.to_str().unwrap(), true);
    let printed = feed(host.command(words[0], &words[1..]), &input.to_string());
    serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{printed}"))
}

/// Runs a command with this input and returns its output.
fn feed(mut command: Command, input: &str) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A file that this process wrote could still be open in a child of another test, and then nobody can run it.
fn copy_of_this_program(to: &Path) {
    let program = std::env::current_exe().unwrap();
    let copied = Command::new("cp").args([program.as_path(), to]).status();
    assert!(copied.unwrap().success());
}

/// Runs an ignored test of this program as a user, with this input, and returns what it reports.
pub(crate) fn run_as(folder: &Path, user: &[&str], test: &str, input: &Value) -> Value {
    let runner = folder.join(RUNNER);
    copy_of_this_program(&runner);
    let mut words = user.to_vec();
    words.push(runner.to_str().unwrap());
    words.extend(["--ignored", "--exact", test, "--nocapture"]);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    let printed = feed(command, &input.to_string());
    let output = fs::read_to_string(folder.join("result")).unwrap_or_else(|_| panic!("{printed}"));
    serde_json::from_str(&output).unwrap()
}

/// Does what a test asks for in a process of its own, and reports it. Does nothing without input.
pub(crate) fn as_child(job: impl FnOnce(&Value) -> Value) {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).unwrap();
    if input.is_empty() {
        return;
    }
    let input: Value = serde_json::from_str(&input).unwrap();
    let report = job(&input);
    fs::write(input["result"].as_str().unwrap(), report.to_string()).unwrap();
}

#[test]
#[ignore = "the tests above run it as a process of its own"]
fn child_that_runs_the_probes() {
    as_child(run_the_probes);
}

fn run_the_probes(input: &Value) -> Value {
    let mode = input["mode"].as_str().unwrap();
    let heart = "import json, sys, time\nbeat = json.load(sys.stdin)['beat']\n\
                 while True:\n    open(beat, 'a').write('x')\n    time.sleep(0.02)\n";
    let copy = skill(&[
        ("SKILL.md", "---\nname: probes\n---\n"),
        (
            "scripts/probes.py",
            if mode == "heart" {
                heart
            } else {
                include_str!("probes.py")
            },
        ),
    ]);
    let script = path("scripts/probes.py");
    let (mut accept, mut permissions) = (Accept::default(), Permissions::default());
    match mode {
        "without namespaces" => accept = accept.missing(Layer::Namespaces),
        "hosts without namespaces" => {
            accept = accept.missing(Layer::Namespaces);
            permissions = permissions.with_hosts(["api.example.com".parse().unwrap()]);
        }
        "network" => permissions = permissions.with_network(),
        "heart" => permissions = permissions.with_write(input["scratch"].as_str().unwrap()),
        _ => {}
    }
    let limits = RunLimits::default().with_wall_time(Duration::from_secs(120));
    let options = run_options()
        .with_limits(limits)
        .with_accepted(accept)
        .with_permissions(permissions);
    let outcome = Run::new(&copy, &script)
        .with_input(input["host"].to_string())
        .with_options(options)
        .run();
    match outcome {
        Ok(outcome) => json!({
            "end": outcome.end.code(), "stdout": outcome.stdout_text(), "stderr": outcome.stderr_text(),
        }),
        Err(error) => json!({
            "code": error.code(), "message": error.to_string(), "layer": error.layer().map(Layer::as_str),
        }),
    }
}
