//! Decides which connections a run gets.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::connection::Refusal;
use super::reach::Reach;
use super::resolver::Resolver;
use super::rule::{Host, HostRule};
use super::wire::Stop;

/// Maximum time to look up a name.
const LOOKUP_TIME: Duration = Duration::from_secs(10);

/// Maximum number of lookups at a time. One that takes longer than its time goes on until the system gives up.
const MAX_LOOKUPS: usize = 64;

/// Maximum number of addresses of a name that are tried.
const MAX_ADDRESSES: usize = 8;

/// How often to check whether the run has ended.
const POLL: Duration = Duration::from_millis(20);

/// Where a program wants to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

/// The rules of a run.
#[derive(Debug)]
pub(crate) struct Gate {
    rules: Vec<HostRule>,
    resolver: Resolver,
    lookups: Arc<AtomicUsize>,
}

/// Why a connection is refused, and the address because of which it is.
pub(super) type RefusedTarget = (Refusal, Option<IpAddr>);

impl Gate {
    pub(crate) fn new(rules: Vec<HostRule>, resolver: Resolver) -> Self {
        Self {
            rules,
            resolver,
            lookups: Arc::default(),
        }
    }

    /// Returns the addresses that may be connected to. A name is looked up once: whoever connects to anything but these
    /// addresses would trust a second answer.
    pub(super) fn check(
        &self,
        target: &Target,
        stop: &Stop,
    ) -> Result<Vec<SocketAddr>, RefusedTarget> {
        let matching = || {
            let rules = self.rules.iter();
            rules.filter(|rule| rule.matches(&target.host, target.port))
        };
        if matching().next().is_none() {
            return Err((Refusal::NotAllowed, None));
        }
        let (addresses, allowed) = match &target.host {
            // The user was shown this very address.
            Host::Address(address) => (vec![*address], Reach::ThisMachine),
            Host::Name(name) => {
                let found = self.look_up(name, stop);
                let allowed = if matching().any(HostRule::is_this_machine) {
                    Reach::ThisMachine
                } else if matching().any(HostRule::is_private) {
                    Reach::Private
                } else {
                    Reach::Public
                };
                (found.ok_or((Refusal::NotResolved, None))?, allowed)
            }
        };
        for address in &addresses {
            let reach = Reach::from_here(*address);
            if reach > allowed {
                let why = match reach {
                    Reach::Public | Reach::Private => Refusal::PrivateAddress,
                    Reach::ThisMachine => Refusal::ThisMachine,
                    Reach::Never => Refusal::UnusableAddress,
                };
                return Err((why, Some(*address)));
            }
        }
        let addresses = addresses.into_iter().take(MAX_ADDRESSES);
        Ok(addresses
            .map(|address| SocketAddr::new(address, target.port))
            .collect())
    }

