//! What a copy in the cache can have that git did not write there.

use std::fs;
use std::path::PathBuf;

use skillfold_registry::{FetchPolicy, Fetcher, Pin};

use crate::world::{World, shown};

impl World {
    /// Returns the packs in the copy.
    fn packs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.copy().join("objects/pack")).unwrap();
        let packs = entries.map(|entry| entry.unwrap().path());
        packs
            .filter(|path| path.extension().is_some_and(|it| it == "pack"))
            .collect()
    }

    /// Changes everything in the packs but their start, or only the end of what they have.
    fn damage_packs(&self, from: impl Fn(usize) -> usize) {
        for pack in self.packs() {
            let mut bytes = fs::read(&pack).unwrap();
            let end = bytes.len() - 20;
            bytes[from(end)..end].fill(0x5a);
            fs::remove_file(&pack).unwrap();
            fs::write(&pack, bytes).unwrap();
        }
    }
}

#[test]
fn copy_that_is_damaged_is_fetched_again() {
    let world = World::new();
    world.skills(&["a"]);
    let commit = world.commit();
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
    world.damage_packs(|_| 12);
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
    world.damage_packs(|end| end - 2);
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
}

#[test]
fn copy_that_is_damaged_is_kept_and_reported_if_it_cannot_be_fetched() {
    let world = World::new();
    world.skills(&["a"]);
    let commit = world.commit();
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
    world.damage_packs(|end| end - 2);
    let mut options = world.options();
    options.network = FetchPolicy::Offline;
    let (address, pin) = (world.address(&commit), Pin::commit(&commit, None));
    let read = shown(&world.source(), || {
        let mut fetcher = Fetcher::new(options);
        Ok(fetcher.open(&address, &pin)?.read("a")?.len().to_string())
    });
    let start = "The cache of `SOURCE` is damaged: ";
    assert!(read.starts_with(start), "{read}");
    assert!(read.ends_with("\nhint: Run `skillfold cache clean`, and try again"));
    assert!(!world.packs().is_empty());
}

#[test]
fn mistake_in_the_users_settings_is_no_damage() {
    let world = World::new();
    world.skills(&["a"]);
    let commit = world.commit();
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
    world.configure("[core\n");
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
    assert!(!world.packs().is_empty());
}

#[test]
fn what_a_killed_git_left_does_not_stop_a_fetch() {
    let world = World::new();
    world.skills(&["a"]);
    let commit = world.commit();
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
    let left = [
        "shallow.lock",
        "objects/pack/tmp_pack_x",
        "refs/all/main.lock",
    ];
    let left = left.map(|name| world.copy().join(name));
    fs::create_dir_all(world.copy().join("refs/all")).unwrap();
    for path in &left {
        fs::write(path, "").unwrap();
    }
    world.write("a/b", "");
    let commit = world.commit();
    assert_eq!(world.read(&commit, "a"), "SKILL.md, b");
    for path in &left {
        assert!(!path.exists());
    }
    // Only this commit was fetched.
    assert!(world.copy().join("shallow").exists());
    assert!(!world.copy().join("refs/all/main").exists());
}

#[cfg(unix)]
#[test]
fn settings_in_the_cache_run_nothing() {
    let world = World::new();
    world.skills(&["a", "b"]);
    let commit = world.commit();
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
    let (copy, mark) = (world.copy(), world.path("mark"));
    let settings = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[remote \"origin\"]\n\tuploadpack = touch '{}'; git-upload-pack\n",
        mark.display()
    );
    fs::create_dir(world.path("common")).unwrap();
    fs::write(world.path("common/config"), &settings).unwrap();
    fs::write(
        copy.join("commondir"),
        world.path("common").to_str().unwrap(),
    )
    .unwrap();
    assert_eq!(world.read(&commit, "b"), "SKILL.md");
    fs::remove_file(copy.join("commondir")).unwrap();
    fs::write(copy.join("config"), &settings).unwrap();
    world.write("b/c", "");
    let commit = world.commit();
    assert_eq!(world.read(&commit, "b"), "SKILL.md, c");
    assert!(!mark.exists());
}
