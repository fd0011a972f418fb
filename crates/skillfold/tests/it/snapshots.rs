//! Readers see whole snapshots while they are made anew.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use skillfold::core::name::ResourcePath;
use skillfold::core::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, ListedFolder, ResourceKind, Resources,
    Revision, WalkOptions,
};
use skillfold::core::{Error, Limits, MemorySource, Root, Scope, Source};
use skillfold::{Environment, Host};

const SKILLS: usize = 400;
/// Every so many skills carry the number of the generation.
const EVERY: usize = 20;
const REFRESHES: u64 = 1_000;

/// Skills some of which change together, from one generation to the next.
#[derive(Clone, Debug, Default)]
struct Generations(Arc<AtomicU64>);

impl Generations {
    fn text(&self, number: usize) -> String {
        let generation = match number % EVERY {
            0 => self.0.load(Ordering::SeqCst),
            _ => 0,
        };
        format!("---\nname: skill-{number:04}\ndescription: Generation {generation}\n---\n")
    }

    fn revision(&self, number: usize) -> Revision {
        let generation = if number.is_multiple_of(EVERY) {
            self.0.load(Ordering::SeqCst)
        } else {
            0
        };
        Revision::default().with_inode(0, generation)
    }
}

impl Source for Generations {
    fn list(&self, _: &WalkOptions, _: Option<&Cursor>) -> Result<FolderPage, Error> {
        let mut listing = FolderPage::default();
        listing.folders = (0..SKILLS)
            .map(|number| {
                let folder = Folder::new(format!("skill-{number:04}")).unwrap();
                ListedFolder::new(folder, self.revision(number))
            })
            .collect();
        Ok(listing)
    }

    fn head(&self, folder: &Folder, _: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        let number = folder.name()["skill-".len()..].parse().unwrap();
        into.extend_from_slice(self.text(number).as_bytes());
        Ok(FileState::stable(self.revision(number)))
    }

    fn read(&self, folder: &Folder, _: &ResourcePath, _: Range<u64>) -> Result<FileBytes, Error> {
        Err(Error::not_found(folder.path()))
    }

    fn resources(
        &self,
        folder: &Folder,
        _: &Limits,
        _: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        Err(Error::not_found(folder.path()))
    }

    fn kind(&self, folder: &Folder, _: &ResourcePath) -> Result<ResourceKind, Error> {
        Err(Error::not_found(folder.path()))
    }
}

#[test]
fn threads_see_only_complete_snapshots_during_a_refresh() {
    let source = Generations::default();
    let root = Root::new(Scope::User, "generations", source.clone());
    let skills = Host::new(Environment::new("/nowhere"))
        .root(root)
        .discover()
        .unwrap()
        .skills;
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = || {
            let (mut last, mut looks) = (0, 0_u64);
            while !is_done.load(Ordering::SeqCst) {
                let catalog = skills.catalog();
                assert_eq!(catalog.len(), SKILLS);
                let generation = |number: usize| -> u64 {
                    let entry = catalog.get(&format!("skill-{number:04}")).unwrap();
                    entry.manifest().description()["Generation ".len()..]
                        .parse()
                        .unwrap()
                };
                let first = generation(0);
                let others = (EVERY..SKILLS).step_by(EVERY);
                assert!(
                    others.map(generation).all(|other| other == first),
                    "a mixed snapshot"
                );
                assert!(first >= last, "an older snapshot after a newer one");
                (last, looks) = (first, looks + 1);
            }
            looks
        };
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        for generation in 1..=REFRESHES {
            source.0.store(generation, Ordering::SeqCst);
            let changes = skills.refresh().unwrap();
            assert_eq!(changes.changed.len(), SKILLS / EVERY);
        }
        is_done.store(true, Ordering::SeqCst);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });
}

#[test]
fn many_threads_may_refresh_concurrently() {
    let memory = MemorySource::new([("a/SKILL.md", "---\nname: a\ndescription: x\n---\n")]);
    let host = Host::new(Environment::new("/nowhere")).bundled("memory", memory);
    let skills = host.discover().unwrap().skills;
    thread::scope(|scope| {
        for _ in 0..4 {
            let skills = skills.clone();
            scope
                .spawn(move || (0..50).for_each(|_| assert!(skills.refresh().unwrap().is_empty())));
        }
    });
    assert_eq!(skills.catalog().len(), 1);
}
