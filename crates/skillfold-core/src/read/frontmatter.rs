//! Splits `SKILL.md` into frontmatter and body, by bytes and lines, before any YAML parsing.

use std::borrow::Cow;
use std::ops::Range;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Report, Span, quoted};
use crate::limits::Limits;

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether the given bytes are the whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The file ends where the bytes end.
    Whole,
    /// The bytes are only the start of the file.
    Head,
}

/// The location of a file's frontmatter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrontmatterBlock {
    /// The byte range between the fences.
    pub(crate) range: Range<usize>,
    /// The line number on which the block starts.
    pub(crate) first_line: u32,
    /// The offset of the first byte of the body.
    pub(crate) body_start: usize,
    /// Findings about the fences.
    pub(crate) findings: Vec<Diagnostic>,
}

/// Result of [`find_fences`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FenceSearch {
    /// Both fences were found, or the missing closing fence was inferred.
    Found(FrontmatterBlock),
    /// There is no frontmatter.
    Refused(Diagnostic),
    /// The closing fence is not in the head; read more of the file.
    NeedMore,
}

/// Finds the fences around the frontmatter.
///
/// The first non-blank line must be `---` and opens the block; the next line that is `---` closes it. White space may
/// follow a fence, and precede it only if it precedes the first. A `---` inside a value or in the body does not count.
///
/// # Deviation
///
/// A leading byte-order mark, blank lines and indentation are skipped, and a missing closing fence is inferred where the
/// instructions start. The specification is silent on the first and forbids the others; all are reported.
pub(crate) fn find_fences(bytes: &[u8], extent: Extent, limits: &Limits) -> FenceSearch {
    // The last line of a head may be cut off, so it is ignored.
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
        findings.push(finding_at_start(
            Code::ByteOrderMark,
            "File starts with a byte-order mark",
        ));
        lines.at = BYTE_ORDER_MARK.len();
    }
    let Some(opening) = lines.find(|line| !line.trim_ascii().is_empty()) else {
        return if extent == Extent::Head {
            FenceSearch::NeedMore
        } else {
            FenceSearch::Refused(no_frontmatter(bytes, 1))
        };
    };
    if bytes[opening.clone()].trim_ascii() != b"---" {
        return FenceSearch::Refused(no_frontmatter(&bytes[opening], lines.number));
    }
    if lines.number > 1 {
        let line = Position::new(lines.number, 1);
        findings.report(
            Code::LateFence,
            Span::at(line),
            format!("Frontmatter starts on line {}", line.line),
        );
    }
    let is_indented = !bytes[opening.clone()].starts_with(b"---");
    if is_indented {
        let line = Span::at(Position::new(lines.number, 1));
        findings.report(Code::RepairedIndent, line, "Fence is indented");
    }
    if bytes[opening].ends_with(b"\r") {
        findings.push(finding_at_start(
            Code::CrlfLines,
            "Lines end with carriage return and line feed",
        ));
    }
    let first_line = lines.number + 1;
    let start = lines.at;
    let searched = match bytes.get(..start.saturating_add(limits.frontmatter_bytes)) {
        Some(searched) => whole_lines(searched),
        None => bytes,
    };
    let mut block_lines = ByteLines {
        bytes: searched,
        at: start,
        number: lines.number,
    };
    let is_closing =
        |line: &[u8]| (is_indented || line.starts_with(b"---")) && line.trim_ascii() == b"---";
    if let Some(closing) = block_lines.find(is_closing) {
        return FenceSearch::Found(FrontmatterBlock {
            range: start..closing.start,
            first_line,
            body_start: block_lines.at,
            findings,
        });
    }
    if extent == Extent::Head && searched.len() == bytes.len() {
        return FenceSearch::NeedMore;
    }
    recover_unclosed(
        searched,
        start,
        first_line,
        extent,
        limits,
        findings,
        searched.len() < bytes.len(),
    )
}

/// Returns the bytes up to the end of the last complete line.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    memchr::memrchr(b'\n', bytes).map_or(&[], |end| &bytes[..=end])
}

