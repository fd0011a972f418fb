//! A transient fault removes no skill, whichever system call it hits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use rustix::io::Errno;

use super::*;
use skillfold_testkit::far_future;

use crate::catalog::refresh::Changes;
use crate::catalog::root::Root;
use crate::catalog::scope::Scope;
use crate::catalog::snapshot::{Catalog, CatalogOptions};
use crate::load::loader::{LoadOptions, Loader};
use crate::source::FolderIdentity;
use crate::source::fs::tree::{OpenedSkillFile, RawEntry, Stat};

const ERRORS: [Errno; 5] = [
    Errno::MFILE,
    Errno::IO,
    Errno::STALE,
    Errno::INTR,
    Errno::NOMEM,
];

/// Which call fails, and how. Calls are counted from 0.
#[derive(Default)]
struct Fault {
    calls: AtomicUsize,
    first: AtomicUsize,
    is_lasting: AtomicBool,
    error: AtomicI32,
}

impl Fault {
    fn begin(&self, first: usize, is_lasting: bool, error: Errno) {
        self.calls.store(0, Ordering::Relaxed);
        self.first.store(first, Ordering::Relaxed);
        self.is_lasting.store(is_lasting, Ordering::Relaxed);
        self.error.store(error.raw_os_error(), Ordering::Relaxed);
    }

    /// Ends the fault; returns whether a call was hit.
    fn end(&self) -> bool {
        let first = self.first.swap(usize::MAX, Ordering::Relaxed);
        self.calls.load(Ordering::Relaxed) > first
    }

    fn call(&self) -> io::Result<()> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let first = self.first.load(Ordering::Relaxed);
        if call == first || (call > first && self.is_lasting.load(Ordering::Relaxed)) {
            return Err(io::Error::from_raw_os_error(
                self.error.load(Ordering::Relaxed),
            ));
        }
        Ok(())
    }
}

/// A tree with some failing calls.
struct Faulty {
    tree: NativeTree,
    fault: Arc<Fault>,
}

impl Tree for Faulty {
    fn links(&self) -> LinkPolicy {
        self.tree.links()
    }

    fn identity(&self, folder: &str) -> io::Result<FolderIdentity> {
        self.fault.call()?;
        self.tree.identity(folder)
    }

    fn entries(&self, folder: &str, limit: usize) -> io::Result<Vec<RawEntry>> {
        self.fault.call()?;
        self.tree.entries(folder, limit)
    }

    fn stat(&self, folder: &str) -> io::Result<Stat> {
        self.fault.call()?;
        self.tree.stat(folder)
    }

    fn stats(&self, folder: &str, entries: &[RawEntry]) -> Option<Vec<io::Result<Stat>>> {
        let stats = self.tree.stats(folder, entries)?;
        Some(
            stats
                .into_iter()
                .map(|stat| self.fault.call().and(stat))
                .collect(),
        )
    }

    fn open_head(
        &self,
        folder: &str,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<OpenedSkillFile> {
        self.fault.call()?;
        self.tree.open_head(folder, bytes, into)
    }

    fn lstat(&self, path: &str) -> io::Result<EntryKind> {
        self.fault.call()?;
        self.tree.lstat(path)
    }

    fn target_kind(&self, path: &str) -> io::Result<EntryKind> {
        self.fault.call()?;
        self.tree.target_kind(path)
    }

    fn head(
        &self,
        folder: &Folder,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)> {
        self.fault.call()?;
        self.tree.head(folder, bytes, into)
    }

    fn revision(&self, folder: &Folder) -> io::Result<Stat> {
        self.fault.call()?;
        self.tree.revision(folder)
    }

    fn entries_beneath(
        &self,
        folder: &Folder,
        path: Option<&ResourcePath>,
        limit: usize,
    ) -> io::Result<Vec<RawEntry>> {
        self.fault.call()?;
        self.tree.entries_beneath(folder, path, limit)
    }

    fn stat_beneath(&self, folder: &Folder, path: &ResourcePath) -> io::Result<Stat> {
        self.fault.call()?;
        self.tree.stat_beneath(folder, path)
    }

    fn read_beneath(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: &Range<u64>,
        into: &mut Vec<u8>,
    ) -> io::Result<(Revision, Revision)> {
        self.fault.call()?;
        self.tree.read_beneath(folder, path, range, into)
    }
}

/// Two roots with everything that a walk can meet, and the fault that both share.
struct World {
    folder: TempDir,
    fault: Arc<Fault>,
}

impl World {
    fn new() -> Self {
        let fault = Arc::new(Fault::default());
        fault.end();
        let world = Self {
            folder: tempfile::tempdir().unwrap(),
            fault,
        };
        for number in 0..16 {
            world.skill("mine", &format!("many/s{number}"), "first");
        }
        for folder in ["pdf", "group/deep/mail", "group/sheet"] {
            world.skill("mine", folder, "first");
        }
        world.skill("theirs", "chart", "first");
        let at = |path: &str| world.folder.path().join(path);
        fs::create_dir_all(at("mine/broken")).unwrap();
        fs::write(at("mine/broken/SKILL.md"), "\0 is not text").unwrap();
        fs::create_dir_all(at("mine/empty")).unwrap();
        symlink("pdf", at("mine/z-same")).unwrap();
        symlink("../theirs", at("mine/z-theirs")).unwrap();
        symlink("nowhere", at("mine/dangling")).unwrap();
        symlink("../mine/group", at("theirs/group")).unwrap();
        world
    }

