//! Serialized scans: a later process starts from the bytes and does not read unchanged files.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::catalog::discover::log_discovery;
use crate::catalog::root::{Root, sort_and_label};
use crate::catalog::snapshot::{Catalog, CatalogOptions};
use crate::catalog::tables::Item;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::read::discover::{
    FoundFolder, ReadOptions, RefusedFolder, ScanCache, Skill, discover_with,
};
use crate::read::manifest::Manifest;
use crate::source::{ListedFolder, Revision, Source};

/// Version of the format. Increment it when records are written differently, or when files are parsed differently.
const FORMAT_VERSION: u32 = 6;

/// Size of an entry in the table of records: the record's offset.
const ENTRY_BYTES: usize = 4;

/// The scan of one root by an earlier process, as serialized by [`Catalog::to_scan_bytes`].
///
/// ```
/// use skillfold_core::{Catalog, CatalogOptions, FsSource, Root, Scope};
/// use skillfold_core::catalog::CachedScan;
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::create_dir(folder.path().join("pdf"))?;
/// # std::fs::write(folder.path().join("pdf/SKILL.md"), "---\nname: pdf\ndescription: Fills in forms\n---\n")?;
/// # let path = folder.path();
/// # let now = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
/// let roots = || Ok::<_, skillfold_core::Error>(vec![Root::new(Scope::User, "mine", FsSource::open(path)?)]);
/// let catalog = Catalog::discover(roots()?, CatalogOptions::default(), now);
/// let bytes = catalog.to_scan_bytes(0).expect("the path is UTF-8");
///
/// let scan = CachedScan::new(&bytes, &CatalogOptions::default().read).expect("the options are the same");
/// let again = Catalog::discover_cached(roots()?, CatalogOptions::default(), now, &[scan]);
/// assert_eq!(again.roots[0].kept, 1);
/// assert_eq!(again.catalog.get("pdf").unwrap().manifest(), catalog.get("pdf").unwrap().manifest());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CachedScan<'a> {
    root: &'a str,
    /// The offset of each record, which are ordered by folder.
    entries: &'a [u8],
    /// For each folder its path, the revision of its file, and a [`Record`].
    records: &'a [u8],
}

/// What the file of a folder contained.
#[derive(Serialize, Deserialize)]
enum Record<M, D> {
    Skill {
        body_start: u64,
        repaired: bool,
        manifest: M,
        diagnostics: D,
    },
    Refused {
        diagnostics: D,
    },
}

impl<'a> CachedScan<'a> {
    /// Parses the bytes of an earlier process. Returns `None` if they are incomplete, or were written by another
    /// version or with other options.
    ///
    /// Forged bytes never panic, but can yield arbitrary skills: only the host may be able to write the cache.
    pub fn new(bytes: &'a [u8], options: &ReadOptions) -> Option<Self> {
        let mut rest = bytes;
        let key = read_part(&mut rest)?;
        if key != Self::options_key(options).as_bytes() {
            return None;
        }
        let root = std::str::from_utf8(read_part(&mut rest)?).ok()?;
        let (entries, records) = (read_part(&mut rest)?, read_part(&mut rest)?);
        if !rest.is_empty() || !entries.len().is_multiple_of(ENTRY_BYTES) {
            return None;
        }
        Some(Self {
            root,
            entries,
            records,
        })
    }

    /// Returns a key of the version, the format and the options. Bytes with another key are not used.
    pub fn options_key(options: &ReadOptions) -> String {
        let (version, codes) = (env!("CARGO_PKG_VERSION"), Code::ALL.len());
        format!("{version} {FORMAT_VERSION} {codes} {options:?}")
    }

