//! Why a script failed, if the reason is the network.

use std::collections::BTreeSet;

use skillfold_core::diagnostic::visible;
use skillfold_run::{Connection, HostRule, Outcome, Refusal};

use crate::scripts::RunnableSkill;

/// Maximum refused hosts that are explained.
const MAX_EXPLAINED: usize = 5;

/// What programs say that look up a name or connect by themselves.
const DIRECT: [&str; 13] = [
    "could not resolve host",
    "couldn't resolve host",
    "name or service not known",
    "temporary failure in name resolution",
    "nodename nor servname",
    "getaddrinfo",
    "enotfound",
    "eai_again",
    "network is unreachable",
    "connection refused",
    "econnrefused",
    "failed to lookup address",
    "no such host",
];

impl RunnableSkill {
    /// Returns one line for each reason in the network why a run may have failed, each with a way out: hosts that it was
    /// refused, and a program that does not use the proxy. None if the skill has no hosts.
    pub(super) fn network_failures(&self, outcome: &Outcome) -> Vec<String> {
        let hosts = self.asked().hosts();
        if hosts.is_empty() {
            return Vec::new();
        }
        let mut lines: Vec<String> = Vec::new();
        let (mut explained, mut more) = (BTreeSet::new(), BTreeSet::new());
        for connection in &outcome.connections {
            let host = &*connection.host;
            let line = connection
                .refusal
                .and_then(|refusal| explain(self.id(), hosts, connection, refusal));
            let Some(line) = line.filter(|line| !lines.contains(line)) else {
                continue;
            };
            if lines.len() < MAX_EXPLAINED {
                lines.push(line);
                explained.insert(host);
            } else if !explained.contains(host) {
                more.insert(host);
            }
        }
        match more.len() {
            0 => {}
            1 => lines.push("1 more host was not reached".to_owned()),
            more => lines.push(format!("{more} more hosts were not reached")),
        }
        if !outcome.is_success() && ignores_proxy(outcome) {
            lines.push(format!(
                "The script made no request through the proxy. Only programs that follow `HTTPS_PROXY` and `HTTP_PROXY` reach the hosts that `{}` may use ({}); one that ignores them has no network",
                visible(self.id()),
                listed(hosts)
            ));
        }
        lines
    }
}

/// Returns whether a script tried to reach the network by itself.
fn ignores_proxy(outcome: &Outcome) -> bool {
    if !outcome.connections.is_empty() {
        return false;
    }
    let said = [outcome.stderr_text(), outcome.stdout_text()];
    said.iter().any(|text| {
        let text = text.to_lowercase();
        DIRECT.iter().any(|phrase| text.contains(phrase))
    })
}

fn explain(
    id: &str,
    hosts: &[HostRule],
    connection: &Connection,
    refusal: Refusal,
) -> Option<String> {
    let (id, port) = (visible(id), connection.port);
    let host = visible(&connection.host);
    let address = connection.address.map(|it| it.to_string());
    let address = address.unwrap_or_default();
    Some(match refusal {
        Refusal::NotAllowed => {
            let shown = match port {
                443 | 80 => host.into_owned(),
                _ => format!("{host}:{port}"),
            };
            format!(
                "`{shown}` is not among the hosts that `{id}` may reach ({}): add it to `permissions.network` in its SKILL.md, and allow the skill again",
                listed(hosts)
            )
        }
        Refusal::PrivateAddress => format!(
            "`{host}` is in a private network ({address}), which was not allowed: if that is right, run `skillfold allow {id} --private-network {host}`"
        ),
        Refusal::ThisMachine => format!(
            "`{host}` is this machine ({address}), which a skill reaches only as `localhost` or by an address that `permissions.network` in its SKILL.md names"
        ),
        Refusal::UnusableAddress => {
            format!("`{host}` resolves to {address}, which is not the address of a host")
        }
        Refusal::NotResolved => {
            format!("`{host}` does not resolve: check the name and your network")
        }
        Refusal::Unreachable => format!("`{host}:{port}` does not answer"),
        _ => return None,
    })
}

fn listed(hosts: &[HostRule]) -> String {
    let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    hosts.join(", ")
}
