//! Asks the user through the client whether a skill may run, if the user lets clients ask.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema,
    ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions};

/// How long to wait for the user's response.
const PATIENCE: Duration = Duration::from_secs(300);

/// Shows a question as a form without fields. Returns whether the user said yes; `false` if the client cannot ask.
pub(crate) async fn ask(peer: &Peer<RoleServer>, question: String) -> bool {
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question,
        requested_schema: ElicitationSchema::new([].into()),
    };
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(PATIENCE);
    let Ok(sent) = peer.send_cancellable_request(request, options).await else {
        return false;
    };
    match sent.await_response().await {
        Ok(ClientResult::ElicitResult(result)) => result.action == ElicitationAction::Accept,
        _ => false,
    }
}

/// Returns whether a client supports forms. Since 2026-07-28, servers send no requests.
pub(crate) fn can_ask(peer: &Peer<RoleServer>) -> bool {
    let info = peer.peer_info();
    info.is_some_and(|info| match &info.capabilities.elicitation {
        Some(modes) => modes.form.is_some() || modes.url.is_none(),
        None => false,
    })
}
