//! The host name by which a client addresses the server.

use std::net::Ipv6Addr;

/// A host's name or address, and the port if given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostName {
    name: String,
    port: Option<u16>,
}

impl HostName {
    /// Parses `HOST` or `HOST:PORT` as in a header: IPv6 addresses are in brackets, the port is a number, and nothing
    /// else is allowed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix('[') {
            let (address, rest) = rest.split_once(']')?;
            let address: Ipv6Addr = address.parse().ok()?;
            let port = match rest {
                "" => None,
                rest => Some(parse_port(rest.strip_prefix(':')?)?),
            };
            return Some(Self {
                name: address.to_string(),
                port,
            });
        }
        let (name, port) = match text.split_once(':') {
            Some((name, digits)) => (name, Some(parse_port(digits)?)),
            None => (text, None),
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_name = !name.is_empty() && name.bytes().all(is_plain);
        is_name.then(|| Self {
            name: name.to_ascii_lowercase(),
            port,
        })
    }

    /// Parses a host allowed by the user: the same, or an IPv6 address without brackets.
    pub(crate) fn parse_allowed(text: &str) -> Option<Self> {
        let address = |text: &str| text.parse::<Ipv6Addr>().ok();
        Self::parse(text).or_else(|| Self::parse(&format!("[{}]", address(text)?)))
    }

    /// Returns whether this allows the host used by a client.
    pub(crate) fn allows(&self, requested: &Self) -> bool {
        self.name == requested.name && (self.port.is_none() || self.port == requested.port)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn port(&self) -> Option<u16> {
        self.port
    }
}

fn parse_port(digits: &str) -> Option<u16> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::HostName;

    #[test]
    fn host_header_is_a_name_or_address_with_an_optional_port() {
        for text in ["localhost", "127.0.0.1:7700", "[::1]", "[::1]:80", "A-b.c"] {
            assert!(HostName::parse(text).is_some(), "{text}");
        }
        for text in [
            "",
            ":",
            ":80",
            "localhost:",
            "localhost:abc",
            "localhost:+80",
            "localhost:99999",
            "localhost:80:80",
            "[::1].evil.com",
            "[::1]evil",
            "[::1",
            "[evil]",
            "::1",
            "a@b",
            "a b",
            "a/b",
            "[::1]:",
            "*",
        ] {
            assert_eq!(HostName::parse(text), None, "{text}");
        }
    }

    #[test]
    fn allowed_host_covers_every_port_unless_it_names_one() {
        let allows = |allowed: &str, called: &str| {
            let called = HostName::parse(called).unwrap();
            HostName::parse_allowed(allowed).unwrap().allows(&called)
        };
        assert!(allows("localhost", "LOCALHOST:80"));
        assert!(allows("::1", "[0:0::1]:80"));
        assert!(allows("a.example:80", "a.example:80"));
        assert!(!allows("a.example:80", "a.example:81"));
        assert!(!allows("a.example", "b.a.example"));
        assert_eq!(HostName::parse_allowed("*"), None);
    }
}
