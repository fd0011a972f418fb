//! Corrections to the file as a whole: byte-order mark, line ends, control characters and fences.

use crate::author::fix::edit::Edit;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::read::frontmatter::{BYTE_ORDER_MARK, FrontmatterBlock, is_unwanted_control};

/// Returns the edits that correct `findings` about the file as a whole.
pub(super) fn edits(bytes: &[u8], block: &FrontmatterBlock, findings: &[Diagnostic]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut codes = Vec::new();
    for finding in findings {
        if codes.contains(&finding.code) {
            continue;
        }
        codes.push(finding.code);
        match finding.code {
            Code::ByteOrderMark => edits.push(Edit::new(0..BYTE_ORDER_MARK.len(), "")),
            Code::LateFence => edits.push(remove_blank_lines(bytes)),
            Code::CrlfLines => edits.push(remove_carriage_returns(bytes)),
            Code::ControlCharacters => edits.push(remove_controls(bytes, block)),
            Code::RepairedFence => edits.push(close_fence(bytes, block)),
            _ => {}
        }
    }
    edits.retain(|edit| !edit.is_empty());
    edits
}

/// Removes the blank lines before the opening fence.
fn remove_blank_lines(bytes: &[u8]) -> Edit {
    let start = if bytes.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    let rest = &bytes[start..];
    Edit::new(
        start..start + rest.len() - rest.trim_ascii_start().len(),
        "",
    )
}

fn remove_carriage_returns(bytes: &[u8]) -> Edit {
    let mut edit = Edit::default();
    for at in memchr::memmem::find_iter(bytes, b"\r\n") {
        edit.add(at..at + 1, "");
    }
    edit
}

/// Removes the control characters of the frontmatter, except the carriage returns of line ends.
fn remove_controls(bytes: &[u8], block: &FrontmatterBlock) -> Edit {
    let mut edit = Edit::default();
    let Ok(text) = str::from_utf8(&bytes[block.range.clone()]) else {
        return edit;
    };
    for (offset, c) in text.char_indices() {
        let ends_line = c == '\r' && text[offset + 1..].starts_with('\n');
        if is_unwanted_control(c) && !ends_line {
            let start = block.range.start + offset;
            edit.add(start..start + c.len_utf8(), "");
        }
    }
    edit
}

/// Closes the frontmatter where the reader ended it.
fn close_fence(bytes: &[u8], block: &FrontmatterBlock) -> Edit {
    let (end, body_start) = (block.range.end, block.body_start);
    if body_start > end {
        // There is a fence with text right after it on the same line.
        return Edit::new(body_start..body_start, "\n");
    }
    let on_its_own_line = bytes[..end].ends_with(b"\n");
    Edit::new(end..end, if on_its_own_line { "---\n" } else { "\n---\n" })
}
