//! What an event adds to a conversation, and what is known of the prompt before.

use skillfold::conversation::PromptUses;
use skillfold::core::disclose::Turn;

/// What an event adds.
#[derive(Default)]
pub(crate) struct Response {
    pub(crate) turns: Vec<Turn>,
    /// What became of the skills of the previous prompt.
    pub(crate) uses: PromptUses,
    /// Whether another hook already answered the same prompt.
    pub(crate) is_repeated: bool,
}
