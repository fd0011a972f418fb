//! What was read of many skills, kept on disk for the next start.

use std::path::{Path, PathBuf};

use skillfold_core::{
    CacheReport, CachedDiscovery, CachedScan, Catalog, CatalogOptions, Error, Root,
};
use skillfold_index::{BlobCache, CachedBlob};

/// Folders of a root from which on it is remembered: fewer are read in the time that a person does not notice.
const MANY: usize = 1_000;

/// One in so many folders has to be another before all is written anew. Reading a few files costs less than that.
const STALE: usize = 50;

/// The folder of these files among other caches.
const FOLDER: &str = "metadata";

/// What was remembered of a root when a host started, and what became of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RootCache {
    /// What people see of the root.
    pub label: String,
    /// The file that it is kept in.
    pub file: PathBuf,
    /// Folders whose `SKILL.md` was as it was remembered, and was not read.
    pub kept: usize,
    /// Folders whose `SKILL.md` was read.
    pub read: usize,
    /// Whether the file was written anew.
    pub is_written: bool,
    /// Why the file was not used, or could not be written. The skills are complete all the same.
    pub problem: Option<String>,
}

/// What a file had of a root.
struct CachedRootFile {
    name: String,
    kept: Result<Option<CachedBlob>, Error>,
}

/// Finds all skills of some roots from what is kept below a folder, and keeps what is new.
pub(crate) fn discover(
    folder: &Path,
    roots: Vec<Root>,
    rules: CatalogOptions,
    now_ns: i64,
) -> (Catalog, Vec<RootCache>) {
    let cache = BlobCache::new(folder.join(FOLDER));
    let reading = rules.read.clone();
    let mark = CachedScan::options_key(&reading);
    let names = roots.iter().filter_map(|root| root.source().lasting_name());
    let asked = names.map(|name| CachedRootFile {
        name: name.to_owned(),
        kept: cache.read(name, &mark),
    });
    let asked: Vec<CachedRootFile> = asked.collect();
    let kept = asked
        .iter()
        .filter_map(|asked| asked.kept.as_ref().ok()?.as_ref());
    let remembered = kept.filter_map(|kept| CachedScan::new(kept.bytes(), &reading));
    let remembered: Vec<CachedScan<'_>> = remembered.collect();
    let CachedDiscovery { catalog, roots, .. } =
        Catalog::discover_cached(roots, rules, now_ns, &remembered);
    let memory = roots.iter().enumerate().filter_map(|(at, recall)| {
        let name = catalog.roots()[at].source().lasting_name()?;
        let asked = asked.iter().find(|asked| asked.name == name)?;
        write(&cache, &mark, asked, (&catalog, at), *recall)
    });
    let memory = memory.collect();
    (catalog, memory)
}

/// Keeps what was found in a root, if it is much and much of it is new; returns nothing where the root has little.
fn write(
    cache: &BlobCache,
    mark: &str,
    asked: &CachedRootFile,
    (catalog, at): (&Catalog, usize),
    recall: CacheReport,
) -> Option<RootCache> {
    let CacheReport {
        kept,
        read,
        new,
        gone,
        ..
    } = recall;
    let unread = asked.kept.as_ref().err();
    if kept + read < MANY && unread.is_none() && kept == 0 {
        return None;
    }
    let mut problem = unread.map(Error::with_cause);
    // What cannot be read right now is not gone.
    let is_whole = !catalog.is_stale(at);
    let is_old = kept + read >= MANY && (new + gone) * STALE > kept + read;
    let bytes = (is_old && is_whole)
        .then(|| catalog.to_scan_bytes(at))
        .flatten();
    let written = bytes.map(|bytes| cache.write(&asked.name, mark, &bytes));
    if let Some(Err(error)) = &written {
        problem = Some(error.with_cause());
    }
    Some(RootCache {
        label: catalog.roots()[at].label().to_owned(),
        file: cache.path_of(&asked.name, mark),
        kept,
        read,
        is_written: matches!(written, Some(Ok(()))),
        problem,
    })
}
