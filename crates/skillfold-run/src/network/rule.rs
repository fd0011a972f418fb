//! A rule: a host that a run may reach.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::reach::Reach;
use crate::error::{RunError, RunErrorKind};

/// Ports of a rule without a port.
const DEFAULT_PORTS: [u16; 2] = [443, 80];

/// Marks a host in a private network, in a skill's `permissions`.
const PRIVATE: &str = "(private)";

/// Domains that are private wherever they are used.
const PRIVATE_DOMAINS: [&str; 10] = [
    "localhost",
    "local",
    "internal",
    "lan",
    "home",
    "home.arpa",
    "corp",
    "intranet",
    "private",
    "test",
];

/// A host and port that a run may reach: `api.example.com`, `*.example.com`, `build.internal:8443`, `192.168.1.5`,
/// `[2001:db8::1]:8080`.
///
/// - A wildcard stands for all names below a domain, not for the domain itself, nor for all names below a top-level domain.
/// - Without a port, 443 and 80.
/// - Names are ASCII; an internationalized one is written as `xn--…`.
///
/// A rule is [private](Self::is_private) if its name or address is private by its form: `localhost`, `*.internal`,
/// `*.local`, a name without a dot, `10.1.2.3`. Other names must not resolve to private addresses, unless they are written
/// with ` (private)` or the user [allowed](Self::with_private) that.
///
/// ```
/// use skillfold_run::HostRule;
///
/// let rule: HostRule = "*.internal:8443".parse()?;
/// assert_eq!(rule.to_string(), "*.internal:8443 (private)");
/// # Ok::<(), skillfold_run::RunError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredRule", into = "StoredRule")]
pub struct HostRule {
    pattern: Pattern,
    port: Option<u16>,
    is_private: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Host(Host),
    /// All names below a domain.
    Below(String),
}

/// A rule as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRule {
    host: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(default)]
    private: bool,
}

/// A host as a rule or a program names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// A name in lower case, without a final dot.
    Name(String),
    Address(IpAddr),
}

impl Host {
    /// Reads a name, or an address with or without brackets.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(inside) = text.strip_prefix('[') {
            let address: IpAddr = inside.strip_suffix(']')?.parse().ok()?;
            return address.is_ipv6().then(|| Self::address(address));
        }
        if let Ok(address) = text.parse() {
            return Some(Self::address(address));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        is_name(&name).then_some(Self::Name(name))
    }

    /// Returns an address; IPv4 inside IPv6 is IPv4.
    pub(crate) fn address(address: IpAddr) -> Self {
        Self::Address(address.to_canonical())
    }

    /// Reads a host and its port; brackets separate the port from an IPv6 address.
    pub(crate) fn parse_with_port(text: &str) -> Option<(Self, Option<u16>)> {
        if let Some(host) = Self::parse(text) {
            return Some((host, None));
        }
        let (host, port) = text.rsplit_once(':')?;
        // An IPv6 address needs brackets here.
        if host.contains(':') && !host.starts_with('[') {
            return None;
        }
        Some((Self::parse(host)?, Some(parse_port(port)?)))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(formatter),
            Self::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
        }
    }
}

fn parse_port(text: &str) -> Option<u16> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port != 0)
}

fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let is_known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| is_known(byte) || b"-_".contains(&byte))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // The system's resolver reads `127.1`, `2130706433` and `0x7f.1` as addresses.
    let is_number = |label: &str| {
        let hex = label.strip_prefix("0x");
        label.bytes().all(|byte| byte.is_ascii_digit())
            || hex.is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    name.len() <= 253
        && name.split('.').all(is_label)
        && !name.rsplit('.').next().is_some_and(is_number)
}

