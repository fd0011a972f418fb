//! Finds and opens the skill roots, and reports the status of each.

use std::path::{Path, PathBuf};

use skillfold_core::catalog::{PluginName, Trust};
use skillfold_core::source::{CommandSource, LinkPolicy, UntrustedBudget};
use skillfold_core::{Code, Diagnostic, Error, ErrorKind, FsSource, Root, Scope};

use crate::environment::{Environment, real_path};
use crate::settings::{Origin, Settings};
use crate::trust::trusted::TrustRule;

/// Skill folders inside a project or a home, in order of precedence.
pub const FOLDERS: [&str; 4] = [
    ".agents/skills",
    ".claude/skills",
    ".agent/skills",
    ".skillfold/skills",
];

/// Skill folders of single clients, which come after the others.
pub const CLIENT_FOLDERS: [&str; 10] = [
    ".codex/skills",
    ".config/opencode/skills",
    ".copilot/skills",
    ".cursor/skills",
    ".gemini/skills",
    ".github/skills",
    ".opencode/skill",
    ".opencode/skills",
    ".qwen/skills",
    COMMANDS,
];

/// The commands of Claude Code inside a project or a home, which it lists to its model as skills. They come after all
/// skills of the same scope.
pub(crate) const COMMANDS: &str = ".claude/commands";

/// A folder that was looked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchedRoot {
    /// The path of the folder.
    pub path: PathBuf,
    /// The path as it is shown to people.
    pub label: String,
    /// The scope of its skills.
    pub scope: Scope,
    /// The plugin that it belongs to.
    pub plugin: Option<PluginName>,
    /// Whether its skills may be given to a model.
    pub trust: Trust,
    /// The rule by which the user trusts the project, if this is a root of the project.
    pub trusted_by: Option<TrustRule>,
    /// Where it was configured.
    pub origin: Origin,
    /// Whether it was searched.
    pub status: RootStatus,
}

/// The status of a folder that was looked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RootStatus {
    /// It was searched.
    Searched,
    /// It does not exist; it is a default folder that need not.
    Absent,
    /// It should exist, but is missing or unreadable.
    Missing(Diagnostic),
    /// It could not be opened at the moment. Its previous content is kept, and opening it is retried.
    Stale(Diagnostic),
    /// It is the same folder as another root, reached by another path. The value is that root's label.
    Same(String),
}

/// Finds the roots of the settings and the environment, in order of name precedence inside a scope. `rule` is what
/// makes the project trusted. A root that cannot be opened at the moment is taken over from `before`.
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
    let untrusted = UntrustedOpener::new(environment, settings);
    // Trusted roots first: a folder that is reached twice belongs to the first, and a project must not claim the
    // user's.
    candidates.sort_by_key(|root| root.trust == Trust::Untrusted);
    for mut root in candidates {
        let real = real_path(&root.path);
        let same = known.iter().find(|(path, _)| Some(path) == real.as_ref());
        if let Some((_, label)) = same {
            root.status = RootStatus::Same(label.clone());
        } else if root.trust == Trust::Untrusted && untrusted.is_outside(real.as_deref()) {
            root.status = outside_project(&root);
        } else {
            let opened = match root.trust {
                Trust::Untrusted => untrusted.open(&root.path),
                _ => FsSource::open_with(&root.path, settings.links.value),
            };
            match opened {
                Ok(source) => {
                    roots.push(root.to_root(source));
                    known.extend(real.map(|path| (path, root.label.clone())));
                }
                Err(error) => {
                    root.status = failure_status(&root, &error);
                    if matches!(root.status, RootStatus::Stale(_)) {
                        let known = before.iter().find(|known| root.is_root(known));
                        roots.extend(known.map(|known| known.clone().with_trust(root.trust)));
                    }
                }
            }
        }
        searched.push(root);
    }
    (roots, searched)
}

/// Opens untrusted roots: links in them are not followed, and all of them together share one small budget.
struct UntrustedOpener {
    /// The project's folder with links resolved.
    project: Option<PathBuf>,
    links: LinkPolicy,
    budget: UntrustedBudget,
}

impl UntrustedOpener {
    fn new(environment: &Environment, settings: &Settings) -> Self {
        Self {
            project: real_path(environment.project()),
            links: match settings.links.value {
                LinkPolicy::Follow => LinkPolicy::Refuse,
                strict => strict,
            },
            budget: UntrustedBudget::default(),
        }
    }

    /// Returns whether a folder exists outside the project.
    fn is_outside(&self, real: Option<&Path>) -> bool {
        let project = self.project.as_deref();
        real.zip(project)
            .is_some_and(|(real, project)| !real.starts_with(project))
    }

    fn open(&self, path: &Path) -> Result<FsSource, Error> {
        Ok(FsSource::open_with(path, self.links)?.with_budget(&self.budget))
    }
}

fn outside_project(root: &SearchedRoot) -> RootStatus {
    let message = format!(
        "Root is outside the project, which is not trusted: `{}`",
        root.label
    );
    RootStatus::Missing(Diagnostic::new(Code::RootMissing, None, message))
}

impl SearchedRoot {
    /// Returns whether `root` was opened from this folder.
    pub(crate) fn is_root(&self, root: &Root) -> bool {
        root.source().location() == Some(&self.path)
            && root.scope() == self.scope
            && root.plugin_name() == self.plugin.as_ref()
    }

    fn to_root(&self, source: FsSource) -> Root {
        let root = match &self.plugin {
            // A variable may have moved the folder.
            _ if self.path.ends_with(COMMANDS)
                || self.origin == Origin::Default && self.path.ends_with("commands") =>
            {
                Root::new(self.scope, &*self.label, CommandSource::new(source))
            }
            Some(plugin) => Root::plugin(plugin.clone(), &*self.label, source),
            None => Root::new(self.scope, &*self.label, source),
        };
        root.with_trust(self.trust)
    }
}

fn failure_status(root: &SearchedRoot, error: &Error) -> RootStatus {
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

/// Returns the folders to look for: configured ones first, then the default ones, nearest first.
fn candidates(
    environment: &Environment,
    settings: &Settings,
    rule: Option<&TrustRule>,
) -> Vec<SearchedRoot> {
    let root = |path: PathBuf, scope: Scope, origin: Origin| SearchedRoot {
        label: environment.display_path(&path),
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
        status: RootStatus::Searched,
    };
    let configured = settings.roots.iter().map(|setting| {
        let value = &setting.value;
        let mut root = root(value.path.clone(), value.scope, setting.origin.clone());
        root.plugin.clone_from(&value.plugin);
        // A root named by the user is trusted, wherever it is; one named by a project is as trusted as the project.
        if !matches!(setting.origin, Origin::Project(..)) {
            root.trust = Trust::Trusted;
            root.trusted_by = None;
        }
        root
    });
    let mut roots: Vec<SearchedRoot> = configured.collect();
    if settings.default_roots.value {
        for folder in environment.project_folders() {
            let paths = folders().map(|name| folder.join(name));
            roots.extend(paths.map(|path| root(path, Scope::Project, Origin::Default)));
        }
        let paths = folders().filter_map(|name| environment.user_path(name));
        roots.extend(paths.map(|path| root(path, Scope::User, Origin::Default)));
    }
    roots
}

fn folders() -> impl Iterator<Item = &'static str> {
    FOLDERS.into_iter().chain(CLIENT_FOLDERS)
}
