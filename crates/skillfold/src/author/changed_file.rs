//! Files of the user that a command changes.

use std::path::Path;

use skillfold_core::Error;
use skillfold_store::{Access, WriteTarget, lock_state};

use crate::environment::Environment;

/// Maximum bytes of a file that is changed.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Edits a text file of the user atomically. `change` gets the current text, which is empty if there is no file, and returns
/// the new one, or `None` to leave the file alone. Only the user can read the result. Concurrent changes are not lost. Returns
/// whether the file changed.
///
/// A link is refused.
pub fn change_file(
    environment: &Environment,
    path: &Path,
    change: impl FnOnce(&str) -> Result<Option<String>, Error>,
) -> Result<bool, Error> {
    let target = WriteTarget::for_user(path)?;
    let _lock = lock_state(environment.state_folder().as_deref())?;
    let old = target.read(MAX_BYTES)?;
    let bytes = old.as_ref().map_or(&[][..], |old| old.bytes());
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Error::invalid(path.to_string_lossy(), "it is not UTF-8"))?;
    let Some(text) = change(text)? else {
        return Ok(false);
    };
    target.write(old.as_ref(), text.as_bytes(), Access::Private)?;
    Ok(true)
}
