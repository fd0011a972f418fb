//! What the operator lets an identity do.

use crate::identity_kind::IdentityKind;

/// An entry of `[identities]`: whom it fits, and what they get.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Role {
    /// Its name, for logs and metrics.
    pub name: String,
    /// The subjects it fits (`sub` in a token of the identity provider).
    pub subjects: Vec<String>,
    /// The groups it fits (`groups` or `roles`).
    pub groups: Vec<String>,
    /// The scopes it fits (`scope` or `scp`).
    pub scopes: Vec<String>,
    /// The named tokens it fits.
    pub tokens: Vec<String>,
    /// The agent whose skills they see; `None` for every skill.
    pub agent: Option<String>,
    /// What each identity may use at a time.
    pub limits: RoleLimits,
}

/// What each identity of a role may use at a time, within what the server allows all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoleLimits {
    /// Maximum number of open sessions.
    pub sessions: usize,
    /// Maximum number of requests in a minute.
    pub requests_per_minute: u32,
}

impl Default for RoleLimits {
    fn default() -> Self {
        Self {
            // A person has a few clients, and each has a few sessions.
            sessions: 64,
            requests_per_minute: 1_200,
        }
    }
}

impl Role {
    /// Creates a role that fits everybody and sees every skill.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            subjects: Vec::new(),
            groups: Vec::new(),
            scopes: Vec::new(),
            tokens: Vec::new(),
            agent: None,
            limits: RoleLimits::default(),
        }
    }

    /// Returns whether it fits an identity: it names its subject or its token, or one of its groups or scopes. A role that
    /// names nobody fits everybody.
    pub(crate) fn fits(
        &self,
        kind: IdentityKind,
        id: &str,
        groups: &[String],
        scopes: &[&str],
    ) -> bool {
        let ids = match kind {
            IdentityKind::Subject => &self.subjects,
            IdentityKind::Token => &self.tokens,
        };
        let lists = [&self.subjects, &self.groups, &self.scopes, &self.tokens];
        lists.iter().all(|list| list.is_empty())
            || ids.iter().any(|known| known == id)
            || self.groups.iter().any(|group| groups.contains(group))
            || self
                .scopes
                .iter()
                .any(|scope| scopes.contains(&scope.as_str()))
    }
}
