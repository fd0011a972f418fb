//! How soon a file change is seen, and what it costs.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use skillfold::core::name::ResourcePath;
use skillfold::core::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, ListedFolder, ResourceKind, Resources,
    Revision, ScannedFolder, WalkOptions, WalkReport,
};
use skillfold::core::{Error as EngineError, FsSource, Limits, Matcher, Root, Scope, Source};
use skillfold::watch::Watcher;
use skillfold::{Environment, Host, Skills};

use crate::measure::{measure, rounded};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Number of installed skills
    #[arg(long, default_value_t = 10_000)]
    skills: usize,
    /// Number of changes, made one after the other
    #[arg(long, default_value_t = 200)]
    changes: usize,
    /// Files created at once, every tenth of them a new skill
    #[arg(long, default_value_t = 100_000)]
    creations: usize,
    /// Simultaneous edits that keep the file's size
    #[arg(long, default_value_t = 10_000)]
    edits: usize,
    /// Changes to find by polling; each takes up to five seconds
    #[arg(long, default_value_t = 3)]
    polls: usize,
    /// Fail if a change costs more than this many milliseconds of CPU, or anything is stale
    #[arg(long)]
    at_most: Option<f64>,
}

/// Time after which files are settled.
const SETTLED: Duration = Duration::from_millis(2_500);
/// Time within which everything must be seen after a burst.
const CALM: Duration = Duration::from_secs(2);
/// Time between two changes whose CPU time is measured.
const PAUSE: Duration = Duration::from_millis(120);
/// Maximum number of reads of a file per change: one, plus one each time it is not settled.
const READS: f64 = 4.0;
/// Time after which a change counts as lost.
const LOST: Duration = Duration::from_secs(60);

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut generated = GeneratedSkills::new(folder.path(), arguments.skills)?;
    thread::sleep(SETTLED);
    let (skills, reads) = discover(folder.path(), "on", "0")?;
    let start = Instant::now();
    let watching = watch(&skills)?;
    let begun = start.elapsed();
    let visible = generated.visible(&skills, arguments.changes)?;
    let costs = Costs::of(&mut generated, &skills, &reads, arguments.changes)?;
    let folders = watching.status().folders;
    let created = generated.create(&skills, arguments.creations)?;
    let edited = generated.edit(&skills, arguments.edits)?;
    let status = watching.status();
    drop(watching);
    drop(skills);
    let (skills, _) = discover(folder.path(), "off", "5")?;
    let watching = watch(&skills)?;
    let polled = generated.visible(&skills, arguments.polls)?;
    drop(watching);
    let stale = created.stale + edited.stale;
    writeln!(
        out,
        "{}",
        json!({
            "skills": arguments.skills,
            "changes": arguments.changes,
            "visible_ms_p50": rounded(at(&visible, 0.5)),
            "visible_ms_p99": rounded(at(&visible, 0.99)),
            "poll_visible_s": rounded(at(&polled, 1.0) / 1000.0),
            "cpu_ms_per_change": rounded(costs.cpu_ms),
            "cpu_ms_with_match": rounded(costs.matched_ms),
            "files_read_per_change": rounded(costs.reads),
            "creations": arguments.creations,
            "created_in_s": rounded(created.took.as_secs_f64()),
            "stale_after_creations": created.stale,
            "edits": arguments.edits,
            "edited_in_s": rounded(edited.took.as_secs_f64()),
            "stale_after_edits": edited.stale,
            "folders_watched": folders,
            "ready_in_s": rounded(begun.as_secs_f64()),
            "looks_at_folders": status.folder_refreshes,
            "looks_at_everything": status.full_rescans,
        })
    )?;
    match arguments.at_most {
        Some(limit) if costs.cpu_ms > limit || stale > 0 || costs.reads > READS => Err(format!(
            "a change costs {:.2} ms of CPU (at most {limit}) and {:.1} reads, and {stale} skills are stale",
            costs.cpu_ms, costs.reads
        )
        .into()),
        _ => Ok(()),
    }
}

