//! State shared by all connections.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rmcp::ErrorData;
use rmcp::model::Implementation;
use skillfold::client::Client;
use skillfold::client::OwnList;
use skillfold::conversation::SkillMismatch;
use skillfold::core::bind::Visibility;
use skillfold::core::diagnostic::visible;
use skillfold::core::disclose::{Listing, ToolNames};
use skillfold::core::{Agent, Budget, Catalog, ContextLifetime};
use skillfold::{AgentSkills, Session, Skills, Tool};
use skillfold_http::TokenScope;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::ask::Questions;
use crate::caller::Caller;
use crate::metrics::Metrics;
use crate::notices::Notices;
use crate::options::Options;
use crate::tools;

/// Maximum number of concurrent requests that read files. What they read stays in memory until it is sent, up to 16 MiB
/// each.
const MAX_CONCURRENT_READS: usize = 8;

/// Maximum number of skill scripts and tools that run concurrently.
const MAX_SCRIPTS: usize = 4;

/// State shared by all connections.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) skills: Skills,
    pub(crate) metrics: Metrics,
    pub(crate) notices: Notices,
    pub(crate) questions: Questions,
    pub(crate) options: Options,
    read_permits: Arc<Semaphore>,
    search_permits: Arc<Semaphore>,
    script_permits: Arc<Semaphore>,
    /// The view of each agent that callers have, and of everybody else.
    views: Mutex<HashMap<Option<Box<str>>, Arc<SnapshotView>>>,
}

/// What clients see of a snapshot.
#[derive(Debug)]
pub(crate) struct SnapshotView {
    pub(crate) catalog: Arc<Catalog>,
    /// Answers all conversations' calls, and is not a conversation itself.
    pub(crate) session: Session,
    /// Whether there are skills for a model. Without any there are no tools.
    pub(crate) has_skills: bool,
    /// Whether tools have response schemas.
    structured: bool,
    /// The instructions for each kind of client seen so far.
    instructions: Mutex<HashMap<ClientKind, Arc<ClientInstructions>>>,
    /// Whether a skill declares the client versions it needs.
    has_requirements: bool,
    /// The views of clients whose version hides some skills, keyed by those skills' ids.
    for_versions: Mutex<HashMap<Vec<Box<str>>, Arc<Self>>>,
}

/// A kind of client: its id, if known, and its listing budget.
type ClientKind = (Option<OwnList>, Budget);

impl SnapshotView {
    /// Returns a client's view: without skills that need another client version, if the settings hide these.
    fn for_version(self: Arc<Self>, client: Option<&Implementation>) -> Arc<Self> {
        let Some(client) = client.filter(|_| self.has_requirements) else {
            return self;
        };
        let session = self.session.clone();
        let session = session.for_client(&client.name, &client.version);
        let hidden: Vec<Box<str>> = session.state().hidden().map(Into::into).collect();
        if hidden.is_empty() {
            return self;
        }
        let mut views = lock(&self.for_versions);
        let view = views.entry(hidden).or_insert_with(|| {
            Arc::new(Self {
                has_skills: !session.tools().is_empty(),
                session,
                catalog: Arc::clone(&self.catalog),
                structured: self.structured,
                instructions: Mutex::default(),
                has_requirements: false,
                for_versions: Mutex::default(),
            })
        });
        Arc::clone(view)
    }

    /// Logs which skills need another client version.
    pub(crate) fn log_mismatches(&self, client: &Implementation) {
        if !self.has_requirements {
            return;
        }
        let (name, version) = (&client.name, &client.version);
        for SkillMismatch { id, mismatch, .. } in self.session.version_mismatches(name, version) {
            tracing::warn!(
                skill = &*visible(&id),
                why = mismatch.to_string(),
                "a skill does not fit this client"
            );
        }
    }

    /// Returns what a client gets: as much of the listing as it keeps, without what it lists itself.
    pub(crate) fn for_client(&self, info: Option<&Implementation>) -> Arc<ClientInstructions> {
        let client = info.and_then(|info| Client::from_info(&info.name));
        let version = info.map(|info| info.version.as_str());
        let budget = self.session.skills().listing_budget(client, version);
        let skills = self.session.skills();
        let list = client.map(|client| skills.own_list(client));
        let key = (list, budget);
        if let Some(known) = lock(&self.instructions).get(&key) {
            return Arc::clone(known);
        }
        let listing = self.session.instructions(key.0.as_ref(), budget);
        log_left_out(&listing);
        let instructions = Arc::new(ClientInstructions {
            tools: tools::for_client(&self.session, key.0.as_ref(), self.structured),
            text: Some(listing.text).filter(|text| !text.is_empty()),
        });
        lock(&self.instructions).insert(key, Arc::clone(&instructions));
        instructions
    }
}

/// What a kind of client gets before any request.
#[derive(Debug)]
pub(crate) struct ClientInstructions {
    /// What its model is told about the skills; `None` if there are none.
    pub(crate) text: Option<String>,
    pub(crate) tools: Vec<rmcp::model::Tool>,
}

fn log_left_out(listing: &Listing) {
    for id in &listing.left_out {
        tracing::debug!(id = &**id, "a skill does not fit in the instructions");
    }
    if !listing.left_out.is_empty() {
        let left_out = listing.left_out.len();
        tracing::info!(
            left_out,
            "some skills are not listed and must be searched for"
        );
    }
}

