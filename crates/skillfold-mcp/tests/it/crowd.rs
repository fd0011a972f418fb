//! Many concurrent clients, some of them misbehaving: the others are answered, and memory is bounded.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use skillfold::{Environment, Host};
use skillfold_mcp::{HttpAccess, HttpLimits, HttpOptions, Options, Server, Token};

use crate::allocator::{held, held_by, peak};
use crate::client::skills;
use crate::http::{FORM, INITIALIZE, TOKEN, ask, post, serve_within, start};
use crate::observed::{ObservedSource, indexed};

/// The variable with the number of sessions to open and close; a long run has 10,000.
const SESSIONS: &str = "SKILLFOLD_SESSIONS";

#[expect(
    clippy::disallowed_methods,
    reason = "a long run is asked for by a variable"
)]
fn sessions() -> Option<usize> {
    std::env::var(SESSIONS).ok()?.parse().ok()
}

fn options(limits: HttpLimits) -> HttpOptions {
    HttpOptions::new((Ipv4Addr::LOCALHOST, 0).into(), HttpAccess::Open).with_limits(limits)
}

/// Bytes that one or two requests may hold.
const SLACK: isize = 64 * 1024;

#[track_caller]
fn until(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "it never happens"
        );
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns one of the server's metrics.
fn number(address: SocketAddr, name: &str) -> u64 {
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let answer = ask(address, &request);
    let line = answer.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("{answer}"))
        .trim()
        .parse()
        .unwrap()
}

/// Posts a message.
fn send(address: SocketAddr, headers: &str, body: &str) -> TcpStream {
    let (length, [kind, accept]) = (body.len(), FORM);
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\n{kind}\r\n{accept}\r\n{headers}Connection: close\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Posts a message and waits for the full response.
fn say(address: SocketAddr, headers: &str, body: &str) -> String {
    let mut answer = String::new();
    let mut stream = send(address, headers, body);
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Starts a session and returns the header that names it. A crashed client sends nothing more.
fn begin(address: SocketAddr) -> String {
    begin_with(address, INITIALIZE)
}

fn begin_with(address: SocketAddr, initialize: &str) -> String {
    let begun = say(address, "", initialize);
    let mut lines = begun.lines();
    let id = lines.find_map(|line| line.strip_prefix("mcp-session-id: "));
    let id = id.unwrap_or_else(|| panic!("{begun}"));
    let session = format!("Mcp-Session-Id: {id}\r\n");
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let done = say(address, &session, initialized);
    assert!(done.starts_with("HTTP/1.1 202"), "{done}");
    session
}

/// Returns the process's memory in bytes, of which the allocator keeps much for reuse.
#[expect(
    clippy::disallowed_methods,
    reason = "the system tells the memory of a process in a file"
)]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let words = line.and_then(|line| line.split_whitespace().next());
    1024 * words.map_or(0, |kilobytes| kilobytes.parse::<u64>().unwrap())
}

#[test]
fn sessions_of_disconnected_clients_end_and_free_their_memory() {
    let long = sessions();
    let (count, rounds, between) = match long {
        Some(count) => (count, 3, Duration::from_secs(1)),
        None => (64, 2, Duration::from_millis(20)),
    };
    let mut limits = HttpLimits::default();
    // On a busy machine a second may pass between two requests from a live client.
    limits.session_idle_timeout = (25 * between).max(Duration::from_secs(2));
    limits.sessions = count;
    // All of them are notified of each change, which may be more than a busy machine can handle.
    limits.response_timeout = Duration::from_secs(300);
    let crowds = || {
        let server = Server::new(skills("", &[]), Options::default());
        let (changing, is_over) = (server.clone(), Arc::new(AtomicBool::new(false)));
        let address = start(server, options(limits));
        let is_past = Arc::clone(&is_over);
        let changes = thread::spawn(move || {
            while !is_past.load(Ordering::Relaxed) {
                changing.notify_changed();
                thread::sleep(between);
            }
        });
        let is_empty = || number(address, "skillfold_sessions ") == 0;
        // The first session creates what all sessions share.
        begin(address);
        until(is_empty);
        println!("start: {} bytes held, {} of the system", held(), resident());
        // The session tables keep their size; a session itself takes about 100,000 bytes.
        let bound = held() + 256 * count.cast_signed() + SLACK;
        for round in 1..=rounds {
            (0..count).for_each(|_| drop(begin(address)));
            assert!(!is_empty());
            until(is_empty);
            // The same after each: leftovers would add up.
            until(|| held() <= bound);
            let (held, resident) = (held(), resident());
            println!(
                "{count} sessions, round {round}: {held} bytes held, {resident} of the system"
            );
        }
        is_over.store(true, Ordering::Relaxed);
        changes.join().unwrap();
    };
    held_by(crowds);
    println!("at most {} bytes held", peak());
}

