//! The same calls as futures, for programs on tokio.
//!
//! Whatever reads files, searches or runs something is done on tokio's threads for blocking work, a bounded number at a
//! time, so no worker of the runtime waits. Every future may be dropped at any time: the conversation is then as it was
//! before the call, or as it is after it. A dropped [`call`](AsyncSession::call) ends the script or tool that it runs.
//!
//! ```
//! use skillfold::tokio::{AsyncSkills, discover};
//! use skillfold::{ContextLifetime, Environment, Host, MemorySource, Policy};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let file = "---\nname: greet\ndescription: Says hello\ntriggers: [bonjour]\n---\nSay hello.\n";
//! let bundled = MemorySource::new([("greet/SKILL.md", file)]);
//! let host = Host::new(Environment::new("/nowhere")).bundled("built in", bundled);
//! let skills = AsyncSkills::new(discover(host).await?.skills);
//! let session = skills.session(Policy::triggered(), ContextLifetime::History).await;
//! let turn = session.turn("Say bonjour to Alice").await;
//! assert!(turn.text.unwrap().contains("Say hello."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::future::pending;
use std::ops::{Bound, RangeBounds};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::available_parallelism;

use ::tokio::sync::{Mutex, Semaphore};
use ::tokio::task::spawn_blocking;
use skillfold_core::catalog::Changes;
use skillfold_core::disclose::{Feedback, Listing, Turn};
use skillfold_core::load::{FileContent, FileList};
use skillfold_core::source::Cursor;
use skillfold_core::{Budget, ContextLifetime, Error, Instructions, Policy, SessionState};

use crate::answer::{Tool, ToolAnswer};
use crate::conversation::session::Session;
use crate::discovery::host::Host;
use crate::skills::{Discovered, SearchResults, Skills};
use crate::tools::ToolDefinition;

/// Calls that run at the same time, for each core.
const CALLS_PER_CORE: usize = 4;

/// Discovers all skills of a host; see [`Host::discover`].
pub async fn discover(host: Host) -> Result<Discovered, Error> {
    Pool::new(1).run(|| host.discover()).await
}

/// [`Skills`] whose calls are futures. Clones share the same state.
#[derive(Clone, Debug)]
pub struct AsyncSkills {
    skills: Skills,
    pool: Pool,
}

/// A conversation whose calls are futures: a [`Session`] that several tasks may share. Calls of one conversation are done
/// one after the other, except those that run a script or tool of a skill.
#[derive(Clone, Debug)]
pub struct AsyncSession {
    session: Arc<Mutex<Session>>,
    pool: Pool,
}

