//! Looking at the folders that changed gives what looking at everything gives.
#![expect(clippy::disallowed_methods, reason = "tests lay out folders")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use skillfold_core::catalog::{Changes, Lookup, PluginName, Trust};
use skillfold_core::{Catalog, CatalogOptions, FsSource, Matcher, Root, Scope};
use skillfold_testkit::far_future;
use tempfile::TempDir;

/// Names that meet each other: by case, by qualifier, by the names of folders.
const NAMES: [&str; 8] = [
    "pdf",
    "PDF",
    "mail",
    "user:pdf",
    "acme:mail",
    "sheet",
    "a_b",
    "project:pdf",
];
const FOLDERS: [&str; 9] = [
    "pdf",
    "mail",
    "sheet",
    "a-b",
    "group/pdf",
    "group/mail",
    "group",
    "group-x/pdf",
    "deep/er/pdf",
];
const ROOTS: usize = 3;

/// One thing that happens to the files of a root.
#[derive(Clone, Debug)]
enum Act {
    Write {
        root: usize,
        folder: usize,
        name: usize,
    },
    Break {
        root: usize,
        folder: usize,
    },
    Remove {
        root: usize,
        folder: usize,
    },
    Rename {
        root: usize,
        from: usize,
        to: usize,
    },
    Beside {
        root: usize,
        folder: usize,
    },
    Hidden {
        root: usize,
    },
    /// A link, told of by itself or by the folder that it is in.
    Link {
        root: usize,
        folder: usize,
        to: (usize, usize),
        tells: Tells,
    },
}

#[derive(Clone, Copy, Debug)]
enum Tells {
    Link,
    Folder,
}

/// One thing, which is a link so many times as often as a folder beside another is.
fn act(links: u32) -> impl Strategy<Value = Act> {
    let root = 0..ROOTS;
    let folder = 0..FOLDERS.len();
    let written = (root.clone(), folder.clone(), 0..NAMES.len());
    prop_oneof![
        6 => written.prop_map(|(root, folder, name)| Act::Write { root, folder, name }),
        2 => (root.clone(), folder.clone()).prop_map(|(root, folder)| Act::Break { root, folder }),
        2 => (root.clone(), folder.clone()).prop_map(|(root, folder)| Act::Remove { root, folder }),
        2 => (root.clone(), folder.clone(), folder.clone())
            .prop_map(|(root, from, to)| Act::Rename { root, from, to }),
        1 => (root.clone(), folder.clone()).prop_map(|(root, folder)| Act::Beside { root, folder }),
        1 => root.clone().prop_map(|root| Act::Hidden { root }),
        links => (root.clone(), folder.clone(), (root, folder), any::<bool>()).prop_map(
            |(root, folder, to, is_itself)| {
                let tells = if is_itself { Tells::Link } else { Tells::Folder };
                Act::Link { root, folder, to, tells }
            },
        ),
    ]
}

