//! Ways to search. One more is a file beside this one and a line in [`METHODS`].

use std::error::Error;

use crate::allocator::held_by;
use crate::measure::{rounded, thread_time};
use crate::search::pool::Pool;
use crate::search::{engine, fts5, triggers};

/// A way to search that was made for a pool.
pub(crate) trait Method {
    /// Returns at most so many skills, the best first.
    fn search(&self, request: &str, count: usize) -> Result<Vec<Hit>, Box<dyn Error>>;

    /// Returns the bytes of the index, where the allocator of this program does not count them.
    fn index_bytes(&self) -> Option<u64> {
        None
    }
}

/// A skill that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    /// Its place in the pool.
    pub(crate) place: usize,
    /// How sure the method is; the higher the surer, and where it can be, comparable from request to request.
    pub(crate) score: f64,
}

/// What makes a method for a pool.
type Make = fn(&Pool) -> Result<Box<dyn Method>, Box<dyn Error>>;

/// Makes a method for a pool. Nothing of the pool may be kept but what is in the index.
#[derive(Debug)]
pub(crate) struct Maker {
    pub(crate) name: &'static str,
    make: Make,
}

/// All methods; the first is the baseline of the others.
pub(crate) static METHODS: [Maker; 4] = [
    Maker {
        name: "fts5",
        make: fts5::make,
    },
    Maker {
        name: "default",
        make: engine::default,
    },
    Maker {
        name: "bm25f",
        make: engine::bm25f,
    },
    Maker {
        name: "triggers",
        make: triggers::make,
    },
];

/// Returns the method of a name.
pub(crate) fn maker(name: &str) -> Result<&'static Maker, String> {
    let names = METHODS.each_ref().map(|maker| maker.name);
    METHODS
        .iter()
        .find(|maker| maker.name == name)
        .ok_or_else(|| format!("there are: {}", names.join(", ")))
}

/// A method with what it took to make.
pub(crate) struct Built {
    pub(crate) name: &'static str,
    /// How many skills are in it.
    pub(crate) skills: usize,
    pub(crate) index_bytes: u64,
    /// CPU time.
    pub(crate) build_ms: f64,
    method: Box<dyn Method>,
}

impl Built {
    pub(crate) fn new(maker: &Maker, pool: &Pool) -> Result<Self, Box<dyn Error>> {
        let start = thread_time();
        let (method, held) = held_by(|| (maker.make)(pool));
        let build_ms = (thread_time().saturating_sub(start)).as_secs_f64() * 1e3;
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

    /// Returns what is found, and the microseconds of CPU time of this thread.
    pub(crate) fn timed(
        &self,
        request: &str,
        count: usize,
    ) -> Result<(Vec<Hit>, f64), Box<dyn Error>> {
        let start = thread_time();
        let hits = self.search(request, count)?;
        let time = thread_time().saturating_sub(start);
        Ok((hits, time.as_secs_f64() * 1e6))
    }
}
