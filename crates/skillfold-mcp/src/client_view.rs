//! What clients are offered by one snapshot: the tools, and the catalog in the instructions. Made once, and again when the
//! snapshot is another.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::Tool;
use skillfold::Skills;
use skillfold::core::{Catalog, Envelope, Policy, Style, ToolNames};
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use crate::conversations::Conversations;
use crate::definition::{ALIAS, definitions};
use crate::metrics::Metrics;
use crate::notices::Notices;
use crate::options::Options;
use crate::remembered::Answers;

/// Requests that read files at once. What is read is in memory until it is sent, and may be 16 MiB.
const READING: usize = 8;

/// What all connections share.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) skills: Skills,
    pub(crate) metrics: Metrics,
    pub(crate) notices: Notices,
    options: Options,
    /// Those of sessions over HTTP.
    pub(crate) conversations: Conversations,
    reading: Arc<Semaphore>,
    offer: Mutex<Option<Arc<ClientView>>>,
}

/// What clients are offered by one snapshot.
#[derive(Debug)]
pub(crate) struct ClientView {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) policy: Policy,
    /// How a loaded skill is put before a model.
    pub(crate) envelope: Envelope,
    /// The names of the tools: list, search, load, read.
    pub(crate) names: [String; 4],
    pub(crate) tools: Vec<Tool>,
    /// What a model is told of the skills; nothing, if there are none.
    pub(crate) instructions: Option<String>,
    /// What tools answered.
    pub(crate) answers: Answers,
}

impl ServerState {
    pub(crate) fn new(skills: Skills, options: Options) -> Self {
        Self {
            skills,
            metrics: Metrics::default(),
            notices: Notices::default(),
            options,
            conversations: Conversations::default(),
            reading: Arc::new(Semaphore::new(READING)),
            offer: Mutex::new(None),
        }
    }

    /// Does something that reads files, where no other request has to wait for it. Only some are done at once.
    pub(crate) async fn reading<T: Send + 'static>(
        self: &Arc<Self>,
        act: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        // It is never closed.
        let turn = Arc::clone(&self.reading).acquire_owned().await.ok();
        let shared = Arc::clone(self);
        let act = move || {
            let done = act(&shared);
            // Not before: nobody may wait for the answer any more, and it is made all the same.
            drop(turn);
            done
        };
        tokio::task::spawn_blocking(act).await
    }

    /// Returns what clients are offered by the snapshot of now.
    pub(crate) fn offer(&self) -> Arc<ClientView> {
        let catalog = self.skills.catalog();
        let mut offer = self.offer.lock().unwrap_or_else(PoisonError::into_inner);
        match &*offer {
            Some(offer) if Arc::ptr_eq(&offer.catalog, &catalog) => Arc::clone(offer),
            _ => {
                let made = Arc::new(self.make(catalog));
                *offer = Some(Arc::clone(&made));
                made
            }
        }
    }

    fn make(&self, catalog: Arc<Catalog>) -> ClientView {
        let mut policy = self.skills.report().settings.policy();
        let mut names = self.options.names().map(str::to_owned);
        // This style speaks of the tool by its other name.
        if policy.style == Style::Bullets && !self.options.names_load() {
            ALIAS.clone_into(&mut names[2]);
        }
        policy.tools = ToolNames {
            load: names[2].as_str().into(),
            search: names[1].as_str().into(),
        };
        let listing = catalog.listing(&policy);
        for id in &listing.left_out {
            tracing::debug!(id = &**id, "no room for a skill in the instructions");
        }
        if !listing.left_out.is_empty() {
            let left_out = listing.left_out.len();
            tracing::info!(left_out, "skills are not listed and have to be searched");
        }
        ClientView {
            tools: definitions(&catalog, &names),
            instructions: Some(listing.text).filter(|text| !text.is_empty()),
            envelope: match policy.style {
                Style::Xml => Envelope::SkillContent,
                _ => Envelope::SkillContext,
            },
            answers: Answers::default(),
            policy,
            names,
            catalog,
        }
    }
}
