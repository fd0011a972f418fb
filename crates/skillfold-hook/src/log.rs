//! The log of what hooks did: which skills each prompt got, and what became of them.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use skillfold::TraceLines;
use skillfold::conversation::ConversationKey;
use skillfold::core::disclose::LogDetail;
use skillfold::core::text::first_chars;
use skillfold::core::{Error, Policy};
use skillfold_store::BoundedLog;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::registry::LookupSpan;

use crate::event::{EventKind, HookEvent};
use crate::response::Response;

/// The name of the log in the user's state folder. At 5 MiB, a year of prompts, a file becomes the old one.
const NAME: &str = "hook";

/// Maximum characters of a prompt in the log.
const MAX_REQUEST_CHARS: usize = 4_000;

/// The target of the events that are logged: those of this crate.
const TARGET: &str = "skillfold_hook";

/// The hook's log, open for appending.
///
/// It has ids, numbers and digests, and what the user wrote only with the setting `log_content`. It is bounded: at 5 MiB, the
/// file replaces the one before it. Both are readable only by the user.
#[derive(Debug)]
pub struct HookLog(BoundedLog);

impl HookLog {
    /// Opens the log in the user's state folder, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// Any error of the file system.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        BoundedLog::open(folder, NAME).map(Self)
    }

    /// Returns the path of the log in the user's state folder.
    pub fn path(folder: &Path) -> PathBuf {
        BoundedLog::path(folder, NAME)
    }

    /// Reads the log in the user's state folder, oldest lines first; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Any error of the file system.
    pub fn read(folder: &Path) -> Result<Option<impl BufRead + use<>>, Error> {
        BoundedLog::read(folder, NAME)
    }
}

impl Write for HookLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Returns a layer that writes what hooks do, and nothing else, as JSON lines.
pub fn log_layer<S>(writer: impl Write + Send + 'static) -> impl Layer<S>
where
    S: Subscriber + for<'l> LookupSpan<'l>,
{
    let targets = Targets::new().with_target(TARGET, LevelFilter::INFO);
    TraceLines::new(writer).with_filter(targets)
}

/// Logs a prompt, each skill's outcome, and what became of the skills of the prompt before. Words of the prompt are logged only
/// if the settings say so: what matched has some too.
pub(crate) fn log_response(event: &HookEvent, policy: &Policy, response: &Response) {
    let client = event.client.name();
    let conversation = event.conversation.as_ref().map(ConversationKey::short);
    if response.is_repeated {
        return;
    }
    for (skill, what) in &response.uses.logged {
        tracing::info!(
            client,
            conversation,
            skill = &**skill,
            outcome = what.as_str(),
            "skill of a prompt"
        );
    }
    let EventKind::Prompt { text, .. } = &event.kind else {
        return;
    };
    let has_content = policy.log_detail == LogDetail::Content;
    let decisions = response.turns.iter().flat_map(|turn| &turn.decisions);
    tracing::info!(
        client,
        conversation,
        skills = decisions.clone().count(),
        request = has_content.then(|| first_chars(text, MAX_REQUEST_CHARS)),
        "prompt"
    );
    for decision in decisions {
        tracing::info!(
            client,
            conversation,
            skill = &*decision.id,
            outcome = decision.outcome.as_str(),
            by = decision.signal.as_str(),
            evidence = has_content.then_some(&*decision.evidence),
            confidence = decision.confidence.map(f64::from),
            "skill of a prompt"
        );
    }
}
