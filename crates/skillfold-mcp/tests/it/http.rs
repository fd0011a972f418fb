//! HTTP: who is let in. Requests are written by hand, as a stranger would.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread;

use skillfold_mcp::{Access, HttpOptions, Options, Server, Token};

use crate::client::skills;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// Starts a server that lives as long as the process.
fn serve(access: Access) -> SocketAddr {
    let options = HttpOptions {
        address: (Ipv4Addr::LOCALHOST, 0).into(),
        access,
        hosts: Vec::new(),
        origins: Vec::new(),
    };
    let tree = "//- pdf/SKILL.md\n---\nname: pdf\ndescription: D\n---\nBody\n";
    let server = Server::new(skills(tree, &[]), Options::default());
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
fn post(address: SocketAddr, headers: &[&str], body: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let mut request = String::from("POST /mcp HTTP/1.1\r\nConnection: close\r\n");
    for header in headers {
        request.push_str(header);
        request.push_str("\r\n");
    }
    let length = body.len();
    let _ = write!(request, "Content-Length: {length}\r\n\r\n{body}");
    stream
        .write_all(request.as_bytes())
        .expect("the server reads");
    status(&mut stream)
}

fn status(stream: &mut TcpStream) -> String {
    let mut start = [0; 12];
    stream.read_exact(&mut start).expect("an answer");
    String::from_utf8_lossy(&start[9..]).into_owned()
}

const FORM: [&str; 2] = [
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
];

#[test]
fn only_who_shows_the_token_to_the_right_host_is_let_in() {
    let address = serve(Access::Token(Token::new(TOKEN).unwrap()));
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
fn health_needs_no_token_and_says_nothing_else() {
    let address = serve(Access::Token(Token::new(TOKEN).unwrap()));
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nok\n"), "{answer}");
}

#[test]
fn without_a_token_only_the_loopback_is_served() {
    let address = serve(Access::Open);
    let host = format!("Host: {address}");
    let headers: Vec<_> = [&*host].into_iter().chain(FORM).collect();
    assert_eq!(post(address, &headers, INITIALIZE), "200");
    let server = Server::new(skills("", &[]), Options::default());
    let options = HttpOptions {
        address: (Ipv4Addr::UNSPECIFIED, 0).into(),
        access: Access::Open,
        hosts: Vec::new(),
        origins: Vec::new(),
    };
    assert!(skillfold_mcp::http(server, &options, |_| unreachable!()).is_err());
}
