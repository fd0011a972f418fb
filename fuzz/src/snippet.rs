//! Any request and any text, parted by a unit separator: a snippet is within its bytes, on one line, and its marks are
//! words of it.

use skillfold_core::search::Query;

use crate::BETWEEN;

pub(crate) fn run(input: &str) {
    let (request, text) = input.split_once(BETWEEN).unwrap_or((input, input));
    let query = Query::new(request);
    for bytes in [0, 1, 7, 40, 160, 100_000] {
        let Some(snippet) = query.snippet(text, bytes) else {
            continue;
        };
        let shown = snippet.text.strip_prefix('…').unwrap_or(&snippet.text);
        let shown = shown.strip_suffix('…').unwrap_or(shown);
        // An ellipsis of the text itself may stand at its ends.
        assert!(
            shown.len() <= bytes + '…'.len_utf8(),
            "{} of {bytes} bytes",
            shown.len()
        );
        assert!(
            !snippet
                .text
                .contains(|c: char| c.is_whitespace() && c != ' '),
            "more than a line"
        );
        assert!(
            snippet.terms > 0 && snippet.terms <= snippet.marks.len(),
            "terms without marks"
        );
        let mut last = 0;
        for mark in &snippet.marks {
            assert!(
                mark.start >= last && !snippet.text[mark.clone()].is_empty(),
                "a mark on nothing"
            );
            last = mark.end;
        }
    }
}
