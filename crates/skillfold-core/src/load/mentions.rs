//! Which files the instructions mention, and in which order.

use std::collections::HashMap;

use crate::read::links::{Target, file_links};
use crate::text::truncate_bytes;

/// Bytes of the instructions that are searched for mentions.
pub(super) const MENTION_BYTES: usize = 256 * 1024;

/// Where the instructions mention paths and file names.
pub(super) struct Mentions {
    /// Byte offset of the first mention, by path or file name.
    first_positions: HashMap<Box<str>, usize>,
}

impl Mentions {
    /// Finds links to files, and words that could be a path or a file name.
    pub(super) fn find_in(body: &str) -> Self {
        let body = truncate_bytes(body, MENTION_BYTES);
        let mut mentions = Self {
            first_positions: HashMap::new(),
        };
        for link in file_links(body) {
            if let Target::Inside(path) = link.target {
                mentions.add(path.as_str(), link.range.start);
            }
        }
        for word in body.split(|c: char| !is_path_char(c)) {
            let at = word.as_ptr().addr() - body.as_ptr().addr();
            let name = word.trim_start_matches(['.', '/']).trim_end_matches('.');
            // Without a dot or a slash it could be any word.
            if name.contains(['.', '/']) {
                mentions.add(name, at);
            }
        }
        mentions
    }

    fn add(&mut self, path: &str, at: usize) {
        let first = self.first_positions.entry(path.into()).or_insert(at);
        *first = at.min(*first);
    }

    /// Returns the byte offset of the first mention of a file, by its path or by its name alone.
    pub(super) fn position(&self, path: &str) -> Option<usize> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let positions = [
            self.first_positions.get(path),
            self.first_positions.get(name),
        ];
        positions.into_iter().flatten().min().copied()
    }
}

fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+' | '@')
}