    /// Returns the [cache name](Root::cache_name) of the root.
    pub fn root(&self) -> &'a str {
        self.root
    }

    /// Returns the number of cached folders.
    pub fn len(&self) -> usize {
        self.entries.len() / ENTRY_BYTES
    }

    /// Returns whether no folder is cached.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the folder of a record, and the bytes after it.
    fn record(&self, index: usize) -> Option<(&'a str, &'a [u8])> {
        let (offset, _) = self
            .entries
            .get(index * ENTRY_BYTES..)?
            .split_first_chunk()?;
        let offset = usize::try_from(u32::from_le_bytes(*offset)).ok()?;
        postcard::take_from_bytes(self.records.get(offset..)?).ok()
    }

    /// Returns the index of a folder's record by binary search.
    fn find(&self, folder: &str) -> Option<usize> {
        let (mut start, mut end) = (0, self.len());
        while start < end {
            let middle = start.midpoint(end);
            match self.record(middle)?.0.cmp(folder) {
                Ordering::Less => start = middle + 1,
                Ordering::Greater => end = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }
}

/// A snapshot that was built with the help of cached scans.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CachedDiscovery {
    /// The snapshot, equal to that of [`Catalog::discover`].
    pub catalog: Catalog,
    /// How each root's cached scan was used, in the order of the catalog's roots.
    pub roots: Vec<CacheReport>,
}

/// How a root's cached scan was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheReport {
    /// Folders whose file is unchanged and was not read.
    pub kept: usize,
    /// Folders whose file was read.
    pub read: usize,
    /// Folders that were read and can be cached now; the files of the others changed too recently.
    pub new: usize,
    /// Cached folders that are gone or changed.
    pub gone: usize,
}

impl Catalog {
    /// Finds all skills of some roots as [`discover`](Self::discover) does, but does not read files that are unchanged
    /// since their cached scan. Roots are matched by [cache name](Root::cache_name).
    pub fn discover_cached(
        roots: Vec<Root>,
        options: CatalogOptions,
        now: SystemTime,
        scans: &[CachedScan<'_>],
    ) -> CachedDiscovery {
        let _span = tracing::debug_span!("discover", roots = roots.len()).entered();
        let roots = sort_and_label(roots);
        let sources: Vec<&dyn Source> = roots.iter().map(Root::source).collect();
        let mut cache = CachedRoots::new(&roots, scans);
        let found = discover_with(&sources, &options.read, &mut cache);
        let catalog = Self::from_discovery(found, roots.into(), Arc::new(options), now);
        let reports = (0..).zip(cache.0).map(|(root, cached)| {
            let kept = cached.as_ref().map_or(0, |cached| cached.kept);
            let known = cached.map_or(0, |cached| cached.scan.len());
            let items = catalog.items_in_root(root);
            let read = items.len().saturating_sub(kept);
            let can_be_cached = |item: &&Item| catalog.persistent_revision(**item).is_some();
            let new = if read == 0 {
                0
            } else {
                let cacheable = items.iter().filter(can_be_cached).count();
                cacheable.saturating_sub(kept)
            };
            CacheReport {
                kept,
                read,
                new,
                gone: known.saturating_sub(kept),
            }
        });
        let roots: Vec<CacheReport> = reports.collect();
        log_discovery(&catalog);
        log_cache_use(&roots);
        CachedDiscovery { catalog, roots }
    }

    /// Serializes the scan of a root, for a later process to [start from](Self::discover_cached). Returns `None` if the
    /// root has no [cache name](Root::cache_name). Unsettled items are left out, so they will be read again.
    pub fn to_scan_bytes(&self, root: usize) -> Option<Vec<u8>> {
        let name = self.roots.get(root)?.cache_name()?;
        let (mut entries, mut records) = (Vec::new(), Vec::new());
        for item in self.items_in_root(root) {
            let folder = self.tables.location(*item).1.path();
            let Some(revision) = self.persistent_revision(*item) else {
                continue;
            };
            let record = match item {
                Item::Skill(at) => {
                    let skill = &self.tables.row(*at).skill;
                    Record::Skill {
                        body_start: skill.body_start,
                        repaired: skill.repaired,
                        manifest: &skill.manifest,
                        diagnostics: &skill.diagnostics,
                    }
                }
                Item::Refused(at) => Record::Refused {
                    diagnostics: &self.tables.refused_at(*at).diagnostics,
                },
            };
            entries.extend(u32::try_from(records.len()).ok()?.to_le_bytes());
            records = postcard::to_extend(&(folder, revision, record), records).ok()?;
        }
        let key = CachedScan::options_key(&self.options.read);
        let parts = [key.as_bytes(), name.as_bytes(), &entries, &records];
        let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
        for part in parts {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        Some(bytes)
    }

    /// Returns the revision of an item's file, if another process may rely on it.
    fn persistent_revision(&self, item: Item) -> Option<Revision> {
        let found = self.tables.found(item);
        // A skill at the root gets its name from the path of the root, which is not part of the record.
        let is_root = found.folder().path().is_empty();
        let is_unsettled = self.unsettled.binary_search(&item).is_ok();
        let revision = found.revision();
        revision.filter(|revision| is_persistent(revision) && !is_root && !is_unsettled)
    }
}

/// Logs how the scan caches of the roots were used.
fn log_cache_use(roots: &[CacheReport]) {
    let sum = |count: fn(&CacheReport) -> usize| roots.iter().map(count).sum::<usize>();
    tracing::info!(
        kept = sum(|root| root.kept),
        read = sum(|root| root.read),
        gone = sum(|root| root.gone),
        "skills from the cache"
    );
}

/// Splits a length-prefixed part off the bytes.
fn read_part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (part, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(part)
}

/// Returns whether another process may rely on a revision. Without an inode, another file may easily have the same one.
fn is_persistent(revision: &Revision) -> bool {
    revision.inode().is_some()
}

/// Reads the record of a folder from the bytes after its path. Returns `None` if its file changed.
fn read_record(source: usize, listed: &ListedFolder, bytes: &[u8]) -> Option<FoundFolder> {
    let (revision, bytes) = postcard::take_from_bytes::<Revision>(bytes).ok()?;
    if revision != listed.revision || !is_persistent(&revision) {
        return None;
    }
    let folder = listed.folder.clone();
    Some(match postcard::take_from_bytes(bytes).ok()?.0 {
        Record::<Manifest, Box<[Diagnostic]>>::Skill {
            body_start,
            repaired,
            manifest,
            diagnostics,
        } => FoundFolder::Skill(Arc::new(Skill {
            manifest,
            source,
            folder,
            revision,
            body_start,
            repaired,
            diagnostics,
        })),
        Record::Refused { diagnostics } => FoundFolder::Refused(Arc::new(RefusedFolder {
            source,
            folder,
            revision: Some(revision),
            diagnostics,
        })),
    })
}

/// The cached scan of each root, if there is one.
struct CachedRoots<'a>(Vec<Option<CachedRoot<'a>>>);

struct CachedRoot<'a> {
    scan: CachedScan<'a>,
    /// The index of the record that is expected next.
    next: usize,
    kept: usize,
}

