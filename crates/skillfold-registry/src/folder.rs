//! Folders on this machine as sources.

use std::collections::BTreeMap;
use std::path::Path;

use skillfold_core::load::whole_skill_limits;
use skillfold_core::name::ResourcePath;
use skillfold_core::source::{Folder, LinkPolicy};
use skillfold_core::{Code, Error, FsSource, Refusal, Source};

use crate::tree::{EntryKind, ReadLimits, TooLarge, Tree};

/// Maximum files and folders in the folder that are no files of a skill, such as links.
const MAX_FINDINGS: usize = 100_000;

const CHANGING: &str = "The file kept changing while it was read; try again";

/// The files of a folder.
pub(crate) struct LocalFolder {
    source: FsSource,
    folder: Folder,
    entries: BTreeMap<String, EntryKind>,
}

impl LocalFolder {
    /// Lists a folder. Links in it are not followed.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let name = path.file_name().and_then(|name| name.to_str());
        let (Some(parent), Some(name)) = (path.parent(), name) else {
            let why = "It is not a folder in another";
            return Err(Error::invalid(path.to_string_lossy(), why));
        };
        let source = FsSource::open_with(parent, LinkPolicy::Refuse)?;
        let folder = Folder::new(name).map_err(|error| Error::invalid(name, error.rule()))?;
        let mut entries = BTreeMap::new();
        let limits = whole_skill_limits().with_findings(MAX_FINDINGS);
        let mut cursor = None;
        loop {
            let page = source.resources(&folder, &limits, cursor.as_ref())?;
            let files = page.files.into_iter();
            entries.extend(files.map(|file| (file.path.as_str().to_owned(), EntryKind::File)));
            for finding in page.findings {
                let kind = match finding.diagnostic.code {
                    // It is not known what else is there.
                    Code::BoundReached | Code::MoreFindings => {
                        let why = &finding.diagnostic.message;
                        return Err(Error::invalid(path.to_string_lossy(), why));
                    }
                    Code::VersionControl => continue,
                    Code::LinkNotFollowed | Code::HardLinks => EntryKind::Link,
                    // The skill that has it is refused, and no other.
                    _ => EntryKind::Other,
                };
                entries.insert(finding.path.into(), kind);
            }
            // A cursor that does not advance would loop forever.
            if page.next.is_none() || page.next == cursor {
                break;
            }
            cursor = page.next;
        }
        Ok(Self {
            source,
            folder,
            entries,
        })
    }
}

impl Tree for LocalFolder {
    fn entries(&self) -> &BTreeMap<String, EntryKind> {
        &self.entries
    }

    fn read(
        &mut self,
        paths: &[&str],
        limits: ReadLimits,
    ) -> Result<Vec<Result<Vec<u8>, TooLarge>>, Error> {
        let mut left = limits.total;
        let read = paths.iter().map(|path| {
            let refused = |refusal, rule| Error::refused(*path, refusal, rule);
            let path: ResourcePath =
                path.parse()
                    .map_err(|error: skillfold_core::name::InvalidPath| {
                        refused(Refusal::Traversal, error.rule())
                    })?;
            let most = limits.each.min(left) + 1;
            let content = self.source.read(&self.folder, &path, 0..most)?;
            if content.state.stability == skillfold_core::source::Stability::Changing {
                return Err(refused(Refusal::Changing, CHANGING));
            }
            if content.bytes.len() as u64 > limits.each {
                return Ok(Err(TooLarge(content.state.revision.size())));
            }
            let rest = left.checked_sub(content.bytes.len() as u64);
            left = rest.ok_or_else(|| refused(Refusal::TooLarge, limits.rule))?;
            Ok(Ok(content.bytes))
        });
        read.collect()
    }
}
