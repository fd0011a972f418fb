//! From the bytes of a `SKILL.md` to its manifest, with everything that was odd on the way.

use std::cmp::Reverse;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Span};
use crate::limits::{BYTES_PER_TOKEN, Limits};
use crate::read::frontmatter::{self, Extent, FenceSearch, FrontmatterBlock};
use crate::read::manifest::{self, Manifest};
use crate::read::rules::{self, Profile};
use crate::read::yaml::{self, Kind, MappingEntry, Node};
use crate::read::{line_reader, repair};

/// Which reader looks at a frontmatter block first. Both give the same skill, which tests and fuzz targets compare; only the
/// words of a syntax error may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrontmatterReader {
    /// The line reader, and the YAML parser where it declines.
    #[default]
    Lines,
    /// The YAML parser alone.
    Yaml,
}

/// What was read of one `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parsed {
    /// The skill, unless it was refused.
    pub manifest: Option<Manifest>,
    /// The offset of the first byte of the instructions; the end of the frontmatter's closing line.
    pub body: Option<usize>,
    /// Whether the frontmatter was not valid as it stands and was repaired.
    pub repaired: bool,
    /// What was found, in the order of reading. A refused skill has at least one error with its place.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a whole `SKILL.md` that stands in the folder named `folder`.
///
/// Never fails: what could not be read is in the diagnostics.
///
/// ```
/// // The stray colon would cost the skill elsewhere.
/// let parsed = skillfold_core::parse(b"---\nname: pdf\ndescription: Use when: filling in forms\n---\n# PDF\n", "pdf");
/// assert_eq!(parsed.manifest.unwrap().description(), "Use when: filling in forms");
/// assert!(parsed.repaired);
/// ```
pub fn parse(bytes: &[u8], folder: &str) -> Parsed {
    parse_with(
        bytes,
        folder,
        FrontmatterReader::default(),
        &Limits::default(),
    )
}

/// Reads a whole `SKILL.md` with a chosen reader and limits; see [`parse`].
pub fn parse_with(
    bytes: &[u8],
    folder: &str,
    reader: FrontmatterReader,
    limits: &Limits,
) -> Parsed {
    let size = bytes.len() as u64;
    // The whole file is at hand, so there is always an answer.
    parse_head(bytes, Extent::Whole, size, folder, reader, limits)
        .unwrap_or_else(|| refused(Vec::new()))
}

/// Reads the head of a file of `size` bytes; `None` if the head does not hold the whole frontmatter.
pub(crate) fn parse_head(
    bytes: &[u8],
    extent: Extent,
    size: u64,
    folder: &str,
    reader: FrontmatterReader,
    limits: &Limits,
) -> Option<Parsed> {
    let cut = match frontmatter::cut(bytes, extent, limits) {
        FenceSearch::More => return None,
        FenceSearch::Refused(finding) => return Some(refused(vec![finding])),
        FenceSearch::Found(cut) => cut,
    };
    let body = cut.body;
    let mut parsed = with_fields(bytes, cut, reader, limits, |entries, end, findings| {
        let manifest = manifest::convert(entries, folder, end, findings);
        rules::names(entries, folder, Profile::Lenient, findings);
        manifest
    });
    parsed.body = Some(body);
    if parsed.manifest.is_some() {
        parsed.diagnostics.extend(oversize(size, limits));
    }
    Some(parsed)
}

/// Reads the block of a cut into fields and hands them to `convert` with the place after the last field.
pub(crate) fn with_fields(
    bytes: &[u8],
    cut: FrontmatterBlock,
    reader: FrontmatterReader,
    limits: &Limits,
    convert: impl FnOnce(
        &[MappingEntry<'_>],
        &dyn Fn() -> Position,
        &mut Vec<Diagnostic>,
    ) -> Option<Manifest>,
) -> Parsed {
    let FrontmatterBlock {
        block,
        first_line,
        mut findings,
        ..
    } = cut;
    let cleaned = frontmatter::clean(&bytes[block], first_line, &mut findings);
    let of_file = findings.len();
    let text = &*cleaned.text;
    let root = mapping(text, first_line, reader, limits, &mut findings);
    let manifest = root.as_ref().map(|root| {
        // Only a field that is missing asks for this place.
        let end = || {
            let lines = text.bytes().filter(|byte| *byte == b'\n').count();
            Position::new(first_line + frontmatter::count(lines), 1)
        };
        convert(root, &end, &mut findings)
    });
    cleaned.place(&mut findings[of_file..]);
    let Some(manifest) = manifest else {
        return refused(findings);
    };
    let repaired = findings.iter().any(|finding| is_repair(finding.code));
    cap(&mut findings, Completeness::All, limits);
    Parsed {
        manifest,
        body: None,
        repaired,
        diagnostics: findings,
    }
}

/// Reads a block into the fields of a mapping; `None` if it is none.
fn mapping<'a>(
    text: &'a str,
    first_line: u32,
    reader: FrontmatterReader,
    limits: &Limits,
    findings: &mut Vec<Diagnostic>,
) -> Option<Vec<MappingEntry<'a>>> {
    let mut root = fields(text, first_line, reader, limits, findings)?;
    repair::commented_description(&mut root, text, first_line, findings);
    let is_null = root.is_null();
    let (code, message) = match root.kind {
        Kind::Map(entries) => return Some(entries),
        _ if is_null => (Code::MissingDescription, "Frontmatter is empty"),
        _ => (Code::NotAMapping, "Frontmatter is not a mapping of fields"),
    };
    findings.push(Diagnostic::new(code, root.span, message));
    None
}

