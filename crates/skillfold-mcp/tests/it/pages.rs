//! Pages from other origins, with requests as browsers send them.

use std::net::{Ipv4Addr, SocketAddr};

use skillfold_mcp::{HttpAccess, HttpOptions, Options, Server, Token};

use crate::client::skills;
use crate::http::{FORM, INITIALIZE, TOKEN, ask, start};

const APP: &str = "https://app.example";

fn options() -> HttpOptions {
    HttpOptions::new(
        (Ipv4Addr::LOCALHOST, 0).into(),
        HttpAccess::Token(Token::new(TOKEN).unwrap()),
    )
    .with_origins(vec![APP.to_owned()])
}

fn server(options: HttpOptions) -> SocketAddr {
    start(Server::new(skills("", &[]), Options::default()), options)
}

/// Returns a response's status and the headers that browsers check, in order.
fn seen(answer: &str) -> String {
    let (head, _) = answer.split_once("\r\n\r\n").unwrap();
    let is_seen = |line: &&str| {
        let seen = ["access-control-", "vary", "www-authenticate", "HTTP/1.1 "];
        seen.iter().any(|start| line.starts_with(start))
    };
    let mut lines: Vec<&str> = head.lines().filter(is_seen).collect();
    lines[1..].sort_unstable();
    lines.join("\n")
}

fn preflight(address: SocketAddr, origin: &str, more: &str) -> String {
    seen(&ask(
        address,
        &format!(
            "OPTIONS /mcp HTTP/1.1\r\nHost: {address}\r\nOrigin: {origin}\r\n\
             Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization, content-type\r\n\
             {more}Connection: close\r\n\r\n"
        ),
    ))
}

fn initialize(address: SocketAddr, headers: &str) -> String {
    let (length, [kind, accept]) = (INITIALIZE.len(), FORM);
    ask(
        address,
        &format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\n{kind}\r\n{accept}\r\n{headers}Connection: close\r\n\
             Content-Length: {length}\r\n\r\n{INITIALIZE}"
        ),
    )
}

#[test]
fn cors_preflight_allows_an_allowed_origin() {
    let address = server(options());
    insta::assert_snapshot!(preflight(address, APP, ""), @"
    HTTP/1.1 204 No Content
    access-control-allow-headers: Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id
    access-control-allow-methods: GET, POST, DELETE
    access-control-allow-origin: https://app.example
    access-control-expose-headers: MCP-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate
    access-control-max-age: 600
    vary: Origin
    ");
    let private = preflight(
        address,
        APP,
        "Access-Control-Request-Private-Network: true\r\n",
    );
    assert!(
        private.contains("access-control-allow-private-network: true"),
        "{private}"
    );
    let token = format!("Origin: {APP}\r\nAuthorization: Bearer {TOKEN}\r\n");
    let answer = initialize(address, &token);
    assert!(answer.contains("\r\nmcp-session-id: "), "{answer}");
    insta::assert_snapshot!(seen(&answer), @"
    HTTP/1.1 200 OK
    access-control-allow-origin: https://app.example
    access-control-expose-headers: MCP-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate
    vary: Origin
    ");
}

#[test]
fn refusals_have_cors_headers_for_an_allowed_origin() {
    let address = server(options());
    insta::assert_snapshot!(seen(&initialize(address, &format!("Origin: {APP}\r\n"))), @r#"
    HTTP/1.1 401 Unauthorized
    access-control-allow-origin: https://app.example
    access-control-expose-headers: MCP-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate
    vary: Origin
    www-authenticate: Bearer realm="skillfold"
    "#);
}

#[test]
fn other_origins_get_no_cors_headers() {
    let address = server(options());
    for origin in [
        "https://evil.example",
        "http://app.example",
        "https://app.example:444",
        "null",
    ] {
        assert_eq!(
            preflight(address, origin, ""),
            "HTTP/1.1 403 Forbidden",
            "{origin}"
        );
    }
    let rebound = ask(
        address,
        &format!(
            "OPTIONS /mcp HTTP/1.1\r\nHost: evil.example\r\nOrigin: {APP}\r\n\
             Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n"
        ),
    );
    assert!(rebound.starts_with("HTTP/1.1 403"), "{rebound}");
}

#[test]
fn invalid_allowed_host_or_origin_is_refused_at_startup() {
    let refused = |change: &dyn Fn(&mut HttpOptions)| {
        let mut options = options();
        change(&mut options);
        let server = Server::new(skills("", &[]), Options::default());
        let error = skillfold_mcp::http(server, &options, |_| unreachable!()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        error.to_string()
    };
    insta::assert_snapshot!(refused(&|options| options.hosts.push("*".to_owned())), @"`*` is not a host; name each host that clients use to reach the server, such as `skills.example.com`");
    insta::assert_snapshot!(refused(&|options| options.origins.push("*".to_owned())), @"`*` is not an origin; write it as SCHEME://HOST:PORT, such as `https://app.example.com`");
}
