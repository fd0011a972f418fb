//! Cost of a growing catalog: lookups, pages, and readers during a refresh.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use serde_json::json;
use skillfold::core::catalog::Filter;
use skillfold::core::name::ResourcePath;
use skillfold::core::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, ListedFolder, ResourceKind, Resources,
    Revision, WalkOptions,
};
use skillfold::core::{Catalog, CatalogOptions, Error as EngineError, Limits, Root, Scope, Source};
use skillfold::{Environment, Host};

use crate::layout::far_future;
use crate::measure::{measure, median, rounded};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Skills in the large catalog; the small one has a hundredth
    #[arg(long, default_value_t = 100_000)]
    skills: usize,
    /// Refreshes of the large catalog while two threads read it
    #[arg(long, default_value_t = 1_000)]
    refreshes: u64,
    /// Fail if a lookup or page costs more than this many times as much in the large catalog as in the small one
    #[arg(long)]
    at_most: Option<f64>,
}

/// Skills per page.
const PAGE: usize = 50;
/// Every nth skill changes in each generation.
const EVERY: usize = 1_000;
/// Number of skills to look up.
const ASKED: usize = 1_000;
const RUNS: usize = 9;
const REPEATS: u32 = 20;

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let small = Costs::of((arguments.skills / 100).max(PAGE + 1));
    let large = Costs::of(arguments.skills);
    let lookup_ratio = large.lookup_ns / small.lookup_ns;
    let page_ratio = large.page_us / small.page_us;
    let looks = read_while_refreshing(arguments)?;
    writeln!(
        out,
        "{}",
        json!({
            "skills": arguments.skills,
            "lookup_ns": rounded(large.lookup_ns),
            "lookup_ratio": rounded(lookup_ratio),
            "page_us": rounded(large.page_us),
            "page_ratio": rounded(page_ratio),
            "refreshes": arguments.refreshes,
            "snapshots_read": looks,
            "mixed_snapshots": 0,
        })
    )?;
    match arguments.at_most {
        Some(limit) if lookup_ratio > limit || page_ratio > limit => Err(format!(
            "a look-up ({lookup_ratio:.2}) or a page ({page_ratio:.2}) costs more than {limit} times that of a catalog a hundredth the size"
        )
        .into()),
        _ => Ok(()),
    }
}

/// Cost of a lookup and of a page.
struct Costs {
    lookup_ns: f64,
    page_us: f64,
}

impl Costs {
    fn of(skills: usize) -> Self {
        let source = Generations::new(skills);
        let roots = vec![Root::new(Scope::User, "made", source)];
        let catalog = Catalog::discover(roots, CatalogOptions::default(), far_future());
        // The same number of skills, spread over each catalog, so that both touch the same amount of memory.
        let ids: Vec<String> = (0..ASKED)
            .map(|number| name(number * skills / ASKED))
            .collect();
        let look_up = || ids.iter().filter(|id| catalog.get(id).is_some()).count();
        let cursors: Vec<Cursor> = (0..ASKED / 10)
            .map(|number| Cursor::after(name(number * (skills - PAGE) / ASKED * 10)))
            .collect();
        let filter = Filter::default();
        let turn = || {
            let pages = cursors
                .iter()
                .map(|cursor| catalog.page(&filter, Some(cursor), PAGE));
            pages.map(|page| page.entries.len()).sum::<usize>()
        };
        let each =
            |number: usize| f64::from(REPEATS) * u32::try_from(number).map_or(f64::MAX, f64::from);
        let (mut lookups, mut pages) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let (found, sample) = measure(|| (0..REPEATS).map(|_| look_up()).sum::<usize>());
            assert_eq!(
                black_box(found),
                REPEATS as usize * ASKED,
                "every id is found"
            );
            lookups.push(sample.cpu_ms * 1e6 / each(ASKED));
            let (listed, sample) = measure(|| (0..REPEATS).map(|_| turn()).sum::<usize>());
            let wanted = REPEATS as usize * cursors.len() * PAGE;
            assert_eq!(black_box(listed), wanted, "every page is full");
            pages.push(sample.cpu_ms * 1e3 / each(cursors.len()));
        }
        Self {
            lookup_ns: median(lookups),
            page_us: median(pages),
        }
    }
}

