//! What a skill asks for to run: `permissions` in its frontmatter.

use std::path::Path;

use skillfold_core::diagnostic::visible;
use skillfold_core::read::{Manifest, Value};
use skillfold_run::{
    ApprovedPath, HostRule, NamedInterpreter, Network, PathAccess, PathKind, Permissions,
};

use crate::environment::{Environment, real_path};
use crate::scripts::project_access::ProjectAccess;
use crate::scripts::shown_path::shown_path;

/// Maximum entries of a list that are read.
const MAX_ENTRIES: usize = 100;

/// The words that ask for no network.
const NO: [&str; 3] = ["false", "no", "none"];

/// The words that ask for the whole network.
const YES: [&str; 2] = ["true", "yes"];

/// What a skill asks for beyond its own files and a scratch folder.
///
/// ```yaml
/// permissions:
///   network: [api.example.com, "*.internal:8443"]   # or `true`: the whole network
///   project: read   # or `write`: the folder that the user works in
///   read: [~/Documents]
///   write: [~/Reports]
///   env: [EXAMPLE_TOKEN]
/// ```
///
/// Paths are absolute or start with `~/`, and have no `.`, `..` or empty part: what a relative one means would depend on who runs
/// the script, and where. Other skills write other things there; what is not understood is granted to nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AskedPermissions {
    /// The hosts that the skill asks to reach, or the whole network.
    pub network: Network,
    /// The files and folders that it asks to read.
    pub read: Vec<String>,
    /// The files and folders that it asks to write.
    pub write: Vec<String>,
    /// What it asks to do with the user's project.
    pub project: ProjectAccess,
    /// The environment variables that it asks for.
    pub variables: Vec<String>,
    /// What is not understood.
    pub unknown: Vec<String>,
    /// What the paths are: now, or when the user allowed them. Nested ones are one.
    paths: Vec<ApprovedPath>,
    /// The programs that the user named to run its scripts.
    interpreters: Vec<NamedInterpreter>,
    /// The lines for paths and programs, as the user is shown them.
    path_lines: Vec<String>,
}

impl AskedPermissions {
    /// Reads them from a manifest.
    pub fn of(manifest: &Manifest) -> Self {
        let mut asked = Self::default();
        match manifest.other().get("permissions") {
            None => {}
            Some(Value::Map(fields)) => {
                for (key, value) in fields.iter() {
                    asked.read_field(key, value);
                }
            }
            Some(other) => asked.unknown.extend(words(other)),
        }
        asked
    }

    fn read_field(&mut self, key: &str, value: &Value) {
        match key {
            "network" => self.read_network(value),
            "read" => self.read = self.grantable_paths(value),
            "write" => self.write = self.grantable_paths(value),
            "project" => {
                let words = match value {
                    Value::Map(_) => "a mapping".to_owned(),
                    value => words(value).join(", "),
                };
                match ProjectAccess::from_name(&words) {
                    Some(access) => self.project = access,
                    None if words.is_empty() || NO.contains(&words.as_str()) => {}
                    None => self.unknown.push(format!("project: {words}")),
                }
            }
            "env" | "environment" => self.variables = words(value),
            other => self.unknown.push(other.to_owned()),
        }
    }

    /// Reads the hosts, and adds everything that is none to `unknown`.
    fn read_network(&mut self, value: &Value) {
        let mut words = words(value);
        words.retain(|word| !NO.contains(&word.as_str()));
        if words.iter().any(|word| YES.contains(&word.as_str())) {
            self.network = Network::Host;
            return;
        }
        let mut hosts: Vec<HostRule> = Vec::new();
        for word in words {
            match word.parse() {
                Ok(rule) if hosts.contains(&rule) => {}
                Ok(rule) => hosts.push(rule),
                Err(_) => self.unknown.push(word),
            }
        }
        self.set_hosts(hosts);
    }

    /// Returns the hosts that the skill asks to reach; none if it asks for the whole network.
    pub fn hosts(&self) -> &[HostRule] {
        match &self.network {
            Network::Hosts(hosts) => hosts,
            _ => &[],
        }
    }

    /// Sets the hosts. A skill that asks for the whole network has none.
    pub(super) fn set_hosts(&mut self, hosts: Vec<HostRule>) {
        self.network = match self.network {
            Network::Host => Network::Host,
            _ if hosts.is_empty() => Network::None,
            _ => Network::Hosts(hosts),
        };
    }

    /// Returns the grantable paths of a field, and adds everything else to `unknown`.
    fn grantable_paths(&mut self, value: &Value) -> Vec<String> {
        let is_path = |word: &String| {
            let Some(rest) = word.strip_prefix('~').unwrap_or(word).strip_prefix('/') else {
                return word == "~";
            };
            let is_name = |part: &str| !matches!(part, "" | "." | "..");
            rest.trim_end_matches('/').split('/').all(is_name)
        };
        let (paths, unknown) = words(value).into_iter().partition(is_path);
        self.unknown.extend::<Vec<String>>(unknown);
        paths
    }

