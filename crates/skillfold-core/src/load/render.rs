//! A skill as a model gets it: its instructions and the names of its files, in an envelope; or why there are none.

use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, quoted};
use crate::error::Error;
use crate::load::digest::Digest;
use crate::load::envelope::sentences::is_id;
use crate::load::envelope::{Envelope, EnvelopeParts, LoadFailure};
use crate::load::files::{FileKind, FileList, SkillFile, all_files, in_order};
use crate::load::instructions::Instructions;
use crate::load::loader::{Loader, logged, may_be_given};
use crate::load::mentions::Mentions;
use crate::read::source::{Finding, Revision};
use crate::text::shortened;

/// Files that an envelope names; the rest is counted in it.
const NAMED: usize = 50;

/// Entries of a skill's folders that are looked at to name them. The largest real skills have a few hundred files; a load
/// must not take long because a skill has many.
const LOOKED_AT: usize = 4_096;

/// Characters of what was asked for that an answer repeats.
const ECHOED: usize = 300;

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
    /// A digest of the names of the files that there were, if the envelope has a place for them.
    files: Option<Digest>,
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
        Ok(self.wrap(entry, instructions, envelope))
    }

    /// Puts instructions of a skill that were just loaded into an envelope; see [`render`](Self::render).
    pub fn wrap(
        &self,
        entry: &Entry<'_>,
        instructions: Arc<Instructions>,
        envelope: Envelope,
    ) -> LoadedText {
        let mut notes = instructions.notes().to_vec();
        let (files, digest) = if envelope.lists_files() {
            let (files, digest) = named_files(entry, &instructions, &mut notes);
            (files, Some(digest))
        } else {
            (FileList::default(), None)
        };
        let (names, unlisted) = named(&files);
        let parts = EnvelopeParts {
            id: instructions.id(),
            body: instructions.body(),
            base_dir: instructions.base_dir(),
            tokens: instructions.tokens(),
            requires: instructions.requires(),
            files: &names,
            unlisted,
        };
        let rendered = envelope.render(&parts);
        if rendered.neutralised > 0 {
            notes.push(neutralised(envelope, rendered.neutralised, &instructions));
        }
        let odd = instructions.requires().iter().filter(|id| !is_id(id));
        notes.extend(odd.take(FINDINGS).map(|id| {
            let message = format!("Entry of `requires` is not an id: {}", quoted(id));
            Diagnostic::new(Code::RequiredForm, None, message)
        }));
        LoadedText {
            files: digest,
            text: rendered.text,
            instructions,
            notes,
        }
    }

    /// Returns whether [`render`](Self::render) would give the same again: the skill, the state of its file and the names
    /// of its files are as they were. Where it cannot be told for sure, they are not.
    ///
    /// It is for hosts that remember what they made of a text, and takes much less than to make it: the file is looked at
    /// and not read. One that is the same counts as answered from memory.
    pub fn is_current(&self, entry: &Entry<'_>, loaded: &LoadedText) -> bool {
        let instructions = &loaded.instructions;
        // The skill is the one that was found only if its file was settled then, and the same when it was read.
        let is_same = may_be_given(entry).is_ok()
            && loaded.notes.is_empty()
            && instructions.id() == entry.id()
            && Arc::ptr_eq(instructions.skill(), entry.skill())
            && has_revision(entry, instructions.revision())
            && loaded
                .files
                .as_ref()
                .is_none_or(|files| has_files(entry, *files));
        if is_same {
            self.count_hit();
        }
        is_same
    }
}

/// Returns whether a skill's file has this state.
fn has_revision(entry: &Entry<'_>, known: Revision) -> bool {
    let revision = entry.root().source().revision(&entry.skill().folder);
    revision.is_ok_and(|now| now == known)
}

/// Returns whether a skill has these files, and nothing that there is something to say about.
fn has_files(entry: &Entry<'_>, known: Digest) -> bool {
    all_files(entry, LOOKED_AT)
        .is_ok_and(|found| found.findings.is_empty() && digest(&found.files) == known)
}

/// Returns a digest of the names of files.
fn digest(files: &[SkillFile]) -> Digest {
    let mut names = String::new();
    for file in files {
        names.push_str(file.path.as_str());
        // No name has one.
        names.push('\0');
    }
    Digest::sha256(names.as_bytes())
}

/// Returns the files to name, and a digest of the names of all. What cannot be listed is a note, and no reason to keep the instructions back.
fn named_files(
    entry: &Entry<'_>,
    instructions: &Instructions,
    notes: &mut Vec<Diagnostic>,
) -> (FileList, Digest) {
    let mentions = Mentions::of(instructions.raw());
    match logged(entry, "", all_files(entry, LOOKED_AT)) {
        Ok(files) => {
            let findings = files.findings.iter();
            notes.extend(findings.map(|finding| finding.diagnostic.clone()));
            let digest = digest(&files.files);
            // One more, as the `SKILL.md` is not named.
            (in_order(files, &mentions, None, NAMED + 1), digest)
        }
        Err(error) => {
            let message = format!("Could not list files: {}", error.with_cause());
            notes.push(Diagnostic::new(Code::FolderUnreadable, None, message));
            (FileList::default(), digest(&[]))
        }
    }
}

/// Says that tags were made harmless, and whose they were.
fn neutralised(envelope: Envelope, count: usize, instructions: &Instructions) -> Diagnostic {
    let own = envelope.render(&EnvelopeParts {
        body: instructions.raw(),
        ..EnvelopeParts::default()
    });
    let of_arguments = count.saturating_sub(own.neutralised);
    let message = format!(
        "Tags of the envelope `{envelope}` were made harmless: {} of the instructions, {of_arguments} of the arguments",
        count - of_arguments
    );
    Diagnostic::new(Code::EnvelopeTags, None, message)
}

/// Returns the files to name, and how many more there are.
fn named(files: &FileList) -> (Vec<&str>, usize) {
    let others = files.files.iter();
    let others = others.filter(|file| file.kind != FileKind::Instructions);
    let names: Vec<_> = others.map(|file| file.path.as_str()).take(NAMED).collect();
    // All but the `SKILL.md`, which every skill has.
    let unlisted = files.total.saturating_sub(1).saturating_sub(names.len());
    // Where a bound was reached, there is at least one more.
    let is_bounded = |finding: &Finding| finding.diagnostic.code == Code::BoundReached;
    let least = usize::from(files.findings.iter().any(is_bounded));
    (names, unlisted.max(least))
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
        let diagnostics = error.diagnostics();
        let mut sentences = vec![shortened(&error.with_cause(), ECHOED).into_owned()];
        sentences.extend(diagnostics.iter().take(FINDINGS).map(ToString::to_string));
        if diagnostics.len() > FINDINGS {
            sentences.push(format!("{} more findings", diagnostics.len() - FINDINGS));
        }
        self.render_error(&LoadFailure {
            id: &shortened(id, ECHOED),
            message: &sentences.join("; "),
            hint: error.hint(),
            nearest: &nearest,
        })
    }
}
