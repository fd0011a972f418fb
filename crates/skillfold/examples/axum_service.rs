//! A service with one conversation per user: it says what a model is to get for each message.
//!
//! `cargo run -p skillfold --features tokio --example axum_service`, then
//! `curl -d "Say bonjour to Alice" http://127.0.0.1:8000/users/ada/messages`, twice: the instructions come once.
#![expect(clippy::print_stdout, reason = "the example says where it listens")]

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use skillfold::tokio::{AsyncSession, AsyncSkills, discover};
use skillfold::{Budget, ContextLifetime, Environment, FsSource, Host, Policy};
use tokio::net::TcpListener;

/// The skills of the repository. `Environment::from_process(".")` would find those of the project and the user instead.
const SKILLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/skills");

/// Users that are remembered. A real service saves `session.state()` and resumes the conversation later.
const MAX_USERS: usize = 10_000;

struct Service {
    skills: AsyncSkills,
    sessions: Mutex<HashMap<String, AsyncSession>>,
}

impl Service {
    /// Returns the conversation of a user; `None` if there are too many.
    async fn session(&self, user: &str) -> Option<AsyncSession> {
        let sessions = || self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = sessions().get(user).cloned();
        if known.is_some() || sessions().len() >= MAX_USERS {
            return known;
        }
        let policy = Policy::hybrid(Budget::tokens(2_000));
        let new = self.skills.session(policy, ContextLifetime::History).await;
        // Another request of the user may have been faster.
        Some(sessions().entry(user.to_owned()).or_insert(new).clone())
    }
}

/// Returns what the model gets with a message: the instructions of the skills that it needs, or nothing.
async fn message(
    State(service): State<Arc<Service>>,
    Path(user): Path<String>,
    message: String,
) -> Result<String, StatusCode> {
    let session = service.session(&user).await;
    let session = session.ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
    Ok(session.turn(&message).await.text.unwrap_or_default())
}

async fn service() -> Result<Router, Box<dyn Error>> {
    let host = Host::new(Environment::new("/nowhere"));
    let discovered = discover(host.bundled("examples", FsSource::open(SKILLS)?)).await?;
    for warning in &discovered.warnings {
        println!("warning: {warning}");
    }
    let service = Service {
        skills: AsyncSkills::new(discovered.skills),
        sessions: Mutex::default(),
    };
    let router = Router::new().route("/users/{user}/messages", post(message));
    Ok(router.with_state(Arc::new(service)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:8000").await?;
    println!("Listening on http://{}", listener.local_addr()?);
    axum::serve(listener, service().await?).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::service;

    #[tokio::test]
    async fn each_user_gets_the_instructions_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = service().await.unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let ask = async |user: &str, message: &str| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!(
                "POST /users/{user}/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{message}",
                message.len()
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            answer
        };
        let message = "Say bonjour to Alice";
        for user in ["ada", "grace"] {
            assert!(ask(user, message).await.contains("Bonjour"), "{user}");
            assert!(!ask(user, message).await.contains("Bonjour"), "{user}");
        }
        assert!(ask("ada", "What is 2+2?").await.ends_with("\r\n\r\n"));
    }
}
