//! Judges a skill: the specification's rules, and rules of hygiene.

use crate::codes::{Code, Severity};
use crate::diagnostic::{Diagnostic, Position, Span, quoted};
use crate::error::Error;
use crate::invisible::hidden_characters;
use crate::limits::Limits;
use crate::name::ResourcePath;
use crate::read::field::Field;
use crate::read::frontmatter::{self, Extent, FenceSearch, count, position};
use crate::read::links::{self, Target};
use crate::read::manifest;
use crate::read::parse::{self, Completeness, FrontmatterReader};
use crate::read::rules::{self, Profile};
use crate::read::source::{Folder, SKILL_FILE, Source};
use crate::read::yaml::{Kind, MappingEntry, Node};

/// What a new skill has in place of its description.
pub const DESCRIPTION_PLACEHOLDER: &str =
    "Describe here what the skill does and when an agent should use it.";

/// What a new skill has in place of its instructions.
pub const BODY_PLACEHOLDER: &str = "Write here what the agent should do, step by step.";

/// Findings of one file that are counted, as a multiple of those that are listed: each dead link is a look at the disk.
const COUNTED: usize = 10;

const BODY_LINES: usize = 500;
const DESCRIPTION_CHARACTERS: usize = 500;

/// Judges a whole `SKILL.md` that stands in the folder named `folder`.
///
/// Findings are in the order of their place in the file. In [`Profile::Spec`] the file meets the specification if no
/// finding is an error.
///
/// ```
/// use skillfold_core::{Profile, lint};
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

/// Judges the start of a file, or all of it; `size` is that of the file.
fn lint_with(
    bytes: &[u8],
    size: u64,
    folder: &str,
    profile: Profile,
    limits: &Limits,
) -> Vec<Diagnostic> {
    let cut = match frontmatter::cut(bytes, Extent::Whole, limits) {
        FenceSearch::Found(cut) => cut,
        FenceSearch::Refused(finding) => return vec![finding],
        FenceSearch::More => return Vec::new(),
    };
    let body = bytes.get(cut.body..).unwrap_or_default();
    let body_line = 1 + newlines(&bytes[..cut.body]);
    let (block, first_line) = (&bytes[cut.block.clone()], cut.first_line);
    let block = String::from_utf8_lossy(block);
    let mut findings = parse::with_fields(
        bytes,
        cut,
        FrontmatterReader::Lines,
        limits,
        |entries, end, findings| {
            let manifest = manifest::convert(entries, folder, end, findings);
            rules::names(entries, folder, profile, findings);
            rules::fields(entries, profile, findings);
            hygiene(entries, findings);
            hidden_fields(entries, &block, first_line, findings);
            manifest
        },
    )
    .diagnostics;
    findings.extend(parse::oversize(size, limits));
    body_rules(&String::from_utf8_lossy(body), body_line, &mut findings);
    if profile == Profile::Spec {
        findings
            .iter_mut()
            .filter(|finding| parse::is_repair(finding.code))
            .for_each(|finding| finding.severity = Severity::Error);
    }
    findings.sort_by_key(|finding| finding.span);
    findings
}

/// Judges a skill with its files: as [`lint`] does, and that its links lead to files that it has.
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
    let size = content.state.revision.size;
    let mut findings = lint_with(&bytes, size, folder.name(), profile, limits);
    if size > bytes.len() as u64 {
        let read = bytes.len();
        let message = format!("File has {size} bytes, and only the first {read} were checked");
        findings.push(Diagnostic::new(
            Code::FileCut,
            Span::at(Position::START),
            message,
        ));
    }
    let mut counted = Completeness::All;
    if let FenceSearch::Found(cut) = frontmatter::cut(&bytes, Extent::Whole, limits) {
        let body = String::from_utf8_lossy(&bytes[cut.body..]);
        counted = broken_links(
            &body,
            1 + newlines(&bytes[..cut.body]),
            source,
            folder,
            limits,
            &mut findings,
        );
    }
    findings.sort_by_key(|finding| finding.span);
    parse::cap(&mut findings, counted, limits);
    Ok(findings)
}

fn newlines(bytes: &[u8]) -> u32 {
    count(memchr::memchr_iter(b'\n', bytes).count())
}

