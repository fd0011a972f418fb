//! Lints a skill: the rules of the specification, and rules of hygiene.

use crate::author::field_rules::check_fields;
use crate::codes::{Code, Severity};
use crate::diagnostic::{Diagnostic, Position, Report, Span, quoted};
use crate::error::Error;
use crate::invisible::hidden_characters;
use crate::limits::Limits;
use crate::name::ResourcePath;
use crate::read::discover::drop_unneeded;
use crate::read::field::Field;
use crate::read::frontmatter::{self, Extent, FenceSearch, position_after, saturating_u32};
use crate::read::links::{self, Target};
use crate::read::manifest;
use crate::read::parse::{self, Completeness, FrontmatterReader};
use crate::read::rules::{self, Profile};
use crate::read::yaml::{Kind, MappingEntry, Node};
use crate::source::{Folder, SKILL_FILE, Source};

/// Placeholder for the description of a new skill.
pub const DESCRIPTION_PLACEHOLDER: &str =
    "Describe here what the skill does and when an agent should use it.";

/// Placeholder for the instructions of a new skill.
pub const BODY_PLACEHOLDER: &str = "Write here what the agent should do, step by step.";

/// Maximum findings counted per file, as a multiple of [`Limits::findings`]. Bounds the file lookups for broken links.
const COUNT_FACTOR: usize = 10;

const MAX_LINES: usize = 500;
const MAX_DESCRIPTION_CHARS: usize = 500;

/// Lints a whole `SKILL.md` in the folder named `folder`.
///
/// Findings are sorted by position. With [`Profile::Spec`], the file meets the specification if no finding is an error.
///
/// ```
/// use skillfold_core::author::lint;
/// use skillfold_core::read::Profile;
///
/// let findings = lint(b"---\nname: PDF\ndescription: Fills in forms\n---\nDo it.\n", "pdf", Profile::Spec);
/// assert_eq!(findings[0].to_string(), "error[SF303]: Name has upper-case letters: `PDF`");
/// ```
pub fn lint(bytes: &[u8], folder: &str, profile: Profile) -> Vec<Diagnostic> {
    lint_with(
        bytes,
        bytes.len() as u64,
        folder,
        profile,
        &Limits::default(),
    )
}

/// Lints the bytes of a file, which may be only its start; `size` is the size of the whole file.
fn lint_with(
    bytes: &[u8],
    size: u64,
    folder: &str,
    profile: Profile,
    limits: &Limits,
) -> Vec<Diagnostic> {
    let block = match frontmatter::find_fences(bytes, Extent::Whole, limits) {
        FenceSearch::Found(block) => block,
        FenceSearch::Refused(finding) => return lint_bare(bytes, size, folder, finding, limits),
        FenceSearch::NeedMore => return Vec::new(),
    };
    let body = bytes.get(block.body_start..).unwrap_or_default();
    let body_line = 1 + count_newlines(&bytes[..block.body_start]);
    let first_line = block.first_line;
    let block_text = String::from_utf8_lossy(&bytes[block.range.clone()]);
    let mut findings = parse::read_fields(
        bytes,
        block,
        FrontmatterReader::Lines,
        limits,
        |entries, end, findings| {
            let manifest = manifest::convert(entries, folder, body, end, findings);
            rules::check_name_and_description(entries, folder, profile, findings);
            check_fields(entries, profile, findings);
            check_hygiene(entries, findings);
            check_hidden_text(entries, &block_text, first_line, findings);
            manifest
        },
    )
    .diagnostics;
    findings.extend(parse::check_size(size, limits));
    check_body(&String::from_utf8_lossy(body), body_line, &mut findings);
    if profile == Profile::Spec {
        findings
            .iter_mut()
            .filter(|finding| parse::is_repair(finding.code))
            .for_each(|finding| finding.severity = Severity::Error);
    }
    findings.sort_by_key(|finding| finding.span);
    findings
}

/// Lints a file without frontmatter; see [`lint_with`].
fn lint_bare(
    bytes: &[u8],
    size: u64,
    folder: &str,
    finding: Diagnostic,
    limits: &Limits,
) -> Vec<Diagnostic> {
    let Some(parsed) = parse::read_bare(bytes, Extent::Whole, folder, finding) else {
        return Vec::new();
    };
    let mut findings = parsed.diagnostics;
    if let Some(start) = parsed.body_start {
        findings.extend(parse::check_size(size, limits));
        check_body(&String::from_utf8_lossy(&bytes[start..]), 1, &mut findings);
    }
    findings.sort_by_key(|finding| finding.span);
    findings
}