    fn skill(&self, root: &str, folder: &str, text: &str) {
        let folder = self.folder.path().join(root).join(folder);
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        fs::create_dir_all(&folder).unwrap();
        let text = format!("---\nname: {name}\ndescription: {text}\n---\nThe text of {name}.\n");
        fs::write(folder.join("SKILL.md"), text).unwrap();
    }

    fn roots(&self) -> Vec<Root> {
        let root = |label: &str| {
            let path = self.folder.path().join(label);
            let tree = NativeTree::open(&path, LinkPolicy::Follow).unwrap();
            let fault = Arc::clone(&self.fault);
            Root::new(
                Scope::User,
                label,
                FsSource::from_tree(Faulty { tree, fault }, path),
            )
        };
        vec![root("mine"), root("theirs")]
    }

    fn discover(&self) -> Catalog {
        Catalog::discover(self.roots(), CatalogOptions::default(), far_future())
    }

    fn refresh(&self, old: &Catalog) -> (Catalog, Changes) {
        let refreshed = old.refresh(self.roots(), CatalogOptions::default(), far_future());
        (refreshed.catalog, refreshed.changes)
    }
}

fn outline_catalog(catalog: &Catalog) -> Vec<String> {
    let skills = catalog.entries().map(|entry| {
        let skill = entry.skill();
        format!("{} {} {}", entry.id(), skill.source, skill.folder)
    });
    let refused = catalog.refused().iter();
    let refused = refused.map(|refused| format!("refused {}", refused.folder));
    let findings = catalog.findings().iter();
    let findings = findings.map(|found| found.finding.diagnostic.message.to_string());
    skills.chain(refused).chain(findings).collect()
}

fn is_stale(catalog: &Catalog) -> bool {
    (0..catalog.roots().len()).any(|root| catalog.is_stale(root))
}

/// Calls `check` once for each error and each call it makes, with a fault at that call alone or at all calls from there
/// on. `check` ends the fault and returns whether a call was hit. Returns the number of faults.
fn each_fault(world: &World, check: impl Fn(&str) -> bool) -> usize {
    let mut faults = 0;
    for error in ERRORS {
        for is_lasting in [false, true] {
            for first in 0.. {
                world.fault.begin(first, is_lasting, error);
                if !check(&format!("{error:?} at call {first}, lasting: {is_lasting}")) {
                    break;
                }
                faults += 1;
            }
        }
    }
    faults
}

#[test]
fn fault_in_a_refresh_loses_no_skill_and_the_next_refresh_recovers() {
    let world = World::new();
    let whole = world.discover();
    let (ids, now) = (outline_catalog(&whole), whole.len());
    let faults = each_fault(&world, |fault| {
        let (stale, changes) = world.refresh(&whole);
        let is_hit = world.fault.end();
        assert_eq!(changes, Changes::default(), "{fault}");
        assert_eq!(stale.len(), now, "{fault}");
        assert_eq!(is_stale(&stale), is_hit, "{fault}");
        assert!(
            !is_hit || !stale.unsettled_folders().is_empty(),
            "it is tried again: {fault}"
        );
        let (healed, changes) = world.refresh(&stale);
        assert_eq!(changes, Changes::default(), "{fault}");
        assert_eq!(outline_catalog(&healed), ids, "{fault}");
        is_hit
    });
    assert!(faults > 300, "{faults}");
}

#[test]
fn fault_in_a_refresh_with_changes_loses_no_other_skill() {
    let world = World::new();
    let whole = world.discover();
    world.skill("mine", "pdf", "changed, and longer");
    world.skill("mine", "group/new", "first");
    fs::remove_dir_all(world.folder.path().join("mine/many/s3")).unwrap();
    let after = outline_catalog(&world.discover());
    each_fault(&world, |fault| {
        let (stale, changes) = world.refresh(&whole);
        let is_hit = world.fault.end();
        for (what, ids, may) in [
            ("removed", &changes.removed, "s3"),
            ("added", &changes.added, "new"),
            ("changed", &changes.changed, "pdf"),
        ] {
            assert!(ids.iter().all(|id| **id == *may), "{what} {ids:?}: {fault}");
        }
        let (healed, _) = world.refresh(&stale);
        assert_eq!(outline_catalog(&healed), after, "{fault}");
        is_hit
    });
}

#[test]
fn fault_in_the_first_scan_is_reported_and_the_next_refresh_recovers() {
    let world = World::new();
    let whole = outline_catalog(&world.discover());
    let faults = each_fault(&world, |fault| {
        let first = world.discover();
        let is_hit = world.fault.end();
        assert_eq!(is_stale(&first), is_hit, "{fault}");
        let (healed, changes) = world.refresh(&first);
        assert!(changes.removed.is_empty(), "{fault}");
        assert_eq!(outline_catalog(&healed), whole, "{fault}");
        is_hit
    });
    assert!(faults > 300, "{faults}");
}

#[test]
fn fault_in_a_folder_refresh_loses_no_skill() {
    let world = World::new();
    // With links, every rescan is a full one.
    for link in [
        "mine/z-same",
        "mine/z-theirs",
        "mine/dangling",
        "theirs/group",
    ] {
        fs::remove_file(world.folder.path().join(link)).unwrap();
    }
    let whole = world.discover();
    let ids = outline_catalog(&whole);
    let faults = each_fault(&world, |fault| {
        let folders = [(0, "group"), (0, "many/s1"), (0, "pdf"), (0, "empty/none")];
        let followed = whole.refresh_folders(&folders, far_future());
        let is_hit = world.fault.end();
        assert_eq!(followed.is_none(), is_hit, "{fault}");
        if let Some(followed) = followed {
            assert_eq!(followed.changes, Changes::default(), "{fault}");
            assert_eq!(outline_catalog(&followed.catalog), ids, "{fault}");
        }
        is_hit
    });
    assert!(faults > 50, "{faults}");
}

#[test]
fn fault_in_a_load_is_an_error_or_the_whole_text_and_is_transient() {
    const WHOLE: Option<&str> = Some("The text of mail.");
    let world = World::new();
    let catalog = world.discover();
    let entry = catalog.get("mail").unwrap();
    let faults = each_fault(&world, |fault| {
        let loader = Loader::new(LoadOptions::default(), far_future);
        let text = |loader: &Loader| {
            let instructions = loader.load(&entry, "");
            instructions.map(|whole| whole.text().lines().last().map(str::to_owned))
        };
        let first = text(&loader);
        let is_hit = world.fault.end();
        if let Ok(text) = first {
            assert_eq!(text.as_deref(), WHOLE, "{fault}");
        } else {
            assert!(is_hit, "{fault}");
        }
        assert_eq!(text(&loader).unwrap().as_deref(), WHOLE, "{fault}");
        is_hit
    });
    assert!(faults > 0, "{faults}");
}

#[test]
fn faults_over_the_limit_mark_the_whole_root() {
    let world = World::new();
    let whole = world.discover();
    let mut options = CatalogOptions::default();
    options.read.walk.limits.findings = 3;
    world.fault.begin(10, true, Errno::MFILE);
    let stale = whole.refresh(world.roots(), options, far_future());
    world.fault.end();
    assert_eq!(stale.changes, Changes::default());
    let findings = stale.catalog.findings().iter();
    let of_root = findings.filter(|found| found.source == 0 && found.finding.path.is_empty());
    let messages: Vec<_> = of_root
        .map(|found| found.finding.diagnostic.to_string())
        .collect();
    insta::assert_snapshot!(messages.join("\n"), @"error[SF519]: More than 3 folders cannot be read right now in `.`");
}

#[test]
fn entry_that_vanishes_after_listing_does_not_fail_the_listing() {
    let folder = tempfile::tempdir().unwrap();
    let handle = rustix::fs::openat(
        rustix::fs::CWD,
        folder.path(),
        rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    let mut entries = Vec::new();
    let unknown = rustix::fs::FileType::Unknown;
    let more = unix::push_entry(&handle, c"gone", unknown, 10, &mut entries).unwrap();
    assert!(more && entries.is_empty());
}
