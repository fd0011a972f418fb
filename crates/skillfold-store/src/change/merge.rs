//! Merges a proposed text with changes made to the base in the meantime.

use std::collections::BTreeSet;

use similar::TextMerge;

/// The result of a [`merge`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Merged {
    /// Both changes applied.
    Clean(Vec<u8>),
    /// Both changes, with markers around the conflicts. Not usable as is.
    Conflict(Vec<u8>),
}

/// Merges two texts derived from `base`, line by line.
///
/// Conflict markers are labelled `current` and `proposed`. They are 7 characters long, or longer if a line in the texts
/// looks like one, such as a Markdown heading's underline. Content that is not UTF-8 is merged only if one side left it
/// unchanged.
///
/// ```
/// use skillfold_store::change::{Merged, merge};
///
/// let (base, current, proposed) = (b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n");
/// assert_eq!(merge(base, current, proposed), Merged::Clean(b"A\nb\nC\n".to_vec()));
/// let conflict = b"<<<<<<< current\nA\n=======\nX\n>>>>>>> proposed\nb\nc\n";
/// assert_eq!(merge(base, current, b"X\nb\nc\n"), Merged::Conflict(conflict.to_vec()));
/// ```
pub fn merge(base: &[u8], current: &[u8], proposed: &[u8]) -> Merged {
    if current == proposed || proposed == base {
        return Merged::Clean(current.to_vec());
    }
    if current == base {
        return Merged::Clean(proposed.to_vec());
    }
    let texts = [base, current, proposed].map(str::from_utf8);
    let [Ok(base), Ok(current), Ok(proposed)] = texts else {
        return Merged::Conflict(full_conflict(current, proposed));
    };
    // The final newline is merged separately: otherwise a line that lost it could be joined with an added one.
    let is_terminated = |text: &str| text.is_empty() || text.ends_with('\n');
    let last_end = if is_terminated(current) == is_terminated(base) {
        is_terminated(proposed)
    } else {
        is_terminated(current)
    };
    let [base, current, proposed] = [base, current, proposed].map(|text| {
        let end = if is_terminated(text) { "" } else { "\n" };
        format!("{text}{end}")
    });
    let mut merge = TextMerge::from_lines(&*base, &*current, &*proposed);
    let mut text = merge
        .labels("base", "current", "proposed")
        .conflict_marker_size(marker_length([&current, &proposed]))
        .to_string();
    if merge.is_conflicted() {
        return Merged::Conflict(text.into_bytes());
    }
    if !last_end {
        let end = if text.ends_with("\r\n") { 2 } else { 1 };
        text.truncate(text.len().saturating_sub(end));
    }
    Merged::Clean(text.into_bytes())
}

/// Returns a conflict marker length that no line in the texts starts with.
fn marker_length(texts: [&str; 2]) -> usize {
    const SHORTEST: usize = 7;
    const LONGEST: usize = 80;
    let lines = texts.iter().flat_map(|text| text.lines());
    let taken: BTreeSet<usize> = lines
        .filter_map(|line| {
            let first = line.chars().next().filter(|c| "<=>|".contains(*c))?;
            Some(line.len() - line.trim_start_matches(first).len())
        })
        .collect();
    let mut lengths = SHORTEST..LONGEST;
    lengths
        .find(|length| !taken.contains(length))
        .unwrap_or(LONGEST)
}

/// Returns both contents in full, as one conflict.
fn full_conflict(current: &[u8], proposed: &[u8]) -> Vec<u8> {
    let end = |content: &[u8]| -> &[u8] {
        let is_terminated = content.is_empty() || content.ends_with(b"\n");
        if is_terminated { b"" } else { b"\n" }
    };
    [
        b"<<<<<<< current\n",
        current,
        end(current),
        b"=======\n",
        proposed,
        end(proposed),
        b">>>>>>> proposed\n",
    ]
    .concat()
}
