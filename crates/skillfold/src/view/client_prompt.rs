//! The JSON view of what a client's model gets from a server.

use skillfold_core::disclose::Listing;

use crate::client::OwnList;
use crate::conversation::session::Session;
use crate::tools::ToolDefinition;

/// What a client's model gets from a server before any request.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ClientPrompt {
    /// The client's id, such as `claude-code`.
    pub client: String,
    /// The server's instructions; empty if there are no skills.
    pub instructions: String,
    /// Tokens of the instructions.
    pub tokens: u64,
    /// How many skills have a shortened description.
    pub shortened: usize,
    /// How many skills are not listed: the client lists them itself, or they do not fit.
    pub unlisted: usize,
    /// The tools, as the model sees them.
    pub tools: Vec<ToolDefinition>,
    /// Tokens of the tools.
    pub tool_tokens: u64,
    /// Tokens of a plain list of all skills that the model may see, with their full descriptions.
    pub plain_list_tokens: u64,
    /// What counted the tokens: `estimate`, or the name of an encoding such as `o200k_base`.
    pub counted_by: String,
}

impl ClientPrompt {
    /// Creates the view of [instructions](Session::instructions) for a client.
    pub fn new(list: &OwnList, session: &Session, listing: &Listing) -> Self {
        let counter = &session.policy().counter;
        let tools = session.tools_for(Some(list));
        let texts = tools.iter().flat_map(|tool| {
            let schema = tool.input_schema.to_string();
            [tool.name.clone(), tool.description.clone(), schema]
        });
        Self {
            client: list.client().id.to_owned(),
            instructions: listing.text.clone(),
            tokens: listing.tokens,
            shortened: listing.shortened.len(),
            unlisted: listing.skills - listing.listed,
            tool_tokens: texts.map(|text| counter.count(&text)).sum(),
            tools,
            plain_list_tokens: session.plain_list_tokens(),
            counted_by: counter.name().to_owned(),
        }
    }
}
