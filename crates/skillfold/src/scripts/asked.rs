//! What a skill asks for to run: `permissions` in its frontmatter.

use std::collections::BTreeMap;
use std::path::PathBuf;

use skillfold_core::diagnostic::visible;
use skillfold_core::read::{Manifest, Value};
use skillfold_run::Permissions;

use crate::environment::{Environment, real_path};

/// Maximum entries of a list that are read.
const MAX_ENTRIES: usize = 100;

/// The words that ask for no network.
const NO: [&str; 3] = ["false", "no", "none"];

/// The words that ask for the network without naming a host.
const YES: [&str; 2] = ["true", "yes"];

/// What a skill asks for beyond its own files and a scratch folder.
///
/// ```yaml
/// permissions:
///   network: [api.example.com]   # or `true`; grants the whole network; the host names only inform the user
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
    /// Whether the skill asks for the network.
    pub network: bool,
    /// The hosts that it says it talks to. They are not enforced.
    pub hosts: Vec<String>,
    /// The files and folders that it asks to read.
    pub read: Vec<String>,
    /// The files and folders that it asks to write.
    pub write: Vec<String>,
    /// The environment variables that it asks for.
    pub variables: Vec<String>,
    /// What is not understood.
    pub unknown: Vec<String>,
    /// Each path that it asks for, as it is expanded and where it leads.
    places: BTreeMap<String, AskedPlace>,
}

/// Where a path that a skill asks for leads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AskedPlace {
    path: PathBuf,
    /// The path with links resolved. For a path that does not exist yet: what it will resolve to if it is not created as a
    /// link.
    real: PathBuf,
    /// Whether a link in it leads elsewhere.
    is_linked: bool,
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
            "network" => {
                self.hosts = words(value);
                self.hosts.retain(|word| !NO.contains(&word.as_str()));
                self.network = !self.hosts.is_empty();
                self.hosts.retain(|word| !YES.contains(&word.as_str()));
            }
            "read" => self.read = self.paths(value),
            "write" => self.write = self.paths(value),
            "env" | "environment" => self.variables = words(value),
            other => self.unknown.push(other.to_owned()),
        }
    }

    /// Returns the grantable paths of a field, and adds everything else to `unknown`.
    fn paths(&mut self, value: &Value) -> Vec<String> {
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

    /// Finds out where the paths lead.
    pub(super) fn resolve(mut self, environment: &Environment) -> Self {
        let home = environment.home_dir().and_then(real_path);
        for asked in self.read.iter().chain(&self.write) {
            let path = environment.expand_path(asked, environment.directory());
            let inside = environment
                .home_dir()
                .and_then(|it| path.strip_prefix(it).ok());
            let expected = match (&home, inside) {
                (Some(home), Some(inside)) => home.join(inside),
                _ => path.clone(),
            };
            let real = real_path(&path).unwrap_or_else(|| expected.clone());
            let is_linked = real != expected;
            let place = AskedPlace {
                path,
                real,
                is_linked,
            };
            self.places.insert(asked.clone(), place);
        }
        self
    }

    /// Returns whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        !self.network && self.read.is_empty() && self.write.is_empty() && self.variables.is_empty()
    }

    /// Returns one line for each thing that it asks for. A path that leads elsewhere says where.
    ///
    /// The lines are stored when the user allows the skill, and compared at each run: whatever
    /// `permissions` grants must have a line here.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.network {
            let hosts = self.hosts.join(", ");
            lines.push(if hosts.is_empty() {
                "the network".to_owned()
            } else {
                format!("the network, all of it (it names {})", visible(&hosts))
            });
        }
        let paths = [
            ("read access to", &self.read),
            ("write access to", &self.write),
        ];
        for (what, paths) in paths {
            lines.extend(paths.iter().map(|path| {
                let place = self.places.get(path).filter(|place| place.is_linked);
                let leads = place.map(|place| place.real.to_string_lossy());
                let leads = leads.map(|real| format!(", which leads to {}", visible(&real)));
                format!("{what} {}{}", visible(path), leads.unwrap_or_default())
            }));
        }
        let variables = self.variables.iter();
        lines.extend(variables.map(|name| format!("the variable {}", visible(name))));
        lines
    }

    /// Returns what a run gets if all of this is granted. Variables that are not set are left out.
    pub(super) fn permissions(&self, environment: &Environment) -> Permissions {
        let mut permissions = Permissions::default();
        if self.network {
            permissions = permissions.with_network();
        }
        let place = |path: &String| self.places.get(path);
        for place in self.read.iter().filter_map(place) {
            permissions = permissions.with_read(&place.path);
        }
        for place in self.write.iter().filter_map(place) {
            permissions = permissions.with_write(&place.path);
        }
        for place in self.places.values() {
            permissions = permissions.with_real_path(&place.path, &place.real);
        }
        for name in &self.variables {
            if let Some(value) = environment.granted_variable(name) {
                permissions = permissions.with_variable(name, value);
            }
        }
        permissions
    }
}

/// Returns the words of a scalar or of a list of scalars; the keys of mappings in a list.
fn words(value: &Value) -> Vec<String> {
    let word = |value: &Value| match value {
        Value::Scalar(text) => vec![text.as_str().to_owned()],
        Value::Map(fields) => fields.iter().map(|(key, _)| key.to_owned()).collect(),
        _ => Vec::new(),
    };
    match value {
        Value::List(items) => items.iter().take(MAX_ENTRIES).flat_map(word).collect(),
        other => word(other),
    }
}
