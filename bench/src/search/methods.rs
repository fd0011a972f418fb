//! All search methods, and what it costs to build one.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use skillfold::core::search::Embedder;

use crate::allocator::held_by;
use crate::measure::{cpu_time, rounded};
#[cfg(feature = "fts5")]
use crate::search::fts5::make as fts5;
use crate::search::method::{Hit, Made, Method};
use crate::search::pool::Pool;
use crate::search::{engine, meaning, triggers};

/// Opens the model in a folder.
type Open = fn(Option<&Path>) -> Result<Arc<dyn Embedder>, Box<dyn Error>>;

/// Builds a method for a pool.
#[derive(Debug)]
enum Make {
    Plain(fn(&Pool) -> Made),
    /// With an open model.
    Meaning(Open, fn(&Pool, Arc<dyn Embedder>) -> Made),
}

/// Builds a method for a pool. It may keep nothing of the pool but its index.
#[derive(Debug)]
pub(crate) struct Maker {
    pub(crate) name: &'static str,
    make: Make,
}

impl Maker {
    /// Opens the embedding model, if the method uses one.
    pub(crate) fn model(
        &self,
        folder: Option<&Path>,
    ) -> Result<Option<Arc<dyn Embedder>>, Box<dyn Error>> {
        match self.make {
            Make::Plain(_) => Ok(None),
            Make::Meaning(open, _) => open(folder).map(Some),
        }
    }
}

/// All methods; the first is the baseline.
pub(crate) static METHODS: [Maker; 6] = [
    plain("fts5", fts5),
    plain("default", engine::default),
    plain("bm25f", engine::bm25f),
    plain("triggers", triggers::make),
    Maker {
        name: "static",
        make: Make::Meaning(meaning::open_static, meaning::with_words),
    },
    Maker {
        name: "static-alone",
        make: Make::Meaning(meaning::open_static, meaning::alone),
    },
];

#[cfg(not(feature = "fts5"))]
fn fts5(_: &Pool) -> Made {
    Err("SQLite is not built in: use `--features fts5`, or `--no-baseline`".into())
}

const fn plain(name: &'static str, make: fn(&Pool) -> Made) -> Maker {
    Maker {
        name,
        make: Make::Plain(make),
    }
}

/// Returns the method with a name.
pub(crate) fn maker(name: &str) -> Result<&'static Maker, String> {
    let names: Vec<&str> = METHODS.iter().map(|maker| maker.name).collect();
    METHODS
        .iter()
        .find(|maker| maker.name == name)
        .ok_or_else(|| format!("there are: {}", names.join(", ")))
}

/// A method and the cost of building it.
pub(crate) struct Built {
    pub(crate) name: &'static str,
    /// Number of skills in it.
    pub(crate) skills: usize,
    pub(crate) index_bytes: u64,
    /// CPU time.
    pub(crate) build_ms: f64,
    method: Box<dyn Method>,
}

impl Built {
    pub(crate) fn new(
        maker: &Maker,
        pool: &Pool,
        model: Option<&Path>,
    ) -> Result<Self, Box<dyn Error>> {
        let model = maker.model(model)?;
        let start = cpu_time();
        let (method, held) = held_by(|| match (&maker.make, model) {
            (Make::Meaning(_, make), Some(model)) => make(pool, model),
            (Make::Plain(make), _) => make(pool),
            (Make::Meaning(..), None) => Err("there is no model".into()),
        });
        let build_ms = (cpu_time().saturating_sub(start)).as_secs_f64() * 1e3;
        let method = method?;
        Ok(Self {
            name: maker.name,
            skills: pool.skills.len(),
            index_bytes: method
                .index_bytes()
                .unwrap_or_else(|| u64::try_from(held).unwrap_or_default()),
            build_ms: rounded(build_ms),
            method,
        })
    }

    pub(crate) fn search(&self, request: &str, count: usize) -> Result<Vec<Hit>, Box<dyn Error>> {
        self.method.search(request, count)
    }

    /// Returns the hits and the CPU time in microseconds, since a model may use several threads.
    pub(crate) fn timed(
        &self,
        request: &str,
        count: usize,
    ) -> Result<(Vec<Hit>, f64), Box<dyn Error>> {
        let start = cpu_time();
        let hits = self.search(request, count)?;
        let time = cpu_time().saturating_sub(start);
        Ok((hits, time.as_secs_f64() * 1e6))
    }
}
