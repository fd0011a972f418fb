//! Paths as users write them.

use std::path::Path;

use skillfold_core::diagnostic::visible;

use crate::environment::real_path;

/// Returns a path as users write it: from `~` or from `/`.
pub(super) fn shown_path(path: &Path, home: Option<&Path>) -> String {
    let real = home.and_then(real_path);
    let inside = |home: &Path| path.strip_prefix(home).ok();
    let inside = home
        .and_then(inside)
        .or_else(|| real.as_deref().and_then(inside));
    let text = match inside {
        Some(inside) => Path::new("~").join(inside).components().collect(),
        None => path.to_owned(),
    };
    visible(&text.to_string_lossy()).into_owned()
}
