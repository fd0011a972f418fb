//! The stretch of a text that answers a request best, and the words that do.

use std::ops::Range;

use crate::choose::search::query::Query;
use crate::choose::search::tokenizer::{Term, Terms};
use crate::text::{MISSING, start_of, word_end, word_start};

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

/// A word of a text that was asked for: which term of the request it is, and its place.
type TermSpan = (usize, Range<usize>);

impl Query {
    /// Returns the stretch of a text, at most so many bytes of it, that has the most terms of the request; the first of
    /// several. Nothing, if it has none or not a letter fits. A word that is longer is cut.
    pub fn snippet(&self, text: &str, bytes: usize) -> Option<Snippet> {
        let looked_at = start_of(text, LOOKED_AT);
        let marks = self.marks(looked_at);
        let mut found = marks[best_window(&marks, bytes)].to_vec();
        let (_, first) = found.first_mut()?;
        let word = start_of(&looked_at[first.clone()], bytes);
        if word.is_empty() {
            return None;
        }
        first.end = first.start + word.len();
        let (from, to) = (found.first()?.1.start, found.last()?.1.end);
        let spare = bytes.saturating_sub(to - from);
        let start = word_start(looked_at, from.saturating_sub(spare / 3)..from);
        let end = word_end(looked_at, to..start.saturating_add(bytes));
        let mut terms: Vec<usize> = found.iter().map(|(term, _)| *term).collect();
        terms.sort_unstable();
        terms.dedup();
        let places = found.into_iter().map(|(_, place)| place);
        Some(on_one_line(text, start..end, places, terms.len()))
    }

    /// Returns the words of a text that were asked for, in order, none inside of another.
    fn marks(&self, text: &str) -> Vec<TermSpan> {
        let mut asked: Vec<Term> = self.terms().collect();
        asked.sort_unstable();
        let mut marks: Vec<TermSpan> = Vec::new();
        Terms::new().each(text, |term, place| {
            let is_inside = marks.last().is_some_and(|(_, last)| place.start < last.end);
            if let Ok(term) = asked.binary_search(&term)
                && !is_inside
            {
                marks.push((term, place));
            }
        });
        marks
    }
}

/// Returns which marks stand together within so many bytes and are of the most different terms: one at least, if there
/// are any.
fn best_window(marks: &[TermSpan], bytes: usize) -> Range<usize> {
    let terms = marks.iter().map(|(term, _)| term + 1).max();
    let mut times = vec![0_usize; terms.unwrap_or_default()];
    let (mut best, mut most) = (0..marks.len().min(1), 0);
    let (mut end, mut different) = (0, 0);
    for (start, (term, from)) in marks.iter().enumerate() {
        let inside = |(_, place): &TermSpan| place.end - from.start <= bytes;
        while let Some((term, _)) = marks.get(end).filter(|mark| inside(mark)) {
            different += usize::from(times[*term] == 0);
            times[*term] += 1;
            end += 1;
        }
        if different > most {
            (best, most) = (start..end, different);
        }
        if end > start {
            times[*term] -= 1;
            different -= usize::from(times[*term] == 0);
        } else {
            // The word alone is too long.
            end += 1;
        }
    }
    best
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
        line.push(MISSING);
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
        line.push(MISSING);
    }
    Snippet {
        text: line,
        marks,
        terms,
    }
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy;

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

    /// Text of any script with white space of any width, and words in it that are asked for.
    fn any_text() -> impl Strategy<Value = String> {
        let spaces: Vec<char> = (char::MIN..=char::MAX)
            .filter(|c| c.is_whitespace())
            .collect();
        let piece = proptest::prop_oneof![
            4 => proptest::sample::select(vec!["pdf", "form", "PDFs", "表格", "résumé"]).prop_map(str::to_owned),
            4 => proptest::sample::select(spaces).prop_map(String::from),
            3 => proptest::char::any().prop_map(String::from),
            1 => "\\PC{0,20}",
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn white_space_of_any_width_ends_a_word() {
        let text = format!("{}\u{a0}pdf", "x".repeat(300));
        assert_eq!(shown("pdf", &text, 160), "…[pdf]");
        let text =
            "請求書を作成して送付する手順をまとめたものです。\u{3000}PDF の作成にも使えます。";
        assert_eq!(shown("pdf", text, 40), "…[PDF] の作成にも使えます。");
    }

    #[test]
    fn word_that_is_longer_than_the_snippet_is_cut() {
        assert_eq!(shown("configurations", "configurations", 6), "[config]…");
        assert_eq!(shown("表格处理", "表格处理", 2), "nothing");
    }

    #[test]
    fn end_of_what_is_looked_at_is_not_shown_as_the_end_of_the_text() {
        let text = format!("{} pdf more", "x ".repeat(LOOKED_AT / 2 - 2));
        assert_eq!(shown("pdf", &text, 6), "…[pdf]…");
    }

    /// Looked for one by one, windows of this text would take minutes.
    #[test]
    fn text_full_of_answers_is_looked_through_once() {
        let text = "pdf form ".repeat(LOOKED_AT / 9);
        let snippet = Query::new("pdf form").snippet(&text, LOOKED_AT).unwrap();
        assert_eq!((snippet.marks.len(), snippet.terms), (LOOKED_AT / 9 * 2, 2));
    }

    /// Returns the window that is found by looking at all of them.
    fn best_of_all(marks: &[TermSpan], bytes: usize) -> Range<usize> {
        let (mut best, mut most) = (0..marks.len().min(1), 0);
        for (start, (_, from)) in marks.iter().enumerate() {
            let inside = marks[start..].iter();
            let inside = inside.take_while(|(_, place)| place.end - from.start <= bytes);
            let terms: Vec<usize> = inside.map(|(term, _)| *term).collect();
            let different = terms
                .iter()
                .collect::<std::collections::BTreeSet<_>>()
                .len();
            if different > most {
                (best, most) = (start..start + terms.len(), different);
            }
        }
        best
    }

    proptest::proptest! {
        #[test]
        fn window_is_the_best_of_all(gaps in proptest::collection::vec((0_usize..4, 0_usize..9, 1_usize..9), 0..40), bytes in 0_usize..60) {
            let mut at = 0;
            let marks: Vec<TermSpan> = gaps.into_iter().map(|(term, gap, length)| {
                let start = at + gap;
                at = start + length;
                (term, start..at)
            }).collect();
            proptest::prop_assert_eq!(best_window(&marks, bytes), best_of_all(&marks, bytes));
        }

        #[test]
        fn snippet_of_any_text_is_within_its_bytes_and_has_its_marks_in_it(
            request in proptest::prop_oneof!["pdf form 表格 resume", any_text()],
            text in any_text(),
            bytes in 0_usize..200,
        ) {
            if let Some(snippet) = Query::new(&request).snippet(&text, bytes) {
                let shown = snippet.text.trim_matches('…');
                proptest::prop_assert!(shown.len() <= bytes, "{} bytes: {shown:?}", shown.len());
                let mut last = 0;
                for mark in &snippet.marks {
                    proptest::prop_assert!(mark.start >= last);
                    proptest::prop_assert!(!snippet.text[mark.clone()].is_empty());
                    last = mark.end;
                }
            }
        }
    }
}
