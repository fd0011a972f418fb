//! Parses the bytes of a `SKILL.md` into a manifest and diagnostics.

use std::cmp::Reverse;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Report, Span};
use crate::limits::{BYTES_PER_TOKEN, Limits};
use crate::read::frontmatter::{self, Extent, FenceSearch, FrontmatterBlock};
use crate::read::manifest::{self, Manifest};
use crate::read::rules::{self, Profile};
use crate::read::yaml::{self, Kind, MappingEntry, Node};
use crate::read::{bare, line_reader, repair};

/// Which reader is tried first on a frontmatter block. Both give the same skill, as tests and fuzz targets verify; only
/// the wording of a syntax error may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrontmatterReader {
    /// The line reader, with the YAML parser as fallback.
    #[default]
    Lines,
    /// The YAML parser alone.
    Yaml,
}

/// The result of parsing a `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parsed {
    /// The manifest; `None` if the skill was refused.
    pub manifest: Option<Manifest>,
    /// The byte offset of the instructions, right after the closing fence.
    pub body_start: Option<usize>,
    /// Whether the frontmatter was invalid and had to be repaired.
    pub repaired: bool,
    /// The findings, in the order of reading. A refused skill has at least one error with a position.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a whole `SKILL.md` in the folder named `folder`.
///
/// Never fails: what could not be read is reported in the diagnostics.
///
/// ```
/// // Because of the stray colon, other clients drop this skill.
/// let parsed = skillfold_core::read::parse(b"---\nname: pdf\ndescription: Use when: filling in forms\n---\n# PDF\n", "pdf");
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

/// Parses a whole `SKILL.md` with the given reader and limits; see [`parse`].
pub fn parse_with(
    bytes: &[u8],
    folder: &str,
    reader: FrontmatterReader,
    limits: &Limits,
) -> Parsed {
    let size = bytes.len() as u64;
    // Never `None`, because the bytes are the whole file.
    parse_head(bytes, Extent::Whole, size, folder, reader, limits)
        .unwrap_or_else(|| refuse(Vec::new()))
}

/// Parses the head of a file of `size` bytes; `None` if it does not contain the whole frontmatter.
pub(crate) fn parse_head(
    bytes: &[u8],
    extent: Extent,
    size: u64,
    folder: &str,
    reader: FrontmatterReader,
    limits: &Limits,
) -> Option<Parsed> {
    let block = match frontmatter::find_fences(bytes, extent, limits) {
        FenceSearch::NeedMore => return None,
        FenceSearch::Refused(finding) => {
            let mut parsed = read_bare(bytes, extent, folder, finding)?;
            if parsed.manifest.is_some() {
                parsed.diagnostics.extend(check_size(size, limits));
            }
            return Some(parsed);
        }
        FenceSearch::Found(block) => block,
    };
    let body_start = block.body_start;
    let body = bytes.get(body_start..).unwrap_or_default();
    let mut parsed = read_fields(bytes, block, reader, limits, |entries, end, findings| {
        let manifest = manifest::convert(entries, folder, body, end, findings);
        rules::check_name_and_description(entries, folder, Profile::Lenient, findings);
        manifest
    });
    let is_described_by = |finding: &Diagnostic| finding.code == Code::DescriptionFromBody;
    if is_cut(body, extent) && parsed.diagnostics.iter().any(is_described_by) {
        return None;
    }
    parsed.body_start = Some(body_start);
    if parsed.manifest.is_some() {
        parsed.diagnostics.extend(check_size(size, limits));
    }
    Some(parsed)
}

/// Reads a file without frontmatter: the whole file is instructions, as in Claude Code. `finding` says why there is no
/// frontmatter. Returns `None` if more of the file is needed.
pub(crate) fn read_bare(
    bytes: &[u8],
    extent: Extent,
    folder: &str,
    finding: Diagnostic,
) -> Option<Parsed> {
    // A block over the limit hides where the instructions start, and other encodings cannot be shown to a model.
    if !matches!(
        finding.code,
        Code::NoFrontmatter | Code::UnclosedFrontmatter
    ) {
        return Some(refuse(vec![finding]));
    }
    if is_cut(bytes, extent) {
        return None;
    }
    let searched = &bytes[..bytes.len().min(bare::SEARCHED_BYTES)];
    if searched.contains(&0) {
        return Some(refuse(vec![frontmatter::other_encoding()]));
    }
    let is_marked = bytes.starts_with(frontmatter::BYTE_ORDER_MARK);
    let body_start = if is_marked {
        frontmatter::BYTE_ORDER_MARK.len()
    } else {
        0
    };
    let mut findings = vec![finding];
    if bare::is_link_text(bytes) {
        let message = "File is the path of another file, written by git for a symbolic link";
        findings.report(Code::LinkAsText, Span::at(Position::START), message);
    }
    Some(Parsed {
        manifest: manifest::convert_bare(folder, bytes, &mut findings),
        body_start: Some(body_start),
        repaired: false,
        diagnostics: findings,
    })
}

/// Returns whether a sentence of the instructions may go on after the bytes that were read.
fn is_cut(body: &[u8], extent: Extent) -> bool {
    extent == Extent::Head && body.len() < bare::SEARCHED_BYTES
}

