//! The stretch of a text that answers a request best, and the words that do.

use std::ops::Range;

use crate::choose::search::query::Query;
use crate::choose::search::words::{Term, Terms};

/// Bytes of a text that a snippet is looked for in.
const LOOKED_AT: usize = 64 * 1024;

/// A stretch of a text, and the words in it that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snippet {
    /// The stretch, on one line.
    pub text: String,
    /// Where the words stand in it, in order.
    pub marks: Vec<Range<usize>>,
    /// How many different terms of the request stand in it.
    pub terms: usize,
}

impl Query {
    /// Returns the stretch of a text, at most about so many bytes long, that has the most terms of the request; the first of
    /// several. Nothing, if it has none.
    pub fn snippet(&self, text: &str, bytes: usize) -> Option<Snippet> {
        let text = crate::limits::start_of(text, LOOKED_AT);
        let marks = self.marks(text);
        let first = best_window(&marks, bytes)?;
        let from = marks[first].1.start;
        let found: Vec<_> = marks[first..]
            .iter()
            .take_while(|(_, place)| place.end <= from + bytes)
            .collect();
        let to = found.last().map_or(from, |(_, place)| place.end);
        let spare = bytes.saturating_sub(to - from);
        let start = word_start(text, from.saturating_sub(spare / 3), from);
        let end = word_end(text, to, start + bytes);
        let mut terms: Vec<Term> = found.iter().map(|(term, _)| *term).collect();
        terms.sort_unstable();
        terms.dedup();
        let places = found.iter().map(|(_, place)| place.clone());
        Some(on_one_line(text, start..end, places, terms.len()))
    }

    /// Returns the words of a text that were asked for and where they stand, none inside of another.
    fn marks(&self, text: &str) -> Vec<(Term, Range<usize>)> {
        let mut asked: Vec<Term> = self.terms().collect();
        asked.sort_unstable();
        let mut marks: Vec<(Term, Range<usize>)> = Vec::new();
        Terms::new().each(text, |term, place| {
            let is_inside = marks.last().is_some_and(|(_, last)| place.start < last.end);
            if !is_inside && asked.binary_search(&term).is_ok() {
                marks.push((term, place));
            }
        });
        marks
    }
}

/// Returns the number of the mark at which a window with the most different terms begins.
fn best_window(marks: &[(Term, Range<usize>)], bytes: usize) -> Option<usize> {
    let (mut best, mut most) = (None, 0);
    for (number, (_, from)) in marks.iter().enumerate() {
        let inside = marks[number..].iter();
        let inside = inside.take_while(|(_, place)| place.end <= from.start + bytes);
        let mut terms: Vec<Term> = inside.map(|(term, _)| *term).collect();
        terms.sort_unstable();
        terms.dedup();
        if terms.len() > most {
            (best, most) = (Some(number), terms.len());
        }
    }
    best.or((!marks.is_empty()).then_some(0))
}

/// Returns where the first word from a place on starts.
fn word_start(text: &str, at: usize, latest: usize) -> usize {
    if at == 0 {
        return 0;
    }
    let at = (at..=latest)
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(latest);
    let blank = text[at..latest].find(char::is_whitespace);
    blank.map_or(latest, |blank| (at + blank + 1).min(latest))
}

/// Returns where the last word before a place ends.
fn word_end(text: &str, least: usize, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    let at = (least..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(least);
    let blank = text[least..at].rfind(char::is_whitespace);
    blank.map_or(least, |blank| least + blank)
}

/// Returns a stretch with single spaces for all blanks and breaks, and places in it moved along.
fn on_one_line(
    text: &str,
    stretch: Range<usize>,
    places: impl Iterator<Item = Range<usize>>,
    terms: usize,
) -> Snippet {
    let mut line = String::new();
    let mut marks: Vec<Range<usize>> = Vec::new();
    let mut places = places.peekable();
    if stretch.start > 0 {
        line.push('…');
    }
    let mut is_blank = true;
    for (at, letter) in text[stretch.clone()].char_indices() {
        let at = stretch.start + at;
        if places.peek().is_some_and(|place| place.start == at) {
            marks.push(line.len()..line.len());
        }
        if letter.is_whitespace() {
            if !is_blank {
                line.push(' ');
            }
            is_blank = true;
        } else {
            line.push(letter);
            is_blank = false;
        }
        if places
            .next_if(|place| place.end == at + letter.len_utf8())
            .is_some()
            && let Some(mark) = marks.last_mut()
        {
            mark.end = line.len();
        }
    }
    let kept = line.trim_end().len();
    line.truncate(kept);
    if stretch.end < text.trim_end().len() {
        line.push('…');
    }
    Snippet {
        text: line,
        marks,
        terms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(request: &str, text: &str, bytes: usize) -> String {
        let Some(snippet) = Query::new(request).snippet(text, bytes) else {
            return "nothing".into();
        };
        let mut shown = snippet.text.clone();
        for mark in snippet.marks.iter().rev() {
            shown.insert(mark.end, ']');
            shown.insert(mark.start, '[');
        }
        shown
    }

    #[test]
    fn a_snippet_shows_the_words_that_were_asked_for() {
        let text =
            "Fills in forms.\n\nUse it when a PDF\n  form has to be filled, or signed by somebody.";
        assert_eq!(
            shown("fill a pdf form", text, 200),
            "[Fills] in [forms]. Use it when a [PDF] [form] has to be [filled], or signed by somebody."
        );
        assert_eq!(
            shown("fill a pdf form", text, 30),
            "…[PDF] [form] has to be [filled],…"
        );
        assert_eq!(shown("weather", text, 40), "nothing");
    }

    proptest::proptest! {
        #[test]
        fn any_snippet_has_its_marks_in_it(request in "[a-c ]{0,20}", text in "[a-cé \\n]{0,80}", bytes in 0_usize..60) {
            if let Some(snippet) = Query::new(&request).snippet(&text, bytes) {
                for mark in &snippet.marks {
                    proptest::prop_assert!(!snippet.text[mark.clone()].is_empty());
                }
            }
        }
    }
}
