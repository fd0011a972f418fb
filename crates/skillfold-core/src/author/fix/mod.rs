//! Corrects the text of a `SKILL.md` without changing what the skill says.
//!
//! Corrections are not trusted to be correct: each is tried, the file is read again, and the result is kept only if it
//! reads the same with fewer findings.

mod edit;
mod write;

mod file;
mod text;

mod metadata;

use crate::author::fix::edit::{Edit, apply};
use crate::author::fix::text::Block;
use crate::author::lint::lint;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::limits::Limits;
use crate::read::frontmatter::{self, Extent, FenceSearch};
use crate::read::parse::{self, FrontmatterReader, Parsed, parse};
use crate::read::rules::Profile;

/// Maximum trials per set of edits; each trial reads the file again. Real files need one or two. This bounds the cost
/// of a hostile file with hundreds of broken fields.
const MAX_TRIALS: usize = 64;

/// The result of fixing a `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fixed {
    /// The corrected file; `None` if nothing was changed.
    pub bytes: Option<Vec<u8>>,
    /// The findings that were fixed, sorted by position in the original file.
    pub fixed: Vec<Diagnostic>,
    /// The findings that remain, sorted by position in the corrected file.
    pub remaining: Vec<Diagnostic>,
}

/// Fixes what can be fixed in a whole `SKILL.md` without changing what the skill says.
///
/// The corrected file has the same [`Manifest`](crate::Manifest) and instructions, fewer [`lint`] findings and no new
/// ones. Fixing it again changes nothing. Everything else stays byte for byte: comments, blank lines, the order of
/// fields, the instructions. The only exception is a file with CRLF line ends, which gets Unix line ends throughout.
///
/// ```
/// use skillfold_core::author::fix;
/// use skillfold_core::read::Profile;
///
/// let text = "---\nname: pdf # as the folder\ndescription: Use when: filling in forms\n---\nDo it.\n";
/// let fixed = fix(text.as_bytes(), "pdf", Profile::Spec);
/// assert_eq!(
///     String::from_utf8(fixed.bytes.unwrap()).unwrap(),
///     "---\nname: pdf # as the folder\ndescription: 'Use when: filling in forms'\n---\nDo it.\n"
/// );
/// assert_eq!(fixed.fixed[0].to_string(), "error[SF101]: Value of `description` has an unquoted `: `");
/// assert!(fixed.remaining.is_empty());
/// ```
///
/// With [`Profile::Spec`], lists of words in `tags` and `requires` are moved under `metadata` as comma-separated text,
/// which strict clients accept and which is read as the same list. They then also appear in
/// [`Manifest::metadata`](crate::Manifest::metadata).
///
/// Every trial reads the file again; most files need one or two.
pub fn fix(bytes: &[u8], folder: &str, profile: Profile) -> Fixed {
    let target = FixTarget { folder, profile };
    let original = target.read(bytes.to_vec());
    if !is_fixable(&original.findings) {
        return Fixed {
            bytes: None,
            fixed: Vec::new(),
            remaining: original.findings,
        };
    }
    let mut draft = original.clone();
    // Terminates because each pass leaves fewer findings.
    while let Some(next) = target.run_pass(&draft) {
        draft = next;
    }
    Fixed {
        fixed: fixed_findings(&original.findings, &draft.findings),
        bytes: (draft.bytes != original.bytes).then_some(draft.bytes),
        remaining: draft.findings,
    }
}

/// Returns whether [`fix`] may remove one of these findings of a file, without reading it: what is too long stays too long.
pub fn is_fixable(findings: &[Diagnostic]) -> bool {
    let is_length = |code| {
        matches!(
            code,
            Code::Oversize | Code::DescriptionLength | Code::DescriptionLong
        )
    };
    !findings.iter().all(|finding| is_length(finding.code))
}

/// Returns the findings of the original file that the corrected file no longer has.
fn fixed_findings(before: &[Diagnostic], after: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut fixed = before.to_vec();
    for finding in after {
        let has_same_code = |other: &Diagnostic| other.code == finding.code;
        let index = fixed
            .iter()
            .position(|other| has_same_code(other) && other.message == finding.message)
            .or_else(|| fixed.iter().position(has_same_code));
        if let Some(index) = index {
            fixed.remove(index);
        }
    }
    fixed
}

/// A version of the file, with its manifest and findings.
#[derive(Clone)]
struct Draft {
    bytes: Vec<u8>,
    parsed: Parsed,
    findings: Vec<Diagnostic>,
}

impl Draft {
    fn has_finding(&self, code: Code) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }

    fn body(&self) -> &[u8] {
        self.parsed
            .body_start
            .and_then(|body| self.bytes.get(body..))
            .unwrap_or_default()
    }

    /// Returns the codes of all findings, sorted.
    fn codes(&self) -> Vec<Code> {
        let mut codes: Vec<_> = self.findings.iter().map(|finding| finding.code).collect();
        codes.sort_unstable();
        codes
    }
}

