//! The JSON view of the discovery: settings, roots and skills, with their problems.

use skillfold_core::catalog::{Status, Trust};
use skillfold_core::choose::check_triggers;
use skillfold_core::text::utc_ms;
use skillfold_core::view::{DiagnosticView, RefusedRecord, SkillRecord};
use skillfold_core::{Catalog, Entry, Root};

use crate::discovery::report::DiscoveryReport;
use crate::discovery::roots::{RootStatus, SearchedRoot};
use crate::skills::Skills;
#[cfg(feature = "registry")]
use crate::view::policy::PolicyView;
use crate::view::settings::SettingProblem;

/// The roots and skills that were found, with their status and problems.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Doctor {
    /// Problems with the settings and with the lists of trusted folders and skills.
    pub settings: Vec<SettingProblem>,
    /// The policy for sources; absent if there is none.
    #[cfg(feature = "registry")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyView>,
    /// The roots, in order of name precedence within a scope.
    pub roots: Vec<RootState>,
    /// The skills, ordered by id.
    pub skills: Vec<SkillState>,
    /// Folders whose `SKILL.md` is not a valid skill, by root and folder.
    pub refused: Vec<RefusedRecord>,
    /// The counts.
    pub summary: DoctorSummary,
    /// The hooks of the clients that the user has.
    pub hooks: Vec<HookState>,
    /// What the models of the clients that are set up pay for skills.
    pub clients: Vec<ClientCost>,
    /// The running program; absent in what a library answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramState>,
}

/// The running program: how it was installed, and how to update it.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[expect(clippy::exhaustive_structs, reason = "the command creates it")]
pub struct ProgramState {
    /// Its path, with links resolved.
    pub path: String,
    /// Its version.
    pub version: String,
    /// What installed it: `cargo`, `pip`, `uv`, `uvx`, `pipx`, `npm`, `npx`, `pnpm`, `bun`, `dpkg`, `rpm`, `homebrew`, `script` (the
    /// install script), `image` (a container image), `build` (built and not installed) or `unknown`.
    pub installed_by: String,
    /// What to do for an update, as the end of a sentence, with commands in backticks.
    pub to_update: String,
    /// Other programs of its name on `PATH`, in its order.
    pub others: Vec<OtherProgram>,
}

/// Another program of the same name on `PATH`.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[expect(clippy::exhaustive_structs, reason = "the command creates it")]
pub struct OtherProgram {
    /// Its path on `PATH`.
    pub path: String,
    /// Whether the name starts it and not the running program, because it comes first on `PATH`.
    pub first: bool,
}

/// The hook of a client.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookState {
    /// The name of the client.
    pub client: String,
    /// Whether `skillfold setup` added the hook to the user's configuration of the client.
    pub installed: bool,
    /// When the client last called it, in RFC 3339; absent if it has not within 30 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_heard: Option<String>,
}

impl HookState {
    /// Creates the view of a hook; `last_heard` is in seconds since 1970.
    pub fn new(client: &str, installed: bool, last_heard: Option<u64>) -> Self {
        Self {
            client: client.to_owned(),
            installed,
            last_heard: last_heard.map(|seconds| utc_ms(seconds.saturating_mul(1_000))),
        }
    }
}

/// What the model of a client pays for skills.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[expect(clippy::exhaustive_structs, reason = "the command creates it")]
pub struct ClientCost {
    /// The name of the client.
    pub client: String,
    /// The program that it should start as our server, if that does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_program: Option<String>,
    /// How many skills it lists itself.
    pub own_skills: usize,
    /// Tokens of its own list, our list and our tools in every request.
    pub tokens: u64,
    /// Tokens that Skillfold saves in every request; negative if it adds some, absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_tokens: Option<i64>,
}

