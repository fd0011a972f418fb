//! Git's objects, checked against their names: whoever trusts a commit id can trust every byte below it.

use std::collections::{BTreeMap, BTreeSet};

use sha1_checked::Sha1;
use sha2::{Digest as _, Sha256};
use skillfold_core::diagnostic::visible;
use skillfold_core::{Error, ErrorKind, Refusal};

use crate::git::cat_file::{self, ObjectHeader, ObjectKind};
use crate::git::copy::RepositoryCopy;
use crate::git::process::GitError;
use crate::tree::{ReadLimits, TooLarge};

/// Maximum objects that are asked for at once.
const MAX_BATCH: usize = 2_000;

const COMMITS: ReadLimits = ReadLimits {
    each: 1 << 20,
    total: 64 << 20,
    rule: "A commit may have at most 1 MiB",
};

/// Objects by their ids, without those that are too large.
pub(super) type Contents = BTreeMap<String, Result<Vec<u8>, TooLarge>>;

/// The objects of a repository. What is read has the content that its id says.
pub(super) struct CheckedObjects {
    copy: RepositoryCopy,
}

/// Why objects could not be read.
enum Failure {
    /// The copy is not what git wrote there.
    Damaged(String),
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl CheckedObjects {
    pub(super) fn new(copy: RepositoryCopy) -> Self {
        Self { copy }
    }

    pub(super) fn source(&self) -> &str {
        self.copy.location()
    }

    /// Fetches those objects that are not in the cache.
    pub(super) fn fetch(&self, ids: &BTreeSet<&str>) -> Result<(), Error> {
        self.repairing(|| self.headers(ids).map(drop))
    }

    /// Reads objects, and checks each against its id. What the limits do not allow is not read.
    pub(super) fn read(
        &self,
        ids: &BTreeSet<&str>,
        kind: ObjectKind,
        limits: ReadLimits,
    ) -> Result<Contents, Error> {
        self.repairing(|| self.read_once(ids, kind, limits))
    }

    /// Reads commits.
    pub(super) fn commits(&self, ids: &BTreeSet<&str>) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let contents = self.read(ids, ObjectKind::Commit, COMMITS)?;
        let contents = contents.into_iter().map(|(id, content)| {
            let too_large = |_| Error::refused(&id, Refusal::TooLarge, COMMITS.rule);
            let content = content.map_err(too_large)?;
            Ok((id, content))
        });
        contents.collect()
    }

    /// Returns an error for an object that is what its author made, and nothing that git can use.
    pub(super) fn malformed(&self, what: &str) -> Error {
        let message = format!("`{}` has {what}", self.source());
        let hint = "Ask its author to correct it, or choose another version";
        Error::new(ErrorKind::Invalid, message, hint)
    }

    /// Does something with the copy. If that is damaged, it is fetched once more.
    fn repairing<T>(&self, read: impl Fn() -> Result<T, Failure>) -> Result<T, Error> {
        let mut result = read();
        let is_damaged = match &result {
            Err(Failure::Damaged(_)) => true,
            // It compares what it gets with what is there.
            Err(Failure::Other(error)) => error.to_string().contains("index-pack failed"),
            Ok(_) => false,
        };
        if is_damaged && self.copy.delete().is_ok() {
            result = read();
        }
        result.map_err(|failure| match failure {
            Failure::Other(error) => error,
            Failure::Damaged(why) => {
                let (source, why) = (self.source(), visible(&why));
                let message = format!("The cache of `{source}` is damaged: {why}");
                let hint = "Run `skillfold cache clean`, and try again";
                Error::new(ErrorKind::Unreadable, message, hint)
            }
        })
    }

    fn read_once(
        &self,
        ids: &BTreeSet<&str>,
        kind: ObjectKind,
        limits: ReadLimits,
    ) -> Result<Contents, Failure> {
        let (mut contents, mut wanted) = (Contents::new(), Vec::new());
        let mut total = 0;
        for (id, header) in self.headers(ids)? {
            if header.kind != kind {
                let message = format!("{id} in `{}` is no {}", self.source(), kind.as_str());
                let hint = "Name a branch, a tag of a commit, or a commit";
                return Err(Error::new(ErrorKind::Invalid, message, hint).into());
            }
            if header.bytes > limits.each {
                contents.insert(id.to_owned(), Err(TooLarge(header.bytes)));
                continue;
            }
            total += header.bytes;
            wanted.push((id, header));
        }
        if total > limits.total {
            let refused = Error::refused(self.source(), Refusal::TooLarge, limits.rule);
            return Err(refused.into());
        }
        if wanted.is_empty() {
            return Ok(contents);
        }
        let read = cat_file::contents(&self.copy.git()?, &wanted);
        let read = read.map_err(|error| self.failure(error))?;
        for ((id, _), bytes) in wanted.into_iter().zip(read) {
            if !is_content_of(id, kind, &bytes) {
                return Err(Failure::Damaged(format!("object {id} has other content")));
            }
            contents.insert(id.to_owned(), Ok(bytes));
        }
        Ok(contents)
    }

    /// Returns the headers of objects, fetching those that are not in the cache.
    fn headers<'i>(
        &self,
        ids: &BTreeSet<&'i str>,
    ) -> Result<Vec<(&'i str, ObjectHeader)>, Failure> {
        let ids: Vec<&str> = ids.iter().copied().collect();
        let mut known = Vec::with_capacity(ids.len());
        for ids in ids.chunks(MAX_BATCH) {
            let mut headers = self.known_headers(ids)?;
            let pairs = ids.iter().zip(&headers);
            let missing = pairs.filter_map(|(id, header)| header.is_none().then_some(*id));
            let missing: Vec<&str> = missing.collect();
            if !missing.is_empty() {
                self.copy.fetch(&missing)?;
                headers = self.known_headers(ids)?;
            }
            for (id, header) in ids.iter().zip(headers) {
                known.push((*id, header.ok_or_else(|| self.no_object(id))?));
            }
        }
        Ok(known)
    }

    fn known_headers(&self, ids: &[&str]) -> Result<Vec<Option<ObjectHeader>>, Failure> {
        cat_file::headers(&self.copy.git()?, ids).map_err(|error| self.failure(error))
    }

    fn no_object(&self, id: &str) -> Error {
        let message = format!("`{}` has no object {id}", self.source());
        let hint = "The repository was changed or is incomplete; choose another version";
        Error::new(ErrorKind::NotFound, message, hint)
    }

    fn failure(&self, error: GitError) -> Failure {
        match (error, self.copy.git()) {
            (GitError::Failed(why), _) => Failure::Damaged(why),
            (error, Ok(git)) => Failure::Other(git.error(error)),
            (_, Err(error)) => Failure::Other(error),
        }
    }
}

/// Returns whether a text is the full id of an object: 40 or 64 hexadecimal digits.
pub(crate) fn is_id(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    matches!(text.len(), 40 | 64) && text.bytes().all(is_digit)
}

/// Returns whether an object's id is the hash of its content. A SHA-1 that was forged in a known way is not.
fn is_content_of(id: &str, kind: ObjectKind, bytes: &[u8]) -> bool {
    let header = format!("{} {}\0", kind.as_str(), bytes.len());
    if id.len() == 64 {
        let hash = Sha256::new().chain_update(&header).chain_update(bytes);
        return hexadecimal(&hash.finalize()) == id;
    }
    let mut hash = Sha1::new();
    hash.update(&header);
    hash.update(bytes);
    let result = hash.try_finalize();
    !result.has_collision() && hexadecimal(result.hash()) == id
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
    }
    text
}
