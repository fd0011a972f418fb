//! A trust that is revoked ends what a running server gives, within a second and whatever the settings say.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::command::{World, skillfold};
use crate::serve::{ask_with, serve_http};

/// The variable that says how often trust is given and revoked; a long run has 1,000.
const TIMES: &str = "SKILLFOLD_REVOCATIONS";

/// So many projects are tried at once.
const PROJECTS: usize = 5;

/// What no answer may hold.
const SECRET: &str = "only for who is trusted";

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// All ways to a skill: the method, the name that a header says too, and the parameters.
const WAYS: [(&str, &str, &str); 7] = [
    (
        "tools/call",
        "load_skill",
        r#""name":"load_skill","arguments":{"skill_id":"own"},"#,
    ),
    (
        "tools/call",
        "list_skills",
        r#""name":"list_skills","arguments":{},"#,
    ),
    (
        "tools/call",
        "search_skills",
        r#""name":"search_skills","arguments":{"query":"trusted"},"#,
    ),
    (
        "tools/call",
        "read_skill_resource",
        r#""name":"read_skill_resource","arguments":{"skill_id":"own","path":"SKILL.md"},"#,
    ),
    ("prompts/get", "own", r#""name":"own","#),
    (
        "resources/read",
        "skill://own/SKILL.md",
        r#""uri":"skill://own/SKILL.md","#,
    ),
    ("prompts/list", "", ""),
];

/// Asks by one of the ways, and returns whether the answer holds the secret.
fn is_given(address: &str, way: usize) -> bool {
    let (method, name, params) = WAYS[way % WAYS.len()];
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{META}}}}}"#);
    let mut headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n");
    if !name.is_empty() {
        headers.extend(["Mcp-Name: ", name, "\r\n"]);
    }
    let answer = ask_with(address, "POST /mcp", &headers, &body);
    assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
    answer.contains(SECRET)
}

/// When an answer with the secret was asked for.
type Given = Arc<Mutex<Vec<Instant>>>;

/// Asks all the time, until it is over.
fn asking(address: &str, given: &Given, is_over: &Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let (address, given, is_over) = (address.to_owned(), Arc::clone(given), Arc::clone(is_over));
    thread::spawn(move || {
        for way in 0.. {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let begun = Instant::now();
            if is_given(&address, way) {
                given.lock().unwrap().push(begun);
            }
        }
    })
}

fn run(world: &World, arguments: &[&str]) {
    let output = skillfold(&world.path("app"), &world.path("person"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", world.shown(&output));
}

/// Gives and revokes the trust in one project so often; returns answers that were given too late, and all.
fn revoke(times: usize) -> (usize, usize) {
    let world = World::new(&format!(
        "\n//- app/.agents/skills/own/SKILL.md\n---\nname: own\ndescription: This is {SECRET}\n---\nThis is {SECRET}.\n"
    ));
    let server = serve_http(
        &world,
        &[
            "--http",
            "0",
            "--no-token",
            // Nobody reads what is said of each refusal.
            "--log",
            "off",
            "--set",
            "watch=off",
            "--set",
            "poll_seconds=0",
        ],
    );
    let (given, is_over) = (Given::default(), Arc::new(AtomicBool::new(false)));
    let askers: Vec<_> = (0..2)
        .map(|_| asking(&server.address, &given, &is_over))
        .collect();
    let (mut late, mut all) = (0, 0);
    for _ in 0..times {
        run(&world, &["trust", "--yes"]);
        let start = Instant::now();
        while !(0..WAYS.len()).all(|way| is_given(&server.address, way)) {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "it is never given"
            );
        }
        run(&world, &["trust", "--remove"]);
        let removed = Instant::now();
        // Settings that cannot be read any more change nothing.
        world.write("\n//- person/.config/skillfold/config.toml\nlinks = \"nonsense\"\n");
        thread::sleep(Duration::from_millis(1_400));
        world.write("\n//- person/.config/skillfold/config.toml\n\n");
        let given = std::mem::take(&mut *given.lock().unwrap());
        let is_late = |begun: &&Instant| **begun > removed + Duration::from_secs(1);
        late += given.iter().filter(is_late).count();
        all += given.len();
    }
    is_over.store(true, Ordering::Relaxed);
    for asker in askers {
        asker.join().unwrap();
    }
    server.stop();
    (late, all)
}

#[test]
fn running_server_applies_revoked_trust_within_a_second() {
    let times = std::env::var(TIMES).map_or(20, |times| times.parse().unwrap());
    let projects: Vec<_> = (0..PROJECTS)
        .map(|_| thread::spawn(move || revoke(times / PROJECTS)))
        .collect();
    let counted = projects.into_iter().map(|project| project.join().unwrap());
    let (late, all) = counted.fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
    println!("{times} times: {all} answers, {late} too late");
    assert!(all > 0, "nothing was ever given");
    assert_eq!(late, 0, "of {all} answers");
}
