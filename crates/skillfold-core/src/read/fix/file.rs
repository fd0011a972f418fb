//! Corrections of the file as a whole: its first bytes, its line ends, its fences.

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::read::fix::edit::Edit;
use crate::read::frontmatter::{BYTE_ORDER_MARK, FrontmatterBlock, is_unwanted_control};

/// Returns the corrections of what `findings` say about a file that was cut so.
pub(super) fn edits(bytes: &[u8], cut: &FrontmatterBlock, findings: &[Diagnostic]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut seen = Vec::new();
    for finding in findings {
        if seen.contains(&finding.code) {
            continue;
        }
        seen.push(finding.code);
        match finding.code {
            Code::ByteOrderMark => edits.push(Edit::new(0..BYTE_ORDER_MARK.len(), "")),
            Code::LateFence => edits.push(blank_lines(bytes)),
            Code::CrlfLines => edits.push(carriage_returns(bytes)),
            Code::ControlCharacters => edits.push(controls(bytes, cut)),
            Code::RepairedFence => edits.push(fence(bytes, cut)),
            _ => {}
        }
    }
    edits.retain(|edit| !edit.is_empty());
    edits
}

/// Removes the blank lines before the opening fence.
fn blank_lines(bytes: &[u8]) -> Edit {
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

fn carriage_returns(bytes: &[u8]) -> Edit {
    let mut edit = Edit::default();
    for at in memchr::memmem::find_iter(bytes, b"\r\n") {
        edit.add(at..at + 1, "");
    }
    edit
}

/// Removes the control characters of the frontmatter; a carriage return at the end of a line is none.
fn controls(bytes: &[u8], cut: &FrontmatterBlock) -> Edit {
    let mut edit = Edit::default();
    let Ok(block) = str::from_utf8(&bytes[cut.block.clone()]) else {
        return edit;
    };
    for (offset, c) in block.char_indices() {
        let ends_line = c == '\r' && block[offset + 1..].starts_with('\n');
        if is_unwanted_control(c) && !ends_line {
            let start = cut.block.start + offset;
            edit.add(start..start + c.len_utf8(), "");
        }
    }
    edit
}

/// Closes the frontmatter where the reader ended it.
fn fence(bytes: &[u8], cut: &FrontmatterBlock) -> Edit {
    let (end, body) = (cut.block.end, cut.body);
    if body > end {
        // A fence is there, with text glued to it.
        return Edit::new(body..body, "\n");
    }
    let on_its_own_line = bytes[..end].ends_with(b"\n");
    Edit::new(end..end, if on_its_own_line { "---\n" } else { "\n---\n" })
}
