//! An agent loop on tokio: what the model gets with each request, and the tools that it calls.
//!
//! `cargo run -p skillfold --features tokio --example async_agent` talks to a scripted model. Replace [`ask_model`] with the
//! client of your model.
#![expect(clippy::print_stdout, reason = "the example prints what it did")]

use std::error::Error;

use skillfold::tokio::{AsyncSession, AsyncSkills, discover};
use skillfold::{Budget, ContextLifetime, Environment, FsSource, Host, Policy, ToolDefinition};

/// The skills of the repository. `Environment::from_process(".")` would find those of the project and the user instead.
const SKILLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/skills");
/// A model that only calls tools is stopped after this many calls.
const MAX_CALLS: usize = 8;

/// What a model answers.
enum Reply {
    Text(String),
    Call { tool: String, arguments: String },
}

/// Stands in for a model: it loads the skill `hello-extended`, and answers once it has it.
#[expect(clippy::unused_async, reason = "the client of a real model waits")]
async fn ask_model(messages: &[String], tools: &[ToolDefinition]) -> Reply {
    let has_skill = messages.iter().any(|message| message.contains("Bonjour"));
    if has_skill || tools.is_empty() {
        return Reply::Text("Bonjour, Alice!".to_owned());
    }
    Reply::Call {
        tool: "load_skill".to_owned(),
        arguments: r#"{ "skill_id": "hello-extended" }"#.to_owned(),
    }
}

/// Answers a message of the user. Dropping the future ends whatever runs, and leaves a conversation that can go on.
async fn respond(session: &AsyncSession, message: &str) -> Result<String, Box<dyn Error>> {
    let turn = session.turn(message).await;
    let mut messages = vec![session.listing().await.text, message.to_owned()];
    messages.extend(turn.text);
    let tools = session.tools().await;
    for _ in 0..MAX_CALLS {
        match ask_model(&messages, &tools).await {
            Reply::Text(text) => return Ok(text),
            Reply::Call { tool, arguments } => {
                println!("The model calls {tool} {arguments}");
                // Whatever is wrong with a call is an answer that the model can act on.
                messages.push(session.call(&tool, &arguments).await.text());
            }
        }
    }
    Err("The model only calls tools".into())
}

async fn converse() -> Result<(String, u64), Box<dyn Error>> {
    let host = Host::new(Environment::new("/nowhere"));
    let discovered = discover(host.bundled("examples", FsSource::open(SKILLS)?)).await?;
    for warning in &discovered.warnings {
        println!("warning: {warning}");
    }
    let skills = AsyncSkills::new(discovered.skills);
    let policy = Policy::hybrid(Budget::tokens(2_000));
    let session = skills.session(policy, ContextLifetime::History).await;
    let answer = respond(&session, "Write a line to Alice in French").await?;
    Ok((answer, session.state().await.tokens_spent()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (answer, tokens) = converse().await?;
    println!("{answer}\nSkills cost {tokens} tokens.");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn model_gets_the_skill_it_requests() {
        let (answer, tokens) = super::converse().await.unwrap();
        assert_eq!(answer, "Bonjour, Alice!");
        assert!(tokens > 0);
    }
}
