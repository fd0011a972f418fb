//! HTTP: who is admitted. Requests are written by hand, as a stranger would.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread;

use skillfold_mcp::{HttpAccess, HttpLimits, HttpOptions, Options, Server, Token};

use crate::client::skills;

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

fn serve(access: HttpAccess) -> SocketAddr {
    serve_within(access, HttpLimits::default())
}

/// Starts a server that runs as long as the process.
pub(crate) fn serve_within(access: HttpAccess, limits: HttpLimits) -> SocketAddr {
    let options = HttpOptions::new((Ipv4Addr::LOCALHOST, 0).into(), access).with_limits(limits);
    let tree = "//- pdf/SKILL.md\n---\nname: pdf\ndescription: D\n---\nBody\n";
    let server = Server::new(skills(tree, &[]), Options::default());
    start(server, options)
}

/// Serves until the process ends.
pub(crate) fn start(server: Server, options: HttpOptions) -> SocketAddr {
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        skillfold_mcp::http(server, &options, |address| {
            sender.send(address).expect("the test waits");
        })
        .expect("a port is free");
    });
    address.recv().expect("the server starts")
}

/// Posts a message with some headers, and returns the status.
pub(crate) fn post(address: SocketAddr, headers: &[&str], body: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let mut request = String::from("POST /mcp HTTP/1.1\r\nConnection: close\r\n");
    for header in headers {
        request.push_str(header);
        request.push_str("\r\n");
    }
    let length = body.len();
    let _ = write!(request, "Content-Length: {length}\r\n\r\n{body}");
    // A server that refuses by the headers does not wait for the rest; it responds anyway.
    drop(stream.write_all(request.as_bytes()));
    status(&mut stream)
}

fn status(stream: &mut TcpStream) -> String {
    let mut start = [0; 12];
    stream.read_exact(&mut start).expect("an answer");
    String::from_utf8_lossy(&start[9..]).into_owned()
}

pub(crate) const FORM: [&str; 2] = [
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
];

#[test]
fn request_needs_the_token_and_an_allowed_host() {
    let address = serve(HttpAccess::Token(Token::new(TOKEN).unwrap()));
    let (token, other) = (
        format!("Authorization: Bearer {TOKEN}"),
        format!("Authorization: Bearer {}", TOKEN.replace('f', "e")),
    );
    let (host, own) = (
        format!("Host: {address}"),
        format!("Origin: http://{address}"),
    );
    for (headers, wanted) in [
        (vec![&*host, &*token], "200"),
        (vec![&host, &token, &own], "200"),
        (vec![&host], "401"),
        (vec![&host, &other], "401"),
        (vec!["Host: evil.example", &token], "403"),
        (vec![&host, &token, "Origin: http://evil.example"], "403"),
        (vec![&host, &token, "Origin: http://localhost:1"], "403"),
        (vec![&host, &token, "Origin: null"], "403"),
    ] {
        let headers: Vec<_> = headers.into_iter().chain(FORM).collect();
        assert_eq!(post(address, &headers, INITIALIZE), wanted, "{headers:?}");
    }
    let form: Vec<&str> = [&*host, &*token].into_iter().chain(FORM).collect();
    let large = format!("{INITIALIZE}{}", " ".repeat(2 * 1024 * 1024));
    assert_eq!(post(address, &form, &large), "413");
    assert_ne!(post(address, &form, "{"), "200");
}

#[test]
fn health_check_needs_no_token_and_reveals_nothing() {
    let address = serve(HttpAccess::Token(Token::new(TOKEN).unwrap()));
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nok\n"), "{answer}");
}

