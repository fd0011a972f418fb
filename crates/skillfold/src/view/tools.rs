//! The JSON view of the tools of a model, and of what they answer.

use crate::answer::{Block, ToolAnswer};
use crate::json::Json;
use crate::tools::ToolDefinition;

/// The tools that a model has for skills; none if it may see no skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolList {
    /// The tools.
    pub tools: Vec<ToolDefinition>,
}

/// The answer of a tool.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AnswerView {
    /// The answer as text for the model, without pictures and other files.
    pub text: String,
    /// Whether the call failed; the text says why, and what to do.
    pub is_error: bool,
    /// The answer in blocks, in order; absent if it is only the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<AnswerBlock>,
    /// The answer for a program; a failure is the same as the document `error`.
    pub value: Json,
    /// The id of the skill whose instructions the answer gives; absent if it gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// Tokens of the instructions that the answer gives; 0 if it gives none.
    pub tokens: u64,
}

/// A part of an answer.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AnswerBlock {
    /// The type: `text`, `image` or `resource`.
    pub r#type: String,
    /// The text; absent in other types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The URI of a resource, such as `skill://pdf/assets/form.pdf`; absent in other types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The media type, such as `image/png`; absent in a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The bytes in base64; absent in a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

impl ToolList {
    /// Creates the view.
    pub fn new(tools: Vec<ToolDefinition>) -> Self {
        Self { tools }
    }
}

impl AnswerView {
    /// Creates the view.
    pub fn new(answer: &ToolAnswer) -> Self {
        let content = match answer.content.as_slice() {
            [Block::Text(_)] => Vec::new(),
            content => content.iter().map(AnswerBlock::new).collect(),
        };
        Self {
            text: answer.text(),
            is_error: answer.is_error(),
            content,
            value: answer.to_json(),
            skill: answer.loaded_id().map(str::to_owned),
            tokens: answer.loaded_tokens(),
        }
    }
}

impl AnswerBlock {
    fn new(block: &Block) -> Self {
        let file = |r#type: &str, media_type: &str, base64: &str| Self {
            r#type: r#type.to_owned(),
            media_type: Some(media_type.to_owned()),
            base64: Some(base64.to_owned()),
            ..Self::default()
        };
        match block {
            Block::Text(text) => Self {
                r#type: "text".to_owned(),
                text: Some(text.clone()),
                ..Self::default()
            },
            Block::Image { media_type, base64 } => file("image", media_type, base64),
            Block::Resource {
                uri,
                media_type,
                base64,
            } => Self {
                uri: Some(uri.clone()),
                ..file("resource", media_type, base64)
            },
        }
    }
}
