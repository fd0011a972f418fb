//! Requests to an HTTP proxy: `CONNECT`, and plain requests with a whole address.

use httparse::{Header, Status};

use super::gate::Target;
use super::rule::Host;

/// Maximum number of headers of a request.
const MAX_HEADERS: usize = 100;

/// The port of `http://` without one.
const HTTP_PORT: u16 = 80;

/// Headers that are between a program and its proxy.
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "proxy-connection",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "upgrade",
    "host",
];

/// What came of reading a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed<T> {
    /// There is more to come.
    Incomplete,
    /// Why it is not understood.
    Invalid(&'static str),
    /// The message, and how many bytes it has.
    Complete(T, usize),
}

/// A request to the proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProxyRequest {
    /// A connection of which the proxy knows nothing more.
    Tunnel(Target),
    /// One request.
    Forward {
        target: Target,
        /// What the host gets in place of the request's head.
        head: Vec<u8>,
        /// Bytes of its body.
        body: u64,
    },
}

/// Reads the head of a request.
pub(super) fn parse(bytes: &[u8]) -> Parsed<ProxyRequest> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return Parsed::Incomplete,
        Err(_) => return Parsed::Invalid("Not an HTTP request"),
    };
    let (Some(method), Some(path), Some(version)) = (request.method, request.path, request.version)
    else {
        return Parsed::Invalid("Not an HTTP request");
    };
    let read = if method == "CONNECT" {
        read_tunnel(path)
    } else {
        read_forward(method, path, version, request.headers)
    };
    match read {
        Ok(request) => Parsed::Complete(request, length),
        Err(why) => Parsed::Invalid(why),
    }
}

fn read_tunnel(authority: &str) -> Result<ProxyRequest, &'static str> {
    match Host::parse_with_port(authority) {
        Some((host, Some(port))) => Ok(ProxyRequest::Tunnel(Target { host, port })),
        _ => Err("CONNECT needs a host and a port"),
    }
}

fn read_forward(
    method: &str,
    address: &str,
    version: u8,
    headers: &[Header<'_>],
) -> Result<ProxyRequest, &'static str> {
    let scheme = address.get(..7).unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("http://") {
        return Err("The proxy takes CONNECT, and requests for http:// addresses");
    }
    let rest = address.get(7..).unwrap_or_default();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = path.split('#').next().unwrap_or_default();
    let Some((host, port)) = Host::parse_with_port(authority) else {
        return Err("The address has no host that is understood");
    };
    let body = body_length(headers)?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    // The address decides, whatever the request's own `Host` is.
    let named = match port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_string(),
    };
    let mut head =
        format!("{method} {slash}{path} HTTP/1.{version}\r\nHost: {named}\r\n").into_bytes();
    let listed = connection_options(headers);
    for header in headers {
        let name = header.name.to_ascii_lowercase();
        if HOP_BY_HOP.contains(&&*name) || listed.contains(&name) {
            continue;
        }
        head.extend_from_slice(header.name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(header.value);
        head.extend_from_slice(b"\r\n");
    }
    // The next request has a connection of its own, and is checked like this one.
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    let port = port.unwrap_or(HTTP_PORT);
    Ok(ProxyRequest::Forward {
        target: Target { host, port },
        head,
        body,
    })
}

/// Returns the headers that a request says are not for the host.
fn connection_options(headers: &[Header<'_>]) -> Vec<String> {
    let named = |name: &'static str| {
        headers
            .iter()
            .filter(move |header| header.name.eq_ignore_ascii_case(name))
    };
    let values = named("connection").chain(named("proxy-connection"));
    let mut options: Vec<String> = Vec::new();
    for header in values {
        let text = String::from_utf8_lossy(header.value).to_ascii_lowercase();
        options.extend(text.split(',').map(|option| option.trim().to_owned()));
    }
    // A body whose length the host does not see would be a second request.
    options.retain(|option| option != "content-length");
    options
}

