use proptest::prelude::*;
use skillfold_core::name::ResourcePath;

use crate::foreign::computed_hash;
use crate::tree::FileTree;

fn files<'p>(files: impl IntoIterator<Item = (&'p str, String)>) -> FileTree {
    let files = files.into_iter();
    files
        .map(|(path, text)| (path.parse().unwrap(), text.into_bytes()))
        .collect()
}

/// The skills of `hashes.txt`, and the hashes that `npx skills` 1.7.4 wrote for them with Node.js 22.23.3.
#[test]
fn hash_is_that_of_the_real_tool() {
    for skill in include_str!("npx-skills/hashes.txt").split("= ").skip(1) {
        let (first, paths) = skill.split_once('\n').unwrap();
        let (name, expected) = first.split_once(' ').unwrap();
        let content = |path| match path {
            "SKILL.md" => format!("---\nname: \"{name}\"\ndescription: d\n---\n"),
            path if path.contains("node_modules/") => "skipped".to_owned(),
            path => format!("content of {path}\n"),
        };
        let tree = files(paths.lines().map(|path| (path, content(path))));
        let expected = (name != "accents").then(|| expected.to_owned());
        assert_eq!(computed_hash(&tree), expected, "{name}");
    }
}

#[test]
fn names_outside_ascii_have_no_hash_unless_they_are_skipped() {
    let hash = |path| computed_hash(&files([("SKILL.md", String::new()), (path, String::new())]));
    assert!(hash("ä.md").is_none());
    assert!(hash("x/é/a").is_none());
    assert_eq!(hash("node_modules/é"), hash("x/node_modules/y/é"));
    assert!(hash("node_modules").is_some());
    assert_ne!(hash("node_modules"), hash("node_modules/x"));
}

proptest! {
    #[test]
    fn hash_of_any_files_is_64_digits_or_none(
        paths in prop::collection::btree_map("[ -~é]{1,6}(/[ -~]{1,3})?", ".{0,4}", 0..8),
    ) {
        let paths = paths.into_iter();
        let paths = paths.filter_map(|(path, text)| Some((path.parse::<ResourcePath>().ok()?, text.into_bytes())));
        let tree: FileTree = paths.collect();
        let is_ascii = tree.iter().all(|(path, _)| path.as_str().is_ascii());
        let hash = computed_hash(&tree);
        prop_assert_eq!(hash.is_some(), is_ascii);
        prop_assert!(hash.is_none_or(|hash| hash.len() == 64));
    }
}
