//! A model by script, and the loop of a host around it.

use serde_json::json;
use skillfold::Session;

/// What a model does next.
pub(crate) enum Step {
    /// It calls `list_skills` with a query.
    List(String),
    /// It calls `load_skill` with an id.
    Load(String),
    /// It calls `read_skill_resource` with an id and a path.
    Read(String, String),
    /// It answers.
    Answer(String),
}

/// What was said to a model and by it.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// All that the model was told, in its order.
    pub(crate) told: String,
    /// The tools that it called.
    pub(crate) calls: Vec<&'static str>,
    /// What it answered.
    pub(crate) answer: String,
}

/// Runs a conversation until the model answers. The model knows what it is told, and nothing else, and calls the
/// tools of the session.
pub(crate) fn converse(
    session: &mut Session,
    told: &str,
    mut model: impl FnMut(&str) -> Step,
) -> Conversation {
    let mut conversation = Conversation {
        told: told.to_owned(),
        ..Conversation::default()
    };
    for _ in 0..10 {
        let (tool, arguments) = match model(&conversation.told) {
            Step::List(query) => ("list_skills", json!({ "query": query })),
            Step::Load(id) => ("load_skill", json!({ "skill_id": id })),
            Step::Read(id, path) => (
                "read_skill_resource",
                json!({ "skill_id": id, "path": path }),
            ),
            Step::Answer(answer) => {
                conversation.answer = answer;
                return conversation;
            }
        };
        let answer = session.call(tool, &arguments.to_string()).text();
        conversation.calls.push(tool);
        let said = format!("\n<tool name=\"{tool}\">\n{answer}\n</tool>\n");
        conversation.told.push_str(&said);
    }
    panic!("the model does not come to an end: {conversation:?}");
}

/// Returns what a model gets for `load_skill`: a text, whatever happens.
pub(crate) fn load_skill(session: &mut Session, id: &str) -> String {
    session
        .call("load_skill", &json!({ "skill_id": id }).to_string())
        .text()
}

/// Returns all that a model is told before it answers a request: the listing, and what the request adds.
pub(crate) fn told(session: &mut Session, request: &str) -> String {
    let listing = session.listing().text;
    let added = session.turn(request).text.unwrap_or_default();
    format!("{listing}\n{added}\nUser: {request}\n")
}

/// Returns what stands between two marks, the last time that they do.
pub(crate) fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.rfind(before).unwrap() + before.len();
    let rest = &text[start..];
    &rest[..rest.find(after).unwrap()]
}
