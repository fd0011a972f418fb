//! Conversations with a model: in memory, in a file of the host, or shared by the hooks of a user.

pub(crate) mod session;

#[cfg(feature = "store")]
pub(crate) mod conversations;
#[cfg(feature = "store")]
pub(crate) mod uses;

#[cfg(feature = "store")]
pub(crate) mod learned;
#[cfg(feature = "store")]
pub(crate) mod session_file;

#[cfg(feature = "store")]
pub use conversations::{Conversation, ConversationKey, Conversations, HeardLoads};
#[cfg(feature = "store")]
pub use learned::Learned;
pub use session::{Session, SkillMismatch};
#[cfg(feature = "store")]
pub use session_file::SessionFile;
pub use skillfold_core::SessionState;
#[cfg(feature = "store")]
pub use uses::{PromptUses, SkillUse};
