//! What was found in a root, as bytes that a later process starts from: files that did not change since are not read.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::catalog::log;
use crate::catalog::root::{Root, arranged};
use crate::catalog::snapshot::{Catalog, CatalogOptions};
use crate::catalog::tables::Item;
use crate::read::discover::{
    FoundFolder, ReadOptions, RefusedFolder, ScanCache, Skill, discover_with,
};
use crate::read::manifest::Manifest;
use crate::read::pack::{Pack, Packer, Unpacker};
use crate::read::source::{ListedFolder, Revision, Source};

/// The form of the records. It goes up when they are written in another way, or when files are read in another way.
const FORM: u32 = 2;

/// Bytes of an entry of the table of records: where its numbers start and where its text does.
const ENTRY: usize = 8;

/// What was found in one root by an earlier process, as [`Catalog::to_scan_bytes`] gave it.
///
/// ```
/// use skillfold_core::{Catalog, FsSource, CachedScan, Root, CatalogOptions, Scope};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::create_dir(folder.path().join("pdf"))?;
/// # std::fs::write(folder.path().join("pdf/SKILL.md"), "---\nname: pdf\ndescription: Fills in forms\n---\n")?;
/// # let path = folder.path();
/// # let now = i64::MAX;
/// let roots = || Ok::<_, skillfold_core::Error>(vec![Root::new(Scope::User, "mine", FsSource::open(path)?)]);
/// let catalog = Catalog::discover(roots()?, CatalogOptions::default(), now);
/// let bytes = catalog.to_scan_bytes(0).expect("a folder can be remembered");
///
/// let remembered = CachedScan::new(&bytes, &CatalogOptions::default().read).expect("the rules are the same");
/// let again = Catalog::discover_cached(roots()?, CatalogOptions::default(), now, &[remembered]);
/// assert_eq!(again.roots[0].kept, 1);
/// assert_eq!(again.catalog.get("pdf").unwrap().manifest(), catalog.get("pdf").unwrap().manifest());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CachedScan<'a> {
    root: &'a str,
    entries: &'a [u8],
    numbers: &'a [u8],
    text: &'a str,
}

impl<'a> CachedScan<'a> {
    /// Takes bytes of an earlier process, or nothing where they are not whole, or come from another version or other rules.
    ///
    /// Bytes that somebody else made give other skills, and never a panic: a cache has to be the host's own.
    pub fn new(bytes: &'a [u8], reading: &ReadOptions) -> Option<Self> {
        let mut rest = bytes;
        let mark = part(&mut rest)?;
        if mark != Self::options_key(reading).as_bytes() {
            return None;
        }
        let root = std::str::from_utf8(part(&mut rest)?).ok()?;
        let (entries, numbers, text) = (part(&mut rest)?, part(&mut rest)?, part(&mut rest)?);
        if !rest.is_empty() || !entries.len().is_multiple_of(ENTRY) {
            return None;
        }
        let text = std::str::from_utf8(text).ok()?;
        Some(Self {
            root,
            entries,
            numbers,
            text,
        })
    }

    /// Returns what tells bytes of one version and one way of reading from those of another.
    pub fn options_key(reading: &ReadOptions) -> String {
        format!("{} {FORM} {reading:?}", env!("CARGO_PKG_VERSION"))
    }

    /// Returns the [lasting name](Source::lasting_name) of the root.
    pub fn root(&self) -> &'a str {
        self.root
    }

    /// Returns how many folders are remembered.
    pub fn len(&self) -> usize {
        self.entries.len() / ENTRY
    }

    /// Returns whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns what follows the folder of a record, and the folder.
    fn record(&self, at: usize) -> Option<(&'a str, Unpacker<'a>)> {
        let entry = self.entries.get(at * ENTRY..)?;
        let (numbers_at, rest) = entry.split_first_chunk::<4>()?;
        let (text_at, _) = rest.split_first_chunk::<4>()?;
        let place = |bytes: &[u8; 4]| usize::try_from(u32::from_le_bytes(*bytes)).ok();
        let numbers = self.numbers.get(place(numbers_at)?..)?;
        let mut from = Unpacker::new(numbers, self.text.get(place(text_at)?..)?);
        Some((from.text()?, from))
    }

    /// Returns the place of a folder among the records, which are in order.
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

