//! A search method. To add one, add a file beside this one and a line in [`METHODS`](super::methods::METHODS).

use std::error::Error;

/// A search method built for a pool.
pub(crate) trait Method {
    /// Returns at most `count` skills, best first.
    fn search(&self, request: &str, count: usize) -> Result<Vec<Hit>, Box<dyn Error>>;

    /// Returns the index's size in bytes, if this program's allocator does not count it.
    fn index_bytes(&self) -> Option<u64> {
        None
    }
}

/// A search result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    /// Its position in the pool.
    pub(crate) place: usize,
    /// The method's confidence; higher is better, and comparable between requests where possible.
    pub(crate) score: f64,
}

/// A method, or why it could not be built.
pub(crate) type Made = Result<Box<dyn Method>, Box<dyn Error>>;
