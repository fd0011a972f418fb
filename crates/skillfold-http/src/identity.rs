//! Who sent a request.

use std::fmt;
use std::sync::Arc;

use crate::identity_kind::IdentityKind;
use crate::role::Role;
use crate::token_scope::TokenScopes;

/// Who sent a request: a person or a program, by a token that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub(crate) kind: IdentityKind,
    pub(crate) id: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) role: Arc<Role>,
    pub(crate) scopes: TokenScopes,
}

impl Identity {
    /// Returns how it is known.
    pub fn kind(&self) -> IdentityKind {
        self.kind
    }

    /// Returns its subject, or the name of its token. Two subjects, or two tokens, never have the same.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name that people know it by. The identity provider says it, and it is not checked to be unique.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its role.
    pub fn role(&self) -> &Arc<Role> {
        &self.role
    }

    /// Returns what its token may be used for.
    pub fn scopes(&self) -> TokenScopes {
        self.scopes
    }

    /// Returns whether both are the same person or program, perhaps with different tokens.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.kind, &self.id) == (other.kind, &other.id)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, id, name, .. } = self;
        match kind {
            IdentityKind::Token => write!(formatter, "token {id}"),
            IdentityKind::Subject if id == name => formatter.write_str(id),
            IdentityKind::Subject => write!(formatter, "{name} ({id})"),
        }
    }
}
