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
    /// How many skills the client lists itself, by its settings now.
    pub own_skills: usize,
    /// Tokens of the client's own list now; absent if it is not known how the client writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_tokens: Option<u64>,
    /// Tokens of the client's own list without Skillfold: with nothing turned off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_tokens_without: Option<u64>,
    /// Tokens that Skillfold saves in every request; negative if it adds some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_tokens: Option<i64>,
    /// What counted the tokens: `estimate`, or the name of an encoding such as `o200k_base`.
    pub counted_by: String,
}

impl ClientPrompt {
    /// Creates the view of [instructions](Session::instructions) for a client.
    pub fn new(list: &OwnList, session: &Session, listing: &Listing) -> Self {
        let counter = &session.policy().counter;
        let catalog = session.skills().catalog();
        let own = list.tokens(&catalog, &**counter);
        let without = list.turned_on().tokens(&catalog, &**counter);
        let tools = session.tools_for(Some(list));
        let texts = tools.iter().flat_map(|tool| {
            let schema = tool.input_schema.to_string();
            [tool.name.clone(), tool.description.clone(), schema]
        });
        let tool_tokens: u64 = texts.map(|text| counter.count(&text)).sum();
        let ours = listing.tokens + tool_tokens;
        let saved = own
            .zip(without)
            .map(|(own, without)| without.cast_signed() - (own + ours).cast_signed());
        Self {
            client: list.client().id.to_owned(),
            instructions: listing.text.clone(),
            tokens: listing.tokens,
            shortened: listing.shortened.len(),
            unlisted: listing.skills - listing.listed,
            tool_tokens,
            tools,
            own_skills: catalog.entries().filter(|it| list.shows(it)).count(),
            own_tokens: own,
            own_tokens_without: without,
            saved_tokens: saved,
            counted_by: counter.name().to_owned(),
        }
    }
}
