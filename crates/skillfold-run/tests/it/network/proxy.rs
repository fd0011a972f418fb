//! What a run with hosts has, and what its proxy withstands.

use std::fs;
use std::io::Read as _;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use skillfold_run::{ConnectionObserver, Permissions, Resolver, Run, RunLimits};

use super::{connections, options, reach, rules, run, start_allowed};
use crate::skill::{path, skill};

#[test]
fn run_with_hosts_has_a_loopback_and_no_resolver_or_other_sockets() {
    needs_sandbox!();
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
    let outcome = reach(&["api.example.com"], ("a.py", text));
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
    needs_sandbox!();
    let text = "env | grep -i -e proxy | sort";
    let outcome = reach(&["api.example.com"], ("a.sh", text));
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
    assert!(run(whole, &[("a.sh", "test $HTTPS_PROXY = x")]).is_success());
}

#[test]
fn each_connection_is_reported_once_it_has_ended() {
    needs_sandbox!();
    let allowed = start_allowed();
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let observer = ConnectionObserver::new(move |connection| {
        kept.lock().unwrap().push(connection.clone());
    });
    let text = format!(
        "curl -s http://localhost:{allowed}/x -d body; curl -s https://evil.example; curl -s -x socks5h://127.0.0.1:3128 http://b.example; true"
    );
    let (copy, file) = (skill(&[("a.sh", &text)]), path("a.sh"));
    let permissions = Permissions::default().with_hosts(rules(&[&format!("localhost:{allowed}")]));
    let options = options(permissions).with_connection_observer(observer);
    let outcome = Run::new(&copy, &file).with_options(options).run().unwrap();
    assert_eq!(*seen.lock().unwrap(), outcome.connections);
    let mut ended = outcome.connections.iter();
    let first = ended.find(|it| it.host == "localhost").unwrap();
    assert!(first.sent > 50 && first.received > 50, "{first:?}");
    assert_eq!(first.address, Some(IpAddr::from([127, 0, 0, 1])));
    // A connection may end after the next one was refused.
    let mut lines = connections(&outcome);
    lines.sort();
    let lines = lines.join("\n").replace(&allowed.to_string(), "PORT");
    insta::assert_snapshot!(lines, @"
    b.example:80 not_allowed
    evil.example:443 not_allowed
    localhost:PORT connected
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
    needs_sandbox!();
    let text = "import socket\nfor _ in range(1100):\n    s = socket.create_connection(('127.0.0.1', 3128)); s.sendall(b'CONNECT evil.example:443 HTTP/1.1\\r\\n\\r\\n'); s.recv(100); s.close()\n";
    let outcome = reach(&["api.example.com"], ("a.py", text));
    assert!(outcome.is_success(), "{}", outcome.stderr_text());
    assert_eq!(
        (outcome.connections.len(), outcome.more_connections),
        (1000, 100)
    );
}

#[test]
fn run_ends_in_time_with_connections_open_and_lookups_pending() {
    needs_sandbox!();
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
    needs_sandbox!();
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
    let outcome = reach(&[&format!("localhost:{allowed}")], ("a.py", &text));
    assert_eq!(outcome.stdout_text(), "200\n", "{}", outcome.stderr_text());
}

#[test]
fn toolset_process_reaches_hosts_and_its_connections_are_observed() {
    needs_sandbox!();
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
