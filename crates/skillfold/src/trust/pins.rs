//! Pins: the skills that a folder had when it was trusted, each with a digest of its content. A pinned folder is trusted while it
//! has these skills and no others; removing a pinned skill keeps the rest trusted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use skillfold_core::diagnostic::visible;
use skillfold_core::load::{combined_digest, file_digests};
use skillfold_core::read::{ReadOptions, discover};
use skillfold_core::{Error, Root, Source};

use crate::trust::pinned_source::PinnedFiles;

/// Maximum skills of a pinned folder that a message names.
const MAX_NAMED: usize = 5;

/// The skills of a folder, each by its path in the folder, with the digest of its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins(BTreeMap<String, String>);

impl Pins {
    /// Computes the pins of all skills of some roots in a folder, whose path must have its links resolved. A skill that a link
    /// leads to outside of the folder goes by its whole path. Also returns the files that were looked at, for each root.
    pub(crate) fn compute<'r>(
        folder: &Path,
        roots: impl Iterator<Item = &'r Root>,
        options: &ReadOptions,
    ) -> Result<(Self, Vec<PinnedFiles>), Error> {
        let sources: Vec<&dyn Source> = roots.map(Root::unchecked_source).collect();
        let mut pins = BTreeMap::new();
        let mut files = vec![PinnedFiles::new(); sources.len()];
        for skill in discover(&sources, options).skills {
            let source = sources[skill.source];
            let Some(path) = source.real_path(&skill.folder) else {
                continue;
            };
            let path = path.strip_prefix(folder).unwrap_or(&path);
            let digests = file_digests(source, &skill.folder)?;
            let digest = combined_digest(&digests).to_string();
            pins.insert(path.to_string_lossy().into_owned(), digest);
            let digests = digests.into_iter().map(|file| (file.path.clone(), file));
            files[skill.source].insert(skill.folder.path().into(), digests.collect());
        }
        Ok((Self(pins), files))
    }

    /// Creates pins from the entries of a list.
    pub(crate) fn from_entries(entries: impl Iterator<Item = (String, String)>) -> Self {
        Self(entries.collect())
    }

    /// Returns whether no skill is pinned.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the path and the digest of each skill, sorted by path.
    #[cfg(feature = "store")]
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, digest)| (&**path, &**digest))
    }

    /// Returns which skills of `current` are not as they were pinned, as a phrase; `None` if all are.
    pub(crate) fn changes(&self, current: &Self) -> Option<String> {
        let changed = current.0.iter().filter_map(|(path, digest)| {
            let what = match self.0.get(path) {
                None => "new",
                Some(pinned) if pinned != digest => "changed",
                Some(_) => return None,
            };
            Some(format!("`{}` ({what})", visible(path)))
        });
        let changed: Vec<String> = changed.collect();
        let mut text = changed[..changed.len().min(MAX_NAMED)].join(", ");
        if let more @ 1.. = changed.len().saturating_sub(MAX_NAMED) {
            let _ = write!(text, " and {more} more");
        }
        (!changed.is_empty()).then_some(text)
    }
}
