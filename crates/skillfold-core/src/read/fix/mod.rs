//! Corrects the text of a `SKILL.md` without changing what the skill says.
//!
//! What a correction may do is not left to the care of its author: each is made on trial, the file is read again, and
//! only what reads the same with fewer findings is kept.

mod edit;
mod file;
mod metadata;
mod text;
mod write;

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::limits::Limits;
use crate::read::fix::edit::{Edit, apply};
use crate::read::fix::text::Block;
use crate::read::frontmatter::{self, Extent, FenceSearch};
use crate::read::lint::lint;
use crate::read::parse::{self, FrontmatterReader, Parsed, parse};
use crate::read::rules::Profile;

/// How often a pass reads the file again to find the corrections that can be kept. Real files need one or two trials;
/// this bounds what a hostile one with hundreds of broken fields costs.
const MAX_TRIALS: usize = 64;

/// What came of correcting a `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fixed {
    /// The corrected file; `None` where nothing was changed.
    pub bytes: Option<Vec<u8>>,
    /// The findings that are gone, in the order of their place in the file as it was.
    pub fixed: Vec<Diagnostic>,
    /// The findings that remain, in the order of their place in the corrected file.
    pub left: Vec<Diagnostic>,
}

/// Corrects what can be corrected of a whole `SKILL.md` without changing what the skill says.
///
/// The corrected file gives the same [`Manifest`](crate::Manifest) and the same instructions, has fewer findings by
/// [`lint`] and none that it did not have. Correcting it again changes nothing. What is not concerned stays byte for
/// byte: comments, blank lines, the order of fields, the instructions.
///
/// ```
/// use skillfold_core::{Profile, fix};
///
/// let text = "---\nname: pdf # as the folder\ndescription: Use when: filling in forms\n---\nDo it.\n";
/// let fixed = fix(text.as_bytes(), "pdf", Profile::Spec);
/// assert_eq!(
///     String::from_utf8(fixed.bytes.unwrap()).unwrap(),
///     "---\nname: pdf # as the folder\ndescription: 'Use when: filling in forms'\n---\nDo it.\n"
/// );
/// assert_eq!(fixed.fixed[0].to_string(), "error[SF101]: Value of `description` has an unquoted `: `");
/// assert!(fixed.left.is_empty());
/// ```
///
/// In [`Profile::Spec`], lists of words in `tags` and `requires` are moved under `metadata` as a text with commas, which
/// is read as the same list and which strict clients accept; [`Manifest::metadata`](crate::Manifest::metadata) has them
/// then.
///
/// Every trial reads the file again; most files need one or two.
pub fn fix(bytes: &[u8], folder: &str, profile: Profile) -> Fixed {
    let skill = FixTarget { folder, profile };
    let original = skill.read(bytes.to_vec());
    let mut state = original.clone();
    // Each pass leaves fewer findings, so that there is a last one; it changes nothing.
    while let Some(next) = skill.pass(&state) {
        state = next;
    }
    Fixed {
        fixed: gone(&original.findings, &state.findings),
        bytes: (state.bytes != original.bytes).then_some(state.bytes),
        left: state.findings,
    }
}

/// Returns the findings that another file does not have any more.
fn gone(before: &[Diagnostic], after: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut gone = before.to_vec();
    for finding in after {
        let same = |other: &Diagnostic| other.code == finding.code;
        let at = gone
            .iter()
            .position(|other| same(other) && other.message == finding.message)
            .or_else(|| gone.iter().position(same));
        if let Some(at) = at {
            gone.remove(at);
        }
    }
    gone
}

/// A file on the way, with what was read of it.
#[derive(Clone)]
struct Draft {
    bytes: Vec<u8>,
    parsed: Parsed,
    findings: Vec<Diagnostic>,
}

impl Draft {
    fn has(&self, code: Code) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }

    fn body(&self) -> &[u8] {
        self.parsed
            .body
            .and_then(|body| self.bytes.get(body..))
            .unwrap_or_default()
    }

    /// Returns the codes of all findings, in order.
    fn codes(&self) -> Vec<Code> {
        let mut codes: Vec<_> = self.findings.iter().map(|finding| finding.code).collect();
        codes.sort_unstable();
        codes
    }
}

/// How far a corrected file may differ in what it says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Equivalence {
    /// The manifest is the same.
    Whole,
    /// Fields may have moved under `metadata`.
    Moved,
}

