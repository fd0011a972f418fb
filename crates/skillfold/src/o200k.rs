//! Exact token counts in the `o200k_base` encoding.

use skillfold_core::disclose::TokenCounter;
use skillfold_core::text::truncate_at_line;
use tiktoken_rs::o200k_base_singleton;

/// Maximum bytes passed to the tokenizer in one call. It panics on longer runs of whitespace, which exhaust its regex.
const MAX_CHUNK_BYTES: usize = 64 * 1024;

/// Counts tokens exactly, in the encoding `o200k_base` of recent GPT models. The tables are compiled in; nothing is
/// downloaded.
///
/// The first count takes about 0.1 s, because it builds the tables; later ones process a few megabytes per second. Text
/// that looks like a special token is counted as ordinary text. Text above 64 KiB is counted in chunks, split at line
/// ends where possible; a split may add a token. The counts of single lines add up to the count of the whole text if no
/// line begins with a blank, a line end or `/`.
///
/// ```
/// use skillfold::{O200k, core::disclose::TokenCounter};
///
/// assert_eq!(O200k.count("Fills in PDF forms and reads tables."), 9);
/// assert_eq!(O200k.name(), "o200k_base");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct O200k;

impl TokenCounter for O200k {
    fn count(&self, text: &str) -> u64 {
        let mut rest = text;
        let mut tokens = 0;
        while !rest.is_empty() {
            let chunk = truncate_at_line(rest, MAX_CHUNK_BYTES);
            tokens += o200k_base_singleton().encode_ordinary(chunk).len() as u64;
            rest = &rest[chunk.len()..];
        }
        tokens
    }

    fn name(&self) -> &'static str {
        "o200k_base"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_counts_of_lines_add_up_to_the_whole() {
        let lines = [
            "Skills:\n",
            "- pdf: Fills in forms…\n",
            "- ocr\n",
            "- 将文档 (é)\n",
            "2 more: call search_skills\n",
        ];
        let parts: u64 = lines.iter().map(|line| O200k.count(line)).sum();
        assert_eq!(O200k.count(&lines.concat()), parts);
    }

    #[test]
    fn special_tokens_are_counted_as_text() {
        assert!(O200k.count("<|endoftext|>") > 1);
    }

    #[test]
    fn very_long_runs_are_counted() {
        for text in [" ", "\n", "a", "-", "\t\u{a0}", "将"] {
            let long = format!("{}x", text.repeat(1_500_000));
            assert!(O200k.count(&long) > 1, "{text:?}");
        }
    }

    #[test]
    fn long_texts_are_counted_line_by_line() {
        let line = "- pdf: Fills in forms and reads tables\n";
        let long = line.repeat(10_000);
        assert_eq!(O200k.count(&long), 10_000 * O200k.count(line));
    }
}
