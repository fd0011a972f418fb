//! The frontmatter of a file as it stands, every field of it.

use crate::diagnostic::Diagnostic;
use crate::limits::Limits;
use crate::read::frontmatter::{self, Extent, FenceSearch};
use crate::read::parse::{FrontmatterReader, is_repair, with_fields};
use crate::read::value::{Fields, Value};

/// Returns the fields of the frontmatter of a whole `SKILL.md`, as they stand and in their order. Nothing is repaired: the
/// error is the first thing that would have to be, or the reason why there are no fields.
///
/// ```
/// let fields = skillfold_core::raw_frontmatter(b"---\nname: pdf\nx-own: [1, 2]\n---\n", &Default::default())?;
/// assert_eq!(fields.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["name", "x-own"]);
/// # Ok::<(), skillfold_core::DiagnosticView>(())
/// ```
pub fn raw_frontmatter(bytes: &[u8], limits: &Limits) -> Result<Fields, Diagnostic> {
    let cut = match frontmatter::cut(bytes, Extent::Whole, limits) {
        FenceSearch::Found(cut) => cut,
        FenceSearch::Refused(finding) => return Err(finding),
        // The whole file is at hand.
        FenceSearch::More => return Ok(Fields::default()),
    };
    let mut fields = Fields::default();
    let parsed = with_fields(
        bytes,
        cut,
        FrontmatterReader::default(),
        limits,
        |entries, _, _| {
            let pairs = entries
                .iter()
                .map(|entry| (&*entry.key, Value::from(&entry.value)));
            fields = pairs.collect();
            None
        },
    );
    let is_odd = |finding: &Diagnostic| fields.is_empty() || is_repair(finding.code);
    match parsed.diagnostics.into_iter().find(is_odd) {
        Some(finding) => Err(finding),
        None => Ok(fields),
    }
}