/// Three roots on disk.
struct World {
    folder: TempDir,
    /// Each text is longer than the one before, so that no two look alike.
    written: usize,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for root in 0..ROOTS {
            fs::create_dir(folder.path().join(root.to_string())).unwrap();
        }
        Self { folder, written: 0 }
    }

    fn path(&self, root: usize) -> PathBuf {
        self.folder.path().join(root.to_string())
    }

    fn roots(&self) -> Vec<Root> {
        let source = |root: usize| FsSource::open(self.path(root)).unwrap();
        let acme: PluginName = "acme".parse().unwrap();
        vec![
            Root::new(Scope::User, "mine", source(0)),
            Root::plugin(acme, "theirs", source(1)),
            Root::new(Scope::Project, "ours", source(2)).with_trust(Trust::Untrusted),
        ]
    }

    fn discover(&self) -> Catalog {
        Catalog::discover(self.roots(), CatalogOptions::default(), far_future())
    }

    fn put(&mut self, folder: &Path, text: &str) {
        self.written += 1;
        let longer = "x".repeat(self.written);
        if fs::create_dir_all(folder).is_ok() {
            fs::write(folder.join("SKILL.md"), text.replace("LONGER", &longer)).unwrap();
        }
    }

    /// Returns the folder, and the one that links on the way lead to: that is where a system sees a write.
    fn told(&self, root: usize, folder: usize) -> Vec<(usize, &'static str)> {
        let named = (root, FOLDERS[folder]);
        let real = self.path(root).join(FOLDERS[folder]).canonicalize().ok();
        let all = (0..ROOTS).flat_map(|root| FOLDERS.map(|folder| (root, folder)));
        let is_real = |other: &(usize, &str)| {
            let path = self.path(other.0).canonicalize().unwrap().join(other.1);
            *other != named && Some(path) == real
        };
        [named].into_iter().chain(all.filter(is_real)).collect()
    }

    /// Does it, and returns the folders that changed.
    fn act(&mut self, act: &Act) -> Vec<(usize, &'static str)> {
        match *act {
            Act::Write { root, folder, name } => {
                let name = NAMES[name];
                let text = format!(
                    "---\nname: '{name}'\ndescription: LONGER\ntriggers: [say {name}]\n---\n"
                );
                self.put(&self.path(root).join(FOLDERS[folder]), &text);
                self.told(root, folder)
            }
            Act::Break { root, folder } => {
                self.put(&self.path(root).join(FOLDERS[folder]), "LONGER");
                self.told(root, folder)
            }
            Act::Remove { root, folder } => {
                let _ = fs::remove_dir_all(self.path(root).join(FOLDERS[folder]));
                vec![(root, FOLDERS[folder])]
            }
            Act::Rename { root, from, to } => {
                let path = self.path(root);
                let _ = fs::rename(path.join(FOLDERS[from]), path.join(FOLDERS[to]));
                vec![(root, FOLDERS[from]), (root, FOLDERS[to])]
            }
            Act::Beside { root, folder } => {
                let references = self.path(root).join(FOLDERS[folder]).join("references");
                self.put(&references, "not one LONGER");
                self.told(root, folder)
            }
            Act::Hidden { root } => {
                let _ = fs::create_dir_all(self.path(root).join(".hidden/pdf"));
                vec![(root, ".hidden/pdf"), (root, ".hidden")]
            }
            Act::Link {
                root,
                folder,
                to: (to_root, to),
                tells,
            } => {
                let link = self.path(root).join(FOLDERS[folder]);
                let _ = fs::create_dir_all(link.parent().unwrap());
                #[cfg(unix)]
                let _ = std::os::unix::fs::symlink(self.path(to_root).join(FOLDERS[to]), link);
                let above = FOLDERS[folder].rsplit_once('/').map(|(above, _)| above);
                match tells {
                    Tells::Folder => vec![(root, above.unwrap_or(FOLDERS[folder]))],
                    Tells::Link => vec![(root, FOLDERS[folder])],
                }
            }
        }
    }
}

/// Everything that can be asked of a snapshot.
fn shown(catalog: &Catalog) -> String {
    let mut out = String::new();
    for entry in catalog.entries() {
        let shadows: Vec<_> = entry.shadows().map(|entry| entry.id()).collect();
        let notes: Vec<_> = entry.notes().into_iter().map(|note| note.message).collect();
        let shadowed_by = entry.shadowed_by().map(|entry| entry.id());
        writeln!(
            out,
            "{} {:?} {} {} {:?} {:?} {shadowed_by:?} {shadows:?} {notes:?}",
            entry.id(),
            entry.status(),
            entry.root().label(),
            entry.skill().folder,
            entry.skill().revision,
            entry.alias(),
        )
        .unwrap();
        assert_eq!(catalog.get(entry.id()), Some(entry), "an id leads back");
    }
    for refused in catalog.refused() {
        writeln!(
            out,
            "{} {} {:?}",
            refused.source, refused.folder, refused.revision
        )
        .unwrap();
    }
    let findings: BTreeSet<_> = catalog
        .findings()
        .iter()
        .map(|of| format!("{} {}", of.source, of.finding.diagnostic.message))
        .collect();
    writeln!(out, "{findings:?}").unwrap();
    let words = NAMES.iter().chain(&FOLDERS).flat_map(|word| {
        let word = word.rsplit('/').next().unwrap();
        ["", "user:", "acme:", "project:"].map(|scope| format!("{scope}{word}"))
    });
    for word in words {
        let found = match catalog.resolve(&word) {
            Lookup::Skill(entry) => entry.id().to_owned(),
            Lookup::Refused(refused) => format!("refused {} {}", refused.source, refused.folder),
            _ => "nothing".to_owned(),
        };
        writeln!(out, "{word} -> {found}").unwrap();
    }
    out
}

