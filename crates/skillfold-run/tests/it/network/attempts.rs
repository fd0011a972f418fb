//! Attempts to reach what is not named.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;
use skillfold_run::{Outcome, Permissions, Resolver, Run, RunLimits};
use tempfile::TempDir;

use super::{connections, options, rules, start_allowed};
use crate::skill::{path, skill};

/// What the servers say that no run may reach.
const SECRET: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nSECRET";

/// Fewer would leave out classes of attempts.
const ATTEMPTS: usize = 100;

/// Servers on every kind of socket of this machine, and how often they were reached.
struct Forbidden {
    port: u16,
    reached: Arc<AtomicUsize>,
    folder: TempDir,
    abstract_name: String,
}

impl Forbidden {
    fn start() -> Self {
        let reached = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let count = |reached: &Arc<AtomicUsize>| {
            let reached = Arc::clone(reached);
            move || reached.fetch_add(1, Ordering::SeqCst)
        };
        let serve = |listener: TcpListener, count: Box<dyn Fn() -> usize + Send>| {
            thread::spawn(move || {
                for stream in listener.incoming() {
                    count();
                    let _ = stream.and_then(|mut stream| answer(&mut stream, SECRET));
                }
            });
        };
        serve(listener, Box::new(count(&reached)));
        for address in ["[::1]", "127.0.0.2"] {
            if let Ok(listener) = TcpListener::bind(format!("{address}:{port}")) {
                serve(listener, Box::new(count(&reached)));
            }
        }
        let datagrams = UdpSocket::bind(("127.0.0.1", port)).unwrap();
        let counted = count(&reached);
        thread::spawn(move || {
            while let Ok((_, from)) = datagrams.recv_from(&mut [0; 512]) {
                counted();
                let _ = datagrams.send_to(SECRET, from);
            }
        });
        let folder = tempfile::tempdir().unwrap();
        open_to_all(folder.path());
        let abstract_name = format!("skillfold-forbidden-{port}");
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let file = folder.path().join("socket");
        for listener in [
            UnixListener::bind(&file).unwrap(),
            UnixListener::bind_addr(&address).unwrap(),
        ] {
            let counted = count(&reached);
            thread::spawn(move || {
                for stream in listener.incoming() {
                    counted();
                    let _ = stream.and_then(|mut stream| stream.write_all(SECRET));
                }
            });
        }
        open_to_all(&file);
        Self {
            port,
            reached,
            folder,
            abstract_name,
        }
    }

    fn reached(&self) -> usize {
        self.reached.load(Ordering::SeqCst)
    }
}

fn open_to_all(path: &Path) {
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(path, all).unwrap();
}

fn answer(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(50)))?;
    let _ = stream.read(&mut [0; 4096]);
    stream.write_all(bytes)
}

/// Resolves the names of the attempts: to this machine, in one way or another.
fn resolver() -> Resolver {
    let lookups = AtomicUsize::new(0);
    Resolver::new(move |name| {
        let addresses: &[&str] = match name {
            // Changes with each lookup.
            "rebind.example" => match lookups.fetch_add(1, Ordering::SeqCst) % 3 {
                0 => &["127.0.0.1"],
                1 => &["::1"],
                _ => &["::ffff:127.0.0.1"],
            },
            "mixed.example" => &["93.184.215.14", "127.0.0.1"],
            "mapped.example" => &["::ffff:127.0.0.1"],
            "nat64.example" => &["64:ff9b::7f00:1"],
            "zero.example" => &["0.0.0.0"],
            "metadata.example" => &["169.254.169.254"],
            "six.example" => &["::1"],
            _ => &["127.0.0.1"],
        };
        Ok(addresses.iter().map(|text| text.parse().unwrap()).collect())
    })
}