/// A snapshot that was made from what was remembered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CachedDiscovery {
    /// The snapshot: the same that [`Catalog::discover`] makes.
    pub catalog: Catalog,
    /// What became of each root's memory, in the order of the catalog's roots.
    pub roots: Vec<CacheReport>,
}

/// What became of the memory of a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheReport {
    /// Folders whose file is as it was, and was not read.
    pub kept: usize,
    /// Folders whose file was read.
    pub read: usize,
    /// Those of them that can be remembered from now on; of the others the file changed a moment ago.
    pub new: usize,
    /// Folders that were remembered and are gone, or other ones now.
    pub gone: usize,
}

impl Catalog {
    /// Finds all skills of some roots as [`discover`](Self::discover) does, and reads only files that are not remembered as
    /// they are now. A root is known again by its [lasting name](Source::lasting_name).
    pub fn discover_cached(
        roots: Vec<Root>,
        rules: CatalogOptions,
        now_ns: i64,
        remembered: &[CachedScan<'_>],
    ) -> CachedDiscovery {
        let _span = tracing::debug_span!("discover", roots = roots.len()).entered();
        let roots = arranged(roots);
        let sources: Vec<&dyn Source> = roots.iter().map(Root::source).collect();
        let mut recalling = CachedRoots::new(&sources, remembered);
        let found = discover_with(&sources, &rules.read, &mut recalling);
        let recalls = recalling.roots;
        let catalog = Self::of(found, roots.into(), Arc::new(rules), now_ns);
        let recalls = (0..).zip(recalls).map(|(root, recalling)| {
            let kept = recalling.as_ref().map_or(0, |root| root.kept);
            let known = recalling.map_or(0, |root| root.remembered.len());
            let items = catalog.items_of(root);
            let read = items.len().saturating_sub(kept);
            let is_lasting = |item: &&Item| catalog.lasting_revision(**item).is_some();
            let new = match read {
                0 => 0,
                _ => items.iter().filter(is_lasting).count().saturating_sub(kept),
            };
            CacheReport {
                kept,
                read,
                new,
                gone: known.saturating_sub(kept),
            }
        });
        let roots: Vec<CacheReport> = recalls.collect();
        log::found(&catalog);
        log::recalled(&roots);
        CachedDiscovery { catalog, roots }
    }

    /// Returns what was found in a root as bytes from which a later process can [start](Self::discover_cached); nothing where
    /// the root has no [lasting name](Source::lasting_name). What is not settled yet is left out: it is read again.
    pub fn to_scan_bytes(&self, root: usize) -> Option<Vec<u8>> {
        let name = self.roots.get(root)?.source().lasting_name()?;
        let mut entries: Vec<u8> = Vec::new();
        let mut packer = Packer::default();
        for item in self.items_of(root) {
            let folder = self.tables.place(*item).1.path();
            let Some(revision) = self.lasting_revision(*item) else {
                continue;
            };
            for length in [packer.numbers.len(), packer.text.len()] {
                entries.extend(u32::try_from(length).ok()?.to_le_bytes());
            }
            packer.text(folder);
            revision.pack(&mut packer);
            match item {
                Item::Skill(at) => pack_skill(&self.tables.node(*at).skill, &mut packer),
                Item::Refused(at) => pack_refused(self.tables.refused_at(*at), &mut packer),
            }
        }
        let mark = CachedScan::options_key(&self.options.read);
        let text = packer.text.as_bytes();
        let parts = [
            mark.as_bytes(),
            name.as_bytes(),
            &entries,
            &packer.numbers,
            text,
        ];
        let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
        for part in parts {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        Some(bytes)
    }

    /// Returns the state of a folder's file, if it means the same to another process.
    fn lasting_revision(&self, item: Item) -> Option<Revision> {
        let revision = match item {
            Item::Skill(at) => Some(self.tables.node(at).skill.revision),
            Item::Refused(at) => self.tables.refused_at(at).revision,
        };
        // The root as a skill has its name from elsewhere.
        let is_root = self.tables.place(item).1.path().is_empty();
        let is_unsettled = self.unsettled.binary_search(&item).is_ok();
        revision.filter(|revision| is_lasting(revision) && !is_root && !is_unsettled)
    }

    /// Returns the skills and refused folders of a root, ordered by folder.
    pub(super) fn items_of(&self, root: usize) -> &[Item] {
        let places = self.tables.places();
        let end_of = |root: usize| places.partition_point(|item| self.tables.place(*item).0 < root);
        &places[end_of(root)..end_of(root + 1)]
    }
}

/// Takes a part of the bytes, which stands after its length.
fn part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (part, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(part)
}

/// Returns whether a revision means the same to another process: one without an inode is too easily that of another file.
fn is_lasting(revision: &Revision) -> bool {
    revision.inode != 0
}

/// The first byte after the revision.
const SKILL: u8 = 0;
const REFUSED: u8 = 1;

fn pack_skill(skill: &Skill, into: &mut Packer) {
    into.byte(SKILL);
    into.number(skill.body_start);
    skill.repaired.pack(into);
    skill.manifest.pack(into);
    skill.diagnostics.pack(into);
}

fn pack_refused(refused: &RefusedFolder, into: &mut Packer) {
    into.byte(REFUSED);
    refused.diagnostics.pack(into);
}

/// Returns what stood in a folder, if its file is as it was.
fn unpack(source: usize, listed: &ListedFolder, from: &mut Unpacker<'_>) -> Option<FoundFolder> {
    let revision = listed.revision;
    if Revision::unpack(from)? != revision || !is_lasting(&revision) {
        return None;
    }
    let folder = || listed.folder.clone();
    match from.byte()? {
        SKILL => {
            let body_start = from.number()?;
            let repaired = bool::unpack(from)?;
            Some(FoundFolder::Skill(Arc::new(Skill {
                manifest: Manifest::unpack(from)?,
                source,
                folder: folder(),
                revision,
                body_start,
                repaired,
                diagnostics: Pack::unpack(from)?,
            })))
        }
        REFUSED => Some(FoundFolder::Refused(Arc::new(RefusedFolder {
            source,
            folder: folder(),
            revision: Some(revision),
            diagnostics: Pack::unpack(from)?,
        }))),
        _ => None,
    }
}

/// What is remembered of each root now.
struct CachedRoots<'a> {
    roots: Vec<Option<CachedRoot<'a>>>,
}

struct CachedRoot<'a> {
    remembered: CachedScan<'a>,
    /// The record that is expected next.
    next: usize,
    kept: usize,
}

