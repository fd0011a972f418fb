//! Whole versions of skills: kept, proposed, installed, removed and merged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::{prop_assert, prop_assert_eq, proptest};
use skillfold_core::ErrorKind;
use skillfold_store::{
    Approval, Author, ProposedVersion, SkillFiles, SkillPath, VersionCause, merge_skills,
};

use crate::proposals::{User, now};

fn skill<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> SkillFiles {
    let files = files.into_iter();
    let files = files.map(|(path, text)| (path.parse().unwrap(), text.as_bytes().to_vec()));
    files.collect()
}

fn version(body: &str) -> SkillFiles {
    skill([
        (
            "SKILL.md",
            "---\nname: pdf\ndescription: Fills in forms\n---\n",
        ),
        ("scripts/fill.py", body),
    ])
}

fn propose<'u>(
    user: &'u User,
    before: &'u SkillFiles,
    after: &'u SkillFiles,
) -> ProposedVersion<'u> {
    ProposedVersion {
        skill: "pdf",
        place: &user.pdf,
        before,
        after,
        origin: BTreeMap::from([("source".to_owned(), "owner/repo v2".to_owned())]),
        author: Author::named("anna"),
        justification: "Update",
        evidence: None,
        checks: &[],
    }
}

/// Returns the paths of all contents.
fn contents(user: &User) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in fs::read_dir(user.home.path().join("data/contents")).unwrap() {
        let files = fs::read_dir(folder.unwrap().path()).unwrap();
        found.extend(files.map(|file| file.unwrap().path()));
    }
    found
}

#[test]
fn damaged_content_is_not_used_and_is_replaced_when_stored_again() {
    let user = User::new();
    let kept = version("print(1)\n");
    let digest = user.store.keep_version(&kept).unwrap();
    for file in contents(&user) {
        fs::write(file, "something else").unwrap();
    }
    assert_eq!(user.store.version(digest).unwrap(), None);
    user.store.keep_version(&kept).unwrap();
    assert_eq!(user.store.version(digest).unwrap(), Some(kept));
}

#[test]
fn contents_are_removed_once_nothing_needs_them() {
    let user = User::new();
    let lock = user.home.path().join("skills.lock");
    fs::write(&lock, "").unwrap();
    let (wanted, other) = (version("print(1)\n"), version("print(2)\n"));
    let digest = user.store.keep_version(&wanted).unwrap();
    let unneeded = user.store.keep_version(&other).unwrap();
    user.store
        .keep_for(&lock, BTreeSet::from([digest]), now())
        .unwrap();
    // The list and the script; `SKILL.md` is the same in both.
    assert_eq!(user.store.clean(now()).unwrap(), 2);
    assert_eq!(user.store.version(unneeded).unwrap(), None);
    assert_eq!(user.store.version(digest).unwrap(), Some(wanted));
    assert!(user.store.is_needed_by(&lock, digest).unwrap());

    fs::remove_file(&lock).unwrap();
    assert_eq!(user.store.clean(now()).unwrap(), 3);
    assert_eq!(contents(&user), Vec::<PathBuf>::new());
}

#[test]
fn proposed_version_with_binary_files_replaces_the_skill_when_approved() {
    let user = User::new();
    let before = user.pdf.read().unwrap().unwrap();
    let bytes = vec![0, 159, 146, 150];
    let picture = [("assets/stamp.png".parse().unwrap(), bytes.clone())];
    let after: SkillFiles = version("print(1)\n")
        .iter()
        .map(|(path, bytes)| (path.parse().unwrap(), bytes.to_vec()))
        .chain(picture)
        .collect();
    let new = propose(&user, &before, &after);
    let proposed = user.store.propose_version(&new, now()).unwrap();
    assert_eq!(proposed.proposal.after, Some(after.digest()));
    assert!(user.store.propose_version(&new, now()).unwrap().is_repeated);
    // A later one takes its place.
    let later = version("print(2)\n");
    let second = propose(&user, &before, &later);
    user.store.propose_version(&second, now()).unwrap();
    let waiting = user.store.proposals().unwrap().waiting;
    assert_eq!(waiting.len(), 1);
    let refused = user.approve(&proposed).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);

    // Decided in this second, and proposed again.
    let proposed = user.store.propose_version(&new, now()).unwrap();
    user.approve(&proposed).unwrap();
    let installed = user.pdf.read().unwrap().unwrap();
    assert_eq!(installed.digest(), after.digest());
    assert_eq!(installed.get("assets/stamp.png"), Some(&*bytes));
    let origin = user.store.last_origin(&user.pdf).unwrap().unwrap();
    assert_eq!(origin.origin["source"], "owner/repo v2");
}

#[test]
fn skill_that_was_edited_meanwhile_is_neither_installed_over_nor_removed() {
    let user = User::new();
    let before = user.pdf.read().unwrap().unwrap();
    let file = user.home.path().join("skills/pdf/SKILL.md");
    fs::write(&file, "edited").unwrap();
    let lock = user.home.path().join("skills.lock");
    let skills = [(user.pdf.clone(), before.clone(), version("print(1)\n"))];
    let installed = user.store.install(&lock, skills, now()).unwrap();
    assert!(installed.into_iter().all(|it| it.is_err()));
    assert!(
        user.store
            .remove(&user.pdf, &before, "gone", now())
            .is_err()
    );
    assert_eq!(fs::read_to_string(file).unwrap(), "edited");
}

