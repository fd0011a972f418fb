//! Finds the diff in a model's output, which may wrap it in prose and a Markdown fence.

use std::ops::Range;

use skillfold_core::Error;

use crate::change::parts::invalid;

/// Returns the range of lines that form the diff, and reports what is left out.
pub(super) fn find_diff(lines: &[&str], repairs: &mut Vec<String>) -> Result<Range<usize>, Error> {
    let Some(start) = (0..lines.len()).find(|line| starts_part(lines, *line)) else {
        return Err(invalid(
            "there is no unified diff in it; start with the lines `--- a/SKILL.md` and `+++ b/SKILL.md`, then write for \
             each place a line such as `@@ -12,3 +12,4 @@` and below it unchanged lines after a space, removed lines \
             after `-` and added lines after `+`",
        ));
    };
    if lines[start].starts_with("@@")
        && let Some(name) = lines[..start].iter().position(|line| is_file_name(line))
    {
        return Err(invalid(format!(
            "line {} names a file, and the first hunk is at line {}; write `--- ` and `+++ ` lines one below the other, right \
             above the hunks of the file",
            name + 1,
            start + 1
        )));
    }
    let opening = lines[..start].iter().rev().find_map(|line| fence(line));
    let end = match opening {
        None => lines.len(),
        Some(opening) => {
            let rest = lines[start..].iter();
            let length = rest.take_while(|line| !closes(line, opening)).count();
            start + length
        }
    };
    if let Some(second) = (end..lines.len()).find(|line| starts_part(lines, *line)) {
        return Err(invalid(format!(
            "line {} starts a second diff; put all files into one diff",
            second + 1
        )));
    }
    for (place, range) in [("before", 0..start), ("after", end..lines.len())] {
        if lines[range.clone()]
            .iter()
            .any(|line| !line.trim().is_empty())
        {
            repairs.push(match range.len() {
                1 => format!("Line {}, {place} the diff, was left out", range.end),
                _ => format!(
                    "Lines {} to {}, {place} the diff, were left out",
                    range.start + 1,
                    range.end
                ),
            });
        }
    }
    Ok(start..end)
}

/// Returns whether a line starts a file or hunk.
pub(super) fn starts_part(lines: &[&str], line: usize) -> bool {
    let Some(text) = lines.get(line) else {
        return false;
    };
    // Without `+++`, the header is incomplete and refused later.
    let is_name = |next: &&str| next.starts_with("+++ ") || next.starts_with("@@");
    text.starts_with("@@")
        || text.starts_with("diff --git ")
        || is_binary(text)
        || (text.starts_with("--- ") && lines.get(line + 1).is_some_and(is_name))
}

/// Returns whether a line is one half of a file header.
fn is_file_name(line: &str) -> bool {
    line.starts_with("--- ") || line.starts_with("+++ ")
}

/// Returns whether a line stands for a binary file's content.
pub(super) fn is_binary(line: &str) -> bool {
    let line = line.trim_end();
    line == "GIT binary patch" || (line.starts_with("Binary files ") && line.ends_with(" differ"))
}

/// Returns the fence characters if a line opens a Markdown fence.
fn fence(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3).then(|| &line[..length])
}

/// Returns whether a line closes a fence. A diff line cannot: it starts with a space or a sign.
fn closes(line: &str, opening: &str) -> bool {
    let rest = line.trim_end().strip_prefix(opening);
    rest.is_some_and(|rest| rest.chars().all(|c| opening.starts_with(c)))
}
