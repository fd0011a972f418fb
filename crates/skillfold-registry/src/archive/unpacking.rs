//! An archive that is being read: its limits, and the rules for names.

use std::collections::BTreeMap;
use std::ops::Bound;

use skillfold_core::name::{InvalidPath, ResourcePath};
use skillfold_core::{Error, ErrorKind, Refusal};

/// Maximum number of bytes that an archive unpacks to, as for a skill. In a tar archive, headers count too.
const MAX_BYTES: u64 = 64 << 20;
/// Maximum number of files and folders, as for a skill.
const MAX_ENTRIES: usize = 10_000;
/// Maximum number of unpacked bytes for each byte of the archive; text compresses to about a fifth.
const MAX_RATIO: u64 = 100;
/// Number of bytes that any archive may unpack to, whatever the ratio: a small file of blanks is no attack.
const MIN_BYTES: u64 = 1 << 20;
/// Maximum characters of an entry's name in a message.
const SHOWN_CHARS: usize = 80;

/// Bytes that are unpacked at a time, between two checks of the limits.
pub(super) const CHUNK_BYTES: usize = 16 << 10;

/// Which kind of entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

/// An archive that is being read: what came of it so far, and how much more may come.
pub(super) struct Unpacking<'a> {
    archive: &'a str,
    /// The content of each file; a folder has none.
    pub(super) entries: BTreeMap<ResourcePath, Option<Vec<u8>>>,
    /// The number of entries that were begun.
    count: usize,
    /// The number of bytes that were unpacked.
    bytes: u64,
    /// Maximum number of bytes by the ratio.
    max_by_ratio: u64,
    /// What is being read, for messages.
    pub(super) place: String,
}

impl<'a> Unpacking<'a> {
    pub(super) fn new(archive: &'a str, packed_bytes: usize) -> Self {
        Self {
            archive,
            entries: BTreeMap::new(),
            count: 0,
            bytes: 0,
            max_by_ratio: MIN_BYTES.max((packed_bytes as u64).saturating_mul(MAX_RATIO)),
            place: "the first entry".to_owned(),
        }
    }

    /// Makes an entry the one that messages are about, from its raw name.
    pub(super) fn enter(&mut self, name: &[u8]) {
        self.place = format!("`{}`", shown(name));
    }

    /// Counts an entry and checks its name against the rules and the entries so far. Returns its path; the top folder
    /// has none.
    pub(super) fn check(&mut self, name: &[u8], kind: Kind) -> Result<Option<ResourcePath>, Error> {
        self.count += 1;
        if self.count > MAX_ENTRIES {
            let rule = "An archive may have at most 10,000 files and folders";
            return Err(self.refused(Refusal::TooLarge, rule));
        }
        let Ok(name) = str::from_utf8(name) else {
            return Err(self.refused(Refusal::Traversal, "Paths in archives must be UTF-8"));
        };
        let name = match kind {
            Kind::File => name,
            Kind::Folder => name.strip_suffix('/').unwrap_or(name),
        };
        if name == "." && kind == Kind::Folder && self.count == 1 {
            return Ok(None);
        }
        let path: ResourcePath = name
            .strip_prefix("./")
            .unwrap_or(name)
            .parse()
            .map_err(|error: InvalidPath| self.refused(Refusal::Traversal, error.rule()))?;
        if let Some(other) = self.entries.get(&path)
            && other.is_some() == (kind == Kind::File)
        {
            return Err(self.refused(
                Refusal::Traversal,
                "An archive may contain each path only once",
            ));
        }
        if self.is_file_and_folder(&path, kind) {
            let rule = "A path in an archive may not be both a file and a folder";
            return Err(self.refused(Refusal::Traversal, rule));
        }
        Ok(Some(path))
    }

    fn is_file_and_folder(&self, path: &ResourcePath, kind: Kind) -> bool {
        let text = path.as_str();
        let is_below_file = text
            .match_indices('/')
            .any(|(end, _)| matches!(self.entries.get(&text[..end]), Some(Some(_))));
        let prefix = format!("{text}/");
        let after = (Bound::Excluded(prefix.as_str()), Bound::Unbounded);
        let next = self.entries.range::<str, _>(after).next();
        let is_folder = next.is_some_and(|(next, _)| next.as_str().starts_with(&prefix));
        is_below_file || self.entries.contains_key(path) || (kind == Kind::File && is_folder)
    }

    /// Counts bytes that were unpacked.
    pub(super) fn grow(&mut self, bytes: u64) -> Result<(), Error> {
        self.check_room(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Refuses what would be too large together with what was unpacked.
    pub(super) fn check_room(&self, bytes: u64) -> Result<(), Error> {
        let total = self.bytes.saturating_add(bytes);
        if total > MAX_BYTES {
            let rule = "An archive may unpack to at most 64 MiB";
            return Err(self.refused(Refusal::TooLarge, rule));
        }
        if total > self.max_by_ratio {
            let rule = "An archive may unpack to at most 100 times its own size";
            return Err(self.refused(Refusal::TooLarge, rule));
        }
        Ok(())
    }

    pub(super) fn refused(&self, refusal: Refusal, rule: &'static str) -> Error {
        Error::refused(self.archive, refusal, rule).because(&self.place)
    }

    /// Returns the error for an entry that is no file or folder; `noun` says what it is.
    pub(super) fn unwanted(&self, refusal: Refusal, noun: &str) -> Error {
        let rule = match refusal {
            Refusal::Link => {
                "An archive may not contain links; its author has to replace it with the file itself"
            }
            _ => "An archive may contain only files and folders",
        };
        let reason = format!("{} is {noun}", self.place);
        Error::refused(self.archive, refusal, rule).because(reason)
    }

    /// Returns the error for an archive that is damaged, ambiguous or not understood; `problem` continues a sentence
    /// that starts with the entry.
    pub(super) fn invalid(&self, problem: &str) -> Error {
        invalid(self.archive, &format!("{} {problem}", self.place))
    }
}

pub(super) fn invalid(archive: &str, reason: &str) -> Error {
    let message = format!("Invalid archive `{archive}`: {reason}");
    let hint = "Download it again; if that does not help, its author has to pack it with `git archive`, `tar` or `zip`";
    Error::new(ErrorKind::Invalid, message, hint)
}

/// Returns a raw name as text that fits in a message.
fn shown(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    match name.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.into_owned(),
    }
}
