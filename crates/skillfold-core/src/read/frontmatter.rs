//! Cuts `SKILL.md` into frontmatter and body: by bytes and by lines, before any YAML.

use std::borrow::Cow;
use std::ops::Range;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Span, quoted};
use crate::limits::Limits;

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether the bytes at hand are all of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The file ends where the bytes end.
    Whole,
    /// The file goes on.
    Head,
}

/// Where the frontmatter of a file is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrontmatterBlock {
    /// The bytes between the fences.
    pub(crate) block: Range<usize>,
    /// The line of the file on which the block starts.
    pub(crate) first_line: u32,
    /// The offset of the first byte of the body.
    pub(crate) body: usize,
    /// What is odd about the fences.
    pub(crate) findings: Vec<Diagnostic>,
}

/// What came of looking for the fences.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FenceSearch {
    /// Both fences are there, or the second was made good.
    Found(FrontmatterBlock),
    /// There is no frontmatter.
    Refused(Diagnostic),
    /// The closing fence is not in the head; read more of the file.
    More,
}

/// Looks for the fences of `bytes`.
///
/// The block opens with the first line that is not blank, which must be `---`, and closes with the next line that is
/// `---`; white space after a fence is allowed, before it not. A `---` inside a value or in the body does not count.
///
/// # Deviation
///
/// A leading byte-order mark and blank lines are skipped, and a missing closing fence is made good where the
/// instructions start. The specification is silent on the first and forbids the others; all are reported.
pub(crate) fn cut(bytes: &[u8], extent: Extent, limits: &Limits) -> FenceSearch {
    // A line that the head ends in the middle of may be anything.
    let bytes = match extent {
        Extent::Whole => bytes,
        Extent::Head => whole_lines(bytes),
    };
    let mut findings = Vec::new();
    let mut lines = ByteLines {
        bytes,
        at: 0,
        number: 0,
    };
    if bytes.starts_with(BYTE_ORDER_MARK) {
        findings.push(at_start(
            Code::ByteOrderMark,
            "File starts with a byte-order mark",
        ));
        lines.at = BYTE_ORDER_MARK.len();
    }
    let Some(opening) = lines.find(|line| !line.trim_ascii().is_empty()) else {
        return if extent == Extent::Head {
            FenceSearch::More
        } else {
            FenceSearch::Refused(no_frontmatter(bytes, 1))
        };
    };
    if bytes[opening.clone()].trim_ascii_end() != b"---" {
        return FenceSearch::Refused(no_frontmatter(&bytes[opening], lines.number));
    }
    if lines.number > 1 {
        let line = Position::new(lines.number, 1);
        findings.push(Diagnostic::new(
            Code::LateFence,
            Span::at(line),
            format!("Frontmatter starts on line {}", line.line),
        ));
    }
    if bytes[opening].ends_with(b"\r") {
        findings.push(at_start(
            Code::CrlfLines,
            "Lines end with carriage return and line feed",
        ));
    }
    let first_line = lines.number + 1;
    let start = lines.at;
    let within = match bytes.get(..start.saturating_add(limits.frontmatter_bytes)) {
        Some(within) => whole_lines(within),
        None => bytes,
    };
    let mut block = ByteLines {
        bytes: within,
        at: start,
        number: lines.number,
    };
    if let Some(closing) =
        block.find(|line| line.starts_with(b"---") && line.trim_ascii_end() == b"---")
    {
        return FenceSearch::Found(FrontmatterBlock {
            block: start..closing.start,
            first_line,
            body: block.at,
            findings,
        });
    }
    if extent == Extent::Head && within.len() == bytes.len() {
        return FenceSearch::More;
    }
    unclosed(
        within,
        start,
        first_line,
        extent,
        limits,
        findings,
        within.len() < bytes.len(),
    )
}

/// Returns the bytes up to the end of the last whole line.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    memchr::memrchr(b'\n', bytes).map_or(&[], |end| &bytes[..=end])
}

