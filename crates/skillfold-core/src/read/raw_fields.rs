//! Reads all fields of a file's frontmatter, or of a YAML file, verbatim.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Span};
use crate::limits::Limits;
use crate::read::frontmatter::{self, Extent, FenceSearch};
use crate::read::parse::{FrontmatterReader, is_repair, read_fields};
use crate::read::value::{Fields, Value};
use crate::read::yaml::{self, Fault, Kind, MappingEntry};

/// Returns the frontmatter fields of a whole `SKILL.md`, verbatim and in file order.
///
/// Nothing is repaired: the error is the first finding that would need a repair, or the reason why there are no fields.
///
/// ```
/// let fields = skillfold_core::read::raw_frontmatter(b"---\nname: pdf\nx-own: [1, 2]\n---\n", &Default::default())?;
/// assert_eq!(fields.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["name", "x-own"]);
/// # Ok::<(), skillfold_core::Diagnostic>(())
/// ```
pub fn raw_frontmatter(bytes: &[u8], limits: &Limits) -> Result<Fields, Diagnostic> {
    let block = match frontmatter::find_fences(bytes, Extent::Whole, limits) {
        FenceSearch::Found(block) => block,
        FenceSearch::Refused(finding) => return Err(finding),
        // Cannot happen: the bytes are the whole file.
        FenceSearch::NeedMore => return Ok(Fields::default()),
    };
    let mut fields = Fields::default();
    let parsed = read_fields(
        bytes,
        block,
        FrontmatterReader::default(),
        limits,
        |entries, _, _| {
            fields = collect(entries);
            None
        },
    );
    let is_error = |finding: &Diagnostic| fields.is_empty() || is_repair(finding.code);
    match parsed.diagnostics.into_iter().find(is_error) {
        Some(finding) => Err(finding),
        None if fields.is_empty() => {
            let start = Span::at(Position::START);
            let message = "Frontmatter is empty";
            Err(Diagnostic::new(Code::MissingDescription, start, message))
        }
        None => Ok(fields),
    }
}

/// Returns the fields of a YAML file, verbatim and in file order. Nothing is repaired.
///
/// ```
/// let fields = skillfold_core::read::yaml_fields("id: clerk\nagent:\n  uses_skills: [pdf]\n", &Default::default())?;
/// assert!(fields.get("agent").is_some());
/// # Ok::<(), skillfold_core::Diagnostic>(())
/// ```
pub fn yaml_fields(text: &str, limits: &Limits) -> Result<Fields, Diagnostic> {
    let root = yaml::parse(text, 1, limits).map_err(Fault::into_diagnostic)?;
    match &root.kind {
        Kind::Map(entries) => Ok(collect(entries)),
        Kind::Scalar { .. } | Kind::List(_) => {
            let message = "File is not a mapping of fields";
            Err(Diagnostic::new(Code::NotAMapping, root.span, message))
        }
    }
}

fn collect(entries: &[MappingEntry<'_>]) -> Fields {
    let pairs = entries.iter();
    pairs
        .map(|entry| (&*entry.key, Value::from(&entry.value)))
        .collect()
}