    /// Finds out what the paths are now. Without a home nobody knows what `~` means.
    pub(super) fn resolve(mut self, home: Option<&Path>) -> Self {
        for paths in [&mut self.read, &mut self.write] {
            let is_unknown = |path: &mut String| home.is_none() && path.starts_with('~');
            self.unknown.extend(paths.extract_if(.., is_unknown));
        }
        let resolve = |access| {
            move |asked: &String| match (asked.strip_prefix('~'), home) {
                (Some(inside), Some(home)) => {
                    ApprovedPath::resolve(home.join(inside.trim_matches('/')), access)
                }
                _ => ApprovedPath::resolve(asked.trim_end_matches('/'), access),
            }
        };
        let read = self.read.iter().map(resolve(PathAccess::Read));
        let all = read.chain(self.write.iter().map(resolve(PathAccess::Write)));
        let permissions = all.fold(Permissions::default(), Permissions::with_path);
        let paths = permissions.paths().to_vec();
        self.with_approved(paths, Vec::new(), home)
    }

    /// Sets what the user allowed.
    pub(super) fn with_approved(
        mut self,
        paths: Vec<ApprovedPath>,
        interpreters: Vec<NamedInterpreter>,
        home: Option<&Path>,
    ) -> Self {
        let programs = interpreters.iter().map(|it| program_line(it, home));
        let lines = paths.iter().map(|path| path_line(path, home));
        self.path_lines = lines.chain(programs).collect();
        self.paths = paths;
        self.interpreters = interpreters;
        self
    }

    /// Returns what the paths are: now, or when the user allowed them.
    pub fn paths(&self) -> &[ApprovedPath] {
        &self.paths
    }

    /// Returns the programs that the user named to run its scripts.
    pub fn interpreters(&self) -> &[NamedInterpreter] {
        &self.interpreters
    }

    /// Returns whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.network == Network::None
            && self.project == ProjectAccess::None
            && self.paths.is_empty()
            && self.interpreters.is_empty()
            && self.variables.is_empty()
    }

    /// Returns one line for each thing that it asks for, except for the project, which differs from place to place. A
    /// path that leads elsewhere says where.
    ///
    /// The lines are stored when the user allows the skill, and compared at each run: whatever
    /// `permissions` grants must have a line here.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.network == Network::Host {
            lines.push("the WHOLE network, your machine's own services included".to_owned());
        }
        let hosts = self.hosts().iter();
        lines.extend(hosts.map(|rule| format!("network access to {rule}")));
        lines.extend(self.path_lines.iter().cloned());
        let variables = self.variables.iter();
        lines.extend(variables.map(|name| format!("the variable {}", visible(name))));
        lines
    }

    /// Returns what a run gets if all of this is granted. Variables that are not set are left out.
    pub(super) fn permissions(&self, environment: &Environment) -> Permissions {
        let mut permissions = Permissions::default();
        permissions = match &self.network {
            Network::Host => permissions.with_network(),
            _ => permissions.with_hosts(self.hosts().to_vec()),
        };
        for path in &self.paths {
            permissions = permissions.with_path(path.clone());
        }
        for interpreter in &self.interpreters {
            permissions = permissions.with_interpreter(interpreter.clone());
        }
        for name in &self.variables {
            if let Some(value) = environment.granted_variable(name) {
                permissions = permissions.with_variable(name, value);
            }
        }
        permissions
    }
}

/// Returns what the user is shown of a path: where it leads, and what is to be created.
fn path_line(path: &ApprovedPath, home: Option<&Path>) -> String {
    let what = match path.access() {
        PathAccess::Write => "write access to",
        _ => "read access to",
    };
    let mut line = format!("{what} {}", shown_path(path.path(), home));
    let inside = home.and_then(|home| path.path().strip_prefix(home).ok());
    let expected = match (home.and_then(real_path), inside) {
        (Some(home), Some(inside)) => home.join(inside),
        _ => path.path().to_owned(),
    };
    if path.real() != expected {
        let real = path.real().to_string_lossy();
        line = format!("{line}, which leads to {}", visible(&real));
    }
    if path.kind() == PathKind::Missing {
        let above = shown_path(path.folder(), home);
        line = match path.access() {
            PathAccess::Write => format!("{line}, to be created as a folder below {above}"),
            _ => format!("{line}, which does not exist yet, below {above}"),
        };
    }
    line
}

/// Returns what the user is shown of a program that they named.
fn program_line(interpreter: &NamedInterpreter, home: Option<&Path>) -> String {
    let shown = |path: &ApprovedPath| shown_path(path.path(), home);
    let program = shown(interpreter.program());
    let folders: Vec<String> = interpreter.libraries().iter().map(shown).collect();
    if folders.is_empty() {
        return format!("the program {program}");
    }
    format!("the program {program}, with {}", folders.join(", "))
}

/// Returns the words of a scalar or of a list of scalars; the keys of mappings in a list.
fn words(value: &Value) -> Vec<String> {
    let word = |value: &Value| match value {
        Value::Scalar(text) => vec![text.as_str().to_owned()],
        Value::Map(fields) => fields.iter().map(|(key, _)| key.to_owned()).collect(),
        _ => Vec::new(),
    };
    match value {
        Value::List(items) => {
            let words = items.iter().take(MAX_ENTRIES).flat_map(word);
            let more = items.len().saturating_sub(MAX_ENTRIES);
            let more = (more > 0).then(|| format!("{more} more"));
            words.chain(more).collect()
        }
        other => word(other),
    }
}