/// Ends a block that has no closing fence where the instructions start, or refuses it.
fn unclosed(
    within: &[u8],
    start: usize,
    first_line: u32,
    extent: Extent,
    limits: &Limits,
    mut findings: Vec<Diagnostic>,
    cut_short: bool,
) -> FenceSearch {
    let opening = Span::at(Position::new(first_line - 1, 1));
    let end_counts = !cut_short && extent == Extent::Whole;
    match instructions_start(&within[start..], end_counts) {
        Some((end, body)) => {
            findings.push(Diagnostic::new(
                Code::RepairedFence,
                opening,
                "Frontmatter is not closed",
            ));
            FenceSearch::Found(FrontmatterBlock {
                block: start..start + end,
                first_line,
                body: start + body,
                findings,
            })
        }
        None if cut_short || extent == Extent::Head => FenceSearch::Refused(Diagnostic::new(
            Code::FrontmatterTooLarge,
            opening,
            format!(
                "Frontmatter is not closed within {} bytes",
                limits.frontmatter_bytes
            ),
        )),
        None => FenceSearch::Refused(Diagnostic::new(
            Code::UnclosedFrontmatter,
            opening,
            "Frontmatter is not closed",
        )),
    }
}

/// Returns where a block without a closing fence ends and where the instructions start: at a fence with text glued to
/// it, at the first heading after a field, after the first blank line that no field follows, or, if
/// the file ends there, at the end.
fn instructions_start(block: &[u8], end_counts: bool) -> Option<(usize, usize)> {
    let mut lines = ByteLines {
        bytes: block,
        at: 0,
        number: 0,
    };
    let (mut fields, mut blank, mut after_blank) = (0, false, None);
    while let Some(range) = lines.next() {
        let (line, start) = (&block[range.clone()], range.start);
        if line.trim_ascii().is_empty() {
            blank = true;
            continue;
        }
        if fields > 0
            && line
                .strip_prefix(b"---")
                .is_some_and(|rest| !rest.starts_with(b"-"))
        {
            return Some((start, start + 3));
        }
        if fields > 0 && is_heading(line) {
            return Some((start, start));
        }
        if is_field(line) {
            fields += 1;
        } else if blank && fields > 0 && !line.starts_with(b" ") && after_blank.is_none() {
            after_blank = Some((start, start));
        }
        blank = false;
    }
    after_blank.or_else(|| (end_counts && fields > 0).then_some((block.len(), block.len())))
}

/// Returns whether a line is a Markdown heading. As YAML it would be a comment.
fn is_heading(line: &[u8]) -> bool {
    let hashes = line.iter().take_while(|byte| **byte == b'#').count();
    (1..=6).contains(&hashes) && line.get(hashes) == Some(&b' ')
}

/// Returns whether a line starts with a field's name and a colon in the first column.
fn is_field(line: &[u8]) -> bool {
    field_name_length(line).is_some()
}

/// Returns the length of the field's name that a line starts with, if a colon follows it.
pub(crate) fn field_name_length(line: &[u8]) -> Option<usize> {
    let length = line
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        .count();
    let starts_well = line
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    (starts_well && line.get(length) == Some(&b':')).then_some(length)
}

/// The text of a block, made safe to read: UTF-8, line feeds only, no control characters.
pub(crate) struct Cleaned<'a> {
    pub(crate) text: Cow<'a, str>,
    /// The places in it before which a control character was taken out, in order.
    removed: Vec<Position>,
}

impl Cleaned<'_> {
    /// Moves findings about the text to their places in the file.
    pub(crate) fn place(&self, findings: &mut [Diagnostic]) {
        if self.removed.is_empty() {
            return;
        }
        for span in findings.iter_mut().filter_map(|one| one.span.as_mut()) {
            for place in [&mut span.start, &mut span.end] {
                let line = Position::new(place.line, 0);
                let before = self.removed.partition_point(|removed| *removed < line);
                let up_to = self.removed.partition_point(|removed| *removed <= *place);
                place.column += count(up_to - before);
            }
        }
    }
}