#[test]
fn long_client_info_is_not_kept_and_ended_sessions_are_freed() {
    const COUNT: isize = 64;
    let long = "x".repeat(800_000);
    let crowd = || {
        let server = Server::new(skills("", &[]), Options::default());
        let address = start(server, options(HttpLimits::default()));
        let is_empty = || number(address, "skillfold_sessions ") == 0;
        let end = |session: &str| {
            let request = format!(
                "DELETE /mcp HTTP/1.1\r\nHost: {address}\r\n{session}Connection: close\r\n\r\n"
            );
            assert!(ask(address, &request).starts_with("HTTP/1.1 204"));
        };
        end(&begin(address));
        until(is_empty);
        for field in ["title", "description"] {
            let introduction = format!(r#""version":"1","{field}":"{long}""#);
            let initialize = INITIALIZE.replace(r#""version":"1""#, &introduction);
            let before = held();
            let sessions: Vec<_> = (0..COUNT)
                .map(|_| begin_with(address, &initialize))
                .collect();
            // A session takes about 100,000 bytes, which here includes its client's.
            let each = (held() - before) / COUNT;
            assert!(each < 250_000, "{each}");
            for session in &sessions {
                end(session);
            }
            assert!(is_empty());
            let start = Instant::now();
            until(|| held() <= before + 1024 * COUNT + SLACK);
            assert!(start.elapsed() < Duration::from_secs(20), "it is soon");
        }
        for field in ["name", "version"] {
            let field = format!(r#""{field}":""#);
            let initialize = INITIALIZE.replace(&field, &format!("{field}{long}"));
            let refused = say(address, "", &initialize);
            assert!(refused.contains("bytes, and the limit is 256"), "{refused}");
            until(is_empty);
        }
    };
    held_by(crowd);
}

#[test]
fn slow_tool_call_times_out_without_retry_after() {
    let tree = "//- long/SKILL.md\n---\nname: long\ndescription: D\n---\nBody\n";
    let source = ObservedSource::new(tree, || thread::sleep(Duration::from_secs(1)));
    let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
    let mut limits = HttpLimits::default();
    assert!(limits.call_timeout > Duration::from_secs(2 * 60));
    limits.call_timeout = Duration::from_millis(100);
    let server = Server::new(indexed(host.discover().unwrap().skills), Options::default());
    let address = start(server, options(limits));
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_skill_resource","arguments":{"skill_id":"long","path":"SKILL.md"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: read_skill_resource\r\n";
    let answer = say(address, headers, call);
    assert!(answer.starts_with("HTTP/1.1 504"), "{answer}");
    assert!(!answer.to_lowercase().contains("retry-after"), "{answer}");
}

#[test]
fn clients_without_a_token_take_no_capacity_from_others() {
    let mut limits = HttpLimits::default();
    (limits.connections, limits.unadmitted_connections) = (4, 8);
    let address = serve_within(HttpAccess::Token(Token::new(TOKEN).unwrap()), limits);
    let host = format!("Host: {address}");
    let token = format!("Authorization: Bearer {TOKEN}");
    let honest = || post(address, &[&host, &token, FORM[0], FORM[1]], INITIALIZE);
    let mut others = Vec::new();
    for number in 0..100 {
        let mut other = TcpStream::connect(address).unwrap();
        match number % 3 {
            0 => {}
            1 => other.write_all(b"POST /mcp HTTP/1.1\r\n").unwrap(),
            // Some have another token, and stay connected after the refusal.
            _ => {
                let request =
                    format!("GET /metrics HTTP/1.1\r\n{host}\r\nAuthorization: Bearer no\r\n\r\n");
                other.write_all(request.as_bytes()).unwrap();
                let mut start = [0; 12];
                other.read_exact(&mut start).unwrap();
                assert_eq!(&start, b"HTTP/1.1 401");
            }
        }
        others.push(other);
        assert_eq!(honest(), "200", "after {number}");
    }
}

#[test]
fn connection_without_an_authorized_request_is_closed_soon() {
    let mut limits = HttpLimits::default();
    limits.admission_timeout = Duration::from_millis(200);
    let address = serve_within(HttpAccess::Token(Token::new(TOKEN).unwrap()), limits);
    let mut silent = TcpStream::connect(address).unwrap();
    let wait = Some(Duration::from_secs(20));
    silent.set_read_timeout(wait).unwrap();
    assert_eq!(silent.read(&mut [0; 1]).unwrap(), 0);
    // An admitted connection stays open, even without requests.
    let mut known = TcpStream::connect(address).unwrap();
    let request = format!(
        "GET /metrics HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    );
    for _ in 0..2 {
        known.write_all(request.as_bytes()).unwrap();
        let mut answer = vec![0; 64 * 1024];
        assert!(known.read(&mut answer).unwrap() > 0);
        thread::sleep(Duration::from_millis(600));
    }
}

const FILE: usize = 8 * 1024 * 1024;

/// Requests the long file, and returns the connection and the status.
fn ask_for_the_file(address: SocketAddr) -> (TcpStream, String) {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"skill://long/long.txt","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: skill://long/long.txt\r\n";
    let mut stream = send(address, headers, body);
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    (stream, String::from_utf8_lossy(&start[9..]).into_owned())
}

#[test]
fn answers_to_clients_that_do_not_read_are_bounded_and_time_out() {
    let mut limits = HttpLimits::default();
    limits.response_bytes = 5 * FILE / 2;
    limits.write_timeout = Duration::from_secs(6);
    let skill = "//- long/SKILL.md\n---\nname: long\ndescription: D\n---\nBody\n";
    let tree = format!("{skill}//- long/long.txt\n{}\n", "a".repeat(FILE));
    let server = Server::new(skills(&tree, &[]), Options::default());
    let address = start(server, options(limits));
    let slow: Vec<_> = (0..6)
        .map(|_| thread::spawn(move || ask_for_the_file(address)))
        .collect();
    let slow: Vec<_> = slow
        .into_iter()
        .map(|asked| asked.join().unwrap())
        .collect();
    let mut statuses: Vec<&str> = slow.iter().map(|(_, status)| &**status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["200", "200", "503", "503", "503", "503"]);
    for (mut refused, status) in slow.iter().map(|(stream, status)| (stream, status)) {
        if status == "503" {
            let mut rest = String::new();
            refused.read_to_string(&mut rest).unwrap();
            assert!(rest.contains("\r\nretry-after: 5\r\n"), "{rest}");
        }
    }
    // They disconnect, which makes room for a client that reads.
    until(|| {
        let (mut stream, status) = ask_for_the_file(address);
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        status == "200" && rest.len() > FILE
    });
    drop(slow);
}

const READ: &str = r#"{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"skill://long/long.txt"}}"#;

#[test]
fn sessions_also_read_at_most_two_large_files_at_once() {
    let most = Arc::new(AtomicUsize::new(0));
    let tree =
        "//- long/SKILL.md\n---\nname: long\ndescription: D\n---\nBody\n//- long/long.txt\nText\n";
    let (reading, counted) = (AtomicUsize::new(0), Arc::clone(&most));
    // Reads as slowly as a remote disk.
    let source = ObservedSource::new(tree, move || {
        let now = reading.fetch_add(1, Ordering::SeqCst) + 1;
        counted.fetch_max(now, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(200));
        reading.fetch_sub(1, Ordering::SeqCst);
    });
    let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
    let skills = indexed(host.discover().unwrap().skills);
    most.store(0, Ordering::SeqCst);
    let server = Server::new(skills, Options::default());
    let address = start(server, options(HttpLimits::default()));
    let asked: Vec<_> = (0..12)
        .map(|number| {
            let session = begin(address);
            thread::spawn(move || {
                if number % 3 > 0 {
                    assert!(say(address, &session, READ).contains("Text"));
                    return;
                }
                // A client that disconnects still takes its turn: its file is read anyway.
                let mut gone = send(address, &session, READ);
                gone.read_exact(&mut [0; 12]).unwrap();
            })
        })
        .collect();
    for client in asked {
        client.join().unwrap();
    }
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[test]
fn session_answers_have_the_same_limit() {
    let mut limits = HttpLimits::default();
    limits.response_bytes = 5 * FILE / 2;
    let skill = "//- long/SKILL.md\n---\nname: long\ndescription: D\n---\nBody\n";
    let tree = format!("{skill}//- long/long.txt\n{}\n", "a".repeat(FILE));
    let server = Server::new(skills(&tree, &[]), Options::default());
    let address = start(server, options(limits));
    let slow: Vec<_> = (0..8)
        .map(|_| send(address, &begin(address), READ))
        .collect();
    // Two responses wait for their clients; the third request is the one for the metrics.
    until(|| number(address, "skillfold_requests_in_flight ") == 3);
    let whole = slow.into_iter().filter_map(|mut stream| {
        let mut answer = Vec::new();
        // A stream is cut when there is no room.
        drop(stream.read_to_end(&mut answer));
        (answer.len() > FILE).then_some(())
    });
    assert_eq!(whole.count(), 2);
}

#[test]
fn workers_stay_free_while_files_are_read() {
    const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"TOOL","arguments":{"QUERY":"long","path":"long.txt"},"_meta":{"progressToken":1}}}"#;
    let call = |tool: &str, query: &str| CALL.replace("TOOL", tool).replace("QUERY", query);
    let tree =
        "//- long/SKILL.md\n---\nname: long\ndescription: D\n---\nBody\n//- long/long.txt\nText\n";
    let (gate, waiting) = (Arc::new(RwLock::new(())), Arc::new(AtomicUsize::new(0)));
    let (passed, counted) = (Arc::clone(&gate), Arc::clone(&waiting));
    let source = ObservedSource::new(tree, move || {
        counted.fetch_add(1, Ordering::SeqCst);
        drop(passed.read().unwrap());
    });
    let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
    let skills = indexed(host.discover().unwrap().skills);
    let address = start(
        Server::new(skills, Options::default()),
        options(HttpLimits::default()),
    );
    let session = begin(address);
    let search = call("search_skills", "query");
    assert!(say(address, &session, &search).contains("- long ("));
    let closed = gate.write().unwrap();
    let before = waiting.load(Ordering::SeqCst);
    let blocked: Vec<_> = (0..40)
        .map(|number| {
            let tools = ["load_skill", "read_skill_resource", "read_skill"];
            send(
                address,
                &begin(address),
                &call(tools[number % 3], "skill_id"),
            )
        })
        .collect();
    until(|| waiting.load(Ordering::SeqCst) >= before + 8);
    // More requests wait for a file than there are workers, yet everything else is answered.
    assert!(
        ask(
            address,
            &format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        )
        .ends_with("ok\n")
    );
    assert!(say(address, &session, &search).contains("- long ("));
    assert!(say(address, &session, &call("list_skills", "query")).contains("- long: D"));
    let list = r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#;
    assert!(say(address, &begin(address), list).contains("load_skill"));
    drop(closed);
    for mut stream in blocked {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.contains("Body") || answer.contains("Text"),
            "{answer}"
        );
    }
}
