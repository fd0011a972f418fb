//! On-disk cache of skill metadata, so that the next start reads only what changed.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use skillfold_core::catalog::{CacheReport, CachedDiscovery, CachedScan};
use skillfold_core::{Catalog, CatalogOptions, Error, Root};
use skillfold_index::{BlobCache, CachedBlob};

/// Minimum folders of a root before it is cached. Fewer are read faster than a user notices.
const MIN_CACHED_FOLDERS: usize = 1_000;

/// The file is rewritten once more than 1/50 of the folders changed. Below that, reading the changed ones is cheaper.
const REWRITE_DIVISOR: usize = 50;

/// The subfolder of the cache folder for these files.
const CACHE_FOLDER: &str = "metadata";

/// How a root's cache file was used when the host started.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RootCache {
    /// The root's label.
    pub label: String,
    /// The cache file.
    pub file: PathBuf,
    /// Folders whose `SKILL.md` was unchanged and was not read.
    pub reused: usize,
    /// Folders whose `SKILL.md` was read.
    pub read: usize,
    /// Whether the cache file was rewritten.
    pub is_written: bool,
    /// Why the cache file was not used or could not be written. The skills are complete all the same.
    pub problem: Option<String>,
}

/// The content of a root's cache file.
struct CachedRootFile {
    name: String,
    blob: Result<Option<CachedBlob>, Error>,
}

/// Discovers the skills of some roots with the caches in `folder`, and updates those.
pub(crate) fn discover(
    folder: &Path,
    roots: Vec<Root>,
    options: CatalogOptions,
    now: SystemTime,
) -> (Catalog, Vec<RootCache>) {
    let cache = BlobCache::new(folder.join(CACHE_FOLDER));
    let read_options = options.read.clone();
    let options_key = CachedScan::options_key(&read_options);
    let names = roots.iter().filter_map(|root| root.cache_name());
    let files = names.map(|name| CachedRootFile {
        name: name.to_owned(),
        blob: cache.read(name, &options_key),
    });
    let files: Vec<CachedRootFile> = files.collect();
    let blobs = files
        .iter()
        .filter_map(|file| file.blob.as_ref().ok()?.as_ref());
    let scans = blobs.filter_map(|blob| CachedScan::new(blob.bytes(), &read_options));
    let scans: Vec<CachedScan<'_>> = scans.collect();
    let CachedDiscovery { catalog, roots, .. } =
        Catalog::discover_cached(roots, options, now, &scans);
    let caches = roots.iter().enumerate().filter_map(|(root, report)| {
        let name = catalog.roots()[root].cache_name()?;
        let file = files.iter().find(|file| file.name == name)?;
        update_file(&cache, &options_key, file, (&catalog, root), *report)
    });
    let caches = caches.collect();
    (catalog, caches)
}

/// Rewrites the cache file of a root if the root is large and enough of it changed. Returns `None` for a small root.
fn update_file(
    cache: &BlobCache,
    options_key: &str,
    cached: &CachedRootFile,
    (catalog, root): (&Catalog, usize),
    report: CacheReport,
) -> Option<RootCache> {
    let CacheReport {
        kept,
        read,
        new,
        gone,
        ..
    } = report;
    let read_error = cached.blob.as_ref().err();
    if kept + read < MIN_CACHED_FOLDERS && read_error.is_none() && kept == 0 {
        return None;
    }
    let mut problem = read_error.map(Error::with_cause);
    // A stale root is incomplete: folders that cannot be read right now are not gone.
    let is_complete = !catalog.is_stale(root);
    let is_outdated =
        kept + read >= MIN_CACHED_FOLDERS && (new + gone) * REWRITE_DIVISOR > kept + read;
    let bytes = (is_outdated && is_complete)
        .then(|| catalog.to_scan_bytes(root))
        .flatten();
    let written = bytes.map(|bytes| cache.write(&cached.name, options_key, &bytes));
    if let Some(Err(error)) = &written {
        problem = Some(error.with_cause());
    }
    Some(RootCache {
        label: catalog.roots()[root].label().to_owned(),
        file: cache.path(&cached.name, options_key),
        reused: kept,
        read,
        is_written: matches!(written, Some(Ok(()))),
        problem,
    })
}
