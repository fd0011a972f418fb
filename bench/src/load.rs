//! Cost of a first and a repeated load, compared with reading the same file and calling stat on it.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use skillfold_core::load::Freshness;
use skillfold_core::{Catalog, CatalogOptions, LoadOptions, Loader};

use crate::layout::{far_future, lay_out, roots};
use crate::measure::{Sample, measure, median, ratio_of, rounded};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Number of skills to install
    #[arg(long, default_value_t = 1_000)]
    skills: usize,
    /// Real files to install, instead of generated ones
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Runs of the floor and of the engine, alternating
    #[arg(long, default_value_t = 21)]
    runs: usize,
    /// Fail if a first load takes more than this many times as long as reading the file, or if cached loads miss their
    /// targets
    #[arg(long)]
    at_most: Option<f64>,
    /// Fail if a load that checks the file takes more than this many times as long as a stat
    #[arg(long)]
    checked_at_most: Option<f64>,
}

/// Number of skills loaded repeatedly.
const IN_USE: usize = 100;
/// Repetitions per run.
const REPEATS: usize = 50;
/// Number of loads in the replayed workload.
const REPLAYED: usize = 10_000;
/// Maximum CPU time for a cached load, in nanoseconds.
const SNAPSHOT_NS: f64 = 1_000.0;
/// Minimum share of the replayed workload's loads that hit the cache.
const HIT_RATE: f64 = 0.95;

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    lay_out(folder.path(), arguments.skills, arguments.corpus.as_deref())?;
    let catalog = Catalog::discover(
        roots(folder.path())?,
        CatalogOptions::default(),
        far_future(),
    );
    let skills = Skills::of(&catalog)?;

    let mut first = Pairs::default();
    let mut again = Again::default();
    for _ in 0..arguments.runs {
        first.floor.push(measured(|| bare_reads(&skills.files))?);
        first.engine.push(measured(|| {
            loads(&catalog, &loader(Freshness::Checked), &skills.ids, 1)
        })?);
        again.run(&catalog, &skills)?;
    }
    let hit_rate = replay(&catalog, &skills.ids)?;
    let figures = Figures {
        first: &first,
        again: &again,
        skills: skills.files.len(),
        hit_rate,
    };
    figures.print(out)?;
    figures.judge(arguments)
}

/// The skills found, by id and by file.
struct Skills {
    ids: Vec<String>,
    files: Vec<PathBuf>,
}

impl Skills {
    fn of(catalog: &Catalog) -> Result<Self, Box<dyn Error>> {
        let mut skills = Self {
            ids: Vec::new(),
            files: Vec::new(),
        };
        for entry in catalog.entries() {
            skills.ids.push(entry.id().to_owned());
            skills
                .files
                .push(entry.file().ok_or("a skill without a file")?);
        }
        if skills.ids.len() < IN_USE {
            return Err(format!("at least {IN_USE} skills are needed").into());
        }
        Ok(skills)
    }
}

/// Alternating runs of the floor and the engine.
#[derive(Default)]
struct Pairs {
    floor: Vec<Sample>,
    engine: Vec<Sample>,
}

/// Repeated loads.
#[derive(Default)]
struct Again {
    stats: Vec<Sample>,
    checked: Vec<Sample>,
    snapshot: Vec<Sample>,
}

impl Again {
    fn run(&mut self, catalog: &Catalog, skills: &Skills) -> Result<(), Box<dyn Error>> {
        let (ids, files) = (&skills.ids[..IN_USE], &skills.files[..IN_USE]);
        let warm = |freshness| {
            let loader = loader(freshness);
            loads(catalog, &loader, ids, 1).map(|_| loader)
        };
        let (checked, snapshot) = (warm(Freshness::Checked)?, warm(Freshness::Snapshot)?);
        self.stats.push(measured(|| bare_stats(files))?);
        self.checked
            .push(measured(|| loads(catalog, &checked, ids, REPEATS))?);
        self.snapshot
            .push(measured(|| loads(catalog, &snapshot, ids, REPEATS))?);
        for loader in [checked, snapshot] {
            let stats = loader.stats();
            if stats.misses != IN_USE as u64 {
                return Err(format!("a load was not remembered: {stats:?}").into());
            }
        }
        Ok(())
    }
}

