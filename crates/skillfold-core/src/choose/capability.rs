//! Questions about what can be done at all.

use std::sync::LazyLock;

use regex::RegexSet;

/// What people write who want to know what there is. The message is in lower case. Edges of words are those of ASCII: the
/// others are slow to find.
const QUESTIONS: [&str; 8] = [
    r"(?-u:\b)what\s+(?:all\s+)?(?:can|could)\s+(?:you|u|this|it)\s+do(?-u:\b)",
    r"(?-u:\b)what\s+(?:are\s+you|is\s+this)\s+(?:able\s+to\s+do|capable\s+of)(?-u:\b)",
    r"(?-u:\b)(?:what|which)\s+(?:[a-z]+\s+){0,2}(?:skills?|capabilit(?:y|ies)|abilities)(?-u:\b)",
    r"(?-u:\b)(?:list|show|display|enumerate|print)\s+(?:me\s+)?(?:[a-z]+\s+){0,3}(?:skills|capabilities|abilities)(?-u:\b)",
    r"(?-u:\b)(?:tell|describe)\s+(?:me\s+)?(?:about\s+)?(?:your|the\s+available)\s+(?:skills|capabilities|abilities)(?-u:\b)",
    r"(?-u:\b)do\s+you\s+have\s+(?:any\s+)?(?:[a-z]+\s+)?(?:skills?|capabilities)(?-u:\b)",
    r"(?-u:\b)how\s+can\s+you\s+help(?-u:\b)",
    r"^\s*/?(?:skills|capabilities)\s*[?!.]*\s*$",
];

/// Returns whether a folded message asks what can be done at all.
pub(super) fn is_asked(folded: &str) -> bool {
    static SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(QUESTIONS).ok());
    SET.as_ref().is_some_and(|set| set.is_match(folded))
}

#[cfg(test)]
mod tests {
    use super::{QUESTIONS, is_asked};

    #[test]
    fn every_question_is_a_pattern() {
        assert!(regex::RegexSet::new(QUESTIONS).is_ok());
    }

    #[test]
    fn question_about_what_there_is_is_told_from_a_task() {
        for question in [
            "what can you do?",
            "what all could u do",
            "list skills",
            "please list all of your skills",
            "show me the available skills",
            "which skills do you have?",
            "what are your capabilities?",
            "tell me about your skills",
            "do you have any skills for pdf?",
            "how can you help me?",
            "/skills",
        ] {
            assert!(is_asked(question), "{question}");
        }
        for task in [
            "what is 2+2?",
            "list the files of this folder",
            "what can we do about the weather in this report",
            "show me the skill gap in this spreadsheet",
            "write a story about a skilled baker",
            "improve my communication",
        ] {
            assert!(!is_asked(task), "{task}");
        }
    }
}
