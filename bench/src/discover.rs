//! Cost of discovering all skills, of a refresh, and of a start from the disk cache, compared with a floor: opening
//! every file and reading 4 KiB.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use skillfold_core::catalog::CachedScan;
use skillfold_core::read::{FrontmatterReader, ReadOptions};
use skillfold_core::{Catalog, CatalogOptions};
use skillfold_index::BlobCache;
use tempfile::TempDir;

use crate::allocator::held_by;
use crate::layout::{far_future, lay_out, roots};
use crate::measure::{Sample, measure, median, ratio_of, rounded};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Number of skills to install
    #[arg(long)]
    skills: usize,
    /// Real files to install, instead of generated ones
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Runs of the floor and of the engine, alternating
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Parse every frontmatter with the YAML parser
    #[arg(long)]
    yaml_only: bool,
    /// Fail if the ratio is above this, or if a skill takes over 1,024 bytes beyond its text
    #[arg(long)]
    at_most: Option<f64>,
    /// Fail if a refresh's ratio is above this
    #[arg(long)]
    refresh_at_most: Option<f64>,
    /// Fail if the ratio of a start from the disk cache is above this
    #[arg(long)]
    start_at_most: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let files = lay_out(folder.path(), arguments.skills, arguments.corpus.as_deref())?;
    let reader = if arguments.yaml_only {
        FrontmatterReader::Yaml
    } else {
        FrontmatterReader::Lines
    };
    let rules = CatalogOptions::default().with_read(ReadOptions::default().with_reader(reader));
    // Reopening the root is part of the work, as it is for a host.
    let snapshot = || {
        Ok::<_, Box<dyn Error>>(Catalog::discover(
            roots(folder.path())?,
            rules.clone(),
            far_future(),
        ))
    };

    // One uncounted run of each brings all files into the page cache.
    black_box(floor(&files)?);
    let (catalog, held) = held_by(snapshot);
    let catalog = catalog?;
    if catalog.len() + catalog.refused().len() != files.len() {
        return Err(format!(
            "{} files were laid out, {} were found",
            files.len(),
            catalog.len() + catalog.refused().len()
        )
        .into());
    }
    let bytes_per_skill = held / isize::try_from(files.len().max(1))?;
    let text_per_skill = kept_text(&catalog) / files.len().max(1);

    let start = Start::new(folder.path(), &rules, &catalog)?;
    let mut runs = Runs::default();
    for _ in 0..arguments.runs {
        let (result, sample) = measure(|| floor(&files));
        black_box(result?);
        runs.floor.push(sample);
        // The result is dropped outside the measurement, as the floor's is.
        let (found, sample) = measure(snapshot);
        drop(black_box(found?));
        runs.engine.push(sample);
        let (refreshed, sample) = measure(|| {
            let roots = roots(folder.path())?;
            Ok::<_, Box<dyn Error>>(catalog.refresh(roots, rules.clone(), far_future()))
        });
        if !black_box(refreshed?).changes.is_empty() {
            return Err("a refresh with nothing changed found changes".into());
        }
        runs.refresh.push(sample);
        runs.start.push(start.measured(0)?);
    }
    let changed = start.after_a_change(&files)?;
    let ratio = ratio_of(&runs.floor, &runs.engine);
    let refresh_ratio = ratio_of(&runs.floor, &runs.refresh);
    let start_ratio = ratio_of(&runs.floor, &runs.start);
    let cpu = |samples: &[Sample]| rounded(median(samples.iter().map(|one| one.cpu_ms).collect()));
    writeln!(out, "text that is kept: {text_per_skill} bytes per skill")?;
    writeln!(
        out,
        "{}",
        json!({
            "skills": files.len(),
            "floor_cpu_ms": cpu(&runs.floor),
            "cpu_ms": cpu(&runs.engine),
            "wall_ms": rounded(median(runs.engine.iter().map(|sample| sample.wall_ms).collect())),
            "ratio": rounded(ratio),
            "refresh_cpu_ms": cpu(&runs.refresh),
            "refresh_ratio": rounded(refresh_ratio),
            "start_cpu_ms": cpu(&runs.start),
            "start_ratio": rounded(start_ratio),
            "start_one_changed_cpu_ms": rounded(changed.cpu_ms),
            "memory_bytes_per_skill": start.bytes / files.len().max(1),
            "memory_write_cpu_ms": rounded(start.written.cpu_ms),
            "bytes_per_skill": bytes_per_skill,
        })
    )?;
    let bytes = bytes_per_skill - isize::try_from(text_per_skill)?;
    judge(arguments, [ratio, refresh_ratio, start_ratio], bytes)
}

/// Fails if a figure is above its limit. `bytes` is what a skill takes beyond its text.
fn judge(
    arguments: &Arguments,
    [ratio, refresh_ratio, start_ratio]: [f64; 3],
    bytes: isize,
) -> Result<(), Box<dyn Error>> {
    let is_above = |limit: Option<f64>, value: f64| limit.is_some_and(|limit| value > limit);
    if is_above(arguments.at_most, ratio) {
        return Err(format!("the ratio {ratio:.2} is too high").into());
    }
    if is_above(arguments.refresh_at_most, refresh_ratio) {
        return Err(format!("the ratio {refresh_ratio:.2} of a refresh is too high").into());
    }
    if is_above(arguments.start_at_most, start_ratio) {
        return Err(format!("the ratio {start_ratio:.2} of a start is too high").into());
    }
    if arguments.at_most.is_some() && bytes > BYTES_AT_MOST {
        return Err(format!("a skill takes {bytes} bytes beyond its text").into());
    }
    Ok(())
}

