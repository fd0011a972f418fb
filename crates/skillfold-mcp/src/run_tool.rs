//! Runs a tool where no other request has to wait for it.

use std::sync::Arc;

use rmcp::model::JsonObject;
use tokio::task::{JoinError, spawn_blocking};

use crate::answer::Answer;
use crate::conversation::Conversation;
use crate::offer::{Offer, Shared};
use crate::tools::Tool;

/// Runs a tool; an error if it panicked.
pub(crate) async fn run_tool(
    shared: &Arc<Shared>,
    offer: &Arc<Offer>,
    conversation: &Arc<Conversation>,
    tool: Tool,
    arguments: JsonObject,
) -> Result<Answer, JoinError> {
    if tool.is_quick(shared, offer) {
        return Ok(tool.call(shared, offer, conversation, arguments));
    }
    let (offer, conversation) = (Arc::clone(offer), Arc::clone(conversation));
    let call = move |shared: &Shared| tool.call(shared, &offer, &conversation, arguments);
    match tool {
        Tool::Load | Tool::Alias | Tool::Read => shared.reading(call).await,
        // The first search may take long, and its answer is short.
        Tool::List | Tool::Search => {
            let shared = Arc::clone(shared);
            spawn_blocking(move || call(&shared)).await
        }
    }
}
