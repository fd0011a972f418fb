//! What a program adds before discovery.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use skillfold::core::search::Embedder;
use skillfold::core::{Error, FsSource, MemorySource};
use skillfold::{Discovered, Environment, Host};

use crate::error::read;
use crate::skills::Skills;

/// What a program adds before discovery.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscoverOptions {
    directory: PathBuf,
    /// Replaces the home and the variables of the process.
    #[serde(default)]
    environment: Option<ReplacedEnvironment>,
    #[serde(default)]
    roots: Vec<String>,
    /// Skills in memory: files by path.
    #[serde(default)]
    bundled_files: BTreeMap<String, String>,
    #[serde(default)]
    bundled_folder: Option<PathBuf>,
    #[serde(default)]
    settings: Vec<(String, String)>,
    #[serde(default)]
    cache: bool,
    /// Whether invalid settings are only reported.
    #[serde(default)]
    lenient: bool,
    #[serde(skip)]
    binary_files: Vec<(String, Vec<u8>)>,
    #[serde(skip)]
    embedder: Option<Arc<dyn Embedder>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplacedEnvironment {
    home: Option<PathBuf>,
    #[serde(default)]
    variables: Vec<(String, String)>,
}

impl DiscoverOptions {
    /// Reads the options.
    pub fn from_json(options: &str) -> Result<Self, Error> {
        read("options", options)
    }

    /// Adds files in memory that may not be text.
    #[must_use]
    pub fn with_files(mut self, files: Vec<(String, Vec<u8>)>) -> Self {
        self.binary_files = files;
        self
    }

    /// Compares requests with skills by meaning.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Option<Arc<dyn Embedder>>) -> Self {
        self.embedder = embedder;
        self
    }

    /// Discovers the skills. The other result is what the program should know.
    pub(crate) fn discover(self) -> Result<(Skills, Vec<String>), Error> {
        let environment = match self.environment {
            None => Environment::from_process(&self.directory)?,
            Some(replaced) => {
                let mut environment = Environment::new(&self.directory);
                if let Some(home) = replaced.home {
                    environment = environment.home(home);
                }
                for (name, value) in replaced.variables {
                    environment = environment.variable(name, value);
                }
                environment
            }
        };
        if !environment.directory().is_dir() {
            return Err(Error::not_found(environment.directory().to_string_lossy()));
        }
        let cache = environment.cache_folder().filter(|_| self.cache);
        let mut host = Host::new(environment);
        if let Some(cache) = cache {
            host = host.cache(cache);
        }
        for root in self.roots {
            host = host.add("roots", root);
        }
        for (key, value) in self.settings {
            host = host.set(key, value);
        }
        let texts = self.bundled_files.into_iter();
        let texts = texts.map(|(path, text)| (path, text.into_bytes()));
        let files: Vec<(String, Vec<u8>)> = texts.chain(self.binary_files).collect();
        let label = if files.is_empty() {
            "registered"
        } else {
            "bundled"
        };
        let in_memory = MemorySource::new(files);
        host = host.bundled(label, in_memory.clone());
        if let Some(folder) = self.bundled_folder {
            host = host.bundled("bundled", FsSource::open(&folder)?);
        }
        if let Some(embedder) = self.embedder {
            host = host.embedder(embedder);
        }
        let Discovered { skills, warnings } = if self.lenient {
            host.discover_lenient()
        } else {
            host.discover()?
        };
        let warnings = warnings.iter().map(ToString::to_string).collect();
        Ok((Skills::new(skills, in_memory), warnings))
    }
}
