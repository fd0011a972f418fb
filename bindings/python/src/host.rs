//! What a Python program adds before discovery.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use skillfold::core::{Error, FsSource, MemorySource};
use skillfold::{Environment, Host};

use crate::embedder::PythonEmbedder;

/// The arguments of `Skills.discover`, as `skillfold._skills` passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    directory: PathBuf,
    environment: Option<ReplacedEnvironment>,
    roots: Vec<String>,
    bundled_files: Vec<(String, Vec<u8>)>,
    bundled_folder: Option<PathBuf>,
    settings: Vec<(String, String)>,
    embedder: Option<(String, Py<PyAny>, Option<Py<PyAny>>)>,
    has_cache: bool,
    pub(crate) is_lenient: bool,
}

/// What replaces the home and the variables of the process.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ReplacedEnvironment {
    home: Option<PathBuf>,
    variables: Vec<(String, String)>,
}

impl Options {
    /// Returns the host, and the files in memory that skills can be added to.
    pub(crate) fn into_host(self) -> Result<(Host, MemorySource), Error> {
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
        let cache = environment.cache_folder().filter(|_| self.has_cache);
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
        let label = if self.bundled_files.is_empty() {
            "registered"
        } else {
            "bundled"
        };
        let in_memory = MemorySource::new(self.bundled_files);
        host = host.bundled(label, in_memory.clone());
        if let Some(folder) = self.bundled_folder {
            host = host.bundled("bundled", FsSource::open(&folder)?);
        }
        if let Some((id, embed, embed_query)) = self.embedder {
            let embedder = PythonEmbedder {
                id,
                embed,
                embed_query,
            };
            host = host.embedder(Arc::new(embedder));
        }
        Ok((host, in_memory))
    }
}