/// Lints a skill with its files: like [`lint`], and also checks that its links lead to existing files.
pub fn lint_skill(
    source: &dyn Source,
    folder: &Folder,
    profile: Profile,
    limits: &Limits,
) -> Result<Vec<Diagnostic>, Error> {
    let path: ResourcePath = SKILL_FILE
        .parse()
        .map_err(|_| Error::not_found(SKILL_FILE))?;
    let content = source.read(folder, &path, 0..limits.read_bytes)?;
    let bytes = content.bytes;
    let size = content.state.revision.size();
    let mut findings = lint_with(&bytes, size, folder.name(), profile, limits);
    drop_unneeded(&mut findings, source.layout());
    if size > bytes.len() as u64 {
        let read = bytes.len();
        let message = format!("File has {size} bytes, and only the first {read} were checked");
        findings.report(Code::FileCut, Span::at(Position::START), message);
    }
    let mut completeness = Completeness::All;
    if let FenceSearch::Found(block) = frontmatter::find_fences(&bytes, Extent::Whole, limits) {
        let body = String::from_utf8_lossy(&bytes[block.body_start..]);
        completeness = check_links(
            &body,
            1 + count_newlines(&bytes[..block.body_start]),
            source,
            folder,
            limits,
            &mut findings,
        );
    }
    findings.sort_by_key(|finding| finding.span);
    parse::cap_findings(&mut findings, completeness, limits);
    Ok(findings)
}

fn count_newlines(bytes: &[u8]) -> u32 {
    saturating_u32(memchr::memchr_iter(b'\n', bytes).count())
}

