//! Folders on this machine as sources.

use std::fs;

use skillfold_registry::{Address, Pin};

use crate::world::{World, shown};

impl World {
    /// Reads a skill of a folder beside the repository.
    fn read_local(&self, folder: &str, skill: &str) -> String {
        let path = self.path(folder);
        let path = path.to_str().unwrap();
        shown(path, || {
            let address = Address::parse(path)?;
            let mut fetcher = self.fetcher();
            let snapshot = fetcher.open(&address, &Pin::default())?;
            let found = snapshot.found(&address)?;
            let names = found.skills.iter().map(|it| it.name.to_string());
            let names = names.collect::<Vec<_>>().join(" ");
            let files = snapshot.read(skill)?;
            let paths = files.iter().map(|(path, _)| path.as_str());
            Ok(format!("{names}: {}", paths.collect::<Vec<_>>().join(" ")))
        })
    }
}

#[cfg(unix)]
#[test]
fn odd_file_refuses_only_the_skill_that_has_it() {
    let world = World::new();
    let folder = world.path("own");
    for skill in ["good", "linked", "socket", "own"] {
        fs::create_dir_all(folder.join(skill)).unwrap();
        fs::write(folder.join(skill).join("SKILL.md"), "# x").unwrap();
    }
    fs::create_dir(folder.join("good/.git")).unwrap();
    // Its path starts with the name of the source's folder.
    std::os::unix::fs::symlink("SKILL.md", folder.join("own/link")).unwrap();
    std::os::unix::fs::symlink("/", folder.join("linked/link")).unwrap();
    let socket = folder.join("socket/x");
    let _listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
    insta::assert_snapshot!(world.read_local("own", "good"), @"good linked own socket: SKILL.md");
    insta::assert_snapshot!(world.read_local("own", "own"), @r"
    Refused to open `own/link`
    hint: The skill has a link; its author has to replace it with the file itself
    ");
    insta::assert_snapshot!(world.read_local("own", "linked"), @r"
    Refused to open `linked/link`
    hint: The skill has a link; its author has to replace it with the file itself
    ");
    insta::assert_snapshot!(world.read_local("own", "socket"), @r"
    Refused to open `socket/x`
    hint: The skill has something that is not a plain file, or a name that is not UTF-8; its author has to remove it
    ");
}

#[cfg(unix)]
#[test]
fn more_links_than_are_usually_listed_are_all_known() {
    let world = World::new();
    let folder = world.path("source");
    fs::create_dir_all(folder.join("a")).unwrap();
    fs::create_dir_all(folder.join("z")).unwrap();
    fs::write(folder.join("z/SKILL.md"), "# x").unwrap();
    for name in 0..1_500 {
        std::os::unix::fs::symlink("x", folder.join(format!("a/{name}"))).unwrap();
    }
    std::os::unix::fs::symlink("x", folder.join("z/link")).unwrap();
    insta::assert_snapshot!(world.read_local("source", "z"), @r"
    Refused to open `z/link`
    hint: The skill has a link; its author has to replace it with the file itself
    ");
}