/// Judges name and description by rules that no specification has.
fn hygiene(entries: &[MappingEntry<'_>], findings: &mut Vec<Diagnostic>) {
    if let Some((name, span)) = rules::scalar(entries, Field::Name) {
        if !name.is_ascii() {
            findings.push(Diagnostic::new(
                Code::NameNotAscii,
                span,
                format!("Name has letters outside a to z: {}", quoted(name)),
            ));
        }
        if let Some(word) = ["claude", "anthropic"]
            .into_iter()
            .find(|word| name.contains(word))
        {
            findings.push(Diagnostic::new(
                Code::NameReserved,
                span,
                format!("Name contains `{word}`: {}", quoted(name)),
            ));
        }
    }
    if let Some((description, span)) = rules::scalar(entries, Field::Description) {
        let length = description.chars().count();
        if length > DESCRIPTION_CHARACTERS {
            let message = format!(
                "Description is {length} characters long; some clients accept {DESCRIPTION_CHARACTERS}"
            );
            findings.push(Diagnostic::new(Code::DescriptionLong, span, message));
        }
        let start = description.trim_start().trim_start_matches('[');
        if description.trim() == DESCRIPTION_PLACEHOLDER || start.starts_with("TODO") {
            let message = "Description is still the one of a template";
            findings.push(Diagnostic::new(Code::Placeholder, span, message));
        }
        if description.contains(['<', '>']) {
            findings.push(Diagnostic::new(
                Code::AngleBrackets,
                span,
                "Description has angle brackets",
            ));
        }
    }
}

/// Reports what nobody sees of the fields: in what they say, or else in how they are written, with the comments.
fn hidden_fields(
    entries: &[MappingEntry<'_>],
    block: &str,
    first_line: u32,
    findings: &mut Vec<Diagnostic>,
) {
    let before = findings.len();
    hidden_values(entries, findings);
    if findings.len() == before {
        let raw = InvisibleCharacters::of(block).0;
        let place = |at| Span::at(position(&block[..at], first_line));
        findings.extend(raw.finding(Code::HiddenText, place));
    }
}

fn hidden_values(entries: &[MappingEntry<'_>], findings: &mut Vec<Diagnostic>) {
    for entry in entries {
        let key = InvisibleCharacters::of(&entry.key).0;
        findings.extend(key.finding(Code::HiddenText, |_| entry.key_span));
        hidden_value(&entry.value, findings);
    }
}

fn hidden_value(node: &Node<'_>, findings: &mut Vec<Diagnostic>) {
    match &node.kind {
        Kind::Scalar { text, .. } => {
            let invisible = InvisibleCharacters::of(text).0;
            findings.extend(invisible.finding(Code::HiddenText, |_| node.span));
        }
        Kind::List(items) => items.iter().for_each(|item| hidden_value(item, findings)),
        Kind::Map(entries) => hidden_values(entries, findings),
    }
}

/// Characters of one kind that a person does not see.
#[derive(Default)]
struct InvisibleCharacters {
    first: usize,
    number: usize,
    /// The first few that differ.
    examples: Vec<char>,
}

impl InvisibleCharacters {
    const EXAMPLES: usize = 4;

    /// Returns what is invisible in a text, and its control characters but for tabs and line ends.
    fn of(text: &str) -> (Self, Self) {
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
        if self.number == 0 {
            self.first = offset;
        }
        self.number += 1;
        if self.examples.len() < Self::EXAMPLES && !self.examples.contains(&c) {
            self.examples.push(c);
        }
    }

    /// Returns one finding for all of them, at the place of the first.
    fn finding(&self, code: Code, place: impl Fn(usize) -> Span) -> Option<Diagnostic> {
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
        let message = match self.number {
            0 => return None,
            1 => format!("{one} {examples}"),
            number => format!("{number} {many}, such as {examples}"),
        };
        Some(Diagnostic::new(code, place(self.first), message))
    }
}

/// Judges the instructions, which start on line `first_line`.
fn body_rules(body: &str, first_line: u32, findings: &mut Vec<Diagnostic>) {
    let start = Position::new(first_line, 1);
    if body.trim().is_empty() {
        findings.push(Diagnostic::new(
            Code::BodyEmpty,
            Span::at(start),
            "Skill has no instructions",
        ));
    }
    let lines = body.lines().count() + first_line as usize - 1;
    if lines > BODY_LINES {
        let message = format!("File has {lines} lines, more than {BODY_LINES}");
        findings.push(Diagnostic::new(Code::BodyLines, Span::at(start), message));
    }
    if let Some(at) = body.find(BODY_PLACEHOLDER) {
        let place = Span::at(position(&body[..at], first_line));
        let message = "Instructions are still those of a template";
        findings.push(Diagnostic::new(Code::Placeholder, place, message));
    }
    let (invisible, controls) = InvisibleCharacters::of(body);
    let place = |at| Span::at(position(&body[..at], first_line));
    findings.extend(invisible.finding(Code::HiddenText, place));
    findings.extend(controls.finding(Code::BodyControls, place));
}

/// Reports links of the instructions that lead to no file of the skill.
fn broken_links(
    body: &str,
    first_line: u32,
    source: &dyn Source,
    folder: &Folder,
    limits: &Limits,
    findings: &mut Vec<Diagnostic>,
) -> Completeness {
    let (mut offset, mut line, mut column) = (0, first_line, 1);
    let most = limits.findings.saturating_mul(COUNTED);
    let mut counted = Completeness::All;
    for link in links::links(body) {
        let (code, what) = match &link.target {
            Target::Folder => continue,
            // However many are dead, one that may deceive is found.
            Target::Outside => (Code::LinkOutside, "Link points outside the skill's folder"),
            Target::Inside(_) | Target::Nowhere if findings.len() >= most => {
                counted = Completeness::AtLeast;
                continue;
            }
            Target::Inside(path) if source.kind(folder, path).is_ok() => continue,
            Target::Inside(_) | Target::Nowhere => {
                (Code::BrokenLink, "Link target is missing or unreadable")
            }
        };
        // Links come in the order of the text; only what lies between two of them is counted.
        if let Some(between) = body.get(offset..link.range.start) {
            line += newlines(between.as_bytes());
            let last = between.rsplit('\n').next().unwrap_or_default();
            let before = if last == between { column } else { 1 };
            column = before + count(last.chars().count());
            offset = link.range.start;
        }
        let span = Span::at(Position::new(line, column));
        findings.push(Diagnostic::new(
            code,
            span,
            format!("{what}: {}", quoted(&link.text)),
        ));
        if findings.len() > most {
            return Completeness::AtLeast;
        }
    }
    counted
}