/// Checks the name and description against rules that are not in the specification.
fn check_hygiene(entries: &[MappingEntry<'_>], findings: &mut Vec<Diagnostic>) {
    if let Some((name, span)) = rules::find_scalar(entries, Field::Name) {
        if !name.is_ascii() {
            findings.report(
                Code::NameNotAscii,
                span,
                format!("Name has letters outside a to z: {}", quoted(name)),
            );
        }
        if let Some(word) = ["claude", "anthropic"]
            .into_iter()
            .find(|word| name.contains(word))
        {
            findings.report(
                Code::NameReserved,
                span,
                format!("Name contains `{word}`: {}", quoted(name)),
            );
        }
    }
    if let Some((description, span)) = rules::find_scalar(entries, Field::Description) {
        let length = description.chars().count();
        if length > MAX_DESCRIPTION_CHARS {
            let message = format!(
                "Description is {length} characters long; some clients accept {MAX_DESCRIPTION_CHARS}"
            );
            findings.report(Code::DescriptionLong, span, message);
        }
        let start = description.trim_start().trim_start_matches('[');
        if description.trim() == DESCRIPTION_PLACEHOLDER || start.starts_with("TODO") {
            let message = "Description is still the template's";
            findings.report(Code::Placeholder, span, message);
        }
        if description.contains(['<', '>']) {
            findings.report(Code::AngleBrackets, span, "Description has angle brackets");
        }
    }
}

/// Reports invisible characters in the values of the fields, or, if there are none, in the raw text with its comments.
fn check_hidden_text(
    entries: &[MappingEntry<'_>],
    block: &str,
    first_line: u32,
    findings: &mut Vec<Diagnostic>,
) {
    let before = findings.len();
    check_hidden_entries(entries, findings);
    if findings.len() == before {
        let raw = InvisibleCharacters::scan(block).0;
        let span_at = |offset| Span::at(position_after(&block[..offset], first_line));
        findings.extend(raw.to_finding(Code::HiddenText, span_at));
    }
}

fn check_hidden_entries(entries: &[MappingEntry<'_>], findings: &mut Vec<Diagnostic>) {
    for entry in entries {
        let key = InvisibleCharacters::scan(&entry.key).0;
        findings.extend(key.to_finding(Code::HiddenText, |_| entry.key_span));
        check_hidden_node(&entry.value, findings);
    }
}

fn check_hidden_node(node: &Node<'_>, findings: &mut Vec<Diagnostic>) {
    match &node.kind {
        Kind::Scalar { text, .. } => {
            let invisible = InvisibleCharacters::scan(text).0;
            findings.extend(invisible.to_finding(Code::HiddenText, |_| node.span));
        }
        Kind::List(items) => items
            .iter()
            .for_each(|item| check_hidden_node(item, findings)),
        Kind::Map(entries) => check_hidden_entries(entries, findings),
    }
}

/// The invisible characters, or the control characters, of a text.
#[derive(Default)]
struct InvisibleCharacters {
    first_offset: usize,
    count: usize,
    /// The first few distinct characters.
    examples: Vec<char>,
}

impl InvisibleCharacters {
    const MAX_EXAMPLES: usize = 4;

    /// Returns the invisible characters of a text, and its control characters except tabs and line ends.
    fn scan(text: &str) -> (Self, Self) {
        let (mut invisible, mut controls) = (Self::default(), Self::default());
        for (offset, c) in hidden_characters(text) {
            match c {
                '\t' | '\n' => {}
                '\r' if text[offset..].starts_with("\r\n") => {}
                c if c.is_control() => controls.add(offset, c),
                c => invisible.add(offset, c),
            }
        }
        (invisible, controls)
    }

    fn add(&mut self, offset: usize, c: char) {
        if self.count == 0 {
            self.first_offset = offset;
        }
        self.count += 1;
        if self.examples.len() < Self::MAX_EXAMPLES && !self.examples.contains(&c) {
            self.examples.push(c);
        }
    }

    /// Returns one finding for all characters, at the position of the first.
    fn to_finding(&self, code: Code, span_at: impl Fn(usize) -> Span) -> Option<Diagnostic> {
        let (one, many) = match code {
            Code::BodyControls => ("Control character", "control characters"),
            _ => ("Invisible character", "invisible characters"),
        };
        let examples: Vec<_> = self
            .examples
            .iter()
            .map(|c| format!("U+{:04X}", u32::from(*c)))
            .collect();
        let examples = examples.join(", ");
        let message = match self.count {
            0 => return None,
            1 => format!("{one} {examples}"),
            number => format!("{number} {many}, such as {examples}"),
        };
        Some(Diagnostic::new(code, span_at(self.first_offset), message))
    }
}

/// Lints the instructions, which start on line `first_line`.
fn check_body(body: &str, first_line: u32, findings: &mut Vec<Diagnostic>) {
    let start = Position::new(first_line, 1);
    if body.trim().is_empty() {
        findings.report(
            Code::BodyEmpty,
            Span::at(start),
            "Skill has no instructions",
        );
    }
    let lines = body.lines().count() + first_line as usize - 1;
    if lines > MAX_LINES {
        let message = format!("File has {lines} lines, more than {MAX_LINES}");
        findings.report(Code::BodyLines, Span::at(start), message);
    }
    let span_at = |offset| Span::at(position_after(&body[..offset], first_line));
    if let Some(offset) = body.find(BODY_PLACEHOLDER) {
        let message = "Instructions are still the template's";
        findings.report(Code::Placeholder, span_at(offset), message);
    }
    let (invisible, controls) = InvisibleCharacters::scan(body);
    findings.extend(invisible.to_finding(Code::HiddenText, span_at));
    findings.extend(controls.to_finding(Code::BodyControls, span_at));
}

/// Reports links that do not lead to a file of the skill.
fn check_links(
    body: &str,
    first_line: u32,
    source: &dyn Source,
    folder: &Folder,
    limits: &Limits,
    findings: &mut Vec<Diagnostic>,
) -> Completeness {
    let (mut offset, mut line, mut column) = (0, first_line, 1);
    let max_findings = limits.findings.saturating_mul(COUNT_FACTOR);
    let mut completeness = Completeness::All;
    for link in links::file_links(body) {
        let (code, what) = match &link.target {
            Target::Folder => continue,
            // Always checked, so that many broken links cannot hide an unsafe one.
            Target::Outside => (Code::LinkOutside, "Link points outside the skill's folder"),
            Target::Inside(_) | Target::Invalid if findings.len() >= max_findings => {
                completeness = Completeness::AtLeast;
                continue;
            }
            Target::Inside(path) if source.kind(folder, path).is_ok() => continue,
            Target::Inside(_) | Target::Invalid => {
                (Code::BrokenLink, "Link target is missing or unreadable")
            }
        };
        // Links come in text order, so only the text between two of them has to be counted.
        if let Some(between) = body.get(offset..link.range.start) {
            line += count_newlines(between.as_bytes());
            let last_line = between.rsplit('\n').next().unwrap_or_default();
            let start = if last_line == between { column } else { 1 };
            column = start + saturating_u32(last_line.chars().count());
            offset = link.range.start;
        }
        let span = Span::at(Position::new(line, column));
        findings.report(code, span, format!("{what}: {}", quoted(&link.text)));
        if findings.len() > max_findings {
            return Completeness::AtLeast;
        }
    }
    completeness
}