impl<'a> CachedRoots<'a> {
    fn new(roots: &[Root], scans: &[CachedScan<'a>]) -> Self {
        let cached_root = |root: &Root| {
            let name = root.cache_name()?;
            let scan = *scans.iter().find(|scan| scan.root == name)?;
            Some(CachedRoot {
                scan,
                next: 0,
                kept: 0,
            })
        };
        Self(roots.iter().map(cached_root).collect())
    }
}

impl ScanCache for CachedRoots<'_> {
    fn has_entries(&self, source: usize) -> bool {
        let known = self.0.get(source).and_then(Option::as_ref);
        known.is_some_and(|root| !root.scan.is_empty())
    }

    fn len(&self) -> usize {
        let roots = self.0.iter().flatten();
        roots.map(|root| root.scan.len()).sum()
    }

    fn find_unchanged(&mut self, source: usize, listed: &ListedFolder) -> Option<FoundFolder> {
        let root = self.0.get_mut(source)?.as_mut()?;
        let folder = listed.folder.path();
        // Folders come almost in order, so the next record is usually the right one.
        let next = root.scan.record(root.next);
        let (index, record) = match next {
            Some((name, record)) if name == folder => (root.next, record),
            _ => {
                let index = root.scan.find(folder)?;
                (index, root.scan.record(index)?.1)
            }
        };
        root.next = index + 1;
        let found = read_record(source, listed, record)?;
        root.kept += 1;
        Some(found)
    }
}