/// Returns the text of a block, made safe to read.
pub(crate) fn clean<'a>(
    bytes: &'a [u8],
    first_line: u32,
    findings: &mut Vec<Diagnostic>,
) -> Cleaned<'a> {
    let mut removed = Vec::new();
    let mut text = match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            let place = position(
                &String::from_utf8_lossy(&bytes[..error.valid_up_to()]),
                first_line,
            );
            findings.push(Diagnostic::new(
                Code::NotUtf8,
                Span::at(place),
                format!("Byte {:#04x} is not UTF-8", bytes[error.valid_up_to()]),
            ));
            String::from_utf8_lossy(bytes)
        }
    };
    if !may_have_controls(bytes) {
        return Cleaned { text, removed };
    }
    if text.contains("\r\n") || text.ends_with('\r') {
        text = Cow::Owned(text.replace("\r\n", "\n").trim_end_matches('\r').to_owned());
    }
    if let Some(offset) = text.find(is_unwanted_control) {
        let c = text[offset..].chars().next().unwrap_or_default();
        findings.push(Diagnostic::new(
            Code::ControlCharacters,
            Span::at(position(&text[..offset], first_line)),
            format!("Control character U+{:04X}", u32::from(c)),
        ));
        let (kept, places) = without_controls(&text, first_line);
        (text, removed) = (Cow::Owned(kept), places);
    }
    Cleaned { text, removed }
}

/// Returns a text without control characters, and the places in it before which one stood.
fn without_controls(text: &str, first_line: u32) -> (String, Vec<Position>) {
    let mut kept = String::with_capacity(text.len());
    let mut removed = Vec::new();
    let mut place = Position::new(first_line, 1);
    for c in text.chars() {
        if is_unwanted_control(c) {
            removed.push(place);
            continue;
        }
        kept.push(c);
        place = match c {
            '\n' => Position::new(place.line + 1, 1),
            _ => Position::new(place.line, place.column + 1),
        };
    }
    (kept, removed)
}

/// Returns whether there may be control characters other than tab and line feed.
///
/// One pass over the bytes, without a branch in it, decides whether anyone has to look at characters.
pub(crate) fn may_have_controls(bytes: &[u8]) -> bool {
    let found = bytes.iter().fold(0, |found, byte| {
        let control = u8::from(*byte < b' ') & u8::from(*byte != b'\t') & u8::from(*byte != b'\n');
        found | control | u8::from(*byte == 0x7f) | u8::from(*byte == 0xc2)
    });
    found != 0
}

/// Returns whether a character commands a terminal or nothing at all.
pub(crate) fn is_unwanted_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n')
}

/// Returns the position after `before`, which starts on line `first_line`.
pub(crate) fn position(before: &str, first_line: u32) -> Position {
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count();
    Position::new(first_line + count(line), count(column) + 1)
}

/// Returns a count of lines or columns; blocks are far shorter than `u32::MAX` bytes.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn at_start(code: Code, message: &str) -> Diagnostic {
    Diagnostic::new(code, Span::at(Position::START), message)
}

fn no_frontmatter(line: &[u8], number: u32) -> Diagnostic {
    let span = Span::at(Position::new(number, 1));
    if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") || line.contains(&0) {
        return Diagnostic::new(Code::OtherEncoding, span, "File is not encoded as UTF-8");
    }
    let text = String::from_utf8_lossy(line);
    let message = match text.trim() {
        "" => "File is empty".to_owned(),
        text => format!("Expected `---`, found {}", quoted(text)),
    };
    Diagnostic::new(Code::NoFrontmatter, span, message)
}

/// The lines of some bytes, with their number; a line's range is without its line feed.
struct ByteLines<'a> {
    bytes: &'a [u8],
    at: usize,
    number: u32,
}