/// Reads a block into a tree: by its lines, as YAML, or by repair; `None` if it has no field.
fn fields<'a>(
    text: &'a str,
    first_line: u32,
    reader: FrontmatterReader,
    limits: &Limits,
    findings: &mut Vec<Diagnostic>,
) -> Option<Node<'a>> {
    let quick = match reader {
        FrontmatterReader::Lines => line_reader::read(text, first_line, limits),
        FrontmatterReader::Yaml => line_reader::LineReading::Declined,
    };
    let read = match quick {
        // The line reader declines what would have to be reported.
        line_reader::LineReading::Tree(root) => return Some(root),
        line_reader::LineReading::Broken(fault) => Err(fault),
        line_reader::LineReading::Declined => yaml::parse(text, first_line, limits),
    };
    let mut root = match read {
        Ok(root) => root,
        Err(fault) => {
            let repaired = repair::repair(text, first_line, &fault, limits, findings);
            if repaired.is_none() {
                findings.push(fault.into_diagnostic());
                let start = Span::at(Position::new(first_line, 1));
                findings.push(Diagnostic::new(
                    Code::NotAMapping,
                    start,
                    "Frontmatter has no field",
                ));
            }
            repaired?
        }
    };
    yaml::remove_controls(&mut root, findings);
    yaml::report_keys(&root, findings);
    Some(root)
}

/// Whether what is wrong with a file was looked for to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completeness {
    All,
    AtLeast,
}

/// Keeps as many findings of one file as are reported one by one, and counts the rest. What may deceive is kept first, then
/// the errors.
pub(crate) fn cap(findings: &mut Vec<Diagnostic>, counted: Completeness, limits: &Limits) {
    let Some(more) = findings
        .len()
        .checked_sub(limits.findings)
        .filter(|more| *more > 0)
    else {
        return;
    };
    findings.sort_by_key(|finding| Reverse((finding.code.is_about_safety(), finding.severity)));
    findings.truncate(limits.findings);
    findings.sort_by_key(|finding| finding.span);
    let message = match counted {
        Completeness::All => format!("{more} more findings are not listed"),
        Completeness::AtLeast => format!("At least {more} more findings are not listed"),
    };
    findings.push(Diagnostic::new(
        Code::MoreFindings,
        Span::at(Position::START),
        message,
    ));
}

fn refused(diagnostics: Vec<Diagnostic>) -> Parsed {
    Parsed {
        manifest: None,
        body: None,
        repaired: false,
        diagnostics,
    }
}

/// Returns whether a code says that the frontmatter is not valid as it stands, though it could be read.
pub(crate) fn is_repair(code: Code) -> bool {
    match code {
        Code::ByteOrderMark | Code::CrlfLines => false,
        Code::NotUtf8 => true,
        code => {
            (Code::YamlSyntax..=Code::YamlComplexKey).contains(&code)
                || (Code::RepairedColon..=Code::RepairedIndent).contains(&code)
        }
    }
}

/// Warns about a file that is larger than an agent should load at once, by an estimate from its size.
pub(crate) fn oversize(size: u64, limits: &Limits) -> Option<Diagnostic> {
    let tokens = size / BYTES_PER_TOKEN;
    (tokens > limits.skill_tokens).then(|| {
        let message = format!(
            "File has about {tokens} tokens, the limit is {}",
            limits.skill_tokens
        );
        Diagnostic::new(Code::Oversize, Span::at(Position::START), message)
    })
}

/// Whether the line reader keeps its promise on a block of text; for tests.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Agreement {
    /// It leaves the block to the parser.
    Declined,
    /// It says of the block what the parser says, positions included.
    Same,
    /// It does not.
    Different,
}

/// Compares the line reader with the parser on a block of text; for tests.
#[doc(hidden)]
pub fn readers_agree(text: &str) -> Agreement {
    let limits = Limits::default();
    let same = match line_reader::read(text, 1, &limits) {
        line_reader::LineReading::Declined => return Agreement::Declined,
        line_reader::LineReading::Tree(root) => yaml::parse(text, 1, &limits) == Ok(root),
        line_reader::LineReading::Broken(_) => yaml::parse(text, 1, &limits).is_err(),
    };
    if same {
        Agreement::Same
    } else {
        Agreement::Different
    }
}
