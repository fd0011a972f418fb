//! The text that an agent starts with.

use std::ops::Range;
use std::sync::Arc;

use crate::bind::agent_view::MissingSkill;
use crate::diagnostic::Diagnostic;
use crate::limits::BYTES_PER_TOKEN;
use crate::load::instructions::Instructions;

/// The text that an agent starts with, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComposedInstructions {
    /// The text.
    pub text: String,
    /// The sections of the text, in order. Empty ones are left out.
    pub sections: Vec<Section>,
    /// Findings about the loads of the skills.
    pub notes: Vec<Diagnostic>,
    /// Skills that the agent uses but cannot have. The text does not mention them.
    pub missing: Vec<MissingSkill>,
}

/// A section of the text that an agent starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// What the section is.
    pub kind: SectionKind,
    /// Its bytes in the text, including the line that names a skill, but not the blank lines between sections.
    pub bytes: Range<usize>,
}

/// What a section is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionKind {
    /// The prompt.
    Prompt,
    /// The instructions of a skill, by its id.
    Skill(Box<str>),
    /// The agent's own instructions.
    Inline,
}

impl Section {
    /// Returns an estimate of the section's tokens, from its size in bytes.
    pub fn tokens(&self) -> u64 {
        estimate_tokens(self.bytes.len())
    }
}

impl ComposedInstructions {
    /// Returns an estimate of the text's tokens, from its size in bytes.
    pub fn tokens(&self) -> u64 {
        estimate_tokens(self.text.len())
    }
}

/// Composes the text that an agent starts with: the prompt, the skills in order, and the agent's own instructions.
///
/// Each is included byte for byte. The body of a skill is preceded by a line `Skill: ID` and a blank line; the agent
/// needs the id to read the skill's files. Line ends are added only as needed for a blank line between sections and
/// after that line. A section that is empty or only white space is left out, along with its heading.
///
/// ```
/// use skillfold_core::{Agent, Catalog, CatalogOptions, LoadOptions, Loader, MemorySource, Root, Scope};
/// use skillfold_core::bind::compose_instructions;
///
/// let pdf = "---\nname: pdf\ndescription: Fills in forms\n---\nFill in forms.\n";
/// let root = Root::new(Scope::User, "mine", MemorySource::new([("pdf/SKILL.md", pdf)]));
/// let catalog = Catalog::discover(vec![root], CatalogOptions::default(), std::time::SystemTime::now());
/// let loader = Loader::new(LoadOptions::default(), std::time::SystemTime::now);
///
/// let clerk = catalog.view_for(&Agent::new("clerk").with_skills(["pdf"]));
/// let composed = compose_instructions("You are a clerk.", &clerk.contents(&loader)?, "Be brief.");
/// assert_eq!(composed.text, "You are a clerk.\n\nSkill: pdf\n\nFill in forms.\n\nBe brief.");
/// # Ok::<(), skillfold_core::Error>(())
/// ```
pub fn compose_instructions(
    prompt: &str,
    skills: &[Arc<Instructions>],
    inline: &str,
) -> ComposedInstructions {
    let mut composed = ComposedInstructions {
        text: String::new(),
        sections: Vec::new(),
        notes: Vec::new(),
        missing: Vec::new(),
    };
    composed.add(SectionKind::Prompt, prompt);
    for instructions in skills {
        let kind = SectionKind::Skill(instructions.id().into());
        composed.add(kind, instructions.body());
        composed.notes.extend_from_slice(instructions.notes());
    }
    composed.add(SectionKind::Inline, inline);
    composed
}

impl ComposedInstructions {
    fn add(&mut self, kind: SectionKind, content: &str) {
        if content.trim().is_empty() {
            return;
        }
        let heading = match &kind {
            SectionKind::Skill(id) => Some(format!("Skill: {id}")),
            SectionKind::Prompt | SectionKind::Inline => None,
        };
        self.push_blank_line(heading.as_deref().unwrap_or(content));
        let start = self.text.len();
        if let Some(heading) = heading {
            self.text.push_str(&heading);
            self.push_blank_line(content);
        }
        self.text.push_str(content);
        let bytes = start..self.text.len();
        self.sections.push(Section { kind, bytes });
    }

    /// Adds line ends until there is a blank line between the text so far and `next`.
    fn push_blank_line(&mut self, next: &str) {
        if self.text.is_empty() {
            return;
        }
        let line_ends = count_line_ends(self.text.bytes().rev()) + count_line_ends(next.bytes());
        for _ in line_ends..2 {
            self.text.push('\n');
        }
    }
}

/// Counts the line ends at the start of a sequence of bytes.
fn count_line_ends(bytes: impl Iterator<Item = u8>) -> usize {
    let ends = bytes.take_while(|byte| matches!(byte, b'\n' | b'\r'));
    ends.filter(|byte| *byte == b'\n').count()
}

fn estimate_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}