fn matched(matcher: &Matcher) -> Vec<String> {
    let found = matcher.matches("say pdf, say mail, say sheet, say a_b and say user:pdf");
    let candidates = found.candidates.iter();
    candidates
        .map(|candidate| format!("{} {}", candidate.entry.id(), candidate.evidence()))
        .collect()
}

/// Follows what happens by folder, and compares each step with a look at everything. Returns how many steps were followed.
fn follow(acts: &[Act]) -> usize {
    let mut world = World::new();
    let mut catalog = world.discover();
    let mut matcher = Matcher::new(&catalog);
    let mut followed = 0;
    for act in acts {
        let changed = world.act(act);
        let whole = catalog.refresh(world.roots(), CatalogOptions::default(), far_future());
        let next = match catalog.refresh_folders(&changed, far_future()) {
            Some(next) => {
                assert_eq!(next.changes, whole.changes, "{act:?} in {acts:?}");
                followed += 1;
                next.catalog
            }
            None => whole.catalog.clone(),
        };
        assert_eq!(
            shown(&next),
            shown(&world.discover()),
            "{act:?} in {acts:?}"
        );
        // Every other step is skipped by the matcher, as one that nobody asks is.
        if followed % 2 == 0 {
            matcher = matcher.refresh(&next);
            assert_eq!(matched(&matcher), matched(&Matcher::new(&next)), "{acts:?}");
        }
        catalog = next;
    }
    followed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn refresh_of_changed_folders_equals_full_rescan(
        acts in proptest::collection::vec(act(0), 1..24),
    ) {
        follow(&acts);
    }

    #[test]
    fn refresh_of_changed_folders_with_links_equals_full_rescan(
        acts in proptest::collection::vec(act(4), 1..24),
    ) {
        follow(&acts);
    }
}

#[cfg(unix)]
#[test]
fn write_through_a_link_inside_a_skill_is_noticed() {
    let write = |root, folder| Act::Write {
        root,
        folder,
        name: 0,
    };
    let link = Act::Link {
        root: 1,
        folder: 5,
        to: (1, 7),
        tells: Tells::Folder,
    };
    follow(&[link, write(0, 0), write(1, 7), write(1, 6), write(1, 5)]);
}

#[test]
fn edits_additions_and_removals_need_no_full_rescan() {
    let write = |folder, name| Act::Write {
        root: 0,
        folder,
        name,
    };
    let acts = [
        write(0, 0),
        write(1, 2),
        Act::Write {
            root: 1,
            folder: 0,
            name: 1,
        },
        write(0, 0),
        write(0, 5),
        Act::Break { root: 0, folder: 1 },
        write(1, 2),
        Act::Rename {
            root: 0,
            from: 1,
            to: 5,
        },
        Act::Remove { root: 1, folder: 0 },
    ];
    assert_eq!(follow(&acts), acts.len());
}

#[test]
fn no_change_of_many_is_lost() {
    let acts: Vec<Act> = (0..200)
        .map(|number| Act::Write {
            root: number % 2,
            folder: number % 4,
            name: number % NAMES.len(),
        })
        .collect();
    assert_eq!(follow(&acts), 200);
}

