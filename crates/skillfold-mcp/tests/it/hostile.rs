//! Requests that no honest client sends, as bytes on a socket. Each is refused with its status, and the server keeps
//! running.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use skillfold_mcp::{HttpAccess, HttpLimits, Token};

use crate::http::{INITIALIZE, TOKEN, post, serve_within};

/// How a request ended.
const CLOSED: &str = "closed";

fn server() -> SocketAddr {
    let mut limits = HttpLimits::default();
    (limits.body_timeout, limits.header_timeout) =
        (Duration::from_millis(200), Duration::from_millis(400));
    serve_within(HttpAccess::Token(Token::new(TOKEN).unwrap()), limits)
}

/// Sends bytes, and returns all response statuses, or that the connection was closed without any.
fn send(address: SocketAddr, bytes: &[u8], then: Then) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    // A server that refuses early does not read the rest.
    let _ = stream.write_all(bytes);
    if matches!(then, Then::End) {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(count) => answer.extend_from_slice(&part[..count]),
            // The system resets a connection with unread data.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("{error}"),
        }
    }
    let text = String::from_utf8_lossy(&answer);
    let statuses = text
        .match_indices("HTTP/1.")
        .map(|(at, _)| &text[at + 9..at + 12]);
    match statuses.collect::<Vec<_>>().join(" ") {
        none if none.is_empty() => CLOSED.to_owned(),
        statuses => statuses,
    }
}

/// What the client does after it has sent everything.
#[derive(Clone, Copy)]
enum Then {
    /// Waits for a response.
    Wait,
    /// Closes its side of the connection.
    End,
}

/// A request line, headers and a body; `{host}` and `{token}` stand for the correct ones.
struct Hostile {
    why: &'static str,
    line: &'static str,
    headers: String,
    body: Vec<u8>,
    then: Then,
    wanted: &'static str,
}

const LINE: &str = "POST /mcp HTTP/1.1";
/// All headers except the length.
const RIGHT: &str = "Host: {host}\nAuthorization: Bearer {token}\nContent-Type: application/json\nAccept: application/json, text/event-stream\n";

/// A request that is valid except for its headers.
fn headed(why: &'static str, wanted: &'static str, from: &str, to: &str) -> Hostile {
    assert!(RIGHT.contains(from), "{why}");
    Hostile {
        headers: with_length(&RIGHT.replacen(from, to, 1), INITIALIZE.len()),
        ..right(why, wanted)
    }
}

/// A request that is valid except for its body.
fn bodied(why: &'static str, wanted: &'static str, body: impl Into<Vec<u8>>) -> Hostile {
    let body = body.into();
    Hostile {
        headers: with_length(RIGHT, body.len()),
        body,
        ..right(why, wanted)
    }
}

/// A request that is valid except for its request line.
fn lined(why: &'static str, wanted: &'static str, line: &'static str) -> Hostile {
    Hostile {
        line,
        ..right(why, wanted)
    }
}

/// A request with custom headers, including the length.
fn framed(why: &'static str, wanted: &'static str, headers: &str, body: &str) -> Hostile {
    Hostile {
        headers: format!("{RIGHT}{headers}"),
        body: body.into(),
        ..right(why, wanted)
    }
}

fn right(why: &'static str, wanted: &'static str) -> Hostile {
    Hostile {
        why,
        line: LINE,
        headers: with_length(RIGHT, INITIALIZE.len()),
        body: INITIALIZE.into(),
        then: Then::Wait,
        wanted,
    }
}

fn with_length(headers: &str, length: usize) -> String {
    format!("{headers}Connection: close\nContent-Length: {length}\n")
}

