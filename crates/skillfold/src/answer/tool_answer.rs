//! What a tool answers.

use std::sync::Arc;

use skillfold_core::Envelope;
use skillfold_core::disclose::TokenCounter;
use skillfold_core::load::LoadedText;
use skillfold_core::view::{FilePart, InstructionsView};

use crate::answer::failure::Failure;
use crate::answer::skill_lines::SkillLines;
use crate::json::Json;

/// The answer of a tool, for a model.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolAnswer {
    /// The answer in blocks, in order.
    pub content: Vec<Block>,
    payload: Payload,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(String),
    /// A picture that models accept: PNG, JPEG, GIF or WebP.
    Image {
        /// The media type, by its content.
        media_type: &'static str,
        /// The bytes in base64.
        base64: String,
    },
    /// A file that is neither text nor such a picture.
    Resource {
        /// The file's URI, such as `skill://pdf/assets/form.pdf`.
        uri: String,
        /// The media type, by its name.
        media_type: &'static str,
        /// The bytes in base64.
        base64: String,
    },
}

/// An answer as a program reads it. Texts that are in the content are not repeated here.
#[derive(Debug)]
pub(crate) enum Payload {
    Lines(SkillLines),
    Loaded(Box<LoadedSkill>),
    /// A part of a file, without its text or bytes.
    Part(FilePart),
    #[cfg(feature = "store")]
    Proposed(crate::answer::ProposedSkill),
    #[cfg(feature = "run")]
    Ran(crate::answer::RunResult),
    Failure(Failure),
}

/// A skill that a model loaded.
#[derive(Debug)]
pub(crate) struct LoadedSkill {
    /// What was loaded; the text is in the content.
    pub(crate) text: LoadedText,
    pub(crate) envelope: Envelope,
    pub(crate) arguments: String,
    /// What it costs the conversation.
    pub(crate) tokens: u64,
    /// What counted the tokens.
    pub(crate) counter: Arc<dyn TokenCounter>,
}

impl ToolAnswer {
    pub(crate) fn new(text: String, payload: Payload) -> Self {
        let content = vec![Block::Text(text)];
        Self { content, payload }
    }

    pub(crate) fn skill(mut loaded: LoadedSkill) -> Self {
        let text = std::mem::take(&mut loaded.text.text);
        Self::new(text, Payload::Loaded(Box::new(loaded)))
    }

    pub(crate) fn file(content: Vec<Block>, part: FilePart) -> Self {
        let payload = Payload::Part(part);
        Self { content, payload }
    }

    pub(crate) fn failure(text: String, failure: Failure) -> Self {
        Self::new(text, Payload::Failure(failure))
    }

    /// Returns whether the call failed. The content says why, and what to do.
    pub fn is_error(&self) -> bool {
        match &self.payload {
            Payload::Failure(_) => true,
            #[cfg(feature = "run")]
            Payload::Ran(result) => result.is_failure(),
            _ => false,
        }
    }

    /// Returns whether a skill may not run because the user has not allowed it.
    #[cfg(feature = "run")]
    pub fn is_not_allowed(&self) -> bool {
        matches!(&self.payload, Payload::Failure(failure) if failure.refusal == Some("not_allowed"))
    }

    /// Returns the texts of the answer, joined by line ends.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns whether the answer gives the instructions of a skill to the model.
    pub fn gives_skill(&self) -> bool {
        self.loaded().is_some()
    }

    /// Returns the id of the skill whose instructions the answer gives to the model.
    pub fn loaded_id(&self) -> Option<&str> {
        self.loaded().map(|loaded| loaded.text.instructions.id())
    }

    /// Returns the tokens of the instructions that the answer gives to the model; 0 if it gives none.
    pub fn loaded_tokens(&self) -> u64 {
        self.loaded().map_or(0, |loaded| loaded.tokens)
    }

    /// Returns the answer as JSON for a program. A failure is a [`Failure`], a loaded skill what `skillfold load --json`
    /// prints, a file what `skillfold read --json` prints.
    pub fn to_json(&self) -> Json {
        let first = self.content.first();
        let text = || first.and_then(Block::text);
        let base64 = || match first {
            Some(Block::Image { base64, .. } | Block::Resource { base64, .. }) => {
                Some(base64.clone())
            }
            _ => None,
        };
        match &self.payload {
            Payload::Lines(lines) => Json::of(lines),
            Payload::Loaded(loaded) => {
                let mut view = InstructionsView::new(&loaded.text, loaded.envelope);
                view.text = text().unwrap_or_default();
                view.run_notes = self.content.get(1).and_then(Block::text);
                Json::of(&view)
            }
            Payload::Part(part) => {
                let mut part = part.clone();
                if part.base64.is_none() {
                    (part.text, part.base64) = (text(), base64());
                }
                Json::of(&part)
            }
            #[cfg(feature = "store")]
            Payload::Proposed(proposed) => Json::of(proposed),
            #[cfg(feature = "run")]
            Payload::Ran(result) => {
                let mut result = result.clone();
                result.output = text().unwrap_or_default();
                Json::of(&result)
            }
            Payload::Failure(failure) => Json::of(failure),
        }
    }

    pub(crate) fn loaded(&self) -> Option<&LoadedSkill> {
        match &self.payload {
            Payload::Loaded(loaded) => Some(loaded),
            _ => None,
        }
    }

    /// Returns whether the same call gives the same answer while the skills are the same.
    pub(crate) fn is_cacheable(&self) -> bool {
        match &self.payload {
            Payload::Lines(lines) => lines.note.is_none(),
            Payload::Loaded(_) => true,
            // A file may change at any time, and checking that costs as much as reading it again.
            _ => false,
        }
    }

    /// Returns an estimate of the bytes that the answer takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let content: usize = self.content.iter().map(Block::bytes).sum();
        let payload = match &self.payload {
            Payload::Lines(lines) => lines.bytes(),
            Payload::Loaded(loaded) => {
                loaded.arguments.len() + loaded.text.instructions.text().len()
            }
            _ => 0,
        };
        size_of::<Self>() + content + payload
    }
}

impl Block {
    fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Image { base64, .. } => base64.len(),
            Self::Resource { uri, base64, .. } => uri.len() + base64.len(),
        }
    }
}
