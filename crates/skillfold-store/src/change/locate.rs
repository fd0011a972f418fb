//! Finds where a hunk belongs in a file.

use skillfold_core::Error;
use skillfold_core::name::ResourcePath;

use crate::change::parts::{Hunk, StatedRange, invalid, quoted};

/// The byte-order mark, which editors hide.
pub(super) const BOM: char = '\u{feff}';

/// Maximum number of places listed in the message about an ambiguous hunk.
const MAX_LISTED: usize = 5;

/// Returns the index of the line where a hunk belongs. Each of `lines` includes its line feed.
///
/// Ignores line endings and a byte-order mark, because a model does not see them.
pub(super) fn locate(hunk: &Hunk, lines: &[&str], path: &ResourcePath) -> Result<usize, Error> {
    let wanted: Vec<&str> = hunk
        .old_lines()
        .map(|line| visible_text(&line.text))
        .collect();
    if wanted.is_empty() {
        return locate_added_lines(hunk, lines, path);
    }
    let file_lines: Vec<&str> = lines.iter().map(|line| visible_text(line)).collect();
    let stated = hunk.stated.map(StatedRange::lines_before);
    if let Some(start) = stated
        && file_lines
            .get(start..)
            .is_some_and(|rest| rest.starts_with(&wanted))
    {
        return Ok(start);
    }
    let mut search = search(&wanted, &file_lines);
    // The stated position says most about what went wrong, unless more lines match elsewhere.
    if let Some(rest) = stated.and_then(|start| file_lines.get(start..)) {
        let equal = wanted.iter().zip(rest).take_while(|(a, b)| a == b).count();
        if equal == search.longest.0 {
            search.longest.1 = file_lines.len() - rest.len() + equal;
        }
    }
    match search.found[..] {
        [] => Err(not_found(hunk, &file_lines, &search, path)),
        [only] => Ok(only),
        _ => Err(ambiguous(hunk, &search.found, path)),
    }
}

/// Returns a line without the parts a model does not see.
fn visible_text(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.strip_prefix(BOM).unwrap_or(line)
}

/// Returns the position of a hunk that only adds lines, and so has nothing but its line number.
fn locate_added_lines(hunk: &Hunk, lines: &[&str], path: &ResourcePath) -> Result<usize, Error> {
    let line = hunk.line;
    match hunk.stated.map(StatedRange::lines_before) {
        _ if lines.is_empty() => Ok(0),
        Some(start) if start <= lines.len() => Ok(start),
        Some(_) => Err(invalid(format!(
            "line {line} puts lines after the end of `{path}`, which has {} lines; correct the line number, or add \
             unchanged lines to the hunk",
            lines.len()
        ))),
        None => Err(invalid(format!(
            "line {line} starts a hunk that only adds lines and does not say where in `{path}`; add the unchanged lines \
             before or after them"
        ))),
    }
}

/// The result of a search.
struct HunkSearch {
    /// Where all lines match.
    found: Vec<usize>,
    /// The longest run of lines from the start of the hunk found in the file, and the index of the line after it.
    longest: (usize, usize),
}

/// Searches for consecutive lines in time linear in both inputs (Knuth–Morris–Pratt).
fn search(wanted: &[&str], file_lines: &[&str]) -> HunkSearch {
    // For each prefix length of `wanted`: the longest shorter prefix that is also its suffix.
    let mut shorter = vec![0; wanted.len() + 1];
    for end in 1..wanted.len() {
        let mut length: usize = shorter[end];
        while length > 0 && wanted[length] != wanted[end] {
            length = shorter[length];
        }
        shorter[end + 1] = length + usize::from(wanted[length] == wanted[end]);
    }
    let mut search = HunkSearch {
        found: Vec::new(),
        longest: (0, 0),
    };
    let mut length = 0;
    for (index, line) in file_lines.iter().enumerate() {
        while length > 0 && wanted[length] != *line {
            length = shorter[length];
        }
        length += usize::from(wanted[length] == *line);
        if length > search.longest.0 {
            search.longest = (length, index + 1);
        }
        if length == wanted.len() {
            search.found.push(index + 1 - length);
            length = shorter[length];
        }
    }
    search
}

fn not_found(hunk: &Hunk, file_lines: &[&str], search: &HunkSearch, path: &ResourcePath) -> Error {
    let (matched, next) = search.longest;
    // Always present: otherwise all lines matched.
    let Some(line) = hunk.old_lines().nth(matched) else {
        return invalid(format!(
            "line {} starts a hunk that is not in `{path}`",
            hunk.line
        ));
    };
    let wanted = quoted(&line.text);
    let place = match file_lines.get(next) {
        _ if matched == 0 => format!("is nowhere in `{path}`: {wanted}"),
        Some(found) => format!(
            "does not match line {} of `{path}`: {wanted} is not {}",
            next + 1,
            quoted(found)
        ),
        None => format!("is after the end of `{path}`: {wanted}"),
    };
    invalid(format!(
        "line {} {place}; read the file again, and copy its unchanged and removed lines as they are",
        line.line
    ))
}

fn ambiguous(hunk: &Hunk, found: &[usize], path: &ResourcePath) -> Error {
    let listed = found.iter().take(MAX_LISTED);
    let listed: Vec<String> = listed.map(|index| (index + 1).to_string()).collect();
    let more = if found.len() > MAX_LISTED {
        " and others"
    } else {
        ""
    };
    invalid(format!(
        "line {} starts a hunk whose unchanged and removed lines are in `{path}` {} times, at the lines {}{more}; add more \
         unchanged lines to it, or the right line number",
        hunk.line,
        found.len(),
        listed.join(", ")
    ))
}
