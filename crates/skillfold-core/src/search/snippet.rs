//! Snippets: the part of a text with the most query terms.

use std::ops::Range;

use crate::search::query::Query;
use crate::search::tokenizer::{Term, Tokenizer};
use crate::text::{ELLIPSIS, next_word_start, previous_word_end, truncate_bytes};

/// Bytes of a text to search for a snippet.
const MAX_SEARCHED_BYTES: usize = 64 * 1024;

/// A part of a text with its query terms marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snippet {
    /// The text, on one line.
    pub text: String,
    /// Byte ranges of the query terms in it, in order.
    pub marks: Vec<Range<usize>>,
    /// Number of distinct query terms in it.
    pub terms: usize,
}

/// The byte range of a query term in a text, with the index of the term.
type TermSpan = (usize, Range<usize>);

impl Query {
    /// Returns the window of at most `bytes` bytes with the most distinct query terms; the first one if there are
    /// several. Returns `None` if the text has no query terms or not even one character fits. A word that does not fit
    /// is cut.
    pub fn snippet(&self, text: &str, bytes: usize) -> Option<Snippet> {
        let searched = truncate_bytes(text, MAX_SEARCHED_BYTES);
        let spans = self.term_spans(searched);
        let mut window = spans[best_window(&spans, bytes)].to_vec();
        let (_, first) = window.first_mut()?;
        let word = truncate_bytes(&searched[first.clone()], bytes);
        if word.is_empty() {
            return None;
        }
        first.end = first.start + word.len();
        let (first_start, last_end) = (window.first()?.1.start, window.last()?.1.end);
        let context = bytes.saturating_sub(last_end - first_start);
        let start = next_word_start(
            searched,
            first_start.saturating_sub(context / 3)..first_start,
        );
        let end = previous_word_end(searched, last_end..start.saturating_add(bytes));
        let mut terms: Vec<usize> = window.iter().map(|(term, _)| *term).collect();
        terms.sort_unstable();
        terms.dedup();
        let ranges = window.into_iter().map(|(_, range)| range);
        Some(collapse_whitespace(text, start..end, ranges, terms.len()))
    }

    /// Returns the query terms in a text, in order and without overlaps.
    fn term_spans(&self, text: &str) -> Vec<TermSpan> {
        let mut terms: Vec<Term> = self.terms().collect();
        terms.sort_unstable();
        let mut spans: Vec<TermSpan> = Vec::new();
        Tokenizer::new().for_each_term(text, |term, range| {
            let overlaps = spans.last().is_some_and(|(_, last)| range.start < last.end);
            if let Ok(term) = terms.binary_search(&term)
                && !overlaps
            {
                spans.push((term, range));
            }
        });
        spans
    }
}

/// Returns the indices of the consecutive spans within `bytes` bytes that have the most distinct terms; at least one
/// span if there are any.
fn best_window(spans: &[TermSpan], bytes: usize) -> Range<usize> {
    let term_count = spans.iter().map(|(term, _)| term + 1).max();
    let mut counts = vec![0_usize; term_count.unwrap_or_default()];
    let (mut best, mut max_distinct) = (0..spans.len().min(1), 0);
    let (mut end, mut distinct) = (0, 0);
    for (start, (term, first)) in spans.iter().enumerate() {
        let fits = |(_, range): &TermSpan| range.end - first.start <= bytes;
        while let Some((term, _)) = spans.get(end).filter(|span| fits(span)) {
            distinct += usize::from(counts[*term] == 0);
            counts[*term] += 1;
            end += 1;
        }
        if distinct > max_distinct {
            (best, max_distinct) = (start..end, distinct);
        }
        if end > start {
            counts[*term] -= 1;
            distinct -= usize::from(counts[*term] == 0);
        } else {
            // This word alone exceeds the window.
            end += 1;
        }
    }
    best
}

