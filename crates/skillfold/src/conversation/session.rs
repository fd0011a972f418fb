//! A conversation with a model.

use std::ops::RangeBounds;
use std::sync::Arc;

use skillfold_core::catalog::{MismatchPolicy, VersionMismatch};
use skillfold_core::disclose::Turn;
use skillfold_core::disclose::{Feedback, Listing, Memory as _, Mode};
use skillfold_core::explain::Explanation;
use skillfold_core::load::{FileContent, FileList};
use skillfold_core::read::ToolCheck;
use skillfold_core::source::Cursor;
use skillfold_core::{
    Budget, Catalog, ContextLifetime, Entry, Error, Instructions, Loader, Policy, SessionState,
};

use crate::client::{Client, OwnList};
use crate::skills::preferred::ProjectWords;
use crate::skills::{SearchResults, Skills};

/// One conversation: what a model is told about skills, turn by turn. Each turn uses the newest snapshot.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) skills: Skills,
    pub(crate) policy: Policy,
    pub(crate) state: SessionState,
    /// Who the model is, and its conversation, for what it proposes.
    #[cfg(feature = "store")]
    pub(crate) author: skillfold_store::Author,
    /// What the names of the project's files stand for, when the conversation started.
    project_words: Arc<ProjectWords>,
    /// Ends the script or tool that the model runs.
    #[cfg(feature = "run")]
    pub(crate) cancel: skillfold_run::Cancel,
    /// The folder that the user works in.
    #[cfg(feature = "run")]
    pub(crate) project: Option<std::path::PathBuf>,
}

/// A skill that does not fit a client.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SkillMismatch {
    /// The skill's id.
    pub id: Box<str>,
    /// What it needs.
    pub mismatch: VersionMismatch,
}

impl Skills {
    /// Starts a conversation. Unless the policy has no listing, this reads the names of the project's files, once per
    /// snapshot: they decide which skills are listed if not all fit.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::{Budget, ContextLifetime, MemorySource, Policy}};
    /// # let file = "---\nname: greet\ndescription: Says hello\ntriggers: [bonjour]\n---\nSay hello.\n";
    /// # let source = MemorySource::new([("greet/SKILL.md", file)]);
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?.skills;
    /// let mut session = skills.session(Policy::hybrid(Budget::tokens(4_000)), ContextLifetime::History);
    /// let listing = session.listing().text;
    /// assert!(listing.contains("- greet: Says hello"));
    /// let turn = session.turn("Say bonjour to Alice");
    /// assert!(turn.text.unwrap().contains("Say hello."));
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    pub fn session(&self, policy: Policy, lifetime: ContextLifetime) -> Session {
        self.resume(policy, SessionState::new(lifetime))
            .with_project_files()
    }

    /// Resumes a conversation from its saved state. Reads no file.
    pub fn resume(&self, policy: Policy, state: SessionState) -> Session {
        Session {
            skills: self.clone(),
            policy,
            state,
            #[cfg(feature = "store")]
            author: skillfold_store::Author::named("agent"),
            project_words: Arc::default(),
            #[cfg(feature = "run")]
            cancel: skillfold_run::Cancel::default(),
            #[cfg(feature = "run")]
            project: Some(self.environment().directory().to_owned()),
        }
    }
}

