//! A conversation's state in a file.

use std::path::Path;

use skillfold_core::{Error, SessionState};
use skillfold_store::{Access, ReadFile, WriteTarget};

/// Maximum bytes of a file.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// A file of the user with the state of a conversation: ids, revisions and arguments of skills, no messages.
#[derive(Debug)]
pub struct SessionFile {
    target: WriteTarget,
    read: Option<ReadFile>,
    state: Option<SessionState>,
}

impl SessionFile {
    /// Opens the file, which need not exist.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let target = WriteTarget::for_user(path)?;
        let read = target.read(MAX_BYTES)?;
        let state = target.text(read.as_ref())?.map(serde_json::from_str);
        let state = state.transpose().map_err(|error| {
            Error::invalid(
                path.to_string_lossy(),
                format!("not a conversation: {error}"),
            )
        })?;
        Ok(Self {
            target,
            read,
            state,
        })
    }

    /// Returns the state in the file, to [resume](crate::Skills::resume) it; `None` if there is no file.
    pub fn state(&self) -> Option<&SessionState> {
        self.state.as_ref()
    }

    /// Replaces the file, if nobody else changed it since it was opened.
    pub fn save(&self, state: &SessionState) -> Result<(), Error> {
        // States consist of texts, numbers and lists of these, which can always be written.
        let mut bytes = serde_json::to_vec(state).unwrap_or_default();
        bytes.push(b'\n');
        self.target
            .write(self.read.as_ref(), &bytes, Access::Private)
    }
}
