//! Tokens counted by the tables of an encoding.

use skillfold_core::TokenCounter;
use skillfold_core::text::lines_within;
use tiktoken_rs::o200k_base_singleton;

/// Bytes that are counted at once. Longer runs of blanks would exhaust the tokenizer's patterns, which then panics.
const AT_ONCE: usize = 64 * 1024;

/// Counts tokens exactly as the encoding `o200k_base` of recent GPT models has them. Its tables are in the program; nothing
/// is fetched.
///
/// The first count takes about a tenth of a second, as the tables are made then; later ones read some megabytes a second.
/// What looks like a special token is counted as text. A text above 64 KiB is counted in parts, cut at the ends of lines
/// where it has some; a cut may add a token. Lines are counted alone as they are in a text if none begins with a blank, a
/// line end or `/`.
///
/// ```
/// use skillfold::{O200k, core::TokenCounter};
///
/// assert_eq!(O200k.count("Fills in PDF forms and reads tables."), 9);
/// assert_eq!(O200k.name(), "o200k_base");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has nothing to set")]
pub struct O200k;

impl TokenCounter for O200k {
    fn count(&self, text: &str) -> u64 {
        let mut rest = text;
        let mut tokens = 0;
        while !rest.is_empty() {
            let part = lines_within(rest, AT_ONCE);
            tokens += o200k_base_singleton().encode_ordinary(part).len() as u64;
            rest = &rest[part.len()..];
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
    fn lines_are_counted_alone_as_in_a_text() {
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
    fn special_tokens_are_text() {
        assert!(O200k.count("<|endoftext|>") > 1);
    }

    #[test]
    fn runs_without_end_are_counted() {
        for text in [" ", "\n", "a", "-", "\t\u{a0}", "将"] {
            let long = format!("{}x", text.repeat(1_500_000));
            assert!(O200k.count(&long) > 1, "{text:?}");
        }
    }

    #[test]
    fn long_texts_are_counted_as_their_lines() {
        let line = "- pdf: Fills in forms and reads tables\n";
        let long = line.repeat(10_000);
        assert_eq!(O200k.count(&long), 10_000 * O200k.count(line));
    }
}
