//! Runs a tool where no other request has to wait for it.

use std::sync::Arc;

use rmcp::model::JsonObject;
use tokio::task::{JoinError, spawn_blocking};

use crate::answer::Answer;
use crate::client_view::{ClientView, ServerState};
use crate::conversation::Conversation;
use crate::tools::Tool;

/// Runs a tool, and returns what was offered when it ran too; an error if it panicked.
pub(crate) async fn run_tool(
    shared: &Arc<ServerState>,
    conversation: &Arc<Conversation>,
    tool: Tool,
    arguments: JsonObject,
) -> Result<(Answer, Arc<ClientView>), JoinError> {
    let offer = shared.offer();
    if tool.is_quick(shared, &offer) {
        let answer = tool.call(shared, &offer, conversation, arguments);
        return Ok((answer, offer));
    }
    let conversation = Arc::clone(conversation);
    let call = move |shared: &ServerState| {
        // Not before: what was offered before the wait may have been taken back.
        let offer = shared.offer();
        let answer = tool.call(shared, &offer, &conversation, arguments);
        (answer, offer)
    };
    match tool {
        Tool::Load | Tool::Alias | Tool::Read => shared.reading(call).await,
        // The first search may take long, and its answer is short.
        Tool::List | Tool::Search => {
            let shared = Arc::clone(shared);
            spawn_blocking(move || call(&shared)).await
        }
    }
}
