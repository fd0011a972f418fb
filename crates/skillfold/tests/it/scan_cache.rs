//! A host that has a place for it remembers what it read of many skills, and no other writes anything.
#![expect(
    clippy::disallowed_methods,
    reason = "the cache is looked at, and broken, from outside"
)]

use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use skillfold::core::name::ResourcePath;
use skillfold::core::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, ResourceKind, Resources, WalkOptions,
};
use skillfold::core::{Error, Limits, MemorySource, Root, Scope, Source};
use skillfold::view::Doctor;
use skillfold::{Environment, Host, Skills, discovery::RootCache};

/// Made skills, whose files another process knows again, and how many of them are listed before the disk fails.
#[derive(Debug)]
struct Lasting(MemorySource, usize);

impl Lasting {
    fn new(skills: usize, changed: Range<usize>) -> Self {
        let file = |number: usize| {
            let text = if changed.contains(&number) {
                "Is another"
            } else {
                "Is"
            };
            let file = format!("---\nname: s{number}\ndescription: {text} {number}\n---\n");
            (format!("s{number}/SKILL.md"), file)
        };
        Self(MemorySource::new((0..skills).map(file)), usize::MAX)
    }
}

impl Source for Lasting {
    fn list(&self, walk: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        if cursor.is_some() {
            return Err(Error::read("made", io::Error::from_raw_os_error(5)));
        }
        let mut listing = self.0.list(walk, cursor)?;
        if listing.folders.len() > self.1 {
            listing.folders.truncate(self.1);
            listing.next = Some(Cursor::after("the rest"));
        }
        for listed in &mut listing.folders {
            listed.revision = listed.revision.with_inode(0, 1);
        }
        Ok(listing)
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        let mut state = self.0.head(folder, bytes, into)?;
        state.revision = state.revision.with_inode(0, 1);
        Ok(state)
    }

    fn location(&self) -> Option<&Path> {
        Some(Path::new("made"))
    }

    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, Error> {
        self.0.read(folder, path, range)
    }

    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        self.0.resources(folder, limits, cursor)
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        self.0.kind(folder, path)
    }
}

fn host(source: Lasting) -> Host {
    Host::new(Environment::new("/nowhere")).root(Root::new(Scope::User, "made", source))
}

fn start(cache: &Path, source: Lasting) -> Skills {
    host(source).cache(cache).discover().unwrap().skills
}

fn memory(skills: &Skills) -> RootCache {
    let [memory] = &skills.report().root_caches[..] else {
        panic!("there is one root");
    };
    memory.clone()
}

fn numbers(skills: &Skills) -> (usize, usize, bool) {
    let memory = memory(skills);
    assert_eq!(memory.problem, None);
    (memory.reused, memory.read, memory.is_written)
}

#[test]
fn second_start_reads_only_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    assert_eq!(
        numbers(&start(&cache, Lasting::new(1_000, 0..0))),
        (0, 1_000, true)
    );
    let skills = start(&cache, Lasting::new(1_000, 0..0));
    assert_eq!(numbers(&skills), (1_000, 0, false));
    // A few that changed are read; what is kept is written anew when there are more.
    let skills = start(&cache, Lasting::new(1_000, 0..5));
    assert_eq!(numbers(&skills), (995, 5, false));
    let catalog = skills.catalog();
    assert_eq!(
        catalog.get("s4").unwrap().manifest().description(),
        "Is another 4"
    );
    assert_eq!(catalog.get("s5").unwrap().manifest().description(), "Is 5");
    assert_eq!(
        numbers(&start(&cache, Lasting::new(1_000, 0..50))),
        (950, 50, true)
    );
    let doctor = Doctor::new(&start(&cache, Lasting::new(1_000, 0..50)));
    let state = doctor.roots[0].memory.as_ref().unwrap();
    assert_eq!((state.kept, state.read, state.written), (1_000, 0, false));
}

#[test]
fn corrupted_cache_loses_no_skill() {
    let folder = tempfile::tempdir().unwrap();
    let file = memory(&start(folder.path(), Lasting::new(1_000, 0..0))).file;
    let mut bytes = fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let skills = start(folder.path(), Lasting::new(1_000, 0..0));
    assert_eq!(skills.catalog().len(), 1_000);
    let memory = memory(&skills);
    assert!(memory.problem.unwrap().contains("not whole"));
    assert!(memory.is_written, "the next start has it again");
    fs::remove_dir_all(folder.path().join("metadata")).unwrap();
    assert_eq!(
        numbers(&start(folder.path(), Lasting::new(1_000, 0..0))),
        (0, 1_000, true)
    );
}

#[test]
fn unwritable_cache_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("metadata"), "in the way").unwrap();
    let skills = start(folder.path(), Lasting::new(1_000, 0..0));
    assert_eq!(skills.catalog().len(), 1_000);
    assert!(memory(&skills).problem.is_some());
}

#[test]
fn cache_is_not_written_for_few_skills_or_unless_enabled() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    assert!(
        start(&cache, Lasting::new(999, 0..0))
            .report()
            .root_caches
            .is_empty()
    );
    let off = host(Lasting::new(1_000, 0..0))
        .cache(&cache)
        .set("index", "off");
    assert!(
        off.discover()
            .unwrap()
            .skills
            .report()
            .root_caches
            .is_empty()
    );
    assert!(!cache.exists());
    let nobody = host(Lasting::new(1_000, 0..0)).discover().unwrap().skills;
    assert!(nobody.report().root_caches.is_empty());
}

#[test]
fn caches_use_the_system_cache_directory() {
    let environment = Environment::new("/work").home("/person");
    let folder = |environment: &Environment| {
        let folder = environment.cache_folder();
        folder.map(|path| path.to_string_lossy().replace('\\', "/"))
    };
    if cfg!(windows) {
        assert_eq!(folder(&environment), None);
        return;
    }
    assert_eq!(
        folder(&environment).as_deref(),
        Some("/person/.cache/skillfold")
    );
    let named = environment.variable("XDG_CACHE_HOME", "/caches");
    assert_eq!(folder(&named).as_deref(), Some("/caches/skillfold"));
    assert_eq!(folder(&Environment::new("/work")), None);
}

#[test]
fn cache_is_not_overwritten_by_a_partial_scan() {
    let cache = tempfile::tempdir().unwrap();
    start(cache.path(), Lasting::new(1_200, 0..0));
    let mut failing = Lasting::new(1_200, 0..0);
    failing.1 = 1_100;
    let skills = start(cache.path(), failing);
    assert_eq!(skills.catalog().len(), 1_100);
    assert!(skills.is_stale());
    assert!(!memory(&skills).is_written);
    let again = start(cache.path(), Lasting::new(1_200, 0..0));
    assert_eq!(memory(&again).reused, 1_200);
    let outcome = |skills: &Skills| Doctor::new(skills).roots[0].outcome.clone();
    assert_eq!(
        [outcome(&skills), outcome(&again)],
        ["stale", "searched"].map(str::to_owned)
    );
}