/// Maximum bytes a skill may take beyond its text.
const BYTES_AT_MOST: isize = 1_024;

#[derive(Default)]
struct Runs {
    floor: Vec<Sample>,
    engine: Vec<Sample>,
    refresh: Vec<Sample>,
    start: Vec<Sample>,
}

/// A start from the disk cache, as a host does it.
struct Start<'a> {
    folder: &'a Path,
    rules: &'a CatalogOptions,
    cache: BlobCache,
    _cache_folder: TempDir,
    name: String,
    mark: String,
    bytes: usize,
    /// The time to write the cache.
    written: Sample,
}

impl<'a> Start<'a> {
    fn new(
        folder: &'a Path,
        rules: &'a CatalogOptions,
        catalog: &Catalog,
    ) -> Result<Self, Box<dyn Error>> {
        let cache_folder = tempfile::tempdir()?;
        let cache = BlobCache::new(cache_folder.path().join("metadata"));
        let mark = CachedScan::options_key(&rules.read);
        let name = catalog.roots()[0].cache_name();
        let name = name.ok_or("the folder has no name")?.to_owned();
        let (bytes, written) = measure(|| {
            let bytes = catalog.to_scan_bytes(0).ok_or("nothing can be kept")?;
            cache.write(&name, &mark, &bytes)?;
            Ok::<_, Box<dyn Error>>(bytes.len())
        });
        Ok(Self {
            folder,
            rules,
            cache,
            _cache_folder: cache_folder,
            name,
            mark,
            bytes: bytes?,
            written,
        })
    }

    /// Starts from the cache. Fails if it reads more files than have changed.
    fn measured(&self, changed: usize) -> Result<Sample, Box<dyn Error>> {
        let (found, sample) = measure(|| {
            let kept = self
                .cache
                .read(&self.name, &self.mark)?
                .ok_or("nothing is kept")?;
            let remembered = CachedScan::new(kept.bytes(), &self.rules.read);
            let remembered = remembered.ok_or("what is kept is not usable")?;
            let roots = roots(self.folder)?;
            let rules = self.rules.clone();
            Ok::<_, Box<dyn Error>>(Catalog::discover_cached(
                roots,
                rules,
                far_future(),
                &[remembered],
            ))
        });
        match black_box(found?).roots[0].read {
            read if read == changed => Ok(sample),
            read => Err(format!("a start read {read} files where {changed} changed").into()),
        }
    }

    /// Changes one file, then starts.
    #[expect(clippy::disallowed_methods, reason = "a bench changes its own files")]
    fn after_a_change(&self, files: &[PathBuf]) -> Result<Sample, Box<dyn Error>> {
        let Some(file) = files.first() else {
            return self.measured(0);
        };
        let mut text = std::fs::read(file)?;
        text.extend(b"\nOne more line.\n");
        std::fs::write(file, text)?;
        self.measured(1)
    }
}

/// Opens every file and reads its first 4 KiB, on one thread.
#[expect(
    clippy::disallowed_methods,
    reason = "the floor is what anyone would write"
)]
fn floor(files: &[PathBuf]) -> Result<usize, Box<dyn Error>> {
    let mut buffer = [0; 4096];
    let mut bytes = 0;
    for file in files {
        bytes += File::open(file)?.read(&mut buffer)?;
    }
    Ok(bytes)
}

/// Returns the size in bytes of the text that skills keep: names, descriptions and folders.
fn kept_text(catalog: &Catalog) -> usize {
    catalog
        .entries()
        .map(|entry| {
            let manifest = entry.manifest();
            manifest.name().as_str().len()
                + manifest.description().len()
                + entry.skill().folder.path().len()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use crate::allocator::held_by;
    use crate::layout::{far_future, made, roots};
    use crate::measure::measure;
    use skillfold_core::{Catalog, CatalogOptions};

    #[cfg(target_os = "linux")]
    #[test]
    fn discovery_of_100_skills_on_disk_takes_less_than_100_ms() {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<_> = (0..100)
            .map(|number| made(folder.path(), number).unwrap())
            .collect();
        let runs = (0..5).map(|_| {
            crate::layout::forget(&files);
            let discover = || {
                Catalog::discover(
                    roots(folder.path()).unwrap(),
                    CatalogOptions::default(),
                    far_future(),
                )
            };
            let (catalog, sample) = measure(discover);
            assert_eq!(catalog.len(), 100);
            sample.wall_ms
        });
        // The fastest run counts, to exclude other load on the machine.
        let fastest = runs.fold(f64::MAX, f64::min);
        assert!(fastest < 100.0, "{fastest} ms");
    }

    #[test]
    fn discovery_of_100_skills_takes_less_than_100_ms_and_2_5_mb() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..100 {
            made(folder.path(), number).unwrap();
        }
        let discover = || {
            Catalog::discover(
                roots(folder.path()).unwrap(),
                CatalogOptions::default(),
                far_future(),
            )
        };
        let ((catalog, held), sample) = measure(|| held_by(discover));
        assert_eq!(catalog.len(), 100);
        assert!(sample.cpu_ms < 100.0, "{} ms of CPU time", sample.cpu_ms);
        assert!(held < 2_500_000, "{held} bytes");
    }
}
