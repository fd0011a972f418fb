//! A skill as a model gets it: its instructions and the names of its files, in an envelope; or why there are none.

use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::load::envelope::{Envelope, Failure, Parts};
use crate::load::files::{FileKind, Files};
use crate::load::instructions::Instructions;
use crate::load::loader::Loader;

/// Files that an envelope names; the rest is counted in it.
const NAMED: usize = 50;

/// Findings that an error names.
const FINDINGS: usize = 5;

/// A loaded skill in an envelope.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadedText {
    /// What is put before the model.
    pub text: String,
    /// What is in it.
    pub instructions: Arc<Instructions>,
    /// What there is to say about this load, and about the envelope.
    pub notes: Vec<Diagnostic>,
}

impl Loader {
    /// Loads a skill and puts it into an envelope, with the names of its files where the envelope has a place for them.
    pub fn render(
        &self,
        entry: &Entry<'_>,
        arguments: &str,
        envelope: Envelope,
    ) -> Result<LoadedText, Error> {
        let instructions = self.load(entry, arguments)?;
        let files = if envelope.names_files() {
            // One more, as the `SKILL.md` is not named.
            self.files(entry, None, NAMED + 1)?
        } else {
            Files::default()
        };
        let (names, unlisted) = named(&files);
        let rendered = envelope.render(&Parts {
            id: instructions.id(),
            body: instructions.body(),
            base_dir: instructions.base_dir(),
            tokens: instructions.tokens(),
            requires: instructions.requires(),
            files: &names,
            unlisted,
        });
        let mut notes = instructions.notes().to_vec();
        if rendered.neutralised > 0 {
            let message = format!(
                "Tags of the envelope `{envelope}` in the instructions were made harmless: {}",
                rendered.neutralised
            );
            notes.push(Diagnostic::new(Code::EnvelopeTags, None, message));
        }
        Ok(LoadedText {
            text: rendered.text,
            instructions,
            notes,
        })
    }
}

/// Returns the files to name, and how many more there are.
fn named(files: &Files) -> (Vec<&str>, usize) {
    let others = files.files.iter();
    let others = others.filter(|file| file.kind != FileKind::Instructions);
    let names: Vec<_> = others.map(|file| file.path.as_str()).take(NAMED).collect();
    // All but the `SKILL.md`, which every skill has.
    let unlisted = files.total.saturating_sub(1).saturating_sub(names.len());
    (names, unlisted)
}

impl Envelope {
    /// Puts an error in the place of the instructions, so that a model can go on: what, and what to do or to ask for.
    ///
    /// ```
    /// use skillfold_core::{Envelope, Error};
    ///
    /// let text = Envelope::SkillContext.render_failure("pdf", &Error::not_found("pdf/SKILL.md"));
    /// assert!(text.starts_with("<skill_context id=\"pdf\">\n  <error>\n    Could not find `pdf/SKILL.md`"));
    /// ```
    pub fn render_failure(self, id: &str, error: &Error) -> String {
        let nearest: Vec<&str> = error.nearest().iter().map(|id| &**id).collect();
        let findings = error.diagnostics().iter().take(FINDINGS);
        let sentences = [error.with_cause()].into_iter();
        let sentences: Vec<_> = sentences.chain(findings.map(ToString::to_string)).collect();
        self.render_error(&Failure {
            id,
            message: &sentences.join("; "),
            hint: error.hint(),
            nearest: &nearest,
        })
    }
}
