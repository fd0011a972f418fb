//! What clients see of one snapshot: the tools, and the catalog in the server instructions. Built once per snapshot.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::Tool;
use skillfold::Skills;
use skillfold::core::disclose::{Style, ToolNames};
use skillfold::core::{Catalog, Envelope, Policy};
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use crate::conversations::Conversations;
use crate::definition::{LOAD_ALIAS, definitions};
use crate::metrics::Metrics;
use crate::notices::Notices;
use crate::options::Options;
use crate::remembered::Answers;

/// Maximum requests that read files at the same time. What they read stays in memory until it is sent, up to 16 MiB
/// each.
const MAX_CONCURRENT_READS: usize = 8;

/// State shared by all connections.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) skills: Skills,
    pub(crate) metrics: Metrics,
    pub(crate) notices: Notices,
    options: Options,
    /// The conversations of HTTP sessions.
    pub(crate) conversations: Conversations,
    read_permits: Arc<Semaphore>,
    view: Mutex<Option<Arc<ClientView>>>,
}

/// What clients see of one snapshot.
#[derive(Debug)]
pub(crate) struct ClientView {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) policy: Policy,
    /// How a loaded skill is wrapped for a model.
    pub(crate) envelope: Envelope,
    /// The names of the tools: list, search, load, read.
    pub(crate) names: [String; 4],
    pub(crate) tools: Vec<Tool>,
    /// What a model is told about the skills; `None` if there are none.
    pub(crate) instructions: Option<String>,
    /// Cached tool results.
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
            read_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_READS)),
            view: Mutex::new(None),
        }
    }

    /// Runs `act`, which reads files, on a blocking thread. Only some run at the same time.
    pub(crate) async fn read_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        act: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        // The semaphore is never closed.
        let permit = Arc::clone(&self.read_permits).acquire_owned().await.ok();
        let shared = Arc::clone(self);
        let act = move || {
            let result = act(&shared);
            // Released only now: the client may be gone, but the result is still being built.
            drop(permit);
            result
        };
        tokio::task::spawn_blocking(act).await
    }

    /// Returns the view of the current snapshot, building it if the snapshot changed.
    pub(crate) fn client_view(&self) -> Arc<ClientView> {
        let catalog = self.skills.catalog();
        let mut offer = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        match &*offer {
            Some(offer) if Arc::ptr_eq(&offer.catalog, &catalog) => Arc::clone(offer),
            _ => {
                let view = Arc::new(self.build_view(catalog));
                *offer = Some(Arc::clone(&view));
                view
            }
        }
    }

    fn build_view(&self, catalog: Arc<Catalog>) -> ClientView {
        let mut policy = self.skills.report().settings.policy();
        let mut names = self.options.names().map(str::to_owned);
        // The text of this style refers to the tool by its alias.
        if policy.style == Style::Bullets && !self.options.has_custom_load_name() {
            LOAD_ALIAS.clone_into(&mut names[2]);
        }
        policy.tools = ToolNames::new(names[2].as_str(), names[1].as_str());
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
