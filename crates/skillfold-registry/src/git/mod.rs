//! Git repositories as sources.

mod process;

mod cat_file;

mod copy;

mod objects;

mod commit_tree;

mod references;

use std::path::Path;
use std::slice;
use std::sync::Arc;

use skillfold_core::{Error, ErrorKind};

pub(crate) use self::objects::is_id;
pub use self::process::VARIABLES;
pub(crate) use self::references::References;

use self::commit_tree::CommitTree;
use self::copy::RepositoryCopy;
use self::objects::CheckedObjects;
use self::process::Git;
use crate::address::{Address, is_version};
use crate::lock::Pin;
use crate::options::FetchOptions;

/// What git gets as its repository where there is none: no program can make one of it.
const NO_REPOSITORY: &str = "/dev/null";

/// A repository.
pub(crate) struct Repository<'a> {
    options: &'a Arc<FetchOptions>,
    location: &'a str,
}

impl<'a> Repository<'a> {
    pub(crate) fn new(options: &'a Arc<FetchOptions>, address: &'a Address) -> Self {
        Self {
            options,
            location: address.location(),
        }
    }

    /// Asks the repository for its branches and tags.
    pub(crate) fn references(&self) -> Result<References, Error> {
        self.options.check_online(self.location)?;
        let arguments = ["ls-remote", "--quiet", "--symref", "--", self.location];
        let git = Git::new(self.options, Path::new(NO_REPOSITORY), self.location);
        let output = git.ask(&arguments, b"")?;
        Ok(References::parse(&String::from_utf8_lossy(&output)))
    }

    /// Opens a commit, fetching what the cache does not have.
    pub(crate) fn tree(&self, pin: &Pin) -> Result<CommitTree, Error> {
        let objects = self.objects(slice::from_ref(pin))?;
        CommitTree::read(objects, pin.commit.as_deref().unwrap_or_default())
    }

    /// Returns when commits were made, in seconds since 1970, as their authors say. Those that are not in the cache are fetched
    /// at once.
    pub(crate) fn commit_times(&self, pins: &[Pin]) -> Result<Vec<u64>, Error> {
        let objects = self.objects(pins)?;
        let ids = || pins.iter().filter_map(|pin| pin.commit.as_deref());
        let texts = objects.commits(&ids().collect())?;
        let times = ids().map(|id| {
            let time = texts.get(id).and_then(|text| commit_time(text));
            time.ok_or_else(|| objects.malformed("a commit without a time"))
        });
        times.collect()
    }

    fn objects(&self, pins: &[Pin]) -> Result<CheckedObjects, Error> {
        for pin in pins {
            let commit = pin.commit.as_deref().unwrap_or_default();
            let tag = pin.tag.as_deref().filter(|tag| !is_version(tag));
            let wrong = match tag {
                _ if !is_id(commit) => format!("`{commit}` is not a commit id"),
                Some(tag) => format!("`{tag}` is not a tag"),
                None => continue,
            };
            let hint = "Correct the lock, or restore it from version control";
            return Err(Error::new(ErrorKind::Invalid, wrong, hint));
        }
        let copy = RepositoryCopy::new(Arc::clone(self.options), self.location, pins);
        Ok(CheckedObjects::new(copy))
    }
}

/// Returns when a commit was made, in seconds since 1970: `committer NAME <ADDRESS> SECONDS ZONE`.
fn commit_time(text: &[u8]) -> Option<u64> {
    let lines = text.split(|byte| *byte == b'\n');
    let mut head = lines.take_while(|line| !line.is_empty());
    let line = head.find_map(|line| line.strip_prefix(b"committer "))?;
    let end = line.iter().rposition(|byte| *byte == b'>')?;
    let mut words = str::from_utf8(&line[end + 1..]).ok()?.split(' ');
    let seconds: i64 = words.find(|word| !word.is_empty())?.parse().ok()?;
    Some(u64::try_from(seconds).unwrap_or_default())
}