    /// Looks up a name in a thread of its own: the system's resolver cannot be interrupted.
    fn look_up(&self, name: &str, stop: &Stop) -> Option<Vec<IpAddr>> {
        let slot = LookupSlot::take(&self.lookups)?;
        let (sender, answer) = sync_channel(1);
        let (resolver, name) = (self.resolver.clone(), name.to_owned());
        let look_up = move || {
            let found = resolver.look_up(&name);
            drop(slot);
            let _ = sender.send(found);
        };
        thread::Builder::new().spawn(look_up).ok()?;
        let deadline = Instant::now() + LOOKUP_TIME;
        while Instant::now() < deadline && !stop.is_set() {
            match answer.recv_timeout(POLL) {
                Ok(found) => {
                    let mut addresses: Vec<IpAddr> = Vec::new();
                    for address in found.ok()? {
                        let address = address.to_canonical();
                        if !addresses.contains(&address) {
                            addresses.push(address);
                        }
                    }
                    return Some(addresses).filter(|found| !found.is_empty());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }
}

/// One of a limited number.
struct LookupSlot(Arc<AtomicUsize>);

impl LookupSlot {
    fn take(used: &Arc<AtomicUsize>) -> Option<Self> {
        let slot = Self(Arc::clone(used));
        (used.fetch_add(1, Ordering::Relaxed) < MAX_LOOKUPS).then_some(slot)
    }
}

impl Drop for LookupSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use super::*;

    /// Returns what comes of connecting to a host at port 443, when names resolve to these addresses, one answer after the
    /// other.
    fn check(rules: &[&str], host: &str, answers: &[&[&str]]) -> Vec<String> {
        let parsed = |answer: &&[&str]| -> Vec<IpAddr> {
            answer
                .iter()
                .map(|address| address.parse().unwrap())
                .collect()
        };
        let waiting: Mutex<Vec<Vec<IpAddr>>> =
            Mutex::new(answers.iter().rev().map(parsed).collect());
        let resolver = Resolver::new(move |_| {
            let next = waiting.lock().unwrap().pop();
            next.ok_or_else(|| io::ErrorKind::NotFound.into())
        });
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let (reader, _writer) = io::pipe().unwrap();
        let (gate, stop) = (Gate::new(rules, resolver), Stop::new(reader));
        let target = Target {
            host: Host::parse(host).unwrap(),
            port: 443,
        };
        (0..answers.len().max(1))
            .map(|_| match gate.check(&target, &stop) {
                Ok(addresses) => format!("{addresses:?}"),
                Err((refusal, address)) => match address {
                    Some(address) => format!("{} {address}", refusal.code()),
                    None => refusal.code().to_owned(),
                },
            })
            .collect()
    }

    #[test]
    fn each_answer_of_a_resolver_is_checked_and_used_as_it_is() {
        let changing: [&[&str]; 3] = [&["1.1.1.1"], &["10.0.0.1"], &["127.0.0.1"]];
        insta::assert_snapshot!(check(&["a.example.com"], "a.example.com", &changing).join("\n"), @"
        [1.1.1.1:443]
        private_address 10.0.0.1
        this_machine 127.0.0.1
        ");
    }

    #[test]
    fn name_with_one_private_address_is_refused() {
        let rules = ["a.example.com"];
        let mixed: [&[&str]; 4] = [
            &["1.1.1.1", "192.168.0.1"],
            &["::ffff:127.0.0.1", "1.1.1.1"],
            &["1.1.1.1", "169.254.169.254"],
            &["1.1.1.1", "0.0.0.0"],
        ];
        insta::assert_snapshot!(check(&rules, "a.example.com", &mixed).join("\n"), @"
        private_address 192.168.0.1
        this_machine 127.0.0.1
        this_machine 169.254.169.254
        unusable_address 0.0.0.0
        ");
    }

    #[test]
    fn private_rule_reaches_private_networks_but_not_this_machine() {
        let answers: [&[&str]; 4] = [
            &["10.0.0.1"],
            &["127.0.0.1"],
            &["169.254.169.254"],
            &["0.0.0.0"],
        ];
        let rules = ["*.internal", "db.example.com (private)"];
        for host in ["build.internal", "db.example.com"] {
            insta::allow_duplicates! {
                insta::assert_snapshot!(check(&rules, host, &answers).join("\n"), @"
                [10.0.0.1:443]
                this_machine 127.0.0.1
                this_machine 169.254.169.254
                unusable_address 0.0.0.0
                ");
            }
        }
        let own: [&[&str]; 1] = [&["127.0.0.1", "::1"]];
        insta::assert_snapshot!(check(&["localhost"], "localhost", &own).join("\n"), @"[127.0.0.1:443, [::1]:443]");
    }

    #[test]
    fn address_is_reached_only_by_a_rule_with_this_address() {
        let none: [&[&str]; 0] = [];
        insta::assert_snapshot!(check(&["10.0.0.1"], "10.0.0.1", &none).join(""), @"[10.0.0.1:443]");
        insta::assert_snapshot!(check(&["10.0.0.1"], "10.0.0.2", &none).join(""), @"not_allowed");
        insta::assert_snapshot!(check(&["*.internal", "localhost"], "127.0.0.1", &none).join(""), @"not_allowed");
        insta::assert_snapshot!(check(&["127.0.0.1"], "::ffff:127.0.0.1", &none).join(""), @"[127.0.0.1:443]");
    }

    #[test]
    fn name_that_is_not_allowed_is_not_looked_up() {
        let (reader, _writer) = io::pipe().unwrap();
        let resolver = Resolver::new(|name| panic!("looked up {name}"));
        let gate = Gate::new(vec!["a.example.com".parse().unwrap()], resolver);
        let target = Target {
            host: Host::parse("b.example.com").unwrap(),
            port: 443,
        };
        let refused = gate.check(&target, &Stop::new(reader)).unwrap_err();
        assert_eq!(refused, (Refusal::NotAllowed, None));
    }

    #[test]
    fn lookup_ends_with_the_run_and_lookups_are_bounded() {
        let (reader, writer) = io::pipe().unwrap();
        let resolver = Resolver::new(|_| {
            thread::sleep(Duration::from_secs(2));
            Ok(vec!["1.1.1.1".parse().unwrap()])
        });
        let gate = Gate::new(vec!["a.example.com".parse().unwrap()], resolver);
        let stop = Stop::new(reader);
        drop(writer);
        let started = Instant::now();
        for _ in 0..MAX_LOOKUPS {
            assert_eq!(gate.look_up("a.example.com", &stop), None);
        }
        assert!(started.elapsed() < Duration::from_secs(1));
        assert_eq!(gate.lookups.load(Ordering::Relaxed), MAX_LOOKUPS);
        assert!(LookupSlot::take(&gate.lookups).is_none());
    }
}
