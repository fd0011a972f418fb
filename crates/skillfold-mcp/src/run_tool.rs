//! Runs a tool without blocking other requests.

use std::sync::Arc;

use rmcp::model::JsonObject;
use tokio::task::{JoinError, spawn_blocking};

use crate::answer::Answer;
use crate::client_view::{ClientView, ServerState};
use crate::conversation::Conversation;
use crate::tools::Tool;

/// Runs a tool. Returns its answer with the view it ran on, or an error if it panicked.
pub(crate) async fn run_tool(
    shared: &Arc<ServerState>,
    conversation: &Arc<Conversation>,
    tool: Tool,
    arguments: JsonObject,
) -> Result<(Answer, Arc<ClientView>), JoinError> {
    let offer = shared.client_view();
    if tool.is_quick(shared, &offer) {
        let answer = tool.call(shared, &offer, conversation, arguments);
        return Ok((answer, offer));
    }
    let conversation = Arc::clone(conversation);
    let call = move |shared: &ServerState| {
        // Taken only now: the view from before the wait may be outdated.
        let offer = shared.client_view();
        let answer = tool.call(shared, &offer, &conversation, arguments);
        (answer, offer)
    };
    match tool {
        Tool::Load | Tool::Alias | Tool::Read => shared.read_blocking(call).await,
        // The first search may take long, and its answer is small.
        Tool::List | Tool::Search => {
            let shared = Arc::clone(shared);
            spawn_blocking(move || call(&shared)).await
        }
    }
}
