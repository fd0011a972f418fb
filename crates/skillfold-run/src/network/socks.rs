//! Requests to a SOCKS5 proxy (RFC 1928), without authentication.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::gate::Target;
use super::http::Parsed;
use super::rule::Host;

/// The first byte of every message.
pub(super) const VERSION: u8 = 5;

/// The method without authentication.
const NO_AUTHENTICATION: u8 = 0;

/// Answers a greeting: the method was chosen.
pub(super) const CHOSEN: [u8; 2] = [VERSION, NO_AUTHENTICATION];

/// Answers a greeting: there is no common method.
pub(super) const NO_METHOD: [u8; 2] = [VERSION, 0xff];

const CONNECT: u8 = 1;

/// What the proxy says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Reply {
    Connected = 0,
    NotAllowed = 2,
    Unreachable = 4,
    UnknownCommand = 7,
    UnknownAddress = 8,
}

impl Reply {
    /// Returns the message. The address is unknown to programs and of no use to them.
    pub(super) fn message(self) -> [u8; 10] {
        [VERSION, self as u8, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}

/// Reads a greeting, and returns whether it offers to go without authentication.
pub(super) fn parse_greeting(bytes: &[u8]) -> Parsed<bool> {
    let [version, count, rest @ ..] = bytes else {
        return Parsed::Incomplete;
    };
    if *version != VERSION {
        return Parsed::Invalid("Not SOCKS5");
    }
    let count = usize::from(*count);
    match rest.get(..count) {
        Some(methods) => Parsed::Complete(methods.contains(&NO_AUTHENTICATION), 2 + count),
        None => Parsed::Incomplete,
    }
}

/// Reads a request: where to connect to, or why not.
pub(super) fn parse_request(bytes: &[u8]) -> Parsed<Result<Target, Reply>> {
    let [version, command, _, kind, rest @ ..] = bytes else {
        return Parsed::Incomplete;
    };
    if *version != VERSION {
        return Parsed::Invalid("Not SOCKS5");
    }
    let (start, length) = match (kind, rest.first()) {
        (1, _) => (0, 4),
        (4, _) => (0, 16),
        (3, Some(length)) => (1, usize::from(*length)),
        (3, None) => return Parsed::Incomplete,
        _ => return Parsed::Complete(Err(Reply::UnknownAddress), bytes.len()),
    };
    let end = start + length;
    let (Some(address), Some([high, low])) = (rest.get(start..end), rest.get(end..end + 2)) else {
        return Parsed::Incomplete;
    };
    let host = match address {
        &[a, b, c, d] if *kind == 1 => Some(Host::address(Ipv4Addr::new(a, b, c, d).into())),
        name if *kind == 3 => str::from_utf8(name).ok().and_then(Host::parse),
        address => <[u8; 16]>::try_from(address)
            .ok()
            .map(|address| Host::address(Ipv6Addr::from(address).into())),
    };
    let port = u16::from_be_bytes([*high, *low]);
    let target = match host {
        _ if *command != CONNECT => Err(Reply::UnknownCommand),
        Some(host) if port != 0 => Ok(Target { host, port }),
        _ => Err(Reply::UnknownAddress),
    };
    Parsed::Complete(target, 4 + end + 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(bytes: &[u8]) -> String {
        match parse_request(bytes) {
            Parsed::Complete(Ok(target), length) => {
                format!("{} {}, {length} bytes", target.host, target.port)
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn names_and_addresses_are_read() {
        let name = |name: &str| {
            let length = u8::try_from(name.len()).unwrap();
            [&[5, 1, 0, 3, length], name.as_bytes(), &[1, 187, 9]].concat()
        };
        let requests = [
            name("API.example.com"),
            name("127.0.0.1"),
            name("127.1"),
            name(""),
            vec![5, 1, 0, 1, 10, 0, 0, 1, 0, 80],
            vec![5, 1, 0, 1, 10, 0, 0, 1, 0],
            [&[5, 1, 0, 4][..], &Ipv6Addr::LOCALHOST.octets(), &[0, 80]].concat(),
            vec![5, 2, 0, 1, 10, 0, 0, 1, 0, 80],
            vec![5, 3, 0, 1, 10, 0, 0, 1, 0, 80],
            vec![5, 1, 0, 2, 10],
            vec![4, 1, 0, 80, 10, 0, 0, 1, 0],
        ];
        insta::assert_snapshot!(requests.map(|bytes| check(&bytes)).join("\n"), @r#"
        api.example.com 443, 22 bytes
        127.0.0.1 443, 16 bytes
        Complete(Err(UnknownAddress), 12)
        Complete(Err(UnknownAddress), 7)
        10.0.0.1 80, 10 bytes
        Incomplete
        [::1] 80, 22 bytes
        Complete(Err(UnknownCommand), 10)
        Complete(Err(UnknownCommand), 10)
        Complete(Err(UnknownAddress), 5)
        Invalid("Not SOCKS5")
        "#);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            parse_greeting(&bytes);
            parse_request(&bytes);
            parse_request(&[&[5, 1, 0][..], &bytes].concat());
        }

        #[test]
        fn more_bytes_do_not_change_what_was_complete(kind in 1_u8..5, bytes in prop::collection::vec(any::<u8>(), 0..40), more in any::<u8>()) {
            let bytes = [&[5, 1, 0, kind][..], &bytes].concat();
            if let Parsed::Complete(Ok(target), length) = parse_request(&bytes) {
                prop_assert!(length <= bytes.len());
                let longer = [&bytes[..], &[more]].concat();
                match parse_request(&longer) {
                    Parsed::Complete(Ok(again), same) => prop_assert!(again == target && same == length),
                    other => prop_assert!(false, "{other:?}"),
                }
            }
        }
    }
}
