//! Network by host: what is named is reached, by the programs that people use, and nothing else is.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use skillfold_run::{
    Connection, ConnectionObserver, HostRule, Outcome, Permissions, Refusal, Resolver, Run,
    RunLimits, RunOptions,
};
use tempfile::TempDir;

use crate::skill::{path, skill};

/// What the servers say that no run may reach.
const SECRET: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nSECRET";

/// Fewer would leave out classes of attempts.
const ATTEMPTS: usize = 100;

fn rules(texts: &[&str]) -> Vec<HostRule> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Runs a script that may reach these hosts.
fn reach(hosts: &[&str], (name, text): (&str, &str), arguments: &[&str]) -> Outcome {
    let permissions = Permissions::default().with_hosts(rules(hosts));
    run(permissions, &[(name, text)], arguments)
}

fn run(permissions: Permissions, files: &[(&str, &str)], arguments: &[&str]) -> Outcome {
    let (copy, file) = (skill(files), path(files[0].0));
    Run::new(&copy, &file)
        .with_arguments(arguments.iter().copied())
        .with_options(options(permissions))
        .run()
        .unwrap()
}

fn options(permissions: Permissions) -> RunOptions {
    RunOptions::default().with_permissions(permissions)
}

/// Returns what a run did with the network, one line for each connection.
fn connections(outcome: &Outcome) -> Vec<String> {
    let line = |connection: &Connection| {
        let how = connection.refusal.map_or("connected", Refusal::code);
        format!("{}:{} {how}", connection.host, connection.port)
    };
    outcome.connections.iter().map(line).collect()
}

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

/// A server that may be reached. It redirects to whatever it is asked for.
fn start_allowed() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            thread::spawn(move || {
                let mut buffer = [0; 8192];
                let count = stream.read(&mut buffer).unwrap_or(0);
                let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
                let target = text.split(' ').nth(1).unwrap_or_default();
                let reply = match target.strip_prefix("/redirect?") {
                    Some(to) => {
                        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
                    }
                    None => format!(
                        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
                        text.len()
                    ),
                };
                let _ = stream.write_all(reply.as_bytes());
            });
        }
    });
    port
}