/// Reads the fields of a block and passes them to `convert`, with a function that returns the position after the last
/// one.
pub(crate) fn read_fields(
    bytes: &[u8],
    block: FrontmatterBlock,
    reader: FrontmatterReader,
    limits: &Limits,
    convert: impl FnOnce(
        &[MappingEntry<'_>],
        &dyn Fn() -> Position,
        &mut Vec<Diagnostic>,
    ) -> Option<Manifest>,
) -> Parsed {
    let FrontmatterBlock {
        range,
        first_line,
        mut findings,
        ..
    } = block;
    let cleaned = frontmatter::clean(&bytes[range], first_line, &mut findings);
    let placed = findings.len();
    let text = &*cleaned.text;
    let root = read_mapping(text, first_line, reader, limits, &mut findings);
    // Computed lazily: only needed to report a missing field.
    let end = || {
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        Position::new(first_line + frontmatter::saturating_u32(lines), 1)
    };
    let manifest = convert(&root, &end, &mut findings);
    cleaned.restore_positions(&mut findings[placed..]);
    let repaired = findings.iter().any(|finding| is_repair(finding.code));
    cap_findings(&mut findings, Completeness::All, limits);
    Parsed {
        manifest,
        body_start: None,
        repaired,
        diagnostics: findings,
    }
}

/// Reads a block into the entries of a mapping, which are none if it is not a mapping.
fn read_mapping<'a>(
    text: &'a str,
    first_line: u32,
    reader: FrontmatterReader,
    limits: &Limits,
    findings: &mut Vec<Diagnostic>,
) -> Vec<MappingEntry<'a>> {
    let Some(mut root) = read_tree(text, first_line, reader, limits, findings) else {
        return Vec::new();
    };
    repair::recover_commented_description(&mut root, text, first_line, findings);
    let is_null = root.is_null();
    match root.kind {
        Kind::Map(entries) => return entries,
        _ if is_null => {}
        _ => {
            let message = "Frontmatter is not a mapping of fields";
            findings.report(Code::NotAMapping, root.span, message);
        }
    }
    Vec::new()
}

/// Reads a block into a tree: with the line reader, as YAML, or by repair; `None` if it has no fields.
fn read_tree<'a>(
    text: &'a str,
    first_line: u32,
    reader: FrontmatterReader,
    limits: &Limits,
    findings: &mut Vec<Diagnostic>,
) -> Option<Node<'a>> {
    let line_reading = match reader {
        FrontmatterReader::Lines => line_reader::read(text, first_line, limits),
        FrontmatterReader::Yaml => line_reader::LineReading::Declined,
    };
    let parsed = match line_reading {
        // The line reader declines blocks with anything to report.
        line_reader::LineReading::Tree(root) => return Some(root),
        line_reader::LineReading::Broken(fault) => Err(fault),
        line_reader::LineReading::Declined => yaml::parse(text, first_line, limits),
    };
    let mut root = match parsed {
        Ok(root) => root,
        Err(fault) => {
            let repaired = repair::repair(text, first_line, &fault, limits, findings);
            if repaired.is_none() {
                findings.push(fault.into_diagnostic());
                let start = Span::at(Position::new(first_line, 1));
                findings.report(Code::NotAMapping, start, "Frontmatter has no field");
            }
            repaired?
        }
    };
    yaml::remove_controls(&mut root, findings);
    yaml::report_bad_keys(&root, findings);
    Some(root)
}

/// Whether all findings of a file were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completeness {
    All,
    AtLeast,
}

/// Keeps at most [`Limits::findings`] findings of one file and counts the rest. Findings about safety are kept first,
/// then errors.
pub(crate) fn cap_findings(
    findings: &mut Vec<Diagnostic>,
    completeness: Completeness,
    limits: &Limits,
) {
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
    let message = match completeness {
        Completeness::All => format!("{more} more findings are not listed"),
        Completeness::AtLeast => format!("At least {more} more findings are not listed"),
    };
    findings.report(Code::MoreFindings, Span::at(Position::START), message);
}

fn refuse(diagnostics: Vec<Diagnostic>) -> Parsed {
    Parsed {
        manifest: None,
        body_start: None,
        repaired: false,
        diagnostics,
    }
}

/// Returns whether a code means that the frontmatter is invalid, although it could be read.
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

/// Warns about a file whose estimated tokens exceed what an agent should load at once.
pub(crate) fn check_size(size: u64, limits: &Limits) -> Option<Diagnostic> {
    let tokens = size / BYTES_PER_TOKEN;
    (tokens > limits.skill_tokens).then(|| {
        let message = format!(
            "File has about {tokens} tokens, the limit is {}",
            limits.skill_tokens
        );
        Diagnostic::new(Code::Oversize, Span::at(Position::START), message)
    })
}

/// Whether the line reader agrees with the parser on a block; for tests.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Agreement {
    /// The line reader leaves the block to the parser.
    Declined,
    /// Both give the same tree, including positions, or both refuse the block.
    Same,
    /// The results differ.
    Different,
}

/// Compares the line reader with the parser on a block; for tests.
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