/// Renders a part of a text on one line, with each run of whitespace as one space, and maps the ranges of terms to it.
fn collapse_whitespace(
    text: &str,
    window: Range<usize>,
    ranges: impl Iterator<Item = Range<usize>>,
    terms: usize,
) -> Snippet {
    let mut line = String::new();
    let mut marks: Vec<Range<usize>> = Vec::new();
    let mut ranges = ranges.peekable();
    if window.start > 0 {
        line.push(ELLIPSIS);
    }
    let mut after_space = true;
    for (position, c) in text[window.clone()].char_indices() {
        let position = window.start + position;
        if ranges.peek().is_some_and(|range| range.start == position) {
            marks.push(line.len()..line.len());
        }
        if c.is_whitespace() {
            if !after_space {
                line.push(' ');
            }
            after_space = true;
        } else {
            line.push(c);
            after_space = false;
        }
        if ranges
            .next_if(|range| range.end == position + c.len_utf8())
            .is_some()
            && let Some(mark) = marks.last_mut()
        {
            mark.end = line.len();
        }
    }
    let trimmed = line.trim_end().len();
    line.truncate(trimmed);
    if window.end < text.trim_end().len() {
        line.push(ELLIPSIS);
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
    fn snippet_marks_the_query_terms() {
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

    /// Text of any script with any kind of white space and some query terms.
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
    fn any_whitespace_ends_a_word() {
        let text = format!("{}\u{a0}pdf", "x".repeat(300));
        assert_eq!(shown("pdf", &text, 160), "…[pdf]");
        let text =
            "請求書を作成して送付する手順をまとめたものです。\u{3000}PDF の作成にも使えます。";
        assert_eq!(shown("pdf", text, 40), "…[PDF] の作成にも使えます。");
    }

    #[test]
    fn word_longer_than_the_snippet_is_cut() {
        assert_eq!(shown("configurations", "configurations", 6), "[config]…");
        assert_eq!(shown("表格处理", "表格处理", 2), "nothing");
    }

    #[test]
    fn end_of_the_scanned_part_gets_an_ellipsis() {
        let text = format!("{} pdf more", "x ".repeat(MAX_SEARCHED_BYTES / 2 - 2));
        assert_eq!(shown("pdf", &text, 6), "…[pdf]…");
    }

    /// Checking every window of this text separately would take minutes.
    #[test]
    fn text_full_of_query_terms_is_scanned_once() {
        let text = "pdf form ".repeat(MAX_SEARCHED_BYTES / 9);
        let snippet = Query::new("pdf form")
            .snippet(&text, MAX_SEARCHED_BYTES)
            .unwrap();
        assert_eq!(
            (snippet.marks.len(), snippet.terms),
            (MAX_SEARCHED_BYTES / 9 * 2, 2)
        );
    }

    /// Returns the best window by checking all of them.
    fn best_window_by_brute_force(spans: &[TermSpan], bytes: usize) -> Range<usize> {
        let (mut best, mut max_distinct) = (0..spans.len().min(1), 0);
        for (start, (_, first)) in spans.iter().enumerate() {
            let inside = spans[start..].iter();
            let inside = inside.take_while(|(_, range)| range.end - first.start <= bytes);
            let terms: Vec<usize> = inside.map(|(term, _)| *term).collect();
            let distinct = terms
                .iter()
                .collect::<std::collections::BTreeSet<_>>()
                .len();
            if distinct > max_distinct {
                (best, max_distinct) = (start..start + terms.len(), distinct);
            }
        }
        best
    }

    proptest::proptest! {
        #[test]
        fn best_window_equals_brute_force(gaps in proptest::collection::vec((0_usize..4, 0_usize..9, 1_usize..9), 0..40), bytes in 0_usize..60) {
            let mut at = 0;
            let marks: Vec<TermSpan> = gaps.into_iter().map(|(term, gap, length)| {
                let start = at + gap;
                at = start + length;
                (term, start..at)
            }).collect();
            proptest::prop_assert_eq!(best_window(&marks, bytes), best_window_by_brute_force(&marks, bytes));
        }

        #[test]
        fn snippet_of_any_text_fits_its_limit_and_contains_its_marks(
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
