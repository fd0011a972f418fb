//! A skill as a model gets it: its instructions and file names in an envelope, or the error in place of them.

use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Report, quoted};
use crate::error::Error;
use crate::load::digest::Digest;
use crate::load::envelope::sentences::is_id;
use crate::load::envelope::{Envelope, EnvelopeParts, LoadFailure};
use crate::load::files::{FileKind, FileList, SkillFile, list_all, page_by_mention};
use crate::load::instructions::Instructions;
use crate::load::loader::{Loader, check_refusal, log_refusal};
use crate::load::mentions::Mentions;
use crate::source::{Finding, Revision};
use crate::text::ellipsize;

/// Maximum files that an envelope lists; the rest is only counted.
const MAX_LISTED_FILES: usize = 50;

/// Maximum folder entries to walk when listing files. The largest real skills have a few hundred files; a skill with
/// many more must not slow down its load.
const MAX_WALK_ENTRIES: usize = 4_096;

/// Maximum characters of the requested id, and of the error, that an error text repeats.
const MAX_ECHOED_CHARACTERS: usize = 300;

/// Maximum findings that an error text or the notes name.
const MAX_FINDINGS: usize = 5;

/// A loaded skill in an envelope.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadedText {
    /// The text for the model.
    pub text: String,
    /// The instructions in it.
    pub instructions: Arc<Instructions>,
    /// Findings about this load and the envelope.
    pub notes: Vec<Diagnostic>,
    /// A digest of the names of all files, if the envelope lists files.
    file_names: Option<Digest>,
}

impl Loader {
    /// Loads a skill and wraps it in an envelope, with the names of its files if the envelope lists them.
    pub fn render(
        &self,
        entry: &Entry<'_>,
        arguments: &str,
        envelope: Envelope,
    ) -> Result<LoadedText, Error> {
        let instructions = self.load(entry, arguments)?;
        let tokens = instructions.tokens();
        Ok(Self::wrap_with(entry, instructions, envelope, tokens))
    }

    /// Wraps instructions that were just loaded in an envelope; see [`render`](Self::render). A `skill_context` does not
    /// say their size: this is for texts that nobody asked for, and that their host counts.
    pub fn wrap(
        &self,
        entry: &Entry<'_>,
        instructions: Arc<Instructions>,
        envelope: Envelope,
    ) -> LoadedText {
        let tokens = match envelope {
            Envelope::SkillContext => 0,
            _ => instructions.tokens(),
        };
        Self::wrap_with(entry, instructions, envelope, tokens)
    }

    fn wrap_with(
        entry: &Entry<'_>,
        instructions: Arc<Instructions>,
        envelope: Envelope,
        tokens: u64,
    ) -> LoadedText {
        let mut notes = instructions.notes().to_vec();
        let (files, digest) = if envelope.lists_files() {
            let (files, digest) = list_files(entry, &instructions, &mut notes);
            (files, Some(digest))
        } else {
            (FileList::default(), None)
        };
        let (names, unlisted) = listed_names(&files);
        let requires: Vec<&str> = instructions.requires().iter().map(|id| &**id).collect();
        let parts = EnvelopeParts {
            id: instructions.id(),
            body: instructions.body(),
            base_dir: instructions.base_dir(),
            tokens,
            requires: &requires,
            files: &names,
            unlisted,
        };
        let rendered = envelope.render(&parts);
        if rendered.neutralised > 0 {
            notes.push(neutralised_note(
                envelope,
                rendered.neutralised,
                &instructions,
            ));
        }
        let invalid = instructions.requires().iter().filter(|id| !is_id(id));
        notes.extend(invalid.take(MAX_FINDINGS).map(|id| {
            let message = format!("Entry of `requires` is not an id: {}", quoted(id));
            Diagnostic::new(Code::RequiredForm, None, message)
        }));
        LoadedText {
            file_names: digest,
            text: rendered.text,
            instructions,
            notes,
        }
    }

    /// Returns whether [`render`](Self::render) would return the same text again: the skill, the revision of its file
    /// and the names of its files are unchanged. Returns false if that is not certain.
    ///
    /// For hosts that cache what they build from a text. It is much cheaper than rendering: the revision of the file is
    /// checked, but the file is not read. A positive answer counts as a cache hit.
    pub fn is_current(&self, entry: &Entry<'_>, loaded: &LoadedText) -> bool {
        let instructions = &loaded.instructions;
        // The pointers are equal only if the file was settled at discovery and unchanged when it was loaded.
        let is_same = check_refusal(entry).is_ok()
            && loaded.notes.is_empty()
            && instructions.id() == entry.id()
            && Arc::ptr_eq(instructions.skill(), entry.skill())
            && has_revision(entry, instructions.revision())
            && loaded
                .file_names
                .as_ref()
                .is_none_or(|files| has_files(entry, *files));
        if is_same {
            self.count_hit();
        }
        is_same
    }
}

