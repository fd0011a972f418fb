//! Finds where in a file a hunk belongs.

use skillfold_core::Error;
use skillfold_core::name::ResourcePath;

use crate::change::parts::{Hunk, StatedRange, invalid, quoted};

/// The byte-order mark, which editors do not show.
pub(super) const BOM: char = '\u{feff}';

/// Maximum places that the message about an ambiguous hunk lists.
const MAX_LISTED: usize = 5;

/// Returns the index of the line in a file where a hunk belongs. Each of `lines` includes its line feed.
///
/// Line ends and a byte-order mark are not compared, because a model does not see them.
pub(super) fn locate(hunk: &Hunk, lines: &[&str], path: &ResourcePath) -> Result<usize, Error> {
    let wanted: Vec<&str> = hunk
        .old_lines()
        .map(|line| visible_text(&line.text))
        .collect();
    if wanted.is_empty() {
        return place_of_added(hunk, lines, path);
    }
    let there: Vec<&str> = lines.iter().map(|line| visible_text(line)).collect();
    let stated = hunk.stated.map(StatedRange::lines_before);
    if let Some(start) = stated
        && there
            .get(start..)
            .is_some_and(|rest| rest.starts_with(&wanted))
    {
        return Ok(start);
    }
    let mut search = search(&wanted, &there);
    // The stated place says most about what went wrong, unless more lines are found elsewhere.
    if let Some(rest) = stated.and_then(|start| there.get(start..)) {
        let equal = wanted.iter().zip(rest).take_while(|(a, b)| a == b).count();
        if equal == search.longest.0 {
            search.longest.1 = there.len() - rest.len() + equal;
        }
    }
    match search.found[..] {
        [] => Err(not_found(hunk, &there, &search, path)),
        [only] => Ok(only),
        _ => Err(ambiguous(hunk, &search.found, path)),
    }
}

/// Returns a line without what a model does not see of it.
fn visible_text(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.strip_prefix(BOM).unwrap_or(line)
}

/// Returns the place of a hunk that only adds lines, and so has only its line number.
fn place_of_added(hunk: &Hunk, lines: &[&str], path: &ResourcePath) -> Result<usize, Error> {
    let line = hunk.line;
    match hunk.stated.map(StatedRange::lines_before) {
        _ if lines.is_empty() => Ok(0),
        Some(place) if place <= lines.len() => Ok(place),
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

/// What a search found.
struct HunkSearch {
    /// Where all lines are.
    found: Vec<usize>,
    /// The most lines from the start of the hunk that are in the file together, and the index of the line after them.
    longest: (usize, usize),
}

/// Searches for some lines, in time linear in the lines of both (Knuth, Morris and Pratt).
fn search(wanted: &[&str], there: &[&str]) -> HunkSearch {
    // For each length of a start of `wanted`: the longest shorter start that it ends with.
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
    for (index, line) in there.iter().enumerate() {
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

fn not_found(hunk: &Hunk, there: &[&str], search: &HunkSearch, path: &ResourcePath) -> Error {
    let (matched, next) = search.longest;
    // There is one: otherwise all lines were found.
    let Some(line) = hunk.old_lines().nth(matched) else {
        return invalid(format!(
            "line {} starts a hunk that is not in `{path}`",
            hunk.line
        ));
    };
    let wanted = quoted(&line.text);
    let place = match there.get(next) {
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