impl AsyncSkills {
    /// Creates the handle. At most four calls per core run at the same time.
    pub fn new(skills: Skills) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self {
            skills,
            pool: Pool::new(CALLS_PER_CORE * cores),
        }
    }

    /// Sets how many calls run at the same time, at least one. Others wait without a thread.
    #[must_use]
    pub fn with_max_calls(mut self, max: usize) -> Self {
        self.pool = Pool::new(max);
        self
    }

    /// Returns the handle that blocks: for [`catalog`](Skills::catalog), [`get`](Skills::get) and whatever else touches
    /// no file.
    pub fn skills(&self) -> &Skills {
        &self.skills
    }

    /// See [`Skills::refresh`].
    pub async fn refresh(&self) -> Result<Changes, Error> {
        self.run(Skills::refresh).await
    }

    /// See [`Skills::check_trust`].
    pub async fn check_trust(&self) {
        self.run(Skills::check_trust).await;
    }

    /// See [`Skills::search`].
    pub async fn search(&self, request: &str, limit: usize) -> SearchResults {
        let request = request.to_owned();
        self.run(move |skills| skills.search(&request, limit)).await
    }

    /// See [`Skills::load`].
    pub async fn load(&self, id: &str, arguments: &str) -> Result<Arc<Instructions>, Error> {
        let (id, arguments) = (id.to_owned(), arguments.to_owned());
        self.run(move |skills| skills.load(&id, &arguments)).await
    }

    /// See [`Skills::read`].
    pub async fn read(&self, id: &str, path: &str) -> Result<FileContent, Error> {
        self.read_range(id, path, ..).await
    }

    /// See [`Skills::read_range`].
    pub async fn read_range(
        &self,
        id: &str,
        path: &str,
        range: impl RangeBounds<u64>,
    ) -> Result<FileContent, Error> {
        let (id, path, range) = (id.to_owned(), path.to_owned(), owned(&range));
        self.run(move |skills| skills.read_range(&id, &path, range))
            .await
    }

    /// See [`Skills::files`].
    pub async fn files(
        &self,
        id: &str,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<FileList, Error> {
        let (id, cursor) = (id.to_owned(), cursor.cloned());
        self.run(move |skills| skills.files(&id, cursor.as_ref(), limit))
            .await
    }

    /// Starts a conversation; see [`Skills::session`].
    pub async fn session(&self, policy: Policy, lifetime: ContextLifetime) -> AsyncSession {
        let session = self.run(move |skills| skills.session(policy, lifetime));
        AsyncSession::new(session.await, self.pool.clone())
    }

    /// Resumes a conversation from its saved state; see [`Skills::resume`].
    pub fn resume(&self, policy: Policy, state: SessionState) -> AsyncSession {
        AsyncSession::new(self.skills.resume(policy, state), self.pool.clone())
    }

    /// Makes a conversation asynchronous, such as that of an [agent](crate::AgentSkills::session).
    pub fn adopt(&self, session: Session) -> AsyncSession {
        AsyncSession::new(session, self.pool.clone())
    }

    async fn run<T: Send + 'static>(&self, f: impl FnOnce(&Skills) -> T + Send + 'static) -> T {
        let skills = self.skills.clone();
        self.pool.run(move || f(&skills)).await
    }
}

impl AsyncSession {
    fn new(session: Session, pool: Pool) -> Self {
        Self {
            session: Arc::new(Mutex::new(session)),
            pool,
        }
    }

    /// See [`Session::listing`].
    pub async fn listing(&self) -> Listing {
        self.update(Session::listing).await
    }

    /// See [`Session::turn`].
    pub async fn turn(&self, message: &str) -> Turn {
        let message = message.to_owned();
        self.update(move |session| session.turn(&message)).await
    }

    /// See [`Session::after_compaction`].
    pub async fn after_compaction(&self, budget: Budget, kept: &[&str]) -> Turn {
        let kept: Vec<_> = kept.iter().map(ToString::to_string).collect();
        self.update(move |session| {
            let kept: Vec<_> = kept.iter().map(String::as_str).collect();
            session.after_compaction(budget, &kept)
        })
        .await
    }

    /// See [`Session::load`].
    pub async fn load(&self, id: &str, arguments: &str) -> Result<Arc<Instructions>, Error> {
        let (id, arguments) = (id.to_owned(), arguments.to_owned());
        self.update(move |session| session.load(&id, &arguments))
            .await
    }

    /// See [`Session::read`].
    pub async fn read(&self, id: &str, path: &str) -> Result<FileContent, Error> {
        self.read_range(id, path, ..).await
    }

    /// See [`Session::read_range`].
    pub async fn read_range(
        &self,
        id: &str,
        path: &str,
        range: impl RangeBounds<u64>,
    ) -> Result<FileContent, Error> {
        let (id, path, range) = (id.to_owned(), path.to_owned(), owned(&range));
        self.run(move |session| session.read_range(&id, &path, range))
            .await
    }

