//! An agent loop made by hand: it prints what the model gets with each request, and what the skills cost.
//!
//! `cargo run -p skillfold --example agent` talks to a scripted model, so no account is needed. For a real one, name a server on your
//! machine that speaks the chat API of `OpenAI` over plain HTTP, as Ollama, llama.cpp, vLLM and LM Studio do:
//!
//! `MODEL=qwen3 OPENAI_BASE_URL=http://127.0.0.1:11434/v1 cargo run -p skillfold --example agent`
//!
//! The loop needs one function of a model, `Model::answer`. For a model on the internet, write it with the HTTP client that
//! your program has; there is none here, so that the example has no dependencies.
#![expect(clippy::print_stdout, reason = "the example prints what it did")]

mod model;

use std::error::Error;

use serde_json::{Value, json};
use skillfold::core::disclose::Breadcrumb;
use skillfold::core::{ContextLifetime, FsSource, Policy};
use skillfold::{Environment, Host, Session};

use crate::model::{Model, REQUESTS, model};

/// The skills of the repository.
const SKILLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/skills");
/// A model that only calls tools is stopped after this many calls.
const MAX_STEPS: usize = 8;

/// Answers the last message: asks the model, and runs the tools that it calls.
fn respond(
    session: &mut Session,
    model: &mut dyn Model,
    messages: &mut Vec<Value>,
) -> Result<String, Box<dyn Error>> {
    let tools = session.tools().into_iter().map(|tool| {
        let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema });
        json!({ "type": "function", "function": function })
    });
    let tools: Vec<Value> = tools.collect();
    for _ in 0..MAX_STEPS {
        println!("The model gets:");
        messages.iter().for_each(print_start);
        let answer = model.answer(messages, &tools)?;
        messages.push(answer.clone());
        let calls = answer["tool_calls"].as_array();
        if calls.is_none_or(Vec::is_empty) {
            return Ok(answer["content"].as_str().unwrap_or_default().to_owned());
        }
        for call in calls.into_iter().flatten() {
            let text = |key: &str| call["function"][key].as_str().unwrap_or_default();
            // Whatever is wrong with a call, such as an unknown skill, is an answer that the model can act on.
            let answer = session.call(text("name"), text("arguments"));
            messages.push(
                json!({ "role": "tool", "tool_call_id": call["id"], "content": answer.text() }),
            );
        }
    }
    Err(format!("The model still calls tools after {MAX_STEPS} steps").into())
}

fn print_start(message: &Value) {
    let called = message["tool_calls"][0]["function"].to_string();
    let text = message["content"].as_str().filter(|text| !text.is_empty());
    let start: String = text.unwrap_or(&called).chars().take(70).collect();
    println!(
        "  {}: {start:?}",
        message["role"].as_str().unwrap_or_default()
    );
}

/// Has a conversation, and returns what skills had to do with it.
fn converse(model: &mut dyn Model) -> Result<Session, Box<dyn Error>> {
    // `Skills::discover(".")` would find the skills of the project and of the person.
    let host = Host::new(Environment::new("/nowhere"));
    let host = host.bundled("examples", FsSource::open(SKILLS)?);
    let policy = Policy::triggered().with_breadcrumb(Breadcrumb::Off);
    // What is added stays in the messages, so nothing has to be given twice.
    let mut session = host
        .discover()?
        .skills
        .session(policy, ContextLifetime::History);
    let mut messages = vec![json!({ "role": "system", "content": "You help." })];
    let mut added = Vec::new();
    for request in REQUESTS {
        let turn = session.turn(request);
        println!("User: {request}\nTokens that skills add: {}", turn.tokens);
        added.push(turn.tokens > 0);
        for text in turn.text.as_deref().into_iter().chain([request]) {
            messages.push(json!({ "role": "user", "content": text }));
        }
        let answer = respond(&mut session, model, &mut messages)?;
        println!("Agent: {answer}");
    }
    assert_eq!(added, [false, true, false]);
    Ok(session)
}

fn main() -> Result<(), Box<dyn Error>> {
    let session = converse(&mut *model())?;
    let (spent, all) = (session.state().tokens_spent(), session.eager_tokens());
    println!("Tokens spent on skills: {spent}; the instructions of all have {all}");
    Ok(())
}

#[test]
fn example_runs() {
    let session = converse(&mut crate::model::ScriptedModel).unwrap();
    assert!(session.state().has_skill("hello-extended"));
    assert!(session.state().has_skill("code-review"));
}