#[test]
fn removed_skill_can_be_rolled_back() {
    let user = User::new();
    let files = user.pdf.read().unwrap().unwrap();
    let store = &user.store;
    store.remove(&user.pdf, &files, "not used", now()).unwrap();
    assert_eq!(user.pdf.read().unwrap(), None);
    let versions = store.history(&user.pdf, now()).unwrap();
    assert!(matches!(
        versions.last().unwrap().cause,
        VersionCause::Removed { .. }
    ));
    let approval = Approval::at_terminal("anna");
    let version = files.digest();
    store
        .roll_back(&user.pdf, None, version, &approval, "needed", now())
        .unwrap();
    assert_eq!(user.pdf.read().unwrap().unwrap().digest(), version);
}

#[test]
fn folder_that_becomes_a_file_and_back_is_replaced() {
    let user = User::new();
    let text = "---\nname: pdf\ndescription: Fills in forms\n---\n";
    let mut before = user.pdf.read().unwrap().unwrap();
    let file = skill([("SKILL.md", text), ("references", "One file.\n")]);
    let folder = skill([("SKILL.md", text), ("references/old.md", "Old.\n")]);
    for after in [file, folder] {
        let new = propose(&user, &before, &after);
        let proposed = user.store.propose_version(&new, now()).unwrap();
        user.approve(&proposed).unwrap();
        before = user.pdf.read().unwrap().unwrap();
        assert_eq!(before.digest(), after.digest());
    }
}

#[test]
fn authors_file_that_meets_a_name_of_the_user_is_beside_it() {
    let base = skill([("SKILL.md", "text")]);
    let mine = skill([
        ("SKILL.md", "text"),
        ("docs", "mine"),
        ("Readme.md", "mine"),
    ]);
    let theirs = skill([
        ("SKILL.md", "text"),
        ("docs/guide.md", "theirs"),
        ("README.md", "theirs"),
    ]);
    let merged = merge_skills(&base, &mine, &theirs).unwrap();
    assert_eq!(merged.conflicts, ["README.md", "docs/guide.md"]);
    assert_eq!(
        merged.files.get("docs-guide.md.upstream"),
        Some(&b"theirs"[..])
    );
    assert_eq!(merged.files.get("README.md.upstream"), Some(&b"theirs"[..]));
    assert_eq!(merged.files.get("docs"), Some(&b"mine"[..]));
}

#[test]
fn skill_with_a_repository_in_its_folder_is_not_removed() {
    let user = User::new();
    let git = user.home.path().join("skills/pdf/.git");
    fs::create_dir(&git).unwrap();
    fs::write(git.join("config"), "mine").unwrap();
    let files = user.pdf.read().unwrap().unwrap();
    assert!(user.store.remove(&user.pdf, &files, "gone", now()).is_err());
    assert_eq!(fs::read_to_string(git.join("config")).unwrap(), "mine");
    let place = SkillPath::new(user.home.path(), &user.pdf.path()).unwrap();
    assert!(place.read().unwrap().is_some());
}

/// A few names, so that versions often have the same, and texts that differ in few lines.
fn any_skill() -> impl Strategy<Value = SkillFiles> {
    let line = prop_oneof![
        Just("a"),
        Just("b"),
        Just("c"),
        Just("d"),
        Just("é\u{202e}")
    ];
    let text = vec(line, 0..6).prop_map(|lines| lines.join("\n").into_bytes());
    let bytes = vec(any::<u8>(), 0..12);
    let content = prop_oneof![4 => text, 1 => bytes];
    let name = prop_oneof![
        Just("SKILL.md"),
        Just("a"),
        Just("A"),
        Just("a/b"),
        Just("b/c"),
        Just("a.upstream")
    ];
    let files = btree_map(name, content, 0..4);
    files.prop_map(|mut files| {
        // No file system has these together.
        if files.contains_key("a/b") {
            files.remove("a");
            files.remove("A");
        }
        if files.contains_key("a") {
            files.remove("A");
        }
        let files = files.into_iter();
        files
            .map(|(path, bytes)| (path.parse().unwrap(), bytes))
            .collect()
    })
}

/// Returns whether a file has the name of another, or of a folder, where case is ignored.
fn has_room(files: &SkillFiles) -> bool {
    let paths: Vec<String> = files.iter().map(|(path, _)| path.to_lowercase()).collect();
    paths.iter().enumerate().all(|(at, path)| {
        let mut others = paths.iter().enumerate().filter(|(other, _)| *other != at);
        !others.any(|(_, other)| other == path || other.starts_with(&format!("{path}/")))
    })
}

proptest! {
    /// Files that one side alone changed are as that side has them; the user's conflicting file stays, and the author's is
    /// somewhere beside it.
    #[test]
    fn merge_loses_nothing_of_either_side(base in any_skill(), mine in any_skill(), theirs in any_skill()) {
        let merged = merge_skills(&base, &mine, &theirs).unwrap();
        for (path, bytes) in mine.iter() {
            if theirs.get(path) == base.get(path) || merged.conflicts.iter().any(|it| it == path) {
                prop_assert_eq!(merged.files.get(path), Some(bytes), "{}", path);
            }
        }
        for (path, bytes) in theirs.iter() {
            let is_conflict = merged.conflicts.iter().any(|it| it == path);
            if mine.get(path) == base.get(path) {
                let is_there = merged.files.get(path) == Some(bytes);
                prop_assert!(is_there || merged.files.iter().any(|(_, it)| it == bytes), "{}", path);
            } else if is_conflict {
                prop_assert!(merged.files.iter().any(|(_, it)| it == bytes), "{}", path);
            }
        }
        prop_assert!(has_room(&merged.files), "{:?}", merged.files);
        prop_assert_eq!(merge_skills(&base, &mine, &base).unwrap().files.digest(), mine.digest());
        prop_assert_eq!(merge_skills(&base, &base, &theirs).unwrap().files.digest(), theirs.digest());
    }
}