fn discover(
    folder: &Path,
    watch: &str,
    poll: &str,
) -> Result<(Skills, Arc<AtomicU64>), Box<dyn Error>> {
    let source = Counting {
        source: FsSource::open(folder)?,
        reads: Arc::default(),
    };
    let reads = Arc::clone(&source.reads);
    let skills = Host::new(Environment::new("/nowhere"))
        .set("watch", watch)
        .set("poll_seconds", poll)
        .root(Root::new(Scope::User, "bench", source))
        .discover()?
        .skills;
    Ok((skills, reads))
}

/// Watches the files. Returns once the first scan is done.
fn watch(skills: &Skills) -> Result<Watcher, Box<dyn Error>> {
    let watching = skills.watch(|_| {})?;
    let is_ready = || {
        let status = watching.status();
        status.full_rescans > 0 && (status.is_complete || status.folders == 0)
    };
    while !is_ready() {
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(Duration::from_millis(500));
    Ok(watching)
}

/// Returns the value at a quantile.
fn at(sorted: &[f64], part: f64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "there are few"
    )]
    let place = ((sorted.len() as f64 * part).ceil() as usize).saturating_sub(1);
    sorted.get(place).copied().unwrap_or_default()
}

/// Cost of a change.
struct Costs {
    cpu_ms: f64,
    matched_ms: f64,
    reads: f64,
}

impl Costs {
    /// Measures this process's CPU time while it changes files and otherwise sleeps, then the same with a message
    /// matched after each change.
    fn of(
        generated: &mut GeneratedSkills,
        skills: &Skills,
        reads: &AtomicU64,
        changes: usize,
    ) -> Result<Self, Box<dyn Error>> {
        thread::sleep(SETTLED);
        reads.store(0, Ordering::SeqCst);
        let each = f64::from(u32::try_from(changes.max(1))?);
        let (result, idle) = measure(|| generated.change_calmly(changes, &mut || ()));
        result?;
        let read = reads.load(Ordering::SeqCst);
        let mut matcher = Matcher::new(&skills.catalog());
        let mut ask = || {
            matcher = matcher.refresh(&skills.catalog());
            black_box(matcher.matches("a request that needs no skill"));
        };
        let (result, asked) = measure(|| generated.change_calmly(changes, &mut ask));
        result?;
        Ok(Self {
            cpu_ms: idle.cpu_ms / each,
            matched_ms: asked.cpu_ms / each,
            reads: f64::from(u32::try_from(read)?) / each,
        })
    }
}

/// The result of a burst.
struct Storm {
    stale: usize,
    took: Duration,
}

/// Generated skills on disk, and their current texts.
struct GeneratedSkills {
    folder: PathBuf,
    said: Vec<u64>,
    next: u64,
}

impl GeneratedSkills {
    fn new(folder: &Path, skills: usize) -> Result<Self, Box<dyn Error>> {
        let mut generated = Self {
            folder: folder.to_owned(),
            said: Vec::new(),
            next: 0,
        };
        for _ in 0..skills {
            generated.add()?;
        }
        Ok(generated)
    }

    fn add(&mut self) -> Result<(), Box<dyn Error>> {
        self.said.push(0);
        let number = self.said.len() - 1;
        std::fs::create_dir_all(self.folder.join(name(number)))?;
        self.write(number)
    }

    /// Rewrites a skill; all texts for one skill have the same size.
    #[expect(clippy::disallowed_methods, reason = "a bench lays out its own files")]
    fn write(&mut self, number: usize) -> Result<(), Box<dyn Error>> {
        self.next += 1;
        self.said[number] = self.next;
        let name = name(number);
        let text = format!(
            "---\nname: {name}\ndescription: Says {:012}\ntriggers: [run {name}, use {name}]\n---\nDo it.\n",
            self.next
        );
        std::fs::write(self.folder.join(&name).join("SKILL.md"), text)?;
        Ok(())
    }

    /// Returns a skill far from the previous one.
    fn some(&self, change: usize) -> usize {
        change * 7_919 % self.said.len()
    }

