//! Which folders are searched, and what became of each.

use std::path::{Path, PathBuf};

use skillfold_core::{
    Code, Diagnostic, Error, ErrorKind, FsSource, LinkPolicy, PluginName, Root, Scope, Trust,
    UntrustedBudget,
};

use crate::environment::{Environment, resolved};
use crate::settings::{Origin, Settings};
use crate::trust::TrustRule;

/// Folders of skills inside a project or a home, the first of which wins a name.
pub const FOLDERS: [&str; 4] = [
    ".agents/skills",
    ".claude/skills",
    ".agent/skills",
    ".skillfold/skills",
];

/// A folder that was looked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchedRoot {
    /// Its path.
    pub path: PathBuf,
    /// What people see of the path.
    pub label: String,
    /// Where its skills belong.
    pub scope: Scope,
    /// The plugin that it is of.
    pub plugin: Option<PluginName>,
    /// Whether what it holds may be given to a model.
    pub trust: Trust,
    /// What of the person's makes the project's skills trusted, where it is a root of the project.
    pub trusted_by: Option<TrustRule>,
    /// Who named it.
    pub origin: Origin,
    /// What became of it.
    pub outcome: RootStatus,
}

/// What became of a folder that was looked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RootStatus {
    /// It was searched.
    Searched,
    /// It is not there, and need not be.
    Absent,
    /// It is not there or could not be read, and should be.
    Missing(Diagnostic),
    /// It cannot be opened right now: what was known of it stays, and it is tried again.
    Stale(Diagnostic),
    /// It is another root by another path.
    Same(String),
}

/// Finds the roots that settings and surroundings name, in the order in which they win names inside a scope. `rule` is
/// what trusts the project. One that cannot be opened just now stays as it is among those of before.
pub(crate) fn find(
    environment: &Environment,
    settings: &Settings,
    rule: Option<&TrustRule>,
    before: &[Root],
) -> (Vec<Root>, Vec<SearchedRoot>) {
    let mut roots = Vec::new();
    let mut searched: Vec<SearchedRoot> = Vec::new();
    let mut known: Vec<(PathBuf, String)> = Vec::new();
    let mut candidates = candidates(environment, settings, rule);
    let untrusted = Untrusted::of(environment, settings);
    // Trusted ones first: a root that is reached twice belongs to the first, and a project must not claim the person's.
    candidates.sort_by_key(|root| root.trust == Trust::Untrusted);
    for mut root in candidates {
        let real = resolved(&root.path);
        let same = known.iter().find(|(path, _)| Some(path) == real.as_ref());
        if let Some((_, label)) = same {
            root.outcome = RootStatus::Same(label.clone());
        } else if root.trust == Trust::Untrusted && untrusted.is_outside(real.as_deref()) {
            root.outcome = leads_out(&root);
        } else {
            let opened = match root.trust {
                Trust::Untrusted => untrusted.open(&root.path),
                _ => FsSource::open_with(&root.path, settings.links.value),
            };
            match opened {
                Ok(source) => {
                    roots.push(root.open(source));
                    known.extend(real.map(|path| (path, root.label.clone())));
                }
                Err(error) => {
                    root.outcome = outcome(&root, &error);
                    if matches!(root.outcome, RootStatus::Stale(_)) {
                        let known = before.iter().find(|known| root.is_of(known));
                        roots.extend(known.map(|known| known.clone().with_trust(root.trust)));
                    }
                }
            }
        }
        searched.push(root);
    }
    (roots, searched)
}

/// How folders are opened that nobody trusted: links in them are not followed, and all of them together are searched within
/// one small budget.
struct Untrusted {
    /// The project's folder, through links.
    project: Option<PathBuf>,
    links: LinkPolicy,
    budget: UntrustedBudget,
}

impl Untrusted {
    fn of(environment: &Environment, settings: &Settings) -> Self {
        Self {
            project: resolved(environment.project()),
            links: match settings.links.value {
                LinkPolicy::Follow => LinkPolicy::Refuse,
                strict => strict,
            },
            budget: UntrustedBudget::default(),
        }
    }

    /// Returns whether a folder is there and not in the project.
    fn is_outside(&self, real: Option<&Path>) -> bool {
        let project = self.project.as_deref();
        real.zip(project)
            .is_some_and(|(real, project)| !real.starts_with(project))
    }

    fn open(&self, path: &Path) -> Result<FsSource, Error> {
        Ok(FsSource::open_with(path, self.links)?.with_budget(&self.budget))
    }
}

fn leads_out(root: &SearchedRoot) -> RootStatus {
    let message = format!(
        "Root leads out of the project, which is not trusted: `{}`",
        root.label
    );
    RootStatus::Missing(Diagnostic::new(Code::RootMissing, None, message))
}

impl SearchedRoot {
    /// Returns whether a root was opened for this one.
    pub(crate) fn is_of(&self, root: &Root) -> bool {
        root.source().location() == Some(&self.path)
            && root.scope() == self.scope
            && root.plugin_name() == self.plugin.as_ref()
    }

    fn open(&self, source: FsSource) -> Root {
        let root = match &self.plugin {
            Some(plugin) => Root::plugin(plugin.clone(), &*self.label, source),
            None => Root::new(self.scope, &*self.label, source),
        };
        root.with_trust(self.trust)
    }
}

fn outcome(root: &SearchedRoot, error: &Error) -> RootStatus {
    if error.kind() == ErrorKind::NotFound && root.origin == Origin::Default {
        return RootStatus::Absent;
    }
    if error.is_transient() {
        let message = format!(
            "Root cannot be opened right now ({}): `{}`",
            error.with_cause(),
            root.label
        );
        return RootStatus::Stale(Diagnostic::new(Code::Unavailable, None, message));
    }
    let message = match std::error::Error::source(error) {
        Some(cause) => format!("Root could not be read ({cause}): `{}`", root.label),
        None => format!("Root does not exist: `{}`", root.label),
    };
    RootStatus::Missing(Diagnostic::new(Code::RootMissing, None, message))
}

/// Returns the folders to look for: configured ones, then default ones, the nearest first.
fn candidates(
    environment: &Environment,
    settings: &Settings,
    rule: Option<&TrustRule>,
) -> Vec<SearchedRoot> {
    let root = |path: PathBuf, scope: Scope, origin: Origin| SearchedRoot {
        label: environment.shown(&path),
        trust: if scope == Scope::Project && rule.is_none() {
            Trust::Untrusted
        } else {
            Trust::Trusted
        },
        trusted_by: rule.filter(|_| scope == Scope::Project).cloned(),
        path,
        scope,
        plugin: None,
        origin,
        outcome: RootStatus::Searched,
    };
    let configured = settings.roots.iter().map(|setting| {
        let value = &setting.value;
        let mut root = root(value.path.clone(), value.scope, setting.origin.clone());
        root.plugin.clone_from(&value.plugin);
        // A root that the person names is theirs, wherever it is; one that a project names is the project's.
        if !matches!(setting.origin, Origin::Project(..)) {
            root.trust = Trust::Trusted;
            root.trusted_by = None;
        }
        root
    });
    let mut roots: Vec<SearchedRoot> = configured.collect();
    if settings.default_roots.value {
        let projects = environment.project_folders();
        let projects = projects.into_iter().map(|folder| (folder, Scope::Project));
        let home = environment.home_dir().map(|home| (home, Scope::User));
        for (folder, scope) in projects.chain(home) {
            let paths = FOLDERS.iter().map(|name| folder.join(name));
            roots.extend(paths.map(|path| root(path, scope, Origin::Default)));
        }
    }
    roots
}