/// Returns whether a name is in a domain, or the domain itself.
fn is_in(name: &str, domain: &str) -> bool {
    let before = name.strip_suffix(domain);
    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

impl HostRule {
    /// Returns the host as it is written: `*.internal`, `[::1]`.
    pub fn host(&self) -> String {
        match &self.pattern {
            Pattern::Host(host) => host.to_string(),
            Pattern::Below(domain) => format!("*.{domain}"),
        }
    }

    /// Returns the port; `None` for 443 and 80.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Returns whether its host may be in a private network.
    pub fn is_private(&self) -> bool {
        self.is_private
    }

    /// Returns whether its host is this machine: `localhost`, a name below it, or a loopback address. Other private rules
    /// do not reach this machine, whatever their names resolve to.
    pub fn is_this_machine(&self) -> bool {
        match &self.pattern {
            Pattern::Host(Host::Address(address)) => Reach::of(*address) == Reach::ThisMachine,
            Pattern::Host(Host::Name(name)) | Pattern::Below(name) => is_in(name, "localhost"),
        }
    }

    /// Lets its host be in a private network.
    #[must_use]
    pub fn with_private(mut self) -> Self {
        self.is_private = true;
        self
    }

    /// Returns whether a host at a port is one of this rule's. An address is only a rule's if the rule is that address.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "enforced on Linux alone")
    )]
    pub(crate) fn matches(&self, host: &Host, port: u16) -> bool {
        let is_host = match (&self.pattern, host) {
            (Pattern::Host(own), host) => own == host,
            (Pattern::Below(domain), Host::Name(name)) => name != domain && is_in(name, domain),
            (Pattern::Below(_), Host::Address(_)) => false,
        };
        let is_port = match self.port {
            Some(own) => own == port,
            None => DEFAULT_PORTS.contains(&port),
        };
        is_host && is_port
    }

    fn new(pattern: Pattern, port: Option<u16>) -> Self {
        let is_private = match &pattern {
            Pattern::Host(Host::Address(address)) => Reach::of(*address) != Reach::Public,
            Pattern::Host(Host::Name(name)) | Pattern::Below(name) => {
                !name.contains('.') || PRIVATE_DOMAINS.iter().any(|domain| is_in(name, domain))
            }
        };
        Self {
            pattern,
            port,
            is_private,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (pattern, port) = if let Some(below) = text.strip_prefix("*.") {
            let (Host::Name(domain), port) = Host::parse_with_port(below)? else {
                return None;
            };
            let is_private = PRIVATE_DOMAINS
                .iter()
                .any(|private| is_in(&domain, private));
            if !domain.contains('.') && !is_private {
                return None;
            }
            (Pattern::Below(domain), port)
        } else {
            let (host, port) = Host::parse_with_port(text)?;
            (Pattern::Host(host), port)
        };
        if matches!(&pattern, Pattern::Host(Host::Address(address)) if Reach::of(*address) == Reach::Never)
        {
            return None;
        }
        Some(Self::new(pattern, port))
    }
}

impl FromStr for HostRule {
    type Err = RunError;

    fn from_str(text: &str) -> Result<Self, RunError> {
        let marked = text.strip_suffix(PRIVATE).map(str::trim_end);
        let rule = Self::parse(marked.unwrap_or(text)).ok_or_else(|| {
            let message = format!("Not a host that can be granted: `{text}`");
            let hint = "Write a name, `*.` and a domain, or an address, and a port if it is not 443 or 80: `api.example.com`, `*.example.com:8443`; names in ASCII, as `xn--…` if need be";
            RunError::new(RunErrorKind::NotPermitted, message, hint)
        })?;
        Ok(match marked {
            Some(_) => rule.with_private(),
            None => rule,
        })
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.host())?;
        if let Some(port) = self.port {
            write!(formatter, ":{port}")?;
        }
        if self.is_this_machine() {
            return formatter.write_str(" (private: this machine)");
        }
        if self.is_private {
            write!(formatter, " {PRIVATE}")?;
        }
        Ok(())
    }
}

impl From<HostRule> for StoredRule {
    fn from(rule: HostRule) -> Self {
        Self {
            host: rule.host(),
            port: rule.port,
            private: rule.is_private,
        }
    }
}

impl TryFrom<StoredRule> for HostRule {
    type Error = RunError;