/// Returns whether a skill's file still has this revision.
fn has_revision(entry: &Entry<'_>, known: Revision) -> bool {
    let current = entry.root().source().revision(&entry.skill().folder);
    current.is_ok_and(|current| current == known)
}

/// Returns whether the names of a skill's files still have this digest, and listing them gives no findings.
fn has_files(entry: &Entry<'_>, known: Digest) -> bool {
    list_all(entry, MAX_WALK_ENTRIES)
        .is_ok_and(|found| found.findings.is_empty() && digest_names(&found.files) == known)
}

/// Returns the digest of the names of some files.
fn digest_names(files: &[SkillFile]) -> Digest {
    let mut names = String::new();
    for file in files {
        names.push_str(file.path.as_str());
        // No path contains NUL.
        names.push('\0');
    }
    Digest::sha256(names.as_bytes())
}

/// Returns the files to list, and a digest of all file names. A failure to list them is a note; the instructions are
/// given anyway.
fn list_files(
    entry: &Entry<'_>,
    instructions: &Instructions,
    notes: &mut Vec<Diagnostic>,
) -> (FileList, Digest) {
    let mentions = Mentions::find_in(instructions.raw());
    match log_refusal(entry, "", list_all(entry, MAX_WALK_ENTRIES)) {
        Ok(files) => {
            let findings = files.findings.iter();
            notes.extend(findings.map(|finding| finding.diagnostic.clone()));
            let digest = digest_names(&files.files);
            // One more, because the `SKILL.md` is not listed.
            (
                page_by_mention(files, &mentions, None, MAX_LISTED_FILES + 1),
                digest,
            )
        }
        Err(error) => {
            let message = format!("Could not list files: {}", error.with_cause());
            notes.report(Code::FolderUnreadable, None, message);
            (FileList::default(), digest_names(&[]))
        }
    }
}

/// Returns the note that tags were neutralised: how many in the instructions, and how many in the arguments.
fn neutralised_note(envelope: Envelope, count: usize, instructions: &Instructions) -> Diagnostic {
    let without_arguments = envelope.render(&EnvelopeParts {
        body: instructions.raw(),
        ..EnvelopeParts::default()
    });
    let in_arguments = count.saturating_sub(without_arguments.neutralised);
    let message = format!(
        "Tags of the envelope `{envelope}` were escaped: {} in the instructions, {in_arguments} in the arguments",
        count - in_arguments
    );
    Diagnostic::new(Code::EnvelopeTags, None, message)
}

/// Returns the names of the files to list, and how many more there are.
fn listed_names(files: &FileList) -> (Vec<&str>, usize) {
    let others = files.files.iter();
    let others = others.filter(|file| file.kind != FileKind::Instructions);
    let names: Vec<_> = others
        .map(|file| file.path.as_str())
        .take(MAX_LISTED_FILES)
        .collect();
    // One less for the `SKILL.md`, which every skill has.
    let unlisted = files.total.saturating_sub(1).saturating_sub(names.len());
    // If the listing stopped at a limit, there is at least one more file.
    let is_limit = |finding: &Finding| finding.diagnostic.code == Code::BoundReached;
    let min_unlisted = usize::from(files.findings.iter().any(is_limit));
    (names, unlisted.max(min_unlisted))
}

impl Envelope {
    /// Renders an error in place of the instructions, so that a model can go on: what went wrong, the hint, and the
    /// nearest ids.
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
        let mut sentences =
            vec![ellipsize(&error.with_cause(), MAX_ECHOED_CHARACTERS).into_owned()];
        sentences.extend(
            diagnostics
                .iter()
                .take(MAX_FINDINGS)
                .map(ToString::to_string),
        );
        if diagnostics.len() > MAX_FINDINGS {
            sentences.push(format!(
                "{} more findings",
                diagnostics.len() - MAX_FINDINGS
            ));
        }
        self.render_error(&LoadFailure {
            id: &ellipsize(id, MAX_ECHOED_CHARACTERS),
            message: &sentences.join("; "),
            hint: error.hint(),
            nearest: &nearest,
        })
    }
}