    /// See [`Session::files`].
    pub async fn files(
        &self,
        id: &str,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<FileList, Error> {
        let (id, cursor) = (id.to_owned(), cursor.cloned());
        self.run(move |session| session.files(&id, cursor.as_ref(), limit))
            .await
    }

    /// See [`Session::search`].
    pub async fn search(&self, request: &str, limit: usize) -> SearchResults {
        let request = request.to_owned();
        self.run(move |session| session.search(&request, limit))
            .await
    }

    /// See [`Session::tools`].
    pub async fn tools(&self) -> Vec<ToolDefinition> {
        self.run(Session::tools).await
    }

    /// Calls a tool as the model asked; see [`Session::call`]. A script or tool of a skill ends when the future is dropped.
    pub async fn call(&self, name: &str, arguments: &str) -> Arc<ToolAnswer> {
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        let session = self.session.lock().await;
        // What runs something, or is no tool of ours, records nothing and may take a minute.
        if is_recorded(session.tool(&name)) {
            drop(session);
            let call = move |session: &mut Session| session.call(&name, &arguments);
            return self.update(call).await;
        }
        let session = session.clone();
        #[cfg(feature = "run")]
        let cancel = CancelOnDrop::default();
        #[cfg(feature = "run")]
        let session = session.with_cancel(cancel.0.clone());
        let mut session = session;
        let call = move || session.call(&name, &arguments);
        self.pool.run(call).await
    }

    /// See [`Session::record_feedback`].
    pub async fn record_feedback(&self, id: &str, feedback: Feedback) -> Result<(), Error> {
        let id = id.to_owned();
        self.run(move |session| session.record_feedback(&id, feedback))
            .await
    }

    /// Returns the conversation's state, to save it; see [`Session::state`].
    pub async fn state(&self) -> SessionState {
        self.session.lock().await.state().clone()
    }

    /// Calls `f`, which changes nothing, on a thread for blocking work.
    async fn run<T: Send + 'static>(&self, f: impl FnOnce(&Session) -> T + Send + 'static) -> T {
        let session = self.session.lock().await.clone();
        self.pool.run(move || f(&session)).await
    }

    /// Calls `f` on a thread for blocking work, with a copy of the conversation. The copy replaces it when the future is
    /// done: if it is dropped before, nothing was given to the model.
    async fn update<T: Send + 'static>(
        &self,
        f: impl FnOnce(&mut Session) -> T + Send + 'static,
    ) -> T {
        let mut current = self.session.lock().await;
        let mut session = current.clone();
        let call = move || {
            let result = f(&mut session);
            (session, result)
        };
        let (session, result) = self.pool.run(call).await;
        *current = session;
        result
    }
}

/// Threads for blocking work, a bounded number at a time.
#[derive(Clone, Debug)]
struct Pool(Arc<Semaphore>);

impl Pool {
    fn new(max: usize) -> Self {
        Self(Arc::new(Semaphore::new(max.max(1))))
    }

    async fn run<T: Send + 'static>(&self, f: impl FnOnce() -> T + Send + 'static) -> T {
        // Nobody closes the semaphore.
        let permit = Arc::clone(&self.0).acquire_owned().await.ok();
        let call = spawn_blocking(move || {
            let result = f();
            // Released only now: the future may be gone, but the call still had a thread.
            drop(permit);
            result
        });
        match call.await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The runtime shuts down, and this task with it.
                Err(_) => pending().await,
            },
        }
    }
}

/// Ends a script or tool when the call that runs it is dropped.
#[cfg(feature = "run")]
#[derive(Default)]
struct CancelOnDrop(skillfold_run::Cancel);

#[cfg(feature = "run")]
impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Returns whether a call of a tool may be recorded.
fn is_recorded(tool: Option<Tool>) -> bool {
    match tool {
        None => false,
        #[cfg(feature = "run")]
        Some(Tool::RunScript | Tool::CallTool) => false,
        Some(_) => true,
    }
}

fn owned(range: &impl RangeBounds<u64>) -> (Bound<u64>, Bound<u64>) {
    (range.start_bound().cloned(), range.end_bound().cloned())
}
