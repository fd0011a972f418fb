//! Where an address leads: to the Internet, a private network, or this machine.

#[cfg(target_os = "linux")]
use std::net::UdpSocket;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// The Internet.
    Public,
    /// A private or special network: RFC 1918, carrier-grade NAT, link-local, unique local, documentation, benchmarks,
    /// tunnels.
    Private,
    /// The loopback, another address of this machine, or the service that gives a cloud machine its credentials.
    ThisMachine,
    /// Nothing that a program connects to: unspecified, multicast, broadcast, reserved.
    Never,
}

/// Services that answer with a machine's credentials: AWS, Azure and Google; ECS and EKS; Alibaba; Azure's other
/// one; Oracle; AWS over IPv6.
const METADATA: [IpAddr; 8] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
];

impl Reach {
    /// Classifies an address by its number. An IPv4 address inside an IPv6 one counts as itself.
    pub(crate) fn of(address: IpAddr) -> Self {
        let address = address.to_canonical();
        if METADATA.contains(&address) {
            return Self::ThisMachine;
        }
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        match address.octets() {
            [127, ..] => Self::ThisMachine,
            [0 | 224..=255, ..] => Self::Never,
            [10, ..]
            | [100, 64..=127, ..]
            | [169, 254, ..]
            | [172, 16..=31, ..]
            | [192, 168, ..]
            | [192, 0, 0 | 2, _]
            // What was the relay of 6to4.
            | [192, 88, 99, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _] => Self::Private,
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        let embedded = |high: u16, low: u16| {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            Self::of(Ipv4Addr::new(a, b, c, d).into())
        };
        match address.segments() {
            [0, 0, 0, 0, 0, 0, 0, 1] => Self::ThisMachine,
            // Unspecified, and the old way to embed IPv4.
            [0, 0, 0, 0, 0, 0, ..] | [0xff00..=0xffff, ..] => Self::Never,
            // NAT64 and 6to4.
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => embedded(high, low),
            // Teredo and other assignments of protocols, documentation.
            [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Self::Private,
            [0x2000..=0x3fff, ..] => Self::Public,
            _ => Self::Private,
        }
    }

    /// Classifies an address, knowing the addresses of this machine. Sends nothing.
    #[cfg(target_os = "linux")]
    pub(crate) fn from_here(address: IpAddr) -> Self {
        match Self::of(address) {
            Self::Public | Self::Private if is_own(address) => Self::ThisMachine,
            reach => reach,
        }
    }
}

/// Returns whether an address is one of this machine: only those can be bound.
#[cfg(target_os = "linux")]
fn is_own(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::Reach;

    fn check(addresses: &[&str]) -> Vec<Reach> {
        let mut found: Vec<Reach> = addresses
            .iter()
            .map(|address| Reach::of(address.parse().unwrap()))
            .collect();
        found.dedup();
        found
    }

    #[test]
    fn only_global_addresses_are_public() {
        let public = [
            "1.1.1.1",
            "93.184.215.14",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "2606:4700::1111",
            "64:ff9b::101:101",
            "2002:101:101::1",
            "::ffff:1.1.1.1",
        ];
        assert_eq!(check(&public), [Reach::Public]);
        let private = [
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "100.127.255.255",
            "169.254.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "2001:db8::1",
            "2001::1",
            "3fff::1",
            "5f00::1",
            "100::1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "2002:c0a8:101::1",
            "::ffff:10.0.0.1",
        ];
        assert_eq!(check(&private), [Reach::Private]);
        let here = [
            "127.0.0.1",
            "127.8.9.10",
            "::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "100.100.100.200",
            "168.63.129.16",
            "64:ff9b::168.63.129.16",
            "192.0.0.192",
            "::ffff:192.0.0.192",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
        ];
        assert_eq!(check(&here), [Reach::ThisMachine]);
        let never = [
            "0.0.0.0",
            "0.1.2.3",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::7f00:1",
            "ff02::1",
            "::ffff:0.0.0.0",
            "64:ff9b::",
        ];
        assert_eq!(check(&never), [Reach::Never]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn addresses_of_the_machine_itself_are_known() {
        assert_eq!(
            Reach::from_here("127.0.0.1".parse().unwrap()),
            Reach::ThisMachine
        );
        assert!(super::is_own("127.0.0.2".parse().unwrap()));
        assert!(!super::is_own("192.0.2.1".parse().unwrap()));
    }
}