    /// Makes changes one after the other, and returns how long each took to be seen, sorted.
    fn visible(&mut self, skills: &Skills, changes: usize) -> Result<Vec<f64>, Box<dyn Error>> {
        let mut times = Vec::with_capacity(changes);
        for change in 0..changes {
            let number = self.some(change);
            self.write(number)?;
            let start = Instant::now();
            while !self.is_seen(skills, number) {
                if start.elapsed() > LOST {
                    return Err("a change was never seen".into());
                }
                thread::sleep(Duration::from_millis(1));
            }
            times.push(start.elapsed().as_secs_f64() * 1000.0);
        }
        times.sort_by(f64::total_cmp);
        Ok(times)
    }

    fn change_calmly(
        &mut self,
        changes: usize,
        then: &mut dyn FnMut(),
    ) -> Result<(), Box<dyn Error>> {
        for change in 0..changes {
            let number = self.some(change);
            self.write(number)?;
            thread::sleep(PAUSE);
            then();
        }
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "a bench lays out its own files")]
    fn create(&mut self, skills: &Skills, files: usize) -> Result<Storm, Box<dyn Error>> {
        let start = Instant::now();
        for file in 0..files {
            if file % 10 == 0 {
                self.add()?;
            } else {
                let folder = self.folder.join(name(self.said.len() - 1));
                std::fs::write(folder.join(format!("{file}.md")), "A file.\n")?;
            }
        }
        Ok(self.storm(skills, start.elapsed()))
    }

    fn edit(&mut self, skills: &Skills, edits: usize) -> Result<Storm, Box<dyn Error>> {
        let start = Instant::now();
        for edit in 0..edits {
            self.write(self.some(edit))?;
        }
        Ok(self.storm(skills, start.elapsed()))
    }

    fn storm(&self, skills: &Skills, took: Duration) -> Storm {
        thread::sleep(CALM);
        let is_stale = |number: &usize| !self.is_seen(skills, *number);
        Storm {
            stale: (0..self.said.len()).filter(is_stale).count(),
            took,
        }
    }

    fn is_seen(&self, skills: &Skills, number: usize) -> bool {
        let said = format!("Says {:012}", self.said[number]);
        let catalog = skills.catalog();
        let entry = catalog.get(&name(number));
        entry.is_some_and(|entry| entry.manifest().description() == said)
    }
}

fn name(number: usize) -> String {
    format!("made-skill-{number:06}")
}

/// A skills folder that counts how often files are opened.
#[derive(Debug)]
struct Counting {
    source: FsSource,
    reads: Arc<AtomicU64>,
}

impl Source for Counting {
    fn list(&self, walk: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, EngineError> {
        self.source.list(walk, cursor)
    }

    fn head(
        &self,
        folder: &Folder,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> Result<FileState, EngineError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.source.head(folder, bytes, into)
    }

    fn scan(
        &self,
        walk: &WalkOptions,
        bytes: usize,
        found: &mut dyn FnMut(ScannedFolder<'_>),
    ) -> Result<WalkReport, EngineError> {
        self.source.scan(walk, bytes, &mut |scanned| {
            self.reads.fetch_add(1, Ordering::SeqCst);
            found(scanned);
        })
    }

    fn survey(
        &self,
        walk: &WalkOptions,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Result<WalkReport, EngineError> {
        self.source.survey(walk, found)
    }

    fn survey_at(
        &self,
        walk: &WalkOptions,
        path: &str,
        found: &mut dyn FnMut(ListedFolder),
    ) -> Option<WalkReport> {
        self.source.survey_at(walk, path, found)
    }

    fn revision(&self, folder: &Folder) -> Result<Revision, EngineError> {
        self.source.revision(folder)
    }

    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, EngineError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.source.read(folder, path, range)
    }

    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, EngineError> {
        self.source.resources(folder, limits, cursor)
    }

    fn location(&self) -> Option<&Path> {
        self.source.location()
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, EngineError> {
        self.source.kind(folder, path)
    }
}
