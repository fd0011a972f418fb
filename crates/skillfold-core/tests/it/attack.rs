//! No path that anybody can write leads out of a skill.
#![cfg(unix)]

use std::sync::mpsc;
use std::time::Duration;

use skillfold_core::Refusal;
use skillfold_core::name::ResourcePath;
use skillfold_core::source::{FileBytes, Folder, LinkPolicy, WalkOptions};
use skillfold_core::{Error, ErrorKind, FsSource, Limits, Source};
use skillfold_testkit::{
    ATTACKED_SKILL, AttackClass, AttackPath, ExpectedOutcome, SHARED, contains_secret, hostile_tree,
};

/// Reads what an attack asks for, as every frontend does: the text becomes a path, and the source reads it.
fn read(source: &FsSource, text: &str) -> Result<FileBytes, Error> {
    let path: ResourcePath = text
        .parse()
        .map_err(|error: skillfold_core::name::InvalidPath| {
            Error::refused(text, Refusal::Traversal, error.rule())
        })?;
    source.read(&Folder::new(ATTACKED_SKILL).unwrap(), &path, 0..1 << 16)
}

fn kind(source: &FsSource, text: &str) -> Result<(), Error> {
    let path: ResourcePath = text
        .parse()
        .map_err(|error: skillfold_core::name::InvalidPath| {
            Error::refused(text, Refusal::Traversal, error.rule())
        })?;
    source
        .kind(&Folder::new(ATTACKED_SKILL).unwrap(), &path)
        .map(|_| ())
}

#[track_caller]
fn judge<T>(attack: &AttackPath, answer: &Result<T, Error>) {
    let Err(error) = answer else {
        assert_eq!(
            attack.expected,
            ExpectedOutcome::Inside,
            "{attack:?} succeeded"
        );
        return;
    };
    let expected: &[ErrorKind] = match attack.expected {
        ExpectedOutcome::Refused => &[ErrorKind::Refused],
        _ => &[ErrorKind::Refused, ErrorKind::NotFound],
    };
    assert!(expected.contains(&error.kind()), "{attack:?}: {error:?}");
    assert!(!error.hint().is_empty(), "{attack:?}");
}

/// Fails if `attack` waits: a pipe without a writer would make it wait for ever.
fn without_waiting(attack: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        attack();
        done.send(()).unwrap();
    });
    let answer = wait.recv_timeout(Duration::from_secs(60));
    assert_ne!(
        answer,
        Err(mpsc::RecvTimeoutError::Timeout),
        "an attack made the source wait"
    );
    thread.join().unwrap();
}

#[test]
fn no_attack_reads_a_byte_from_outside_the_skill() {
    without_waiting(|| {
        let tree = hostile_tree();
        for skipped in tree.skipped() {
            eprintln!("skipped: {skipped}");
        }
        let attacks = tree.attacks();
        assert!(attacks.len() >= 500, "{}", attacks.len());
        for links in [LinkPolicy::Follow, LinkPolicy::Refuse, LinkPolicy::Strict] {
            let source = FsSource::open_with(tree.root(), links).unwrap();
            for attack in &attacks {
                let answer = read(&source, &attack.text);
                judge(attack, &answer);
                let bytes = answer.map(|content| content.bytes).unwrap_or_default();
                assert!(!contains_secret(&bytes), "{attack:?}");
                judge(attack, &kind(&source, &attack.text));
            }
        }
    });
}

#[test]
fn hard_link_is_a_file_of_the_skill_unless_links_are_strict() {
    let tree = hostile_tree();
    for (links, is_read) in [
        (LinkPolicy::Follow, true),
        (LinkPolicy::Refuse, true),
        (LinkPolicy::Strict, false),
    ] {
        let source = FsSource::open_with(tree.root(), links).unwrap();
        let shared = tree
            .attacks()
            .into_iter()
            .find(|attack| attack.class == AttackClass::HardLink)
            .unwrap();
        match read(&source, &shared.text) {
            Ok(content) => assert!(is_read && content.bytes == SHARED.as_bytes()),
            Err(error) => assert!(!is_read && error.kind() == ErrorKind::Refused),
        }
    }
}

#[test]
fn listing_of_a_hostile_skill_names_nothing_outside_it() {
    without_waiting(|| {
        let tree = hostile_tree();
        let source = FsSource::open(tree.root()).unwrap();
        let resources = source
            .resources(
                &Folder::new(ATTACKED_SKILL).unwrap(),
                &Limits::default(),
                None,
            )
            .unwrap();
        let files: Vec<&str> = resources
            .files
            .iter()
            .map(|file| file.path.as_str())
            .collect();
        assert_eq!(
            files,
            [
                "SKILL.md",
                "assets/\u{fc}ber.md",
                "folder.md/inner.md",
                "references/forms.md",
                "scripts/run.py",
                "shared.txt",
                "special/sparse",
            ]
        );
        let links = resources.findings.iter();
        let links = links.filter(|finding| finding.path.starts_with("links/"));
        assert_eq!(links.count(), 24);
    });
}

#[test]
fn skills_of_a_hostile_root_are_found_at_their_real_paths() {
    without_waiting(|| {
        let tree = hostile_tree();
        let source = FsSource::open(tree.root()).unwrap();
        let listing = source.list(&WalkOptions::default(), None).unwrap();
        let folders = listing.folders.iter();
        let folders: Vec<&str> = folders.map(|listed| listed.folder.path()).collect();
        assert_eq!(folders, ["other", ATTACKED_SKILL, "pdf-secret"]);
    });
}