impl ServerState {
    pub(crate) fn new(skills: Skills, options: Options) -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            skills,
            metrics: Metrics::default(),
            notices: Notices::default(),
            questions: Questions::default(),
            options,
            read_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_READS)),
            search_permits: Arc::new(Semaphore::new(cores)),
            script_permits: Arc::new(Semaphore::new(MAX_SCRIPTS)),
            views: Mutex::default(),
        }
    }

    /// Runs `job`, which may block, on a blocking thread.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        job: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let shared = Arc::clone(self);
        let result = spawn_blocking(move || job(&shared)).await;
        // The task cannot be cancelled, so it panicked.
        result.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Runs `job`, which reads files, on a blocking thread. Limits how many run concurrently.
    pub(crate) async fn read_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        job: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        self.run_with_permit(&self.read_permits, job).await
    }

    /// Runs `job`, which runs a skill's script or tool, on a blocking thread. That may take a minute, so it has
    /// separate permits; only a few run concurrently.
    pub(crate) async fn run_script<T: Send + 'static>(
        self: &Arc<Self>,
        job: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        self.run_with_permit(&self.script_permits, job).await
    }

    /// Runs `job`, which searches, on a blocking thread. One runs per core: more would only take turns.
    pub(crate) async fn search_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        job: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        self.run_with_permit(&self.search_permits, job).await
    }

    async fn run_with_permit<T: Send + 'static>(
        self: &Arc<Self>,
        permits: &Arc<Semaphore>,
        job: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        // The semaphore is never closed.
        let permit = Arc::clone(permits).acquire_owned().await.ok();
        self.run_blocking(move |shared| {
            let result = job(shared);
            // Released only now: the client may be gone, but the result is still being built.
            drop(permit);
            result
        })
        .await
    }

    /// Returns a caller's view of the current snapshot. Builds it on a blocking thread if the snapshot changed.
    pub(crate) async fn view(
        self: &Arc<Self>,
        caller: &Caller,
    ) -> Result<Arc<SnapshotView>, ErrorData> {
        let view = if let Some(view) = self.built_view(caller.agent()) {
            view
        } else {
            let agent = caller.agent().map(str::to_owned);
            self.run_blocking(move |shared| shared.snapshot_view(agent.as_deref()))
                .await?
        };
        Ok(view.for_version(caller.client.as_ref()))
    }

    /// Returns a caller's view of the current snapshot, after checking that its skills are still trusted. Reads files.
    pub(crate) fn current_view(&self, caller: &Caller) -> Arc<SnapshotView> {
        self.snapshot_view(caller.agent())
            .for_version(caller.client.as_ref())
    }

    fn snapshot_view(&self, agent: Option<&str>) -> Arc<SnapshotView> {
        self.skills.check_trust();
        let catalog = self.skills.catalog();
        if let Some(view) = self.built_view(agent) {
            return view;
        }
        let view = Arc::new(self.build_view(catalog, agent));
        let mut views = self.lock_views();
        // Views of an earlier snapshot would keep it in memory.
        views.retain(|_, view| self.skills.is_current_catalog(&view.catalog));
        views.insert(agent.map(Into::into), Arc::clone(&view));
        view
    }

    /// Returns an agent's view of the current snapshot if it is built.
    fn built_view(&self, agent: Option<&str>) -> Option<Arc<SnapshotView>> {
        let view = self.lock_views().get(&agent.map(Into::into)).cloned();
        view.filter(|view| self.skills.is_current_catalog(&view.catalog))
    }

    /// Takes the lock, which is held only to copy or replace pointers.
    fn lock_views(&self) -> MutexGuard<'_, HashMap<Option<Box<str>>, Arc<SnapshotView>>> {
        lock(&self.views)
    }

    /// Builds the view of an agent, within what the agent of the server sees, if it has one.
    fn build_view(&self, catalog: Arc<Catalog>, agent: Option<&str>) -> SnapshotView {
        let mut policy = self.skills.report().settings.policy();
        policy.tools = self.options.tools.clone();
        let agents = [self.options.agent.as_deref(), agent].into_iter().flatten();
        let mut skills: Option<AgentSkills> = None;
        for id in agents {
            let agent = self.agent(id);
            policy.preferred = agent.skills().into();
            skills = Some(match skills {
                None => self.skills.bind(agent),
                Some(skills) => skills.narrow(agent),
            });
        }
        let session = match skills {
            None => self.skills.session(policy, ContextLifetime::History),
            Some(skills) => skills.session(policy, ContextLifetime::History),
        };
        let session = session.with_project(self.options.project.clone());
        SnapshotView {
            has_skills: !session.tools().is_empty(),
            structured: self.options.structured,
            session,
            has_requirements: catalog.has_version_requirements(),
            catalog,
            instructions: Mutex::default(),
            for_versions: Mutex::default(),
        }
    }
}

impl ServerState {
    /// Returns the scope that a tool's call needs. A name that is not the server's may be a skill's tool, which runs
    /// something.
    pub(crate) fn scope_of(&self, tool: &str) -> TokenScope {
        let ToolNames {
            list,
            search,
            load,
            read,
            ..
        } = &self.options.tools;
        let reading = [list, search, load, read].map(|name| &**name);
        if reading.contains(&tool) || tool == ToolNames::LOAD_ALIAS {
            TokenScope::Read
        } else if [Tool::PROPOSE_UPDATE, Tool::PROPOSE_NEW].contains(&tool) {
            TokenScope::Propose
        } else if self.skills.report().settings.scripts.value {
            TokenScope::Run
        } else {
            // There is no such tool.
            TokenScope::Read
        }
    }

    /// Returns an agent of the settings.
    fn agent(&self, id: &str) -> Agent {
        self.skills.agent(id).unwrap_or_else(|error| {
            // The settings changed: the agent no longer exists, so it sees nothing.
            let why = error.with_cause();
            tracing::warn!(why, "the agent was removed; it sees no skills");
            Agent::new(id).with_visibility(Visibility::Used)
        })
    }
}

/// Takes a lock. Ignores poisoning: nothing is left half done while it is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