/// Returns how many bytes follow the head. A length that two programs could read differently is refused.
fn body_length(headers: &[Header<'_>]) -> Result<u64, &'static str> {
    let has = |header: &&Header<'_>, name: &str| header.name.eq_ignore_ascii_case(name);
    if headers
        .iter()
        .any(|header| has(&header, "transfer-encoding"))
    {
        return Err("The body needs a Content-Length; chunks are not forwarded");
    }
    let mut lengths = headers
        .iter()
        .filter(|header| has(header, "content-length"));
    match (lengths.next(), lengths.next()) {
        (None, _) => Ok(0),
        (Some(header), None) => {
            let text = str::from_utf8(header.value).unwrap_or_default();
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let length = text.parse().ok().filter(|_| is_number);
            length.ok_or("Content-Length is not a number")
        }
        _ => Err("There is more than one Content-Length"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) -> String {
        match parse(text.as_bytes()) {
            Parsed::Incomplete => "incomplete".to_owned(),
            Parsed::Invalid(why) => format!("invalid: {why}"),
            Parsed::Complete(ProxyRequest::Tunnel(target), length) => {
                format!("tunnel to {} {}, {length} bytes", target.host, target.port)
            }
            Parsed::Complete(ProxyRequest::Forward { target, head, body }, _) => {
                let head = String::from_utf8(head).unwrap().replace("\r\n", "|");
                format!("to {} {}, body {body}: {head}", target.host, target.port)
            }
        }
    }

    #[test]
    fn tunnels_name_a_host_and_a_port() {
        let requests = [
            "CONNECT api.example.com:443 HTTP/1.1\r\nHost: other.example\r\n\r\nrest",
            "CONNECT [::1]:443 HTTP/1.1\r\n\r\n",
            "CONNECT [::ffff:127.0.0.1]:443 HTTP/1.1\r\n\r\n",
            "CONNECT API.example.com.:443 HTTP/1.1\r\n\r\n",
            "CONNECT api.example.com HTTP/1.1\r\n\r\n",
            "CONNECT http://api.example.com:443 HTTP/1.1\r\n\r\n",
            "CONNECT user@api.example.com:443 HTTP/1.1\r\n\r\n",
            "CONNECT 127.1:443 HTTP/1.1\r\n\r\n",
            "CONNECT 0x7f000001:443 HTTP/1.1\r\n\r\n",
            "CONNECT api.example.com:443 HTTP/1.1\r\n",
            "\u{16}\u{3}\u{1}",
        ];
        insta::assert_snapshot!(requests.map(check).join("\n"), @"
        tunnel to api.example.com 443, 61 bytes
        tunnel to [::1] 443, 30 bytes
        tunnel to 127.0.0.1 443, 43 bytes
        tunnel to api.example.com 443, 41 bytes
        invalid: CONNECT needs a host and a port
        invalid: CONNECT needs a host and a port
        invalid: CONNECT needs a host and a port
        invalid: CONNECT needs a host and a port
        invalid: CONNECT needs a host and a port
        incomplete
        invalid: Not an HTTP request
        ");
    }

    #[test]
    fn one_request_is_forwarded_to_the_host_of_its_address() {
        let requests = [
            "GET http://a.example/x?y=1#z HTTP/1.1\r\nHost: evil.example\r\nA: 1\r\nConnection: keep-alive, B\r\nB: 2\r\nProxy-Authorization: x\r\n\r\n",
            "POST HTTP://a.example:8080 HTTP/1.0\r\nContent-Length: 3\r\nConnection: content-length\r\n\r\nabc",
            "GET http://a.example?q HTTP/1.1\r\n\r\n",
            "GET http://a.example@evil.example/ HTTP/1.1\r\n\r\n",
            "GET http://[::1]:80/ HTTP/1.1\r\n\r\n",
            "GET /path HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET https://a.example/ HTTP/1.1\r\n\r\n",
            "GET ftp://a.example/ HTTP/1.1\r\n\r\n",
            "GET http:///path HTTP/1.1\r\n\r\n",
            "POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST http://a.example/ HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 30\r\n\r\n",
            "POST http://a.example/ HTTP/1.1\r\nContent-Length: +3\r\n\r\n",
            "POST http://a.example/ HTTP/1.1\r\nContent-Length : 3\r\n\r\n",
        ];
        insta::assert_snapshot!(requests.map(check).join("\n"), @"
        to a.example 80, body 0: GET /x?y=1 HTTP/1.1|Host: a.example|A: 1|Connection: close||
        to a.example 8080, body 3: POST / HTTP/1.0|Host: a.example:8080|Content-Length: 3|Connection: close||
        to a.example 80, body 0: GET /?q HTTP/1.1|Host: a.example|Connection: close||
        invalid: The address has no host that is understood
        to [::1] 80, body 0: GET / HTTP/1.1|Host: [::1]:80|Connection: close||
        invalid: The proxy takes CONNECT, and requests for http:// addresses
        invalid: The proxy takes CONNECT, and requests for http:// addresses
        invalid: The proxy takes CONNECT, and requests for http:// addresses
        invalid: The address has no host that is understood
        invalid: The body needs a Content-Length; chunks are not forwarded
        invalid: There is more than one Content-Length
        invalid: Content-Length is not a number
        invalid: Not an HTTP request
        ");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            parse(&bytes);
        }

        #[test]
        fn forwarded_head_is_one_request_to_the_target(
            host in "[a-z.:@\\[\\]/?#%0-9-]{0,30}",
            headers in prop::collection::vec(("[A-Za-z-]{1,12}|Connection|Host|Content-Length", "[ -~\\t\r\n]{0,20}|[0-9]{1,3}"), 0..5),
        ) {
            let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let text = format!("GET http://{host} HTTP/1.1\r\n{}\r\n", headers.concat());
            if let Parsed::Complete(ProxyRequest::Forward { target, head, body }, _) = parse(text.as_bytes()) {
                let mut parsed = [httparse::EMPTY_HEADER; MAX_HEADERS];
                let mut request = httparse::Request::new(&mut parsed);
                prop_assert_eq!(request.parse(&head), Ok(Status::Complete(head.len())));
                prop_assert!(request.path.unwrap().starts_with('/'));
                let values = |name: &str| -> Vec<String> {
                    let all = request.headers.iter();
                    all.filter(|header| header.name.eq_ignore_ascii_case(name))
                        .map(|header| String::from_utf8_lossy(header.value).into_owned())
                        .collect()
                };
                let (hosts, named) = (values("host"), target.host.to_string());
                prop_assert!(hosts.len() == 1 && hosts[0].starts_with(&named));
                prop_assert_eq!(values("connection"), ["close"]);
                let length = values("content-length").first().map_or(0, |text| text.parse().unwrap());
                prop_assert_eq!(length, body);
            }
        }
    }
}