#[rustfmt::skip]
fn hosts_and_origins() -> Vec<Hostile> {
    vec![
        headed("another host", "403", "Host: {host}", "Host: evil.example"),
        headed("a name that was rebound", "403", "Host: {host}", "Host: rebind.evil.example:7700"),
        headed("the loopback as a part of a name", "403", "Host: {host}", "Host: 127.0.0.1.evil.example"),
        headed("a user before the host", "400", "Host: {host}", "Host: 127.0.0.1@evil.example"),
        headed("a user before our host", "400", "Host: {host}", "Host: evil.example@{host}"),
        headed("the address of all interfaces", "403", "Host: {host}", "Host: 0.0.0.0"),
        headed("an address that goes on as a name", "400", "Host: {host}", "Host: [::1].evil.com"),
        headed("a port that is no number", "400", "Host: {host}", "Host: localhost:abc"),
        headed("no host", "400", "Host: {host}\n", ""),
        headed("an empty host", "400", "Host: {host}", "Host: "),
        headed("two hosts", "400", "Host: {host}", "Host: {host}\nHost: evil.example"),
        headed("two hosts, ours last", "400", "Host: {host}", "Host: evil.example\nHost: {host}"),
        headed("a host with a space", "400", "Host: {host}", "Host: {host} evil.example"),
        headed("another origin", "403", "Accept", "Origin: http://evil.example\nAccept"),
        headed("the origin of a file", "403", "Accept", "Origin: null\nAccept"),
        headed("our host at another port", "403", "Accept", "Origin: http://localhost:1\nAccept"),
        headed("our origin by another scheme", "403", "Accept", "Origin: https://{host}\nAccept"),
        headed("two origins, ours first", "403", "Accept", "Origin: http://{host}\nOrigin: http://evil.example\nAccept"),
        headed("an origin that is none", "403", "Accept", "Origin: \u{e9}\nAccept"),
        lined("another host in the target", "403", "POST http://evil.example/mcp HTTP/1.1"),
        Hostile {
            headers: with_length(&RIGHT.replace("Host: {host}\n", ""), INITIALIZE.len()),
            ..lined("HTTP/1.0 without a host", "400", "POST /mcp HTTP/1.0")
        },
    ]
}

#[rustfmt::skip]
fn tokens() -> Vec<Hostile> {
    let shown = "Authorization: Bearer {token}";
    vec![
        headed("no token", "401", "Authorization: Bearer {token}\n", ""),
        headed("another token", "401", shown, "Authorization: Bearer fedcba9876543210fedcba9876543210"),
        headed("the start of the token", "401", shown, "Authorization: Bearer 0123456789abcdef"),
        headed("the token and more", "401", shown, "Authorization: Bearer {token}0"),
        headed("the token by another scheme", "401", shown, "Authorization: Basic {token}"),
        headed("the token alone", "401", shown, "Authorization: {token}"),
        headed("the token after another", "401", shown, "Authorization: Bearer x\nAuthorization: Bearer {token}"),
        headed("another after the token", "401", shown, "Authorization: Bearer {token}\nAuthorization: Bearer x"),
        headed("two tokens in one", "401", shown, "Authorization: Bearer {token}, Bearer x"),
        headed("the token in another header", "401", shown, "X-Authorization: Bearer {token}"),
        headed("the token as a cookie", "401", shown, "Cookie: token={token}"),
        Hostile {
            headers: with_length(
                &RIGHT.replace("Authorization: Bearer {token}\n", ""),
                INITIALIZE.len(),
            ),
            ..lined(
                "the token in the address",
                "401",
                "POST /mcp?access_token={token} HTTP/1.1",
            )
        },
        Hostile {
            headers: with_length(
                &RIGHT.replace("Authorization: Bearer {token}\n", ""),
                INITIALIZE.len(),
            ),
            ..lined("numbers without a token", "401", "GET /metrics HTTP/1.1")
        },
        headed("a token over two lines", "400", shown, "Authorization: Bearer\n {token}"),
    ]
}

