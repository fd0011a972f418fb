//! No path that a host passes on leads out of a skill.
#![cfg(unix)]

use skillfold::core::source::LinkPolicy;
use skillfold::core::{ErrorKind, FsSource, Root, Scope};
use skillfold::{Environment, Host, Skills};
use skillfold_testkit::{
    ATTACKED_SKILL, ExpectedOutcome, HostileTree, contains_secret, hostile_tree,
};

fn skills(tree: &HostileTree, links: LinkPolicy) -> Skills {
    let source = FsSource::open_with(tree.root(), links).unwrap();
    Host::new(Environment::new("/nowhere"))
        .set("default_roots", "false")
        .root(Root::new(Scope::User, "hostile", source))
        .discover()
        .unwrap()
        .skills
}

#[test]
fn no_path_in_a_call_reads_a_byte_from_outside_the_skill() {
    let tree = hostile_tree();
    let attacks = tree.attacks();
    assert!(attacks.len() >= 500, "{}", attacks.len());
    for links in [LinkPolicy::Follow, LinkPolicy::Refuse, LinkPolicy::Strict] {
        let skills = skills(&tree, links);
        for attack in &attacks {
            match skills.read_range(ATTACKED_SKILL, &attack.text, ..1 << 16) {
                Ok(content) => {
                    assert_eq!(attack.expected, ExpectedOutcome::Inside, "{attack:?}");
                    assert!(!contains_secret(content.bytes()), "{attack:?}");
                }
                Err(error) => {
                    let kinds = [ErrorKind::Refused, ErrorKind::NotFound];
                    assert!(kinds.contains(&error.kind()), "{attack:?}: {error:?}");
                }
            }
        }
    }
}

#[test]
fn path_used_as_an_id_resolves_to_no_skill() {
    let tree = hostile_tree();
    let skills = skills(&tree, LinkPolicy::Follow);
    for attack in tree.attacks() {
        let id = &attack.text;
        // An id may have a folder's name in it, but never leads to what is not in the catalog.
        if let Ok(loaded) = skills.load(id, "") {
            assert!(skills.catalog().get(loaded.id()).is_some(), "{attack:?}");
            assert!(!contains_secret(loaded.text().as_bytes()), "{attack:?}");
        }
        assert_eq!(
            skills.files(id, None, 10).is_ok(),
            skills.catalog().get(id).is_some()
        );
    }
}

#[test]
fn listing_names_nothing_from_outside_and_no_link() {
    let tree = hostile_tree();
    let skills = skills(&tree, LinkPolicy::Follow);
    let page = skills.files(ATTACKED_SKILL, None, 100_000).unwrap();
    assert!(!page.files.is_empty());
    for file in &page.files {
        assert!(!contains_secret(file.path.as_str().as_bytes()), "{file:?}");
        let path = tree.root().join(ATTACKED_SKILL).join(file.path.as_str());
        assert!(path.symlink_metadata().unwrap().is_file(), "{file:?}");
    }
}