/// Ends a block without a closing fence where the instructions start, or refuses it.
fn recover_unclosed(
    searched: &[u8],
    start: usize,
    first_line: u32,
    extent: Extent,
    limits: &Limits,
    mut findings: Vec<Diagnostic>,
    over_limit: bool,
) -> FenceSearch {
    let opening = Span::at(Position::new(first_line - 1, 1));
    let at_file_end = !over_limit && extent == Extent::Whole;
    match find_body_start(&searched[start..], at_file_end) {
        Some((end, body)) => {
            findings.report(Code::RepairedFence, opening, "Frontmatter is not closed");
            FenceSearch::Found(FrontmatterBlock {
                range: start..start + end,
                first_line,
                body_start: start + body,
                findings,
            })
        }
        None if over_limit || extent == Extent::Head => FenceSearch::Refused(Diagnostic::new(
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

/// Returns where a block without a closing fence ends and where the instructions start.
///
/// That is at the first `---` with text right after it or the first heading after a field; else after the first blank
/// line followed by text that is not a field; else, if `at_file_end` is set, at the end.
fn find_body_start(block: &[u8], at_file_end: bool) -> Option<(usize, usize)> {
    let mut lines = ByteLines {
        bytes: block,
        at: 0,
        number: 0,
    };
    let (mut fields, mut follows_blank, mut after_blank) = (0, false, None);
    while let Some(range) = lines.next() {
        let (line, start) = (&block[range.clone()], range.start);
        if line.trim_ascii().is_empty() {
            follows_blank = true;
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
        } else if follows_blank && fields > 0 && !line.starts_with(b" ") && after_blank.is_none() {
            after_blank = Some((start, start));
        }
        follows_blank = false;
    }
    after_blank.or_else(|| (at_file_end && fields > 0).then_some((block.len(), block.len())))
}

/// Returns whether a line is a Markdown heading. In YAML it would be a comment.
pub(crate) fn is_heading(line: &[u8]) -> bool {
    let hashes = line.iter().take_while(|byte| **byte == b'#').count();
    (1..=6).contains(&hashes) && line.get(hashes) == Some(&b' ')
}

/// Returns whether a line starts with a field name and a colon, without indentation.
fn is_field(line: &[u8]) -> bool {
    field_name_length(line).is_some()
}

/// Returns the length of the field name at the start of a line, if a colon follows it.
pub(crate) fn field_name_length(line: &[u8]) -> Option<usize> {
    let length = line
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        .count();
    let is_valid_start = line
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    (is_valid_start && line.get(length) == Some(&b':')).then_some(length)
}

/// The text of a block as valid UTF-8, with line feeds only and without control characters.
pub(crate) struct CleanedText<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Positions in `text` before which a control character was removed, in order.
    removed: Vec<Position>,
}

impl CleanedText<'_> {
    /// Converts the spans of findings from positions in the cleaned text to positions in the file.
    pub(crate) fn restore_positions(&self, findings: &mut [Diagnostic]) {
        if self.removed.is_empty() {
            return;
        }
        for span in findings
            .iter_mut()
            .filter_map(|finding| finding.span.as_mut())
        {
            for position in [&mut span.start, &mut span.end] {
                let line = Position::new(position.line, 0);
                let before = self.removed.partition_point(|removed| *removed < line);
                let up_to = self
                    .removed
                    .partition_point(|removed| *removed <= *position);
                position.column += saturating_u32(up_to - before);
            }
        }
    }
}

/// Decodes a block, normalizes its line ends and removes control characters; reports what was changed.
pub(crate) fn clean<'a>(
    bytes: &'a [u8],
    first_line: u32,
    findings: &mut Vec<Diagnostic>,
) -> CleanedText<'a> {
    let mut removed = Vec::new();
    let mut text = match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            let position = position_after(
                &String::from_utf8_lossy(&bytes[..error.valid_up_to()]),
                first_line,
            );
            findings.report(
                Code::NotUtf8,
                Span::at(position),
                format!("Byte {:#04x} is not UTF-8", bytes[error.valid_up_to()]),
            );
            String::from_utf8_lossy(bytes)
        }
    };
    if !may_have_controls(bytes) {
        return CleanedText { text, removed };
    }
    if text.contains("\r\n") || text.ends_with('\r') {
        text = Cow::Owned(text.replace("\r\n", "\n").trim_end_matches('\r').to_owned());
    }
    if let Some(offset) = text.find(is_unwanted_control) {
        let c = text[offset..].chars().next().unwrap_or_default();
        findings.report(
            Code::ControlCharacters,
            Span::at(position_after(&text[..offset], first_line)),
            format!("Control character U+{:04X}", u32::from(c)),
        );
        let (kept, positions) = strip_controls(&text, first_line);
        (text, removed) = (Cow::Owned(kept), positions);
    }
    CleanedText { text, removed }
}

/// Returns a text without control characters, and the positions in it before which one was removed.
fn strip_controls(text: &str, first_line: u32) -> (String, Vec<Position>) {
    let mut kept = String::with_capacity(text.len());
    let mut removed = Vec::new();
    let mut position = Position::new(first_line, 1);
    for c in text.chars() {
        if is_unwanted_control(c) {
            removed.push(position);
            continue;
        }
        kept.push(c);
        position = match c {
            '\n' => Position::new(position.line + 1, 1),
            _ => Position::new(position.line, position.column + 1),
        };
    }
    (kept, removed)
}

