//! The lock files of other tools.
//!
//! The two of `npx skills` are read and written; those of `apm` and `ToolHive` are read. A file that is broken, or of a version
//! that is not known here, is an error and never taken for an empty one: who would write it back would lose every entry.

mod computed_hash;
mod json;
mod skills_lock;

mod yaml;

mod apm;
mod toolhive;

#[cfg(test)]
mod tests;

use skillfold_core::name::SkillName;
use skillfold_core::{Error, ErrorKind};

use crate::address::Address;

pub use apm::{APM_LOCK_FILE, parse_apm_lock};
pub use computed_hash::computed_hash;
pub use skills_lock::{SkillsLock, SkillsLockEntry, SkillsLockKind};
pub use toolhive::{TOOLHIVE_LOCK_FILE, parse_toolhive_lock};

/// Maximum size of a lock file.
const MAX_BYTES: usize = 16 << 20;

/// A skill, or a package of skills, in the lock file of another tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForeignSkill {
    /// Its name, or that of its package.
    pub name: SkillName,
    /// Where it comes from, as that tool wrote it.
    pub source: String,
    /// Its folder in the source.
    pub folder: Option<String>,
    /// The skills that were chosen from a package; empty for all of them.
    pub chosen: Vec<String>,
    /// What the source was resolved to: the address of an artifact or a repository.
    pub resolved: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// The tag or branch.
    pub git_ref: Option<String>,
    /// The full commit id, in lower case.
    pub commit: Option<String>,
    /// The digest of the artifact: `sha256:` and 64 digits.
    pub artifact_digest: Option<String>,
    /// The digest of its files as that tool computes it: `sha256:` and 64 digits. `ToolHive`'s is computed as
    /// [`FileTree::digest`](crate::FileTree::digest); that of `apm` is not.
    pub content_digest: Option<String>,
    /// The identity in the certificate that signed it.
    pub signer: Option<String>,
    /// The skills or packages that it was installed for.
    pub required_by: Vec<String>,
}

impl ForeignSkill {
    fn new(name: SkillName, source: String) -> Self {
        Self {
            name,
            source,
            folder: None,
            chosen: Vec::new(),
            resolved: None,
            version: None,
            git_ref: None,
            commit: None,
            artifact_digest: None,
            content_digest: None,
            signer: None,
            required_by: Vec::new(),
        }
    }

    /// Returns its source as an address.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if it is neither a folder nor a repository with a commit.
    pub fn address(&self) -> Result<Address, Error> {
        let source = self.source.as_str();
        let is_folder = source.starts_with(['.', '/', '~']);
        if self.commit.is_none() && !is_folder {
            let message = format!(
                "`{}` is from `{source}`, which is no git repository",
                self.name
            );
            let hint = "Add it from a repository, an archive or a folder";
            return Err(Error::new(ErrorKind::Invalid, message, hint));
        }
        let has_host = |source: &str| source.split('/').next().is_some_and(|it| it.contains('.'));
        let (mut source, mut rest) = (source, "");
        let mut version = self.git_ref.as_deref();
        // As ToolHive writes it: `git://HOST/PATH@VERSION#FOLDER`.
        if let Some(bare) = source.strip_prefix("git://") {
            (source, rest) = bare.split_once('#').unwrap_or((bare, ""));
            if let Some((repository, named)) = source.split_once('@') {
                (source, version) = (repository, version.or(Some(named)));
            }
        }
        let folder = self.folder.as_deref().unwrap_or(rest);
        let mut address = source.to_owned();
        if !is_folder && !source.contains("://") && has_host(source) {
            address = format!("https://{}.git", source.trim_end_matches(".git"));
        }
        if !folder.is_empty() {
            address = format!("{}/{folder}", address.trim_end_matches('/'));
        }
        Address::with_version(&address, version)
    }
}

/// Creates the error for a lock file with something wrong in it.
fn broken(path: &str, reason: impl AsRef<str>) -> Error {
    let message = format!("Lock file `{path}` is broken: {}", reason.as_ref());
    let hint = "Correct it or restore it from version control; it was left as it is";
    Error::new(ErrorKind::Invalid, message, hint)
}

/// Creates the error for a lock file of a version that is not known here.
fn unknown_version(path: &str, version: &str, known: &str) -> Error {
    let message = format!("Lock file `{path}` has version {version}, Skillfold knows {known}");
    let hint = "Update Skillfold, or the tool that wrote the file if its version is older; it was left as it is";
    Error::new(ErrorKind::Invalid, message, hint)
}

/// Refuses a file that no tool would write.
fn check_size(path: &str, text: &str) -> Result<(), Error> {
    if text.len() > MAX_BYTES {
        return Err(broken(path, "it is larger than 16 MiB"));
    }
    Ok(())
}

/// Returns whether a text is a number of hexadecimal digits in lower case.
fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