impl<'a> CachedRoots<'a> {
    fn new(sources: &[&dyn Source], remembered: &[CachedScan<'a>]) -> Self {
        let of = |source: &&dyn Source| {
            let name = source.lasting_name()?;
            let remembered = *remembered.iter().find(|one| one.root == name)?;
            Some(CachedRoot {
                remembered,
                next: 0,
                kept: 0,
            })
        };
        Self {
            roots: sources.iter().map(of).collect(),
        }
    }
}

impl ScanCache for CachedRoots<'_> {
    fn knows(&self, source: usize) -> bool {
        let known = self.roots.get(source).and_then(Option::as_ref);
        known.is_some_and(|root| !root.remembered.is_empty())
    }

    fn expected(&self) -> usize {
        let roots = self.roots.iter().flatten();
        roots.map(|root| root.remembered.len()).sum()
    }

    fn unchanged(&mut self, source: usize, listed: &ListedFolder) -> Option<FoundFolder> {
        let root = self.roots.get_mut(source)?.as_mut()?;
        let folder = listed.folder.path();
        // Folders come nearly in order, so that the next record is mostly the one.
        let next = root.remembered.record(root.next);
        let (at, mut from) = match next {
            Some((name, from)) if name == folder => (root.next, from),
            _ => {
                let at = root.remembered.find(folder)?;
                (at, root.remembered.record(at)?.1)
            }
        };
        root.next = at + 1;
        let found = unpack(source, listed, &mut from)?;
        root.kept += 1;
        Some(found)
    }
}