#[test]
fn changing_one_skill_reads_one_file() {
    let mut world = World::new();
    for number in 0..50 {
        let folder = world.path(0).join(format!("skill-{number}"));
        let text = format!("---\nname: skill-{number}\ndescription: LONGER\n---\n");
        world.put(&folder, &text);
    }
    let catalog = world.discover();
    let text = "---\nname: skill-7\ndescription: other LONGER\n---\n";
    world.put(&world.path(0).join("skill-7"), text);
    // Whoever looks at everything would see that this one is gone.
    fs::remove_dir_all(world.path(0).join("skill-9")).unwrap();
    let next = catalog
        .refresh_folders(&[(0, "skill-7")], far_future())
        .unwrap();
    assert_eq!(next.changes.changed, ["skill-7".into()]);
    assert!(next.catalog.get("skill-9").is_some());
    for entry in next
        .catalog
        .entries()
        .filter(|entry| entry.id() != "skill-7")
    {
        let before = catalog.get(entry.id()).unwrap();
        assert!(std::sync::Arc::ptr_eq(before.skill(), entry.skill()));
    }
}

#[cfg(unix)]
#[test]
fn links_to_skills_force_a_full_rescan() {
    let mut world = World::new();
    let text = "---\nname: pdf\ndescription: LONGER\n---\n";
    world.put(&world.path(0).join("pdf"), text);
    std::os::unix::fs::symlink(world.path(0).join("pdf"), world.path(1).join("linked")).unwrap();
    let catalog = world.discover();
    world.put(&world.path(0).join("pdf"), text);
    assert!(
        catalog
            .refresh_folders(&[(0, "pdf")], far_future())
            .is_none()
    );
    // A link that is new says so itself.
    let world = World::new();
    let catalog = world.discover();
    std::os::unix::fs::symlink("/nowhere", world.path(1).join("new")).unwrap();
    assert!(
        catalog
            .refresh_folders(&[(1, "new")], far_future())
            .is_none()
    );
}

#[test]
fn refresh_of_a_missing_folder_changes_nothing() {
    let mut world = World::new();
    world.put(
        &world.path(0).join("pdf"),
        "---\nname: pdf\ndescription: LONGER\n---\n",
    );
    let catalog = world.discover();
    let none = |folders: &[(usize, &str)]| catalog.refresh_folders(folders, far_future());
    assert_eq!(
        none(&[(0, "a/b"), (0, "c")]).unwrap().changes,
        Changes::default()
    );
    assert!(none(&[(9, "a")]).is_none(), "there is no such root");
    assert!(none(&[(0, "")]).is_none());
    assert!(none(&[(0, "../0/pdf")]).is_none());
    assert!(none(&[(0, "/etc")]).is_none());
}

#[cfg(unix)]
#[test]
fn new_folder_linking_to_a_known_skill_adds_no_second_skill() {
    let mut world = World::new();
    let text = "---\nname: pdf\ndescription: LONGER\n---\n";
    world.put(&world.path(0).join("pdf"), text);
    let mut catalog = world.discover();
    fs::create_dir(world.path(0).join("team")).unwrap();
    std::os::unix::fs::symlink("../pdf", world.path(0).join("team/pdf")).unwrap();
    let follow = |catalog: &Catalog, world: &World| match catalog
        .refresh_folders(&[(0, "team")], far_future())
    {
        Some(next) => next.catalog,
        None => {
            catalog
                .refresh(world.roots(), CatalogOptions::default(), far_future())
                .catalog
        }
    };
    catalog = follow(&catalog, &world);
    assert_eq!(catalog.len(), 1);
    fs::remove_dir_all(world.path(0).join("team")).unwrap();
    catalog = follow(&catalog, &world);
    assert_eq!(shown(&catalog), shown(&world.discover()));
}

/// A link to a folder without skills makes nothing a skill, until there is one.
#[cfg(unix)]
#[test]
fn new_skill_behind_another_roots_link_is_found_like_a_full_rescan() {
    let mut world = World::new();
    fs::create_dir(world.path(1).join("group")).unwrap();
    std::os::unix::fs::symlink(world.path(1).join("group"), world.path(0).join("theirs")).unwrap();
    let catalog = world.discover();
    let text = "---\nname: pdf\ndescription: LONGER\n---\n";
    world.put(&world.path(1).join("group/pdf"), text);
    let next = match catalog.refresh_folders(&[(1, "group/pdf")], far_future()) {
        Some(next) => next.catalog,
        None => {
            catalog
                .refresh(world.roots(), CatalogOptions::default(), far_future())
                .catalog
        }
    };
    assert_eq!(shown(&next), shown(&world.discover()));
}
