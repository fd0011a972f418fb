//! The text that an agent begins with.

use std::ops::Range;
use std::sync::Arc;

use crate::bind::agent_view::MissingSkill;
use crate::diagnostic::Diagnostic;
use crate::limits::BYTES_PER_TOKEN;
use crate::load::instructions::Instructions;

/// The text that an agent begins with, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComposedInstructions {
    /// The text.
    pub text: String,
    /// What is in it, in order. What is empty is not in it.
    pub sections: Vec<Section>,
    /// What there is to say about the loads of the skills.
    pub notes: Vec<Diagnostic>,
    /// Skills that the agent uses and does not have. Nothing of them is in the text.
    pub missing: Vec<MissingSkill>,
}

/// A part of the text that an agent begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// What it is.
    pub kind: SectionKind,
    /// Which bytes of the text it is, with the line that names a skill, without the lines between sections.
    pub bytes: Range<usize>,
}

/// What a part of the text is.
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
    /// Returns about how many tokens it has, estimated from its bytes.
    pub fn tokens(&self) -> u64 {
        tokens(self.bytes.len())
    }
}

impl ComposedInstructions {
    /// Returns about how many tokens the text has, estimated from its bytes.
    pub fn tokens(&self) -> u64 {
        tokens(self.text.len())
    }
}

/// Puts together the text that an agent begins with: the prompt, the skills in their order, the agent's own instructions.
///
/// Each is in it byte for byte. Before the body of a skill stands a line `Skill: ID` and a blank line: by the id the agent
/// reads the skill's files. Between two sections, and behind that line, line ends are added until there is a blank line,
/// and none where one is there already. What is empty or of white space only is left out, with its lines.
///
/// ```
/// use skillfold_core::{Agent, Catalog, Loader, LoadOptions, MemorySource, Root, CatalogOptions, Scope, compose_instructions};
///
/// let pdf = "---\nname: pdf\ndescription: Fills in forms\n---\nFill in forms.\n";
/// let root = Root::new(Scope::User, "mine", MemorySource::new([("pdf/SKILL.md", pdf)]));
/// let catalog = Catalog::discover(vec![root], CatalogOptions::default(), 0);
/// let loader = Loader::new(LoadOptions::default(), || 0);
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
        self.part_from(heading.as_deref().unwrap_or(content));
        let start = self.text.len();
        if let Some(heading) = heading {
            self.text.push_str(&heading);
            self.part_from(content);
        }
        self.text.push_str(content);
        let bytes = start..self.text.len();
        self.sections.push(Section { kind, bytes });
    }

    /// Adds line ends until a blank line stands between the text so far and what comes next.
    fn part_from(&mut self, next: &str) {
        if self.text.is_empty() {
            return;
        }
        let before = line_ends(self.text.bytes().rev());
        let there = before + line_ends(next.bytes());
        for _ in there..2 {
            self.text.push('\n');
        }
    }
}

/// Counts the line ends at the start of some bytes.
fn line_ends(bytes: impl Iterator<Item = u8>) -> usize {
    let ends = bytes.take_while(|byte| matches!(byte, b'\n' | b'\r'));
    ends.filter(|byte| *byte == b'\n').count()
}

fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}
