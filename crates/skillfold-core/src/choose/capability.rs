//! Detects messages that ask which skills are available.

use std::sync::LazyLock;

use regex::RegexSet;

/// Phrases that ask for the list of skills, matched against the folded message. They use ASCII word boundaries because
/// Unicode ones are slow.
const CAPABILITY_QUESTIONS: [&str; 8] = [
    r"(?-u:\b)what\s+(?:all\s+)?(?:can|could)\s+(?:you|u|this|it)\s+do(?-u:\b)",
    r"(?-u:\b)what\s+(?:are\s+you|is\s+this)\s+(?:able\s+to\s+do|capable\s+of)(?-u:\b)",
    r"(?-u:\b)(?:what|which)\s+(?:[a-z]+\s+){0,2}(?:skills?|capabilit(?:y|ies)|abilities)(?-u:\b)",
    r"(?-u:\b)(?:list|show|display|enumerate|print)\s+(?:me\s+)?(?:[a-z]+\s+){0,3}(?:skills|capabilities|abilities)(?-u:\b)",
    r"(?-u:\b)(?:tell|describe)\s+(?:me\s+)?(?:about\s+)?(?:your|the\s+available)\s+(?:skills|capabilities|abilities)(?-u:\b)",
    r"(?-u:\b)do\s+you\s+have\s+(?:any\s+)?(?:[a-z]+\s+)?(?:skills?|capabilities)(?-u:\b)",
    r"(?-u:\b)how\s+can\s+you\s+help(?-u:\b)",
    r"^\s*/?(?:skills|capabilities)\s*[?!.]*\s*$",
];

/// Returns whether a folded message asks for the list of skills.
pub(super) fn asks_for_list(folded: &str) -> bool {
    static SET: LazyLock<Option<RegexSet>> =
        LazyLock::new(|| RegexSet::new(CAPABILITY_QUESTIONS).ok());
    SET.as_ref().is_some_and(|set| set.is_match(folded))
}

#[cfg(test)]
mod tests {
    use super::{CAPABILITY_QUESTIONS, asks_for_list};

    #[test]
    fn every_question_compiles() {
        assert!(regex::RegexSet::new(CAPABILITY_QUESTIONS).is_ok());
    }

    #[test]
    fn capability_question_is_not_a_task() {
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
            assert!(asks_for_list(question), "{question}");
        }
        for task in [
            "what is 2+2?",
            "list the files of this folder",
            "what can we do about the weather in this report",
            "show me the skill gap in this spreadsheet",
            "write a story about a skilled baker",
            "improve my communication",
        ] {
            assert!(!asks_for_list(task), "{task}");
        }
    }
}