fn attempt(
    permissions: Permissions,
    forbidden: &Forbidden,
    allowed: u16,
) -> (BTreeMap<String, Option<String>>, Outcome) {
    let copy = skill(&[("attempts.py", include_str!("attempts.py"))]);
    let file = path("attempts.py");
    let input = json!({
        "forbidden": forbidden.port,
        "allowed": allowed,
        "socket": forbidden.folder.path().join("socket"),
        "abstract": forbidden.abstract_name,
    });
    let permissions = permissions.with_write(forbidden.folder.path().canonicalize().unwrap());
    let limits = RunLimits::default().with_wall_time(Duration::from_secs(120));
    let options = options(permissions)
        .with_resolver(resolver())
        .with_limits(limits);
    let outcome = Run::new(&copy, &file)
        .with_input(input.to_string())
        .with_options(options)
        .run()
        .unwrap();
    let results = serde_json::from_slice(&outcome.stdout)
        .unwrap_or_else(|_| panic!("{}{}", outcome.stdout_text(), outcome.stderr_text()));
    (results, outcome)
}

#[test]
fn nothing_that_is_not_named_is_reached() {
    needs_sandbox!();
    let (forbidden, allowed) = (Forbidden::start(), start_allowed());
    let hosts = [
        format!("localhost:{allowed}"),
        format!("api.example.com:{}", forbidden.port),
        format!("rebind.example:{}", forbidden.port),
        format!("mixed.example:{}", forbidden.port),
        format!("mapped.example:{}", forbidden.port),
        format!("nat64.example:{}", forbidden.port),
        format!("zero.example:{}", forbidden.port),
        format!("six.example:{}", forbidden.port),
        "metadata.example:80".to_owned(),
        format!("*.wild.example:{}", forbidden.port),
        // Private, but not this machine.
        format!("build.internal:{}", forbidden.port),
    ];
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let permissions = Permissions::default().with_hosts(rules(&hosts));
    let (results, outcome) = attempt(permissions, &forbidden, allowed);
    let reached: Vec<_> = results.iter().filter(|(_, got)| got.is_some()).collect();
    println!(
        "{} attempts, {} reach something",
        results.len(),
        reached.len()
    );
    assert!(reached.is_empty(), "{reached:#?}");
    assert_eq!(forbidden.reached(), 0);
    assert!(results.len() >= ATTEMPTS, "{}", results.len());
    // The proxy worked: the attempts start at a host that is named.
    assert!(connections(&outcome).contains(&format!("localhost:{allowed} connected")));
    // Each request that it understood is recorded.
    assert!(
        outcome.connections.len() >= ATTEMPTS,
        "{:#?}",
        connections(&outcome)
    );
}

#[test]
fn attempts_reach_what_is_named_and_the_whole_network() {
    needs_sandbox!();
    // The control of the test above.
    let (forbidden, allowed) = (Forbidden::start(), start_allowed());
    let (results, _) = attempt(Permissions::default().with_network(), &forbidden, allowed);
    let direct = |name: &str| name.starts_with("direct");
    let reached = |wanted: &dyn Fn(&str) -> bool, results: &BTreeMap<String, Option<String>>| {
        results
            .iter()
            .filter(|(name, got)| wanted(name) && got.is_some())
            .count()
    };
    assert!(reached(&direct, &results) >= 8, "{results:#?}");
    let hosts = [
        "localhost",
        "evil.example",
        "127.0.0.1",
        "127.0.0.2",
        "[::1]",
        "rebind.localhost",
        "*.localhost",
    ];
    let mut named: Vec<String> = hosts
        .iter()
        .map(|host| format!("{host}:{}", forbidden.port))
        .collect();
    named.push(format!("localhost:{allowed}"));
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let (results, _) = attempt(
        Permissions::default().with_hosts(rules(&named)),
        &forbidden,
        allowed,
    );
    assert_eq!(reached(&direct, &results), 0, "{results:#?}");
    let proxied = reached(&|name| !direct(name), &results);
    println!("{proxied} attempts reach what is named");
    assert!(proxied >= 12, "{results:#?}");
    assert!(forbidden.reached() > 20);
}