fn measured(run: impl FnOnce() -> Result<usize, Box<dyn Error>>) -> Result<Sample, Box<dyn Error>> {
    let (result, sample) = measure(run);
    black_box(result?);
    Ok(sample)
}

fn loader(freshness: Freshness) -> Loader {
    let loading = LoadOptions::default().with_freshness(freshness);
    Loader::new(loading, far_future)
}

/// Reads every file directly.
#[expect(
    clippy::disallowed_methods,
    reason = "the floor is what anyone would write"
)]
fn bare_reads(files: &[PathBuf]) -> Result<usize, Box<dyn Error>> {
    let mut bytes = 0;
    for file in files {
        // A real file may have another encoding; it was still read.
        match black_box(std::fs::read_to_string(file)) {
            Ok(text) => bytes += text.len(),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

/// Calls stat on every file repeatedly.
fn bare_stats(files: &[PathBuf]) -> Result<usize, Box<dyn Error>> {
    let mut bytes = 0;
    for file in (0..REPEATS).flat_map(|_| files) {
        bytes += usize::try_from(Path::metadata(file)?.len())?;
    }
    Ok(bytes)
}

/// Loads skills by id repeatedly.
fn loads(
    catalog: &Catalog,
    loader: &Loader,
    ids: &[String],
    repeats: usize,
) -> Result<usize, Box<dyn Error>> {
    let mut bytes = 0;
    for id in (0..repeats).flat_map(|_| ids) {
        bytes += loader
            .load(&catalog.resolve_or_suggest(id)?, "")?
            .text()
            .len();
    }
    Ok(bytes)
}

/// Replays a workload that mostly loads a few skills. Returns the cache hit rate.
fn replay(catalog: &Catalog, ids: &[String]) -> Result<f64, Box<dyn Error>> {
    let ids = &ids[..IN_USE];
    // The skill with rank k has weight 1/k.
    let mut sums = Vec::new();
    let mut sum = 0.0;
    for rank in 1..=u32::try_from(IN_USE)? {
        sum += 1.0 / f64::from(rank);
        sums.push(sum);
    }
    let loader = loader(Freshness::Checked);
    let mut state: u32 = 1;
    for _ in 0..REPLAYED {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let at = f64::from(state) / f64::from(u32::MAX) * sum;
        let rank = sums.partition_point(|sum| *sum < at).min(IN_USE - 1);
        loader.load(&catalog.resolve_or_suggest(&ids[rank])?, "")?;
    }
    Ok(loader.stats().hit_rate())
}

struct Figures<'a> {
    first: &'a Pairs,
    again: &'a Again,
    skills: usize,
    hit_rate: f64,
}

impl Figures<'_> {
    fn ratio(&self) -> f64 {
        ratio_of(&self.first.floor, &self.first.engine)
    }

    fn checked_ratio(&self) -> f64 {
        ratio_of(&self.again.stats, &self.again.checked)
    }

    fn snapshot_ns(&self) -> f64 {
        each(&self.again.snapshot, IN_USE * REPEATS) * 1e6
    }

    fn print(&self, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
        let repeated = |samples: &[Sample]| rounded(each(samples, IN_USE * REPEATS) * 1e6);
        let single = |samples: &[Sample]| rounded(each(samples, self.skills) * 1e3);
        writeln!(
            out,
            "a look and a load that looks: {:.2}",
            self.checked_ratio()
        )?;
        writeln!(
            out,
            "{}",
            json!({
                "skills": self.skills,
                "bare_read_us": single(&self.first.floor),
                "first_load_us": single(&self.first.engine),
                "ratio": rounded(self.ratio()),
                "snapshot_ns": rounded(self.snapshot_ns()),
                "checked_ns": repeated(&self.again.checked),
                "bare_stat_ns": repeated(&self.again.stats),
                "checked_ratio": rounded(self.checked_ratio()),
                "hit_rate": rounded(self.hit_rate),
            })
        )?;
        Ok(())
    }

    fn judge(&self, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
        let is_within = |value: f64, limit: Option<f64>| limit.is_none_or(|limit| value <= limit);
        let is_judged = arguments.at_most.is_some();
        let goals = [
            (
                is_within(self.ratio(), arguments.at_most),
                "a first load takes too many times reading the file",
            ),
            (
                is_within(self.checked_ratio(), arguments.checked_at_most),
                "a load that looks takes too many times a look",
            ),
            (
                !is_judged || self.snapshot_ns() < SNAPSHOT_NS,
                "a load from memory takes too long",
            ),
            (
                !is_judged || self.hit_rate > HIT_RATE,
                "too few loads are answered from memory",
            ),
        ];
        match goals.iter().find(|(is_met, _)| !is_met) {
            Some((_, missed)) => Err((*missed).into()),
            None => Ok(()),
        }
    }
}

/// Returns the CPU milliseconds per item: the median over the runs.
fn each(samples: &[Sample], number: usize) -> f64 {
    let number = u32::try_from(number).map_or(f64::MAX, f64::from);
    median(
        samples
            .iter()
            .map(|sample| sample.cpu_ms / number)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::{IN_USE, Skills, loader, loads, replay};
    use crate::layout::{far_future, lay_out, roots};
    use crate::measure::{measure, median};
    use skillfold_core::load::Freshness;
    use skillfold_core::{Catalog, CatalogOptions};

    fn catalog(folder: &tempfile::TempDir) -> Catalog {
        lay_out(folder.path(), IN_USE, None).unwrap();
        Catalog::discover(
            roots(folder.path()).unwrap(),
            CatalogOptions::default(),
            far_future(),
        )
    }

    #[test]
    fn first_load_takes_less_than_25_ms_and_the_next_less_than_1_ms() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = catalog(&folder);
        let skills = Skills::of(&catalog).unwrap();
        let loader = loader(Freshness::Checked);
        let load = || loads(&catalog, &loader, &skills.ids, 1).unwrap();
        let number = u32::try_from(IN_USE).map(f64::from).unwrap();
        let first = measure(load).1.cpu_ms / number;
        let again = measure(load).1.cpu_ms / number;
        assert!(first < 25.0, "{first} ms of CPU time");
        assert!(again < 1.0, "{again} ms of CPU time");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn first_load_from_disk_takes_less_than_25_ms() {
        let folder = tempfile::tempdir().unwrap();
        let files = lay_out(folder.path(), IN_USE, None).unwrap();
        let roots = roots(folder.path()).unwrap();
        let catalog = Catalog::discover(roots, CatalogOptions::default(), far_future());
        let skills = Skills::of(&catalog).unwrap();
        crate::layout::forget(&files);
        let loader = loader(Freshness::Checked);
        let runs = skills.ids.iter().map(|id| {
            let load = || {
                loader
                    .load(&catalog.resolve_or_suggest(id).unwrap(), "a.pdf")
                    .unwrap()
            };
            let (given, sample) = measure(load);
            assert!(given.text().contains("Base directory") && given.text().contains("a.pdf"));
            sample.wall_ms
        });
        let middle = median(runs.collect());
        assert!(middle < 25.0, "{middle} ms");
    }

    #[test]
    fn load_workload_has_a_95_percent_cache_hit_rate() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = catalog(&folder);
        let skills = Skills::of(&catalog).unwrap();
        let rate = replay(&catalog, &skills.ids).unwrap();
        assert!(rate > 0.95, "{rate}");
    }
}
