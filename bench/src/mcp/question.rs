//! The clients' requests: mostly loading a skill and reading one of its files, after a search.

use serde_json::{Value, json};

/// A tool call.
pub(crate) struct Question {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
}

impl Question {
    /// Returns the nth call: of ten, one lists, three search, four load and two read.
    pub(crate) fn nth(number: usize, skills: usize) -> Self {
        let skill = number * 37 % skills.max(1);
        let id = format!("made-skill-{skill:06}");
        let (tool, arguments) = match number % 10 {
            0 => ("list_skills", json!({})),
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

/// Returns the message of a call.
pub(crate) fn body(id: u64, question: &Question, meta: Option<&Value>) -> String {
    let mut params = json!({ "name": question.tool, "arguments": question.arguments });
    if let Some(meta) = meta {
        params["_meta"] = meta.clone();
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}