/// How much the manifest of a corrected file may differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Equivalence {
    /// The manifest must be the same.
    Exact,
    /// Fields may have moved under `metadata`.
    Moved,
}

/// The folder name and profile that the file is linted with.
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

    /// Applies the first kind of corrections of which at least one can be kept; `None` if nothing is left to fix.
    fn run_pass(&self, draft: &Draft) -> Option<Draft> {
        let limits = Limits::default();
        let FenceSearch::Found(frontmatter) =
            frontmatter::find_fences(&draft.bytes, Extent::Whole, &limits)
        else {
            return None;
        };
        let file_edits = file::edits(&draft.bytes, &frontmatter, &draft.findings);
        if let Some(next) = self.apply_edits(draft, &file_edits, Equivalence::Exact) {
            return Some(next);
        }
        // Without a manifest there is nothing to compare the result with.
        draft.parsed.manifest.as_ref()?;
        let block = Block::new(&draft.bytes, &frontmatter)?;
        let mut edits = text::value_edits(&block, &draft.findings, &limits);
        let mut moves = Vec::new();
        parse::read_fields(
            &draft.bytes,
            frontmatter,
            FrontmatterReader::Lines,
            &limits,
            |entries, _, _| {
                edits.extend(text::spelling_edits(
                    &block,
                    entries,
                    &draft.findings,
                    &limits,
                ));
                if self.profile == Profile::Spec && block.is_yaml(&limits) {
                    moves = metadata::edits(&block, entries, &limits);
                }
                None
            },
        );
        self.apply_edits(draft, &edits, Equivalence::Exact)
            .or_else(|| self.apply_edits(draft, &moves, Equivalence::Moved))
    }

    /// Applies as many of the edits as can be kept: all at once, or else each half separately.
    fn apply_edits(
        &self,
        draft: &Draft,
        edits: &[Edit],
        equivalence: Equivalence,
    ) -> Option<Draft> {
        let mut trial = Trial {
            target: self,
            draft,
            equivalence,
            kept: Vec::new(),
            best: None,
            trials_left: MAX_TRIALS,
        };
        trial.try_edits(edits);
        trial.best
    }
}

/// Searches for the edits that can be kept, by bisection.
struct Trial<'a> {
    target: &'a FixTarget<'a>,
    draft: &'a Draft,
    equivalence: Equivalence,
    kept: Vec<&'a Edit>,
    best: Option<Draft>,
    trials_left: usize,
}

impl<'a> Trial<'a> {
    fn try_edits(&mut self, edits: &'a [Edit]) {
        if edits.is_empty() || self.trials_left == 0 {
            return;
        }
        self.trials_left -= 1;
        let candidates = self.kept.iter().copied().chain(edits);
        let next = self.target.read(apply(&self.draft.bytes, candidates));
        if is_better(
            self.best.as_ref().unwrap_or(self.draft),
            &next,
            self.equivalence,
        ) {
            self.kept.extend(edits);
            self.best = Some(next);
        } else if edits.len() > 1 {
            let (first, second) = edits.split_at(edits.len() / 2);
            self.try_edits(first);
            self.try_edits(second);
        }
    }
}

/// Returns whether a file reads the same as before and has fewer findings, none of them new.
fn is_better(before: &Draft, after: &Draft, equivalence: Equivalence) -> bool {
    let same_manifest = match (&before.parsed.manifest, &after.parsed.manifest, equivalence) {
        (Some(before), Some(after), Equivalence::Moved) => before.is_same_except_moved(after),
        (before, after, _) => before == after,
    };
    let same_body = if before.has_finding(Code::CrlfLines) && !after.has_finding(Code::CrlfLines) {
        strip_carriage_returns(before.body()) == after.body()
    } else {
        before.body() == after.body()
    };
    same_manifest
        && same_body
        && (before.parsed.repaired || !after.parsed.repaired)
        && is_strict_subset(&after.codes(), &before.codes())
}

/// Returns whether `codes` is a proper sub-multiset of `all`. Both are sorted.
fn is_strict_subset(codes: &[Code], all: &[Code]) -> bool {
    let mut all_codes = all.iter();
    codes.len() < all.len()
        && codes
            .iter()
            .all(|code| all_codes.any(|other| other == code))
}

/// Removes the carriage returns before line feeds.
fn strip_carriage_returns(bytes: &[u8]) -> Vec<u8> {
    let is_kept = |(at, byte): &(usize, &u8)| **byte != b'\r' || bytes.get(at + 1) != Some(&b'\n');
    bytes
        .iter()
        .enumerate()
        .filter(is_kept)
        .map(|(_, byte)| *byte)
        .collect()
}
