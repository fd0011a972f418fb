//! The clients' requests: mostly loading a skill and reading one of its files, after a search.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};

/// Number of different repeated questions.
const QUESTIONS: f64 = 5_000.0;

/// A tool call.
pub(crate) struct Question {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
}

/// Which questions are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mix {
    /// Nine out of ten repeat, one is new.
    All,
    /// Only repeated ones.
    Repeated,
    /// Only new ones.
    New,
}

impl Question {
    /// Returns the nth question in a mix. Repeated ones follow Zipf's law: the first is asked twice as often as the
    /// second. Out of ten, one lists, three search, four load and two read. A new one searches.
    pub(crate) fn nth(number: usize, skills: usize, mix: Mix) -> Self {
        let random = random(number);
        let is_new = mix == Mix::New || (mix == Mix::All && random < 0.1);
        if is_new {
            let query = format!("collect task {number} in a note");
            return Self {
                tool: "search_skills",
                arguments: json!({ "query": query }),
            };
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 0 and 5,000"
        )]
        let rank = QUESTIONS.powf(self::random(number ^ 0x5555)).floor() as usize - 1;
        let skill = rank * 37 % skills.max(1);
        let id = format!("made-skill-{skill:06}");
        let (tool, arguments) = match rank % 10 {
            0 => ("list_skills", json!({ "query": format!("task {rank}") })),
            1 | 4 | 7 => (
                "search_skills",
                json!({ "query": format!("task {skill} collection") }),
            ),
            2 | 9 => (
                "read_skill_resource",
                json!({ "skill_id": id, "path": "references/guide.md" }),
            ),
            _ => ("load_skill", json!({ "skill_id": id })),
        };
        Self { tool, arguments }
    }
}

/// Returns a number from 0 to 1 that is the same in every run.
fn random(number: usize) -> f64 {
    let mut hasher = DefaultHasher::new();
    number.hash(&mut hasher);
    #[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
    let part = (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64;
    part
}

/// Returns a call's message.
pub(crate) fn body(id: u64, question: &Question, meta: &Value) -> String {
    let params = json!({ "name": question.tool, "arguments": question.arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Mix, Question};

    fn different(mix: Mix) -> usize {
        let asked = (0..10_000).map(|number| {
            let question = Question::nth(number, 500, mix);
            format!("{} {}", question.tool, question.arguments)
        });
        asked.collect::<HashSet<_>>().len()
    }

    #[test]
    fn one_in_ten_questions_is_new() {
        assert_eq!(different(Mix::New), 10_000);
        let repeated = different(Mix::Repeated);
        assert!((500..3_000).contains(&repeated), "{repeated}");
        let new = different(Mix::All) - repeated;
        assert!((800..1_200).contains(&new), "{new}");
    }
}