impl Session {
    /// Starts a child conversation that sees only the skills in `ids`, at most those that this one sees. An id that
    /// this conversation cannot resolve is an error.
    pub fn child<'i>(&self, ids: impl IntoIterator<Item = &'i str>) -> Result<Self, Error> {
        let child = |catalog: &Catalog| self.state.child(catalog, ids);
        Ok(Self {
            state: self.skills.with_catalog(child)?,
            ..self.clone()
        })
    }

    /// Reads the names of the project's files, once per snapshot: the listing prefers the skills that match them if not
    /// all fit. [`Skills::session`] does it, and a host that lists skills again in a resumed conversation.
    #[must_use]
    pub fn with_project_files(mut self) -> Self {
        if self.policy.mode != Mode::Triggered && self.policy.preferred.is_empty() {
            self.project_words = self.skills.project_words();
        }
        self
    }

    /// Sets who the model is, and its conversation, for what it proposes.
    #[cfg(feature = "store")]
    #[must_use]
    pub fn with_author(mut self, author: skillfold_store::Author) -> Self {
        self.author = author;
        self
    }

    /// Sets the token that ends the script or tool of a skill that the model runs.
    #[cfg(feature = "run")]
    #[must_use]
    pub fn with_cancel(mut self, cancel: skillfold_run::Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets the project that scripts and tools of skills may work on: the folder that the user works in, or none. By
    /// default it is the working folder of the [`Environment`](crate::Environment).
    #[cfg(feature = "run")]
    #[must_use]
    pub fn with_project(mut self, folder: Option<std::path::PathBuf>) -> Self {
        self.project = folder;
        self
    }

    /// Returns the conversation as a client with this name and version may have it: with `version_mismatch = "hide"`, without
    /// the skills of the current snapshot that need another version of the client. The name is that of `clientInfo` in MCP.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::{ContextLifetime, MemorySource, Policy}};
    /// # let file = "---\nname: greet\ndescription: Says hello\nengines: { claude-code: '>=2.0' }\n---\nSay hello.\n";
    /// # let source = MemorySource::new([("greet/SKILL.md", file)]);
    /// # let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
    /// let skills = host.set("version_mismatch", "hide").discover()?.skills;
    /// let session = skills.session(Policy::default(), ContextLifetime::History);
    /// assert!(session.clone().for_client("claude-code", "2.1.0").load("greet", "").is_ok());
    /// assert!(session.clone().for_client("claude-code", "1.0.9").load("greet", "").is_err());
    /// assert!(session.clone().for_client("another", "1.0").load("greet", "").is_ok());
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    #[must_use]
    pub fn for_client(mut self, name: &str, version: &str) -> Self {
        let policy = self.skills.report().settings.version_mismatch.value;
        if policy == MismatchPolicy::Hide {
            let ids = self.version_mismatches(name, version).into_iter();
            self.state = self.state.without(ids.map(|one| one.id));
        }
        self
    }

    /// Returns what the skills that the conversation may see need and a client with this name and version does not meet.
    pub fn version_mismatches(&self, name: &str, version: &str) -> Vec<SkillMismatch> {
        let versions = Client::versions(name, version);
        self.skills.with_catalog(|catalog| {
            let visible = self.visible(catalog);
            let mismatches = visible.flat_map(|entry| {
                let mismatches = versions.mismatches(entry.manifest()).into_iter();
                mismatches.map(move |mismatch| SkillMismatch {
                    id: entry.id().into(),
                    mismatch,
                })
            });
            mismatches.collect()
        })
    }

    /// Returns the listing, one line per skill. It is byte-identical while the skills are unchanged; later changes are
    /// announced in turns.
    ///
    /// If not all skills fit the budget, those that the setting `pinned` names come first, then those that
    /// [the host prefers](crate::Host::prefer), then those that match the names that the project's files had when the
    /// conversation started. Touches no file.
    pub fn listing(&mut self) -> Listing {
        self.listing_except(|_| false)
    }

    /// Returns what a server tells a client's model about the skills, before any request: a listing within a budget,
    /// without the skills that the client lists itself. In triggered mode it only says how to find skills.
    ///
    /// [`Skills::listing_budget`] returns the budget for a client.
    pub fn instructions(&self, list: Option<&OwnList>, budget: Budget) -> Listing {
        let mut session = self.clone();
        session.policy.catalog = budget;
        let is_triggered = session.policy.mode == Mode::Triggered;
        // A server adds nothing to a request, so the listing cannot be brief.
        session.policy.mode = Mode::Catalog;
        session.listing_except(|entry| is_triggered || list.is_some_and(|list| list.lists(entry)))
    }

    /// Returns a listing without the skills that `is_unlisted` accepts; it only says how many there are.
    fn listing_except(&mut self, is_unlisted: impl Fn(&Entry<'_>) -> bool) -> Listing {
        if self.policy.preferred.is_empty() {
            self.policy.preferred = self.skills.preferred(&self.project_words).into();
        }
        let (policy, state) = (&self.policy, &mut self.state);
        self.skills
            .with_catalog(|catalog| state.listing_except(catalog, policy, is_unlisted))
    }

    /// Decides what to tell the model for the user's latest message.
    pub fn turn(&mut self, message: &str) -> Turn {
        let (policy, state) = (&self.policy, &mut self.state);
        let turn = self
            .skills
            .with_matcher(|matcher, loader| state.turn(matcher, loader, policy, message));
        self.skills.count_turn(&turn);
        turn
    }

    /// Returns whether the skills whose instructions the model has allow one use of a tool, for a host that enforces
    /// `allowed-tools`: ask before each call. It is unlisted if none of these skills lists tools, allowed if one that
    /// does includes it (see [`Manifest::check_tool_use`]), and refused otherwise: also under a rule that only the tool
    /// understands.
    ///
    /// [`Manifest::check_tool_use`]: skillfold_core::read::Manifest::check_tool_use
    pub fn check_tool_use(&self, tool: &str, input: &str) -> ToolCheck<'static> {
        self.skills.with_catalog(|catalog| {
            let in_use = catalog.visible();
            let in_use = in_use.filter(|entry| self.state.has_skill(entry.id()));
            let mut result = ToolCheck::Unlisted;
            for entry in in_use {
                match entry.manifest().check_tool_use(tool, input) {
                    ToolCheck::Allowed => return ToolCheck::Allowed,
                    ToolCheck::Unlisted => {}
                    _ => result = ToolCheck::Refused,
                }
            }
            result
        })
    }

    /// Explains what a message would add, and why the skills in `ids` would not be chosen. The conversation does not
    /// change. Show the result to people only: it mentions skills that the conversation may not see.
    pub fn why(&self, message: &str, ids: &[&str]) -> Result<Explanation, Error> {
        self.skills.with_matcher(|matcher, loader| {
            let state = &self.state;
            state.why(matcher, loader, &self.policy, message, ids)
        })
    }

    /// Loads a skill that the model asked for, always in full, and records that the model has it. Use it instead of
    /// [`Skills::load`] within a conversation.
    pub fn load(&mut self, id: &str, arguments: &str) -> Result<Arc<Instructions>, Error> {
        let (policy, state) = (&self.policy, &mut self.state);
        let loaded = self
            .skills
            .with_loader(|catalog, loader| state.load(catalog, loader, policy, id, arguments));
        self.skills.count_refusal(loaded)
    }

    /// Returns a file of a skill that the conversation may see; see [`Skills::read`].
    pub fn read(&self, id: &str, path: &str) -> Result<FileContent, Error> {
        self.read_range(id, path, ..)
    }

    /// Returns a part of a file; see [`read`](Self::read).
    pub fn read_range(
        &self,
        id: &str,
        path: &str,
        range: impl RangeBounds<u64>,
    ) -> Result<FileContent, Error> {
        self.with_skill(id, |entry, loader| loader.read(entry, path, range))
    }

    /// Returns up to `limit` files of a skill that the conversation may see, after `cursor`; see [`Skills::files`].
    pub fn files(
        &self,
        id: &str,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<FileList, Error> {
        self.with_skill(id, |entry, loader| loader.files(entry, cursor, limit))
    }

    /// Returns the `limit` skills that answer a request best, among those that the conversation may see; see
    /// [`Skills::search`].
    pub fn search(&self, request: &str, limit: usize) -> SearchResults {
        let may_see = |entry: &Entry<'_>| entry.is_visible() && self.state.may_see(entry.id());
        self.skills.search_among(request, limit, may_see)
    }

    /// Calls `f` with a skill that the conversation may see, and the loader.
    pub(crate) fn with_skill<T>(
        &self,
        id: &str,
        f: impl FnOnce(&Entry<'_>, &Loader) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let give =
            |catalog: &Catalog, loader: &Loader| f(&self.state.resolve(catalog, id)?, loader);
        self.skills.count_refusal(self.skills.with_loader(give))
    }

    /// Records whether a skill was used, unused or missed: logs an event and updates [`Counters`](crate::skills::Counters).
    /// `skillfold stats` reads these events from what `TraceLines` writes, and reports how well skills are chosen over
    /// time.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::{ContextLifetime, MemorySource, Policy, disclose::Feedback}};
    /// # let file = "---\nname: greet\ndescription: Says hello\ntriggers: [bonjour]\n---\nSay hello.\n";
    /// # let source = MemorySource::new([("greet/SKILL.md", file)]);
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?.skills;
    /// let mut session = skills.session(Policy::triggered(), ContextLifetime::History);
    /// session.turn("Say bonjour to Alice");
    /// // The model greets as the skill says.
    /// session.record_feedback("greet", Feedback::Used)?;
    /// assert_eq!(skills.counters().used, 1);
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    pub fn record_feedback(&self, id: &str, feedback: Feedback) -> Result<(), Error> {
        let record = |catalog: &Catalog| self.state.record_feedback(catalog, id, feedback);
        self.skills.with_catalog(record)?;
        self.skills.count_feedback(feedback);
        Ok(())
    }

    /// Returns what to give again after the conversation was compacted, within a budget. The host kept the instructions
    /// of the skills `kept`. If the listing was lost too, call [`listing`](Self::listing) for a new one.
    pub fn after_compaction(&mut self, budget: Budget, kept: &[&str]) -> Turn {
        let (policy, state) = (&self.policy, &mut self.state);
        let turn = self.skills.with_loader(|catalog, loader| {
            state.after_compaction(catalog, loader, policy, budget, kept)
        });
        self.skills.count_compaction(&turn);
        turn
    }

    /// Returns the token count of the instructions of all skills that the conversation may see: the cost of giving all
    /// of them up front. Reads every skill.
    pub fn eager_tokens(&self) -> u64 {
        let count = |text: &str| self.policy.counter.count(text);
        self.skills.with_loader(|catalog, loader| {
            let visible = self.visible(catalog);
            let loaded = visible.filter_map(|entry| loader.load(&entry, "").ok());
            loaded.map(|loaded| count(loaded.body())).sum()
        })
    }

    /// Returns the tokens of a plain list of all skills that the conversation may see, with their full descriptions: what
    /// most clients put into every request.
    pub fn plain_list_tokens(&self) -> u64 {
        self.skills.with_catalog(|catalog| {
            let visible = self.visible(catalog);
            let lines = visible
                .map(|entry| format!("- {}: {}\n", entry.id(), entry.manifest().description()));
            self.policy.counter.count(&lines.collect::<String>())
        })
    }

    /// Returns whether the conversation may see a skill, by its id.
    pub fn may_see(&self, id: &str) -> bool {
        self.state.may_see(id)
    }

    /// Returns the skills of the conversation's host.
    pub fn skills(&self) -> &Skills {
        &self.skills
    }

    /// Returns the policy of the conversation.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Sets the budget of the instructions that the next turns add.
    pub fn set_body_budget(&mut self, budget: Budget) {
        self.policy.bodies = budget;
    }

    /// Returns the conversation's state, for the host to save and [resume](Skills::resume).
    pub fn state(&self) -> &SessionState {
        &self.state
    }
}