/// What the file is judged by.
struct FixTarget<'a> {
    folder: &'a str,
    profile: Profile,
}

impl FixTarget<'_> {
    fn read(&self, bytes: Vec<u8>) -> Draft {
        Draft {
            parsed: parse(&bytes, self.folder),
            findings: lint(&bytes, self.folder, self.profile),
            bytes,
        }
    }

    /// Makes the first kind of corrections of which one can be kept; `None` if there is nothing left to correct.
    fn pass(&self, state: &Draft) -> Option<Draft> {
        let limits = Limits::default();
        let FenceSearch::Found(cut) = frontmatter::cut(&state.bytes, Extent::Whole, &limits) else {
            return None;
        };
        let whole = file::edits(&state.bytes, &cut, &state.findings);
        if let Some(next) = self.keep(state, &whole, Equivalence::Whole) {
            return Some(next);
        }
        // Without a manifest there is nothing to compare the fields with.
        state.parsed.manifest.as_ref()?;
        let block = Block::of(&state.bytes, &cut)?;
        let mut edits = text::values(&block, &state.findings, &limits);
        let mut moves = Vec::new();
        parse::with_fields(
            &state.bytes,
            cut,
            FrontmatterReader::Lines,
            &limits,
            |entries, _, _| {
                edits.extend(text::spellings(&block, entries, &state.findings, &limits));
                if self.profile == Profile::Spec && block.is_yaml(&limits) {
                    moves = metadata::edits(&block, entries, &limits);
                }
                None
            },
        );
        self.keep(state, &edits, Equivalence::Whole)
            .or_else(|| self.keep(state, &moves, Equivalence::Moved))
    }

    /// Makes as many of the edits as can be kept: all at once, or else each half on its own.
    fn keep(&self, state: &Draft, edits: &[Edit], sameness: Equivalence) -> Option<Draft> {
        let mut trial = Trial {
            skill: self,
            state,
            sameness,
            kept: Vec::new(),
            best: None,
            left: MAX_TRIALS,
        };
        trial.make(edits);
        trial.best
    }
}

struct Trial<'a> {
    skill: &'a FixTarget<'a>,
    state: &'a Draft,
    sameness: Equivalence,
    kept: Vec<&'a Edit>,
    best: Option<Draft>,
    left: usize,
}

impl<'a> Trial<'a> {
    fn make(&mut self, edits: &'a [Edit]) {
        if edits.is_empty() || self.left == 0 {
            return;
        }
        self.left -= 1;
        let made = self.kept.iter().copied().chain(edits);
        let next = self.skill.read(apply(&self.state.bytes, made));
        if is_better(
            self.best.as_ref().unwrap_or(self.state),
            &next,
            self.sameness,
        ) {
            self.kept.extend(edits);
            self.best = Some(next);
        } else if edits.len() > 1 {
            let (first, second) = edits.split_at(edits.len() / 2);
            self.make(first);
            self.make(second);
        }
    }
}

/// Returns whether a file says the same as before and has fewer findings, none of them new.
fn is_better(before: &Draft, after: &Draft, sameness: Equivalence) -> bool {
    let same_manifest = match (&before.parsed.manifest, &after.parsed.manifest, sameness) {
        (Some(before), Some(after), Equivalence::Moved) => before.is_same_but_moved(after),
        (before, after, _) => before == after,
    };
    let same_body = if before.has(Code::CrlfLines) && !after.has(Code::CrlfLines) {
        without_carriage_returns(before.body()) == after.body()
    } else {
        before.body() == after.body()
    };
    same_manifest
        && same_body
        && (before.parsed.repaired || !after.parsed.repaired)
        && is_part(&after.codes(), &before.codes())
}

/// Returns whether all codes of one list are in the other, which has more. Both are in order.
fn is_part(codes: &[Code], all: &[Code]) -> bool {
    let mut all_codes = all.iter();
    codes.len() < all.len()
        && codes
            .iter()
            .all(|code| all_codes.any(|other| other == code))
}

fn without_carriage_returns(bytes: &[u8]) -> Vec<u8> {
    let is_kept = |(at, byte): &(usize, &u8)| **byte != b'\r' || bytes.get(at + 1) != Some(&b'\n');
    bytes
        .iter()
        .enumerate()
        .filter(is_kept)
        .map(|(_, byte)| *byte)
        .collect()
}