/// A root and its status.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RootState {
    /// The label of the root, such as its path.
    pub root: String,
    /// The path of the folder; absent if the root is not in the file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `project`, `user`, `plugin` or `bundled`.
    pub scope: String,
    /// The plugin that the root belongs to; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// Whether the root is trusted; skills of an untrusted root are withheld from models.
    pub trusted: bool,
    /// The rule by which the user trusts the project; absent if the root is not the project's or is not trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_by: Option<String>,
    /// Where the root was configured: `default`, a settings file as `path:line`, the name of a variable, `argument` or
    /// `host`.
    pub origin: String,
    /// `searched`, `absent` (a default folder that does not exist), `missing` (does not exist or cannot be used),
    /// `same` (as another root), or `stale` (partly unreadable for now; the last known skills are kept).
    pub outcome: String,
    /// The label of the root that this one is the same folder as; absent unless `outcome` is `same`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The number of skills in the root.
    pub skills: usize,
    /// The number of folders whose `SKILL.md` is not a valid skill.
    pub refused: usize,
    /// What was skipped or could not be read, and why.
    pub findings: Vec<DiagnosticView>,
    /// How the cached metadata of the root was used at startup; absent for small roots and without a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<RootCacheState>,
}

/// How the cached metadata of a root was used at startup.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RootCacheState {
    /// The path of the cache file.
    pub file: String,
    /// Folders whose `SKILL.md` was unchanged and taken from the cache.
    pub kept: usize,
    /// Folders whose `SKILL.md` was read.
    pub read: usize,
    /// Whether the cache file was rewritten.
    pub written: bool,
    /// Why the cache file was not used or could not be written; absent if all went well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A skill and its status.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillState {
    /// The fields of a listing.
    #[serde(flatten)]
    pub record: SkillRecord,
    /// Findings in the skill's file.
    pub diagnostics: Vec<DiagnosticView>,
    /// Findings of the catalog, such as that the skill is shadowed, and findings about its triggers.
    pub notes: Vec<DiagnosticView>,
    /// Why an MCP server offers the skill by tools but not as a resource, if the catalog shows that; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_tools_only: Option<String>,
}

/// Counts of folders and skills.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DoctorSummary {
    /// Folders with a `SKILL.md`.
    pub found: usize,
    /// Those that are valid skills.
    pub parsed: usize,
    /// Skills whose frontmatter was repaired.
    pub repaired: usize,
    /// Skills that lost their name to another skill, whatever their status.
    pub shadowed: usize,
    /// Skills with the status `disabled`.
    pub disabled: usize,
    /// Skills with the status `incompatible`.
    pub incompatible: usize,
    /// Skills with the status `held`.
    pub held: usize,
    /// Skills with the status `untrusted`.
    pub untrusted: usize,
    /// Skills with the status `active`.
    pub active: usize,
    /// Folders whose `SKILL.md` is not a valid skill.
    pub refused: usize,
}

impl Doctor {
    /// Creates the view of the current snapshot and its discovery.
    pub fn new(skills: &Skills) -> Self {
        let (catalog, report) = (skills.catalog(), skills.report());
        Self {
            settings: report.findings().map(SettingProblem::new).collect(),
            #[cfg(feature = "registry")]
            policy: PolicyView::new(skills),
            roots: roots(&catalog, &report),
            skills: catalog
                .entries()
                .map(|entry| SkillState {
                    record: SkillRecord::listed(&entry),
                    diagnostics: DiagnosticView::all(&entry.skill().diagnostics),
                    notes: DiagnosticView::all(&notes(&entry)),
                    by_tools_only: entry.instructions_only_reason().map(str::to_owned),
                })
                .collect(),
            refused: catalog
                .refused()
                .iter()
                .map(|refused| RefusedRecord::new(refused, &catalog.roots()[refused.source]))
                .collect(),
            summary: summary(&catalog),
            hooks: Vec::new(),
            clients: Vec::new(),
            program: None,
        }
    }

    /// Adds the hooks of the clients.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Vec<HookState>) -> Self {
        self.hooks = hooks;
        self
    }
}

/// Returns the diagnostics of a skill besides those of its file: its status in the catalog, and invalid triggers.
fn notes(entry: &Entry<'_>) -> Vec<skillfold_core::Diagnostic> {
    let mut notes = entry.notes();
    notes.extend(check_triggers(entry.manifest()));
    notes
}

