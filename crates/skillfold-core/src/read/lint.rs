//! Judges a skill: the specification's rules, and rules of hygiene.

use crate::codes::{Code, Severity};
use crate::diagnostic::{Diagnostic, Position, Span, is_invisible, quoted};
use crate::error::Error;
use crate::limits::Limits;
use crate::name::ResourcePath;
use crate::read::field::Field;
use crate::read::frontmatter::{self, Extent, Outcome, count};
use crate::read::links::{self, Target};
use crate::read::manifest;
use crate::read::parse::{self, Reader};
use crate::read::rules::{self, Profile};
use crate::read::source::{Folder, SKILL_FILE, Source};
use crate::read::yaml::Entry;

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
        Outcome::Found(cut) => cut,
        Outcome::Refused(finding) => return vec![finding],
        Outcome::More => return Vec::new(),
    };
    let body = bytes.get(cut.body..).unwrap_or_default();
    let body_line = 1 + newlines(&bytes[..cut.body]);
    let mut findings = parse::with_fields(
        bytes,
        cut,
        Reader::Lines,
        limits,
        |entries, end, findings| {
            let manifest = manifest::convert(entries, folder, end, findings);
            rules::names(entries, folder, profile, findings);
            rules::fields(entries, profile, findings);
            hygiene(entries, findings);
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
        let message = format!("File has {size} bytes, and only the first {read} were looked at");
        findings.push(Diagnostic::new(
            Code::FileCut,
            Span::at(Position::START),
            message,
        ));
    }
    if let Outcome::Found(cut) = frontmatter::cut(&bytes, Extent::Whole, limits) {
        let body = String::from_utf8_lossy(&bytes[cut.body..]);
        broken_links(
            &body,
            1 + newlines(&bytes[..cut.body]),
            source,
            folder,
            limits,
            &mut findings,
        );
    }
    findings.sort_by_key(|finding| finding.span);
    parse::cap(&mut findings, limits);
    Ok(findings)
}

fn newlines(bytes: &[u8]) -> u32 {
    count(memchr::memchr_iter(b'\n', bytes).count())
}

/// Judges name and description by rules that no specification has.
fn hygiene(entries: &[Entry<'_>], findings: &mut Vec<Diagnostic>) {
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
        hidden_text(name, span, findings);
    }
    if let Some((description, span)) = rules::scalar(entries, Field::Description) {
        let length = description.chars().count();
        if length > DESCRIPTION_CHARACTERS {
            let message = format!(
                "Description is {length} characters long; some clients accept {DESCRIPTION_CHARACTERS}"
            );
            findings.push(Diagnostic::new(Code::DescriptionLong, span, message));
        }
        if description.contains(['<', '>']) {
            findings.push(Diagnostic::new(
                Code::AngleBrackets,
                span,
                "Description has angle brackets",
            ));
        }
        hidden_text(description, span, findings);
    }
}

/// Reports the first character of a text that a person does not see.
fn hidden_text(text: &str, span: Span, findings: &mut Vec<Diagnostic>) {
    if let Some(c) = text.chars().find(|c| is_invisible(*c)) {
        findings.push(Diagnostic::new(
            Code::HiddenText,
            span,
            format!("Invisible character U+{:04X}", u32::from(c)),
        ));
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
    for (line, number) in body.lines().zip(first_line..) {
        if let Some((column, c)) = line.chars().enumerate().find(|(_, c)| is_invisible(*c)) {
            let place = Position::new(number, count(column) + 1);
            findings.push(Diagnostic::new(
                Code::HiddenText,
                Span::at(place),
                format!("Invisible character U+{:04X}", u32::from(c)),
            ));
            break;
        }
    }
}

/// Reports links of the instructions that lead to no file of the skill.
fn broken_links(
    body: &str,
    first_line: u32,
    source: &dyn Source,
    folder: &Folder,
    limits: &Limits,
    findings: &mut Vec<Diagnostic>,
) {
    let (mut offset, mut line) = (0, first_line);
    for link in links::links(body) {
        let (code, what) = match &link.target {
            Target::Folder => continue,
            Target::Inside(path) if source.kind(folder, path).is_ok() => continue,
            Target::Outside => (Code::LinkOutside, "Link leads out of the folder"),
            Target::Inside(_) | Target::Nowhere => {
                (Code::BrokenLink, "Link leads to no file that can be read")
            }
        };
        // Links come in the order of the text; only what lies between two of them is counted.
        if link.range.start >= offset {
            line += newlines(&body.as_bytes()[offset..link.range.start]);
            offset = link.range.start;
        }
        let start = body[..offset].rfind('\n').map_or(0, |at| at + 1);
        let span = Span::at(Position::new(
            line,
            count(body[start..offset].chars().count()) + 1,
        ));
        findings.push(Diagnostic::new(
            code,
            span,
            format!("{what}: {}", quoted(&link.text)),
        ));
        if findings.len() > limits.findings {
            break;
        }
    }
}