#[rustfmt::skip]
fn targets() -> Vec<Hostile> {
    let numbers = |why, wanted, from: &str, to: &str| Hostile {
        line: "GET /metrics HTTP/1.1",
        ..headed(why, wanted, from, to)
    };
    vec![
        lined("a path above", "404", "POST /mcp/../../etc/passwd HTTP/1.1"),
        lined("a path above, hidden", "404", "POST /%2e%2e/%2e%2e/etc/passwd HTTP/1.1"),
        lined("a path with a file", "404", "POST /skills/pdf/SKILL.md HTTP/1.1"),
        lined("a path with a zero", "404", "POST /mcp%00 HTTP/1.1"),
        lined("a path with a zero byte", "400", "POST /mcp\0 HTTP/1.1"),
        lined("a method that changes", "405", "PUT /mcp HTTP/1.1"),
        lined("a method that asks around", "405", "OPTIONS /mcp HTTP/1.1"),
        lined("a method that echoes", "405", "TRACE /mcp HTTP/1.1"),
        lined("a method that tunnels", "403", "CONNECT evil.example:443 HTTP/1.1"),
        lined("a method of nobody", "405", "GIMME /mcp HTTP/1.1"),
        lined("a version of nobody", "400", "POST /mcp HTTP/9.9"),
        lined("no HTTP at all", "400", "\u{16}\u{3}\u{1}"),
        lined("the preface of HTTP/2", "400", "PRI * HTTP/2.0"),
        numbers("numbers for a page", "403", "Accept", "Origin: http://evil.example\nAccept"),
        numbers("numbers for a name that was rebound", "403", "Host: {host}", "Host: evil.example"),
    ]
}

#[rustfmt::skip]
fn bodies() -> Vec<Hostile> {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let with = |why, wanted, header: &str| Hostile {
        headers: with_length(&format!("{RIGHT}{header}"), call.len()),
        body: call.into(),
        ..right(why, wanted)
    };
    vec![
        headed("a form in place of JSON", "415", "application/json", "application/x-www-form-urlencoded"),
        headed("a text in place of JSON, as pages may send it", "415", "Content-Type: application/json", "Content-Type: text/plain"),
        headed("a body of no kind", "415", "Content-Type: application/json\n", ""),
        headed("a client that takes no stream", "406", ", text/event-stream", ""),
        headed("a client that takes nothing", "406", "Accept: application/json, text/event-stream\n", ""),
        bodied("no JSON", "400", "{"),
        bodied("nothing", "400", ""),
        bodied("another JSON", "400", "{}"),
        bodied("messages in a list", "400", format!("[{INITIALIZE},{INITIALIZE}]")),
        bodied("JSON as deep as a well", "400", "[".repeat(100_000)),
        bodied("zeros", "400", vec![0; 1000]),
        bodied("bytes that are no text", "400", vec![0xff; 1000]),
        bodied("more than there may be", "413", format!("{INITIALIZE}{}", " ".repeat(1024 * 1024))),
        with("no session", "400", ""),
        with("a session that nobody has", "404", "Mcp-Session-Id: 00000000-0000-0000-0000-000000000000\n"),
        with("a session of a path", "404", "Mcp-Session-Id: ../../etc/passwd\n"),
        with("a version of nobody", "400", "MCP-Protocol-Version: 1999-01-01\n"),
    ]
}