fn summary(catalog: &Catalog) -> DoctorSummary {
    let count =
        |is_counted: &dyn Fn(&Entry<'_>) -> bool| catalog.entries().filter(is_counted).count();
    let status = |status| count(&|entry| entry.status() == status);
    DoctorSummary {
        found: catalog.len() + catalog.refused().len(),
        parsed: catalog.len(),
        repaired: count(&|entry| entry.skill().repaired),
        shadowed: count(&|entry| entry.shadowed_by().is_some()),
        disabled: status(Status::Disabled),
        incompatible: status(Status::Incompatible),
        held: status(Status::Held),
        untrusted: status(Status::Untrusted),
        active: status(Status::Active),
        refused: catalog.refused().len(),
    }
}

/// Returns the host's own roots, then those that were searched for.
fn roots(catalog: &Catalog, report: &DiscoveryReport) -> Vec<RootState> {
    let is_same = |root: &Root, searched: &SearchedRoot| {
        matches!(searched.status, RootStatus::Searched | RootStatus::Stale(_))
            && root.source().location() == Some(&searched.path)
    };
    let known = |searched: &SearchedRoot| {
        let mut roots = catalog.roots().iter();
        roots.position(|root| is_same(root, searched))
    };
    let is_searched = |root: &Root| report.roots.iter().any(|searched| is_same(root, searched));
    let host = catalog.roots().iter().enumerate();
    let host = host
        .filter(|(_, root)| !is_searched(root))
        .map(|(at, root)| host_state(root).in_catalog(catalog, report, at));
    let searched = report.roots.iter().map(|root| {
        let state = searched_state(root);
        match known(root) {
            Some(at) => state.in_catalog(catalog, report, at),
            None => state,
        }
    });
    host.chain(searched).collect()
}

fn host_state(root: &Root) -> RootState {
    let path = root.source().location();
    RootState {
        root: root.label().to_owned(),
        path: path.map(|path| path.to_string_lossy().into_owned()),
        scope: root.scope().to_string(),
        plugin: root.plugin_name().map(ToString::to_string),
        trusted: root.trust() == Trust::Trusted,
        origin: "host".to_owned(),
        outcome: "searched".to_owned(),
        ..RootState::default()
    }
}

fn searched_state(root: &SearchedRoot) -> RootState {
    let (outcome, same_as, finding) = match &root.status {
        RootStatus::Searched => ("searched", None, None),
        RootStatus::Absent => ("absent", None, None),
        RootStatus::Missing(diagnostic) => ("missing", None, Some(diagnostic)),
        RootStatus::Stale(diagnostic) => ("stale", None, Some(diagnostic)),
        RootStatus::Same(label) => ("same", Some(label.clone()), None),
    };
    RootState {
        root: root.label.clone(),
        path: Some(root.path.to_string_lossy().into_owned()),
        scope: root.scope.to_string(),
        plugin: root.plugin.as_ref().map(ToString::to_string),
        trusted: root.trust == Trust::Trusted,
        trusted_by: root.trusted_by.as_ref().map(ToString::to_string),
        origin: root.origin.to_string(),
        outcome: outcome.to_owned(),
        same_as,
        findings: finding.map(DiagnosticView::new).into_iter().collect(),
        ..RootState::default()
    }
}

impl RootState {
    /// Adds what the catalog has of the root, which is at `at` in it.
    fn in_catalog(mut self, catalog: &Catalog, report: &DiscoveryReport, at: usize) -> Self {
        let skills = catalog.entries();
        self.skills = skills.filter(|entry| entry.skill().source == at).count();
        let refused = catalog.refused().iter();
        self.refused = refused.filter(|refused| refused.source == at).count();
        let findings = catalog.findings().iter();
        let findings = findings.filter(|finding| finding.source == at);
        self.findings
            .extend(findings.map(|finding| DiagnosticView::new(&finding.finding.diagnostic)));
        if catalog.is_stale(at) {
            "stale".clone_into(&mut self.outcome);
        }
        self.memory = root_cache_state(report, catalog.roots()[at].label());
        self
    }
}

/// Returns how a root's cache file was used.
#[cfg(feature = "index")]
fn root_cache_state(report: &DiscoveryReport, label: &str) -> Option<RootCacheState> {
    let cache = report
        .root_caches
        .iter()
        .find(|cache| cache.label == label)?;
    Some(RootCacheState {
        file: cache.file.to_string_lossy().into_owned(),
        kept: cache.reused,
        read: cache.read,
        written: cache.is_written,
        problem: cache.problem.clone(),
    })
}

#[cfg(not(feature = "index"))]
fn root_cache_state(_: &DiscoveryReport, _: &str) -> Option<RootCacheState> {
    None
}
