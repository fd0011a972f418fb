//! Who sends a request: a client, and over HTTP perhaps a person or a program that is known.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::Implementation;
use rmcp::service::RequestContext;
use skillfold_http::{Identity, TokenScope};

/// Who sends a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caller {
    /// The client, as it introduced itself.
    pub(crate) client: Option<Implementation>,
    /// Who uses it, if the server knows its users.
    pub(crate) identity: Option<Arc<Identity>>,
}

impl Caller {
    /// Returns who sends a request.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<Parts>();
        Self {
            client: context.client_info(),
            identity: parts.and_then(|parts| parts.extensions.get().cloned()),
        }
    }

    /// Returns the same caller with another introduction of its client.
    pub(crate) fn with_client(self, client: Implementation) -> Self {
        Self {
            client: Some(client),
            ..self
        }
    }

    /// Returns the agent whose skills it sees.
    pub(crate) fn agent(&self) -> Option<&str> {
        self.identity.as_ref()?.role().agent.as_deref()
    }

    /// Returns whether it may do what needs a scope.
    pub(crate) fn may(&self, scope: TokenScope) -> bool {
        let identity = self.identity.as_ref();
        identity.is_none_or(|identity| identity.scopes().has(scope))
    }

    /// Returns the name that what it proposes gets.
    pub(crate) fn name(&self) -> Option<String> {
        match (&self.identity, &self.client) {
            (Some(identity), _) => Some(identity.to_string()),
            (None, client) => client.as_ref().map(|client| client.name.clone()),
        }
    }
}