#[rustfmt::skip]
fn framing() -> Vec<Hostile> {
    let hidden =
        "0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n";
    let long = format!("X-Long: {}\nContent-Length: 0\n", "a".repeat(64 * 1024));
    let little = format!("X-Long: {}\nContent-Length: 0\n", "a".repeat(32 * 1024 + 1));
    let together = format!("{}Content-Length: 0\n", format!("X-Long: {}\n", "a".repeat(1000)).repeat(40));
    let many = format!("{}Content-Length: 0\n", "X-Many: a\n".repeat(200));
    let waiting = |why, wanted, headers, body| framed(why, wanted, headers, body);
    let ending = |why, wanted, headers, body| Hostile {
        then: Then::End,
        ..framed(why, wanted, headers, body)
    };
    vec![
        waiting("two lengths", "400", "Content-Length: 5\nContent-Length: 6\n", "{}"),
        waiting("two lengths in one", "400", "Content-Length: 5, 6\n", "{}"),
        waiting("a length below nothing", "400", "Content-Length: -1\n", "{}"),
        waiting("a length with a sign", "400", "Content-Length: +2\n", "{}"),
        waiting("a length without end", "400", "Content-Length: 99999999999999999999\n", "{}"),
        waiting("a length that is a lie, and far too long", "413", "Content-Length: 1099511627776\n", "{}"),
        // One response, and the request hidden behind it is ignored.
        waiting("a request hidden by two ways to say the length", "400", "Content-Length: 200\nTransfer-Encoding: chunked\n", hidden),
        waiting("the same the other way round", "400", "Transfer-Encoding: chunked\nContent-Length: 5\n", hidden),
        waiting("chunks that are not the last coding", "400", "Transfer-Encoding: chunked, identity\n", hidden),
        waiting("a coding of nobody", "400", "Transfer-Encoding: xchunked\n", hidden),
        waiting("a chunk that is no number", "400", "Transfer-Encoding: chunked\nConnection: close\n", "zz\r\n{}\r\n0\r\n\r\n"),
        waiting("a header without a name", "400", ": x\nContent-Length: 0\n", ""),
        waiting("a header with a space in its name", "400", "X Y: x\nContent-Length: 0\n", ""),
        waiting("a header with a zero byte", "400", "X: \0\nContent-Length: 0\n", ""),
        waiting("a header that is too long", "431", &long, ""),
        waiting("headers that are a little too long", "431", &little, ""),
        waiting("headers that are too long together", "431", &together, ""),
        waiting("too many headers", "431", &many, ""),
        waiting("a body that comes never", "408", "Content-Length: 100\n", "{"),
        waiting("chunks that come never", "408", "Transfer-Encoding: chunked\n", "5\r\n{"),
        ending("a body that ends early", "400", "Content-Length: 100\n", "{"),
        ending("chunks that end early", "400", "Transfer-Encoding: chunked\n", "5\r\n{"),
    ]
}

#[test]
fn every_hostile_request_is_refused_and_the_server_stays_up() {
    let address = server();
    let all = [
        hosts_and_origins(),
        tokens(),
        targets(),
        bodies(),
        framing(),
    ];
    let all: Vec<Hostile> = all.into_iter().flatten().collect();
    assert!(all.len() >= 40, "{}", all.len());
    let mut wrong = Vec::new();
    for hostile in &all {
        let fill = |text: &str| {
            text.replace("{host}", &address.to_string())
                .replace("{token}", TOKEN)
        };
        let mut bytes = format!("{}\n{}\n", hostile.line, hostile.headers).replace('\n', "\r\n");
        bytes = fill(&bytes);
        let mut bytes = bytes.into_bytes();
        bytes.extend(fill(&String::from_utf8_lossy(&hostile.body)).into_bytes());
        let got = send(address, &bytes, hostile.then);
        if got != hostile.wanted {
            wrong.push(format!("{}: {got}, not {}", hostile.why, hostile.wanted));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(honest(address), "200");
}

#[test]
fn missing_headers_time_out() {
    let address = server();
    for start in [
        "",
        "P",
        "POST /mcp HTTP/1.1\r\n",
        "POST /mcp HTTP/1.1\r\nHost: 127",
    ] {
        assert_eq!(
            send(address, start.as_bytes(), Then::Wait),
            CLOSED,
            "{start}"
        );
    }
    // A byte now and then does not help.
    let mut stream = TcpStream::connect(address).unwrap();
    let sent = (0..100).take_while(|_| {
        thread::sleep(Duration::from_millis(50));
        stream.write_all(b"X").is_ok()
    });
    assert!(sent.count() < 100);
    assert_eq!(honest(address), "200");
}

/// Returns the status that an honest client gets.
fn honest(address: SocketAddr) -> String {
    let (host, token) = (
        format!("Host: {address}"),
        format!("Authorization: Bearer {TOKEN}"),
    );
    let form = crate::http::FORM;
    post(address, &[&host, &token, form[0], form[1]], INITIALIZE)
}