/// Resolves the names of the attempts: to this machine, in one way or another.
fn resolver() -> Resolver {
    let lookups = AtomicUsize::new(0);
    Resolver::new(move |name| {
        let addresses: &[&str] = match name {
            "localhost" => &["127.0.0.1"],
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

#[test]
fn run_with_hosts_has_a_loopback_and_no_resolver_or_other_sockets() {
    let text = r#"
import os, socket, errno
print(os.path.exists("/etc/resolv.conf"), os.path.exists("/etc/hosts"))
print(os.path.isdir("/etc/ssl/certs"))
for kind, what in [(socket.SOCK_STREAM, "stream"), (socket.SOCK_DGRAM, "datagram"), (socket.SOCK_RAW, "raw")]:
    for family in [socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET, socket.AF_VSOCK]:
        try:
            socket.socket(family, kind).close()
            print(what, family.name)
        except OSError as error:
            assert error.errno == errno.EPERM, error
try:
    socket.create_connection(("127.0.0.1", 9))
except (PermissionError, ConnectionRefusedError):
    print("no connection")
"#;
    let outcome = reach(&["api.example.com"], ("a.py", text), &[]);
    insta::assert_snapshot!(outcome.stdout_text() + outcome.stderr_text(), @"
    False False
    True
    stream AF_INET
    stream AF_INET6
    no connection
    ");
}

#[test]
fn proxy_variables_are_set_and_a_skill_cannot_set_them() {
    let text = "env | grep -i -e proxy | sort";
    let outcome = reach(&["api.example.com"], ("a.sh", text), &[]);
    insta::assert_snapshot!(outcome.stdout_text(), @"
    ALL_PROXY=http://127.0.0.1:3128
    HTTPS_PROXY=http://127.0.0.1:3128
    HTTP_PROXY=http://127.0.0.1:3128
    NODE_USE_ENV_PROXY=1
    NO_PROXY=
    all_proxy=http://127.0.0.1:3128
    http_proxy=http://127.0.0.1:3128
    https_proxy=http://127.0.0.1:3128
    no_proxy=
    ");
    for name in ["HTTPS_PROXY", "no_proxy", "NODE_USE_ENV_PROXY"] {
        let permissions = Permissions::default()
            .with_hosts(rules(&["api.example.com"]))
            .with_variable(name, "x");
        let (copy, file) = (skill(&[("a.sh", "true")]), path("a.sh"));
        let error = Run::new(&copy, &file)
            .with_options(options(permissions))
            .run()
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("Variable cannot be granted: `{name}`")
        );
    }
    let whole = Permissions::default()
        .with_network()
        .with_variable("HTTPS_PROXY", "x");
    assert!(run(whole, &[("a.sh", "test $HTTPS_PROXY = x")], &[]).is_success());
}

#[test]
fn each_connection_is_reported_once_it_has_ended() {
    let allowed = start_allowed();
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let observed = Arc::clone(&seen);
    let observer = ConnectionObserver::new(move |connection| {
        observed.lock().unwrap().push(connection.clone())
    });
    let text = format!(
        "curl -s http://localhost:{allowed}/x -d body; curl -s https://evil.example; curl -s -x socks5h://127.0.0.1:3128 http://b.example; true"
    );
    let (copy, file) = (skill(&[("a.sh", &text)]), path("a.sh"));
    let permissions = Permissions::default().with_hosts(rules(&[&format!("localhost:{allowed}")]));
    let options = options(permissions).with_connection_observer(observer);
    let outcome = Run::new(&copy, &file).with_options(options).run().unwrap();
    assert_eq!(*seen.lock().unwrap(), outcome.connections);
    let first = &outcome.connections[0];
    assert!(first.sent > 50 && first.received > 50, "{first:?}");
    assert_eq!(first.address, Some(IpAddr::from([127, 0, 0, 1])));
    let lines = connections(&outcome)
        .join("\n")
        .replace(&allowed.to_string(), "PORT");
    insta::assert_snapshot!(lines, @"
    localhost:PORT connected
    evil.example:443 not_allowed
    b.example:80 not_allowed
    ");
    // The server sees the host of the address, and one request.
    let echoed = outcome.stdout_text();
    assert!(echoed.starts_with("POST /x HTTP/1.1\r\n"), "{echoed}");
    assert!(
        echoed.contains(&format!("\r\nHost: localhost:{allowed}\r\n")),
        "{echoed}"
    );
    assert!(echoed.contains("\r\nConnection: close\r\n"), "{echoed}");
}

#[test]
fn connections_beyond_the_limit_are_counted() {
    let text = "import socket\nfor _ in range(1100):\n    s = socket.create_connection(('127.0.0.1', 3128)); s.sendall(b'CONNECT evil.example:443 HTTP/1.1\\r\\n\\r\\n'); s.recv(100); s.close()\n";
    let outcome = reach(&["api.example.com"], ("a.py", text), &[]);
    assert!(outcome.is_success(), "{}", outcome.stderr_text());
    assert_eq!(
        (outcome.connections.len(), outcome.more_connections),
        (1000, 100)
    );
}

#[test]
fn run_ends_in_time_with_connections_open_and_lookups_pending() {
    let allowed = start_allowed();
    let text = format!(
        "import socket, time\nopen_ = []\nfor host in ['localhost:{allowed}', 'slow.example:443', '', 'half'] * 30:\n    s = socket.create_connection(('127.0.0.1', 3128)); open_.append(s)\n    if host: s.sendall(f'CONNECT {{host}} HTTP/1.1\\r\\n'.encode() + (b'' if host == 'half' else b'\\r\\n'))\nprint('open', flush=True)\ntime.sleep(600)\n"
    );
    let (copy, file) = (skill(&[("a.py", &text)]), path("a.py"));
    let resolver = Resolver::new(|name| {
        if name == "slow.example" {
            thread::sleep(Duration::from_secs(5));
        }
        Ok(vec![IpAddr::from([127, 0, 0, 1])])
    });
    let permissions = Permissions::default()
        .with_hosts(rules(&[&format!("localhost:{allowed}"), "slow.example"]));
    let limits = RunLimits::default().with_wall_time(Duration::from_millis(1500));
    let options = options(permissions)
        .with_resolver(resolver)
        .with_limits(limits);
    let (descriptors, started) = (open_descriptors(), Instant::now());
    let outcome = Run::new(&copy, &file).with_options(options).run().unwrap();
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(outcome.end.code(), "timeout");
    assert_eq!(outcome.stdout_text(), "open\n", "{}", outcome.stderr_text());
    assert_closed(descriptors);
}

/// Nextest runs each test in its own process, so others do not count.
fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Checks that no more descriptors are open than before, once the test's own server has noticed the end.
fn assert_closed(before: usize) {
    let deadline = Instant::now() + Duration::from_secs(2);
    while open_descriptors() > before {
        assert!(Instant::now() < deadline, "sockets are left open");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn hostile_bytes_do_not_stop_the_proxy() {
    let allowed = start_allowed();
    let text = format!(
        r#"
import os, random, socket
random.seed(7)
starts = [b"", b"\x05", b"\x05\x01\x00", b"\x05\x01\x00\x05\x01\x00\x03", b"CONNECT ", b"GET http://", b"CONNECT localhost:{allowed} HTTP/1.1\r\n", b"\x04\x01", b"\r\n" * 50, b"A" * 40000]
for number in range(300):
    s = socket.create_connection(("127.0.0.1", 3128))
    s.settimeout(5)
    try:
        s.sendall(random.choice(starts) + random.randbytes(random.choice([0, 1, 10, 1000, 50000])))
        s.shutdown(socket.SHUT_WR)
        while s.recv(65536):
            pass
    except (ConnectionError, OSError) as error:
        assert not isinstance(error, TimeoutError), number
    s.close()
import urllib.request
print(urllib.request.urlopen("http://localhost:{allowed}/alive").status)
"#
    );
    let outcome = reach(&[&format!("localhost:{allowed}")], ("a.py", &text), &[]);
    assert_eq!(outcome.stdout_text(), "200\n", "{}", outcome.stderr_text());
}

/// A real TLS server with a certificate for `localhost` and `api.localhost`, which serves a folder.
struct TlsServer {
    process: Child,
    port: u16,
    folder: TempDir,
}

impl TlsServer {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        fs::write(here.join("hello"), "hello over TLS\n").unwrap();
        fs::write(here.join("server.py"), include_str!("server.py")).unwrap();
        shell(
            here,
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,DNS:api.localhost,IP:127.0.0.1",
        );
        shell(
            here,
            "git init -q work && cd work && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m one && cd .. && git clone -q --bare work repo.git && cd repo.git && git update-server-info",
        );
        let mut process = Command::new("/usr/bin/python3")
            .arg("server.py")
            .current_dir(here)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = Vec::new();
        let stdout = process.stdout.as_mut().unwrap();
        while line.last() != Some(&b'\n') {
            let mut byte = [0];
            stdout.read_exact(&mut byte).unwrap();
            line.push(byte[0]);
        }
        let port = String::from_utf8(line).unwrap().trim().parse().unwrap();
        Self {
            process,
            port,
            folder,
        }
    }

    /// Runs a script that may reach the server, and no other.
    fn reach(&self, files: &[(&str, &str)], programs: Option<&Path>) -> Outcome {
        let certificate = fs::read_to_string(self.folder.path().join("ca.pem")).unwrap();
        let port = self.port.to_string();
        let files: Vec<(&str, String)> = files
            .iter()
            .map(|(name, text)| (*name, text.replace("PORT", &port)))
            .collect();
        let mut files: Vec<(&str, &str)> = files
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        files.push(("ca.pem", &certificate));
        let mut permissions = Permissions::default().with_hosts(rules(&[
            &format!("localhost:{port}"),
            &format!("api.localhost:{port}"),
        ]));
        for variable in [
            "SSL_CERT_FILE",
            "CURL_CA_BUNDLE",
            "REQUESTS_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "GIT_SSL_CAINFO",
        ] {
            permissions = permissions.with_variable(variable, "/skill/ca.pem");
        }
        let resolver = Resolver::new(|_| Ok(vec![IpAddr::from([127, 0, 0, 1])]));
        let mut options = options(permissions).with_resolver(resolver);
        if let Some(folder) = programs {
            let python = folder.join("python").canonicalize();
            let permissions = options.permissions().clone();
            let permissions = python
                .iter()
                .fold(permissions, |all, python| all.with_read(python));
            let search = [folder, "/usr/bin".as_ref(), "/bin".as_ref()].map(Path::to_owned);
            options = options
                .with_search_path(search)
                .with_permissions(permissions);
        }
        let (copy, file) = (skill(&files), path(files[0].0));
        Run::new(&copy, &file).with_options(options).run().unwrap()
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn shell(folder: &Path, command: &str) {
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Checks that a program reaches the server under both names, and nothing else.
fn check(outcome: &Outcome, expected: &str) {
    let said = format!("{}{}", outcome.stdout_text(), outcome.stderr_text());
    assert!(outcome.stdout_text().contains(expected), "{said}");
    assert!(outcome.is_success(), "{said}");
    let is_named = |connection: &Connection| connection.host.ends_with("localhost");
    let (named, others): (Vec<&Connection>, Vec<&Connection>) =
        outcome.connections.iter().partition(|it| is_named(it));
    assert!(
        named.iter().any(|it| it.refusal.is_none()),
        "{said}: {:#?}",
        outcome.connections
    );
    assert!(
        !others.is_empty()
            && others
                .iter()
                .all(|it| it.refusal == Some(Refusal::NotAllowed)),
        "{others:#?}"
    );
}

#[test]
fn curl_reaches_a_named_host_over_tls_and_no_other() {
    let server = TlsServer::start();
    let text = "curl -sS https://localhost:PORT/hello\ncurl -sS https://api.localhost:PORT/hello\ncurl -sS -x socks5h://127.0.0.1:3128 https://localhost:PORT/hello\ncurl -sS https://evil.example/ && exit 9\ncurl -sS --noproxy '*' https://localhost:PORT/hello && exit 9\ntrue\n";
    let outcome = server.reach(&[("a.sh", text)], None);
    check(&outcome, "hello over TLS\nhello over TLS\nhello over TLS\n");
    let said = outcome
        .stderr_text()
        .replace(&server.port.to_string(), "PORT");
    assert!(said.contains("403"), "{said}");
}

#[test]
fn urllib_reaches_a_named_host_over_tls_and_no_other() {
    let server = TlsServer::start();
    let text = "import urllib.request as r\nprint(r.urlopen('https://localhost:PORT/hello').read().decode())\ntry:\n    r.urlopen('https://evil.example/')\nexcept OSError as error:\n    print(error)\n";
    let outcome = server.reach(&[("a.py", text)], None);
    check(&outcome, "hello over TLS\n");
    assert!(
        outcome
            .stdout_text()
            .contains("403 Host not allowed by the permissions of the skill"),
        "{}",
        outcome.stdout_text()
    );
}

#[test]
fn git_reaches_a_named_host_over_tls_and_no_other() {
    let server = TlsServer::start();
    let text = "git ls-remote https://localhost:PORT/repo.git HEAD\ngit ls-remote https://evil.example/repo.git && exit 9\ntrue\n";
    check(&server.reach(&[("a.sh", text)], None), "\tHEAD\n");
}

#[test]
#[ignore = "needs Node 24 in NETWORK_FOLDER"]
fn node_reaches_a_named_host_over_tls_and_no_other() {
    let server = TlsServer::start();
    let text = "const get = async (url) => { try { console.log(await (await fetch(url)).text()) } catch (error) { console.log(String(error.cause ?? error)) } }\nawait get('https://localhost:PORT/hello')\nawait get('https://evil.example/')\n";
    let folder = PathBuf::from(std::env::var_os("NETWORK_FOLDER").unwrap());
    check(
        &server.reach(&[("a.mjs", text)], Some(&folder)),
        "hello over TLS\n",
    );
}

#[test]
#[ignore = "needs the Python packages `requests` and `httpx` in NETWORK_FOLDER/python"]
fn requests_and_httpx_reach_a_named_host_over_tls_and_no_other() {
    let server = TlsServer::start();
    let folder = PathBuf::from(std::env::var_os("NETWORK_FOLDER").unwrap());
    let text = format!(
        "import sys\nsys.path[:0] = [{:?}]\nimport requests, httpx\nprint(requests.get('https://localhost:PORT/hello').text)\nprint(httpx.get('https://localhost:PORT/hello', verify='/skill/ca.pem').text)\nfor module in requests, httpx:\n    try:\n        module.get('https://evil.example/')\n        sys.exit(9)\n    except Exception as error:\n        print(error)\n",
        folder.join("python")
    );
    let outcome = server.reach(&[("a.py", &text)], Some(&folder));
    check(&outcome, "hello over TLS\n\nhello over TLS\n");
}

#[test]
fn toolset_process_reaches_hosts_and_its_connections_are_observed() {
    let allowed = start_allowed();
    let text = format!(
        "import urllib.request as r\nprint(r.urlopen('http://localhost:{allowed}/').status, flush=True)\ninput()\n"
    );
    let (copy, file) = (skill(&[("a.py", &text)]), path("a.py"));
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let permissions = Permissions::default().with_hosts(rules(&[&format!("localhost:{allowed}")]));
    let observer = ConnectionObserver::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let options = options(permissions).with_connection_observer(observer);
    let descriptors = open_descriptors();
    let mut running = Run::new(&copy, &file)
        .with_options(options)
        .start()
        .unwrap();
    let mut status = [0; 3];
    running
        .take_stdout()
        .unwrap()
        .read_exact(&mut status)
        .unwrap();
    assert_eq!(&status, b"200");
    drop(running);
    assert_eq!(seen.load(Ordering::SeqCst), 1);
    assert_closed(descriptors);
}