impl ByteLines<'_> {
    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest);
        let line = self.at..self.at + length.unwrap_or(rest.len());
        self.at = line.end + usize::from(length.is_some());
        self.number += 1;
        Some(line)
    }

    fn find(&mut self, mut wanted: impl FnMut(&[u8]) -> bool) -> Option<Range<usize>> {
        while let Some(line) = self.next() {
            if wanted(&self.bytes[line.clone()]) {
                return Some(line);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Extent, FenceSearch, clean, cut};
    use crate::limits::Limits;

    fn check(text: &str, extent: Extent) -> String {
        match cut(text.as_bytes(), extent, &Limits::default()) {
            FenceSearch::Found(cut) => {
                let codes: Vec<_> = cut
                    .findings
                    .iter()
                    .map(|finding| finding.code.number())
                    .collect();
                format!(
                    "{:?} {} {:?} {codes:?}",
                    &text[cut.block],
                    cut.first_line,
                    &text[cut.body..]
                )
            }
            FenceSearch::Refused(finding) => {
                format!("{finding} at {}", finding.span.unwrap().start)
            }
            FenceSearch::More => "more".to_owned(),
        }
    }

    #[test]
    fn fence_is_a_line_and_not_a_substring() {
        insta::assert_snapshot!(
            check("---\na: left --- right\nb: |\n  ---\n---- \n---  \nBody\n---\n", Extent::Whole),
            @r#""a: left --- right\nb: |\n  ---\n---- \n" 2 "Body\n---\n" []"#
        );
        insta::assert_snapshot!(check("---\r\na: b\r\n---\r\nBody", Extent::Whole), @r#""a: b\r\n" 2 "Body" ["SF106"]"#);
        insta::assert_snapshot!(check("---\n---", Extent::Whole), @r#""" 2 "" []"#);
    }

    #[test]
    fn byte_order_mark_and_blank_lines_before_the_fence_are_skipped_and_reported() {
        insta::assert_snapshot!(
            check("\u{feff}\n \n---\na: b\n---\n", Extent::Whole),
            @r#""a: b\n" 4 "" ["SF105", "SF111"]"#
        );
    }

    #[test]
    fn file_without_frontmatter_is_refused_with_what_stands_there() {
        insta::assert_snapshot!(check("# Title\n", Extent::Whole), @"error[SF001]: Expected `---`, found `# Title` at 1:1");
        insta::assert_snapshot!(check("", Extent::Whole), @"error[SF001]: File is empty at 1:1");
        insta::assert_snapshot!(check("--- name: x ---\n", Extent::Whole), @"error[SF001]: Expected `---`, found `--- name: x ---` at 1:1");
        insta::assert_snapshot!(check("#\0 \0T\0", Extent::Whole), @"error[SF009]: File is not encoded as UTF-8 at 1:1");
    }

    #[test]
    fn head_without_a_closing_fence_asks_for_more() {
        insta::assert_snapshot!(check("---\na: b\n", Extent::Head), @"more");
        insta::assert_snapshot!(check("\n\n", Extent::Head), @"more");
    }

    #[test]
    fn missing_closing_fence_is_made_good_before_a_heading() {
        insta::assert_snapshot!(
            check("---\nname: a\ndescription: b\n\n# Title\nText\n", Extent::Whole),
            @r##""name: a\ndescription: b\n\n" 2 "# Title\nText\n" ["SF109"]"##
        );
        insta::assert_snapshot!(
            check("---\nname: a\n\nSome text.\n", Extent::Whole),
            @r#""name: a\n\n" 2 "Some text.\n" ["SF109"]"#
        );
        insta::assert_snapshot!(
            check("---\nname: a\n---# Title\nText\n", Extent::Whole),
            @r##""name: a\n" 2 "# Title\nText\n" ["SF109"]"##
        );
        insta::assert_snapshot!(check("---\nname: a\n", Extent::Whole), @r#""name: a\n" 2 "" ["SF109"]"#);
        insta::assert_snapshot!(check("---\ntext\n", Extent::Whole), @"error[SF002]: Frontmatter is not closed at 1:1");
    }

    #[test]
    fn frontmatter_over_the_limit_is_refused() {
        let text = format!("---\n{}---\n", "x\n".repeat(40_000));
        insta::assert_snapshot!(check(&text, Extent::Whole), @"error[SF003]: Frontmatter is not closed within 65536 bytes at 1:1");
    }

    #[test]
    fn text_is_cleaned_with_the_place_of_what_was_removed() {
        let mut findings = Vec::new();
        assert_eq!(
            clean(b"a: b\nc: d\x1b[0m\xff\r\n", 2, &mut findings).text,
            "a: b\nc: d[0m\u{fffd}\n"
        );
        let shown: Vec<_> = findings
            .iter()
            .map(|f| format!("{f} at {}", f.span.unwrap().start))
            .collect();
        insta::assert_debug_snapshot!(shown, @r#"
        [
            "warning[SF004]: Byte 0xff is not UTF-8 at 3:9",
            "warning[SF108]: Control character U+001B at 3:5",
        ]
        "#);
    }
}