/// Returns whether a text may contain control characters other than tab and line feed.
///
/// A branch-free pass over the bytes that decides whether characters have to be examined at all.
pub(crate) fn may_have_controls(bytes: &[u8]) -> bool {
    let found = bytes.iter().fold(0, |found, byte| {
        let control = u8::from(*byte < b' ') & u8::from(*byte != b'\t') & u8::from(*byte != b'\n');
        found | control | u8::from(*byte == 0x7f) | u8::from(*byte == 0xc2)
    });
    found != 0
}

/// Returns whether a character is a control character other than tab and line feed.
pub(crate) fn is_unwanted_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n')
}

/// Returns the position right after `before`, a text that starts on line `first_line`.
pub(crate) fn position_after(before: &str, first_line: u32) -> Position {
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count();
    Position::new(
        first_line + saturating_u32(line),
        saturating_u32(column) + 1,
    )
}

/// Converts a count of lines or columns; blocks are far shorter than `u32::MAX` bytes.
pub(crate) fn saturating_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn finding_at_start(code: Code, message: &str) -> Diagnostic {
    Diagnostic::new(code, Span::at(Position::START), message)
}

/// Returns the finding about a file that is not text in UTF-8.
pub(crate) fn other_encoding() -> Diagnostic {
    finding_at_start(Code::OtherEncoding, "File is not encoded as UTF-8")
}

fn no_frontmatter(line: &[u8], number: u32) -> Diagnostic {
    let span = Span::at(Position::new(number, 1));
    if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") || line.contains(&0) {
        return other_encoding();
    }
    let text = String::from_utf8_lossy(line);
    let message = match text.trim() {
        "" => "File is empty".to_owned(),
        text => format!("Expected `---`, found {}", quoted(text)),
    };
    Diagnostic::new(Code::NoFrontmatter, span, message)
}

/// Iterates over the lines of some bytes, as ranges without the line feed.
struct ByteLines<'a> {
    bytes: &'a [u8],
    /// The offset of the next line.
    at: usize,
    /// The number of the last returned line.
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

    fn find(&mut self, mut predicate: impl FnMut(&[u8]) -> bool) -> Option<Range<usize>> {
        while let Some(line) = self.next() {
            if predicate(&self.bytes[line.clone()]) {
                return Some(line);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Extent, FenceSearch, clean, find_fences};
    use crate::limits::Limits;

    fn check(text: &str, extent: Extent) -> String {
        match find_fences(text.as_bytes(), extent, &Limits::default()) {
            FenceSearch::Found(block) => {
                let codes: Vec<_> = block
                    .findings
                    .iter()
                    .map(|finding| finding.code.number())
                    .collect();
                format!(
                    "{:?} {} {:?} {codes:?}",
                    &text[block.range],
                    block.first_line,
                    &text[block.body_start..]
                )
            }
            FenceSearch::Refused(finding) => {
                format!("{finding} at {}", finding.span.unwrap().start)
            }
            FenceSearch::NeedMore => "more".to_owned(),
        }
    }

    #[test]
    fn fence_is_a_whole_line_not_a_substring() {
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
    fn indented_fences_are_found_and_reported() {
        insta::assert_snapshot!(check(" ---\na: b\n ---\nBody\n", Extent::Whole), @r#""a: b\n" 2 "Body\n" ["SF115"]"#);
        insta::assert_snapshot!(check("---\na: |\n  ---\n---\nBody\n", Extent::Whole), @r#""a: |\n  ---\n" 2 "Body\n" []"#);
    }

    #[test]
    fn file_without_frontmatter_is_refused_with_its_first_line() {
        insta::assert_snapshot!(check("# Title\n", Extent::Whole), @"error[SF001]: Expected `---`, found `# Title` at 1:1");
        insta::assert_snapshot!(check("", Extent::Whole), @"error[SF001]: File is empty at 1:1");
        insta::assert_snapshot!(check("--- name: x ---\n", Extent::Whole), @"error[SF001]: Expected `---`, found `--- name: x ---` at 1:1");
        insta::assert_snapshot!(check("#\0 \0T\0", Extent::Whole), @"error[SF009]: File is not encoded as UTF-8 at 1:1");
    }

    #[test]
    fn head_without_a_closing_fence_requests_more_bytes() {
        insta::assert_snapshot!(check("---\na: b\n", Extent::Head), @"more");
        insta::assert_snapshot!(check("\n\n", Extent::Head), @"more");
    }

    #[test]
    fn missing_closing_fence_is_inferred() {
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
    fn cleaning_reports_the_position_of_what_was_removed() {
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