    fn try_from(stored: StoredRule) -> Result<Self, RunError> {
        let text = match stored.port {
            Some(port) => format!("{}:{port}", stored.host),
            None => stored.host,
        };
        let rule: Self = text.parse()?;
        Ok(if stored.private {
            rule.with_private()
        } else {
            rule
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Host, HostRule};

    fn shown(text: &str) -> String {
        match text.parse::<HostRule>() {
            Ok(rule) => rule.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn rules_are_shown_as_they_are_understood() {
        let written = [
            "api.example.com",
            "API.Example.com.",
            "*.example.com:8443",
            "*.internal:8443",
            "build.internal",
            "printer",
            "localhost:8080",
            "*.localhost",
            "127.0.0.1:9",
            "10.0.0.1",
            "1.1.1.1",
            "[::1]:8080",
            "::1",
            "[2606:4700::1111]",
            "::ffff:10.0.0.1",
            "db.example.com:5432 (private)",
            "xn--bcher-kva.example",
        ];
        insta::assert_snapshot!(written.map(shown).join("\n"), @r"
        api.example.com
        api.example.com
        *.example.com:8443
        *.internal:8443 (private)
        build.internal (private)
        printer (private)
        localhost:8080 (private: this machine)
        *.localhost (private: this machine)
        127.0.0.1:9 (private: this machine)
        10.0.0.1 (private)
        1.1.1.1
        [::1]:8080 (private: this machine)
        [::1] (private: this machine)
        [2606:4700::1111]
        10.0.0.1 (private)
        db.example.com:5432 (private)
        xn--bcher-kva.example
        ");
    }

    #[test]
    fn what_is_not_a_host_is_refused() {
        let refused = [
            "",
            "*",
            "*.",
            "*.com",
            "*.*.example.com",
            "a*.example.com",
            "*.1.2.3.4",
            "https://example.com",
            "example.com/path",
            "user@example.com",
            "example.com:0",
            "example.com:65536",
            "example.com:+80",
            "example.com:*",
            "example.com:",
            "bücher.example",
            "a b.example",
            "-a.example",
            "a-.example",
            "a..example",
            "example.com..",
            "127.1",
            "2130706433",
            "0x7f.1",
            "0x7f000001",
            "0177.0.0.1",
            "1.2.3.4.5",
            "::1:80:",
            "[127.0.0.1]",
            "[::1",
            "fe80::1%eth0",
            "0.0.0.0",
            "255.255.255.255",
            "[::]",
            "ff02::1",
            "example.com\n",
        ];
        for text in refused {
            assert!(text.parse::<HostRule>().is_err(), "{text}: {}", shown(text));
        }
    }

    #[test]
    fn rule_matches_its_own_names_and_ports_only() {
        let matches = |rule: &str, host: &str, port| {
            let rule: HostRule = rule.parse().unwrap();
            Host::parse(host).is_some_and(|host| rule.matches(&host, port))
        };
        assert!(matches("api.example.com", "API.EXAMPLE.COM", 443));
        assert!(matches("api.example.com", "api.example.com.", 80));
        assert!(!matches("api.example.com", "api.example.com", 8443));
        assert!(!matches("api.example.com", "evil-api.example.com", 443));
        assert!(!matches("api.example.com", "a.api.example.com", 443));
        assert!(!matches("api.example.com", "api.example.com.evil.com", 443));
        assert!(matches("*.example.com:1", "a.b.example.com", 1));
        assert!(!matches("*.example.com:1", "a.b.example.com", 443));
        assert!(!matches("*.example.com", "example.com", 443));
        assert!(!matches("*.example.com", "notexample.com", 443));
        assert!(!matches("*.example.com", "93.184.215.14", 443));
        assert!(matches("[::1]:1", "::1", 1));
        assert!(matches("10.0.0.1", "::ffff:10.0.0.1", 443));
        assert!(!matches("10.0.0.1", "10.0.0.2", 443));
        assert!(!matches("localhost", "127.0.0.1", 80));
    }

    #[test]
    fn stored_rule_is_read_back() {
        let rules = [
            "api.example.com",
            "*.internal:8443",
            "[::1]:1",
            "db.example.com (private)",
        ];
        let rules = rules.map(|text| text.parse::<HostRule>().unwrap());
        let stored = serde_json::to_string(&rules).unwrap();
        insta::assert_snapshot!(stored, @r#"[{"host":"api.example.com","private":false},{"host":"*.internal","port":8443,"private":true},{"host":"[::1]","port":1,"private":true},{"host":"db.example.com","private":true}]"#);
        assert_eq!(
            serde_json::from_str::<Vec<HostRule>>(&stored).unwrap(),
            rules
        );
        assert!(serde_json::from_str::<HostRule>(r#"{"host":"*"}"#).is_err());
        assert!(serde_json::from_str::<HostRule>(r#"{"host":"a.example","extra":1}"#).is_err());
    }

    proptest! {
        #[test]
        fn shown_rule_is_read_as_the_same_rule(text in "(\\*\\.)?[a-z0-9.:\\[\\]_-]{0,24}( \\(private\\))?|\\PC{0,40}") {
            if let Ok(rule) = text.parse::<HostRule>() {
                let shown = rule.to_string().replace(": this machine", "");
                prop_assert_eq!(shown.parse::<HostRule>().unwrap(), rule);
            }
        }
    }
}