/// Sends a request and returns the full response.
pub(crate) fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn metrics_require_the_token() {
    let address = serve(HttpAccess::Token(Token::new(TOKEN).unwrap()));
    let (host, token) = (
        format!("Host: {address}"),
        format!("Authorization: Bearer {TOKEN}"),
    );
    assert_eq!(
        post(address, &[&host, &token, FORM[0], FORM[1]], INITIALIZE),
        "200"
    );
    assert_eq!(post(address, &[&host, FORM[0], FORM[1]], INITIALIZE), "401");
    let request =
        format!("GET /metrics HTTP/1.1\r\n{host}\r\n{token}\r\nConnection: close\r\n\r\n");
    let answer = ask(address, &request);
    for line in [
        "content-type: text/plain; version=0.0.4; charset=utf-8",
        "skillfold_sessions 1",
        "skillfold_skills 1",
        "skillfold_http_responses_total{status=\"200\"} 1",
        "skillfold_http_responses_total{status=\"401\"} 1",
        "# TYPE skillfold_request_seconds histogram",
        "skillfold_cache_misses_total 0",
    ] {
        assert!(answer.lines().any(|is| is == line), "{line}\n{answer}");
    }
    assert!(!answer.contains(TOKEN));
}

#[test]
fn requests_are_counted_by_method_tool_and_outcome() {
    let address = serve(HttpAccess::Open);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let call = |tool: &str, arguments: &str| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},{meta}}}}}"#
        );
        let name = format!("Mcp-Name: {tool}");
        let headers = [
            &format!("Host: {address}"),
            "MCP-Protocol-Version: 2026-07-28",
            "Mcp-Method: tools/call",
            &name,
            FORM[0],
            FORM[1],
        ];
        post(address, &headers, &body)
    };
    assert_eq!(call("load_skill", r#"{"skill_id":"pdf"}"#), "200");
    assert_eq!(call("load_skill", r#"{"skill_id":"pfd"}"#), "200");
    assert_eq!(call("list_skills", "{}"), "200");
    assert_eq!(call("evil{tool}", "{}"), "200");
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let answer = ask(address, &request);
    let counted: Vec<_> = answer
        .lines()
        .filter(|line| line.starts_with("skillfold_requests_total") && !line.ends_with(" 0"))
        .collect();
    insta::assert_snapshot!(counted.join("\n"), @r#"
    skillfold_requests_total{method="tools/call",tool="list_skills",outcome="ok"} 1
    skillfold_requests_total{method="tools/call",tool="load_skill",outcome="ok"} 1
    skillfold_requests_total{method="tools/call",tool="load_skill",outcome="failed"} 1
    skillfold_requests_total{method="tools/call",tool="unknown",outcome="refused"} 1
    "#);
    assert!(
        answer.contains("skillfold_loaded_tokens_total 3\n"),
        "{answer}"
    );
}

#[test]
fn full_server_answers_retry_after_and_accepts_again_when_a_session_ends() {
    let mut limits = HttpLimits::default();
    limits.sessions = 2;
    limits.session_idle_timeout = std::time::Duration::from_millis(500);
    let address = serve_within(HttpAccess::Open, limits);
    let host = format!("Host: {address}");
    let begin = || {
        let length = INITIALIZE.len();
        let [kind, accept] = FORM;
        ask(
            address,
            &format!(
                "POST /mcp HTTP/1.1\r\n{host}\r\n{kind}\r\n{accept}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{INITIALIZE}"
            ),
        )
    };
    let first = begin();
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");
    assert!(begin().starts_with("HTTP/1.1 200"));
    let third = begin();
    assert!(third.starts_with("HTTP/1.1 503"), "{third}");
    assert!(third.contains("\r\nretry-after: 5\r\n"), "{third}");
    let id = first
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .unwrap();
    let gone = ask(
        address,
        &format!(
            "DELETE /mcp HTTP/1.1\r\n{host}\r\nMcp-Session-Id: {id}\r\nConnection: close\r\n\r\n"
        ),
    );
    // The official Python client accepts 200, 204 and 405, and treats 202 as a failure.
    assert!(gone.starts_with("HTTP/1.1 204"), "{gone}");
    assert!(begin().starts_with("HTTP/1.1 200"));
    // The others are idle and expire on their own.
    while !begin().starts_with("HTTP/1.1 200") {
        thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn connection_over_the_limit_gets_an_error() {
    let mut limits = HttpLimits::default();
    limits.connections = 1;
    let address = serve_within(HttpAccess::Open, limits);
    let numbers = |more: &str| format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\n{more}\r\n");
    let mut first = TcpStream::connect(address).unwrap();
    first.write_all(numbers("").as_bytes()).unwrap();
    assert_eq!(status(&mut first), "200");
    let close = numbers("Connection: close\r\n");
    let second = ask(address, &close);
    assert!(second.starts_with("HTTP/1.1 503"), "{second}");
    assert!(second.contains("\r\nretry-after: 5\r\n"), "{second}");
    drop(first);
    while !ask(address, &close).starts_with("HTTP/1.1 200") {
        thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn without_a_token_only_loopback_is_served() {
    let address = serve(HttpAccess::Open);
    let host = format!("Host: {address}");
    let headers: Vec<_> = [&*host].into_iter().chain(FORM).collect();
    assert_eq!(post(address, &headers, INITIALIZE), "200");
    let server = Server::new(skills("", &[]), Options::default());
    let options = HttpOptions::new((Ipv4Addr::UNSPECIFIED, 0).into(), HttpAccess::Open);
    assert!(skillfold_mcp::http(server, &options, |_| unreachable!()).is_err());
}

#[test]
fn unknown_or_ended_session_is_refused() {
    let address = serve(HttpAccess::Open);
    let host = format!("Host: {address}");
    let version = "MCP-Protocol-Version: 2025-11-25";
    let request = |method: &str, headers: &[&str], body: &str| {
        let headers = headers.join("\r\n");
        let (form, length) = (FORM.join("\r\n"), body.len());
        ask(
            address,
            &format!(
                "{method} /mcp HTTP/1.1\r\n{host}\r\nConnection: close\r\n{form}\r\n{headers}\r\nContent-Length: {length}\r\n\r\n{body}"
            ),
        )
    };
    let begun = request("POST", &[version], INITIALIZE);
    let session = begun
        .lines()
        .find(|line| line.starts_with("mcp-session-id"));
    let session = session.unwrap();
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    request("POST", &[version, session], initialized);
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_skills"}}"#;
    let status = |session: &str| request("POST", &[version, session], call)[9..12].to_owned();
    assert_eq!(status(session), "200");
    assert_eq!(status("Mcp-Session-Id: other"), "404");
    let ended = request("DELETE", &[version, session], "");
    assert!(ended.starts_with("HTTP/1.1 204"), "{ended}");
    assert_eq!(status(session), "404");
}

/// Serves a host's routes, in the host's own server.
fn host(routes: impl FnOnce(SocketAddr) -> axum::Router + Send + 'static) -> SocketAddr {
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
            let listener = listener.await.unwrap();
            let address = listener.local_addr().unwrap();
            sender.send(address).unwrap();
            axum::serve(listener, routes(address)).await.unwrap();
        });
    });
    address.recv().expect("the host starts")
}

#[test]
fn routes_mounted_in_a_host_router_keep_all_checks() {
    let address = host(|address| {
        let tree = "//- pdf/SKILL.md\n---\nname: pdf\ndescription: D\n---\nBody\n";
        let server = Server::new(skills(tree, &[]), Options::default());
        let access = HttpAccess::Token(Token::new(TOKEN).unwrap());
        let options = HttpOptions::new(address, access);
        axum::Router::new()
            .route("/own", axum::routing::get(async || "the host's"))
            .merge(skillfold_mcp::router(server, &options).unwrap())
    });
    let own = format!("GET /own HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    assert!(ask(address, &own).ends_with("the host's"));
    let (host, token) = (
        format!("Host: {address}"),
        format!("Authorization: Bearer {TOKEN}"),
    );
    for (headers, wanted) in [
        (vec![&*host, &*token], "200"),
        (vec![&host], "401"),
        (vec![&host, &token, "Origin: http://evil.example"], "403"),
        (vec!["Host: evil.example", &token], "403"),
    ] {
        let headers: Vec<_> = headers.into_iter().chain(FORM).collect();
        assert_eq!(post(address, &headers, INITIALIZE), wanted, "{headers:?}");
    }
}