/// Reads with two threads while a third refreshes. Returns the number of snapshots read, or an error for an
/// inconsistent snapshot.
fn read_while_refreshing(arguments: &Arguments) -> Result<u64, Box<dyn Error>> {
    let skills = arguments.skills;
    let source = Generations::new(skills);
    let root = Root::new(Scope::User, "made", source.clone());
    let handle = Host::new(Environment::new("/nowhere"))
        .root(root)
        .discover()?
        .skills;
    let is_done = AtomicBool::new(false);
    let read = || -> Result<u64, String> {
        let mut looks = 0;
        while !is_done.load(Ordering::SeqCst) {
            let catalog = handle.catalog();
            let description = |number: usize| {
                let entry = catalog.get(&name(number));
                entry.map(|entry| entry.manifest().description().to_owned())
            };
            let first = description(0);
            let mut others = (0..skills).step_by(EVERY).map(description);
            if first.is_none() || catalog.len() != skills || !others.all(|other| other == first) {
                return Err("a snapshot was not whole".to_owned());
            }
            looks += 1;
        }
        Ok(looks)
    };
    thread::scope(|scope| {
        let readers = [scope.spawn(read), scope.spawn(read)];
        for generation in 1..=arguments.refreshes {
            source.generation.store(generation, Ordering::SeqCst);
            let changes = handle.refresh()?;
            if changes.changed.len() != skills.div_ceil(EVERY) {
                return Err("a refresh missed a change".into());
            }
        }
        is_done.store(true, Ordering::SeqCst);
        let mut looks = 0;
        for reader in readers {
            looks += reader.join().map_err(|_| "a reader panicked")??;
        }
        Ok(looks)
    })
}

fn name(number: usize) -> String {
    format!("made-skill-{number:06}")
}

/// Generated skills, some of which change together.
#[derive(Clone, Debug)]
struct Generations {
    skills: usize,
    generation: Arc<AtomicU64>,
}

impl Generations {
    fn new(skills: usize) -> Self {
        Self {
            skills,
            generation: Arc::default(),
        }
    }

    fn generation_of(&self, number: usize) -> u64 {
        if number.is_multiple_of(EVERY) {
            self.generation.load(Ordering::SeqCst)
        } else {
            0
        }
    }

    fn revision(&self, number: usize) -> Revision {
        Revision::default().with_inode(0, self.generation_of(number))
    }
}

impl Source for Generations {
    fn list(&self, _: &WalkOptions, _: Option<&Cursor>) -> Result<FolderPage, EngineError> {
        let mut listing = FolderPage::default();
        let folders = (0..self.skills).map(|number| {
            let folder =
                Folder::new(name(number)).map_err(|_| EngineError::not_found("a made folder"))?;
            Ok(ListedFolder::new(folder, self.revision(number)))
        });
        listing.folders = folders.collect::<Result<_, EngineError>>()?;
        Ok(listing)
    }

    fn head(
        &self,
        folder: &Folder,
        _: usize,
        into: &mut Vec<u8>,
    ) -> Result<FileState, EngineError> {
        let number = folder.name().trim_start_matches("made-skill-").parse();
        let number: usize = number.map_err(|_| EngineError::not_found(folder.path()))?;
        write!(
            into,
            "---\nname: {}\ndescription: Generation {}\n---\n",
            folder.name(),
            self.generation_of(number)
        )
        .map_err(|error| EngineError::read(folder.path(), error))?;
        Ok(FileState::stable(self.revision(number)))
    }

    fn read(
        &self,
        folder: &Folder,
        _: &ResourcePath,
        _: Range<u64>,
    ) -> Result<FileBytes, EngineError> {
        Err(EngineError::not_found(folder.path()))
    }

    fn resources(
        &self,
        folder: &Folder,
        _: &Limits,
        _: Option<&Cursor>,
    ) -> Result<Resources, EngineError> {
        Err(EngineError::not_found(folder.path()))
    }

    fn kind(&self, folder: &Folder, _: &ResourcePath) -> Result<ResourceKind, EngineError> {
        Err(EngineError::not_found(folder.path()))
    }
}
