//! Which files the instructions speak of, and in which order.

use std::collections::HashMap;

use crate::read::links::{Target, links};
use crate::text::start_of;

/// Bytes of instructions that are looked through.
pub(super) const MENTION_BYTES: usize = 256 * 1024;

/// The places at which instructions speak of paths and names of files.
pub(super) struct Mentions {
    /// The first place of each path or name.
    places: HashMap<Box<str>, usize>,
}

impl Mentions {
    /// Finds links to files, and words that could be a path or a file's name.
    pub(super) fn of(body: &str) -> Self {
        let body = start_of(body, MENTION_BYTES);
        let mut mentions = Self {
            places: HashMap::new(),
        };
        for link in links(body) {
            if let Target::Inside(path) = link.target {
                mentions.add(path.as_str(), link.range.start);
            }
        }
        for word in body.split(|c: char| !is_of_a_path(c)) {
            let at = word.as_ptr().addr() - body.as_ptr().addr();
            let name = word.trim_start_matches(['.', '/']).trim_end_matches('.');
            // A name of one word without an extension is any word.
            if name.contains(['.', '/']) {
                mentions.add(name, at);
            }
        }
        mentions
    }

    fn add(&mut self, path: &str, at: usize) {
        let first = self.places.entry(path.into()).or_insert(at);
        *first = at.min(*first);
    }

    /// Returns the first place at which a file is spoken of, by its path or by its name alone.
    pub(super) fn place(&self, path: &str) -> Option<usize> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let places = [self.places.get(path), self.places.get(name)];
        places.into_iter().flatten().min().copied()
    }
}

fn is_of_a_path(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+' | '@')
}
