//! The search index on disk answers as the one in memory does, and is a cache.

mod agreement;
mod damage;
mod processes;

use std::cell::Cell;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::{Duration, SystemTime};

use skillfold_core::ErrorKind;
use skillfold_core::search::{DocumentBuilder, DocumentTexts, Query, SearchDocument};
use skillfold_index::{DiskIndex, DocumentKey, SyncReport, SyncWriter, delete_unused_indexes};

type Skill = (String, String);

/// A key that follows from the content.
fn key(skill: &Skill) -> DocumentKey {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, skill).hash(&mut hasher);
        hasher.finish().to_le_bytes()
    };
    let bytes: Vec<u8> = [half(0), half(1)].concat();
    DocumentKey::new(bytes.try_into().unwrap())
}

fn document((name, description): &Skill) -> SearchDocument {
    DocumentBuilder::new().from_texts(
        &DocumentTexts::default()
            .with_name(name)
            .with_description(description),
    )
}

fn skill(name: &str, description: &str) -> Skill {
    (name.into(), description.into())
}

fn office() -> Vec<Skill> {
    vec![
        skill("pdf", "Fills in forms"),
        skill("mail", "Writes letters"),
        skill("tables", "Sums up numbers in forms"),
    ]
}

/// A word that is one, whatever the number, and the stem of no other.
fn word(start: &str, number: usize) -> String {
    let letters = number.to_string().into_bytes();
    let letters = letters
        .iter()
        .map(|digit| char::from(b"bcdfghjklm"[usize::from(digit - b'0')]));
    start.chars().chain(letters).chain(['x']).collect()
}

/// So many skills, of which each has a word of its own and some in common with others.
fn many(count: usize) -> Vec<Skill> {
    let described = |number: usize| {
        let topics = ["charts", "forms", "letters", "invoices", "weather"];
        let topic = topics[number % topics.len()];
        skill(
            &word("skill", number),
            &format!(
                "Makes {topic} of {} for everybody",
                word("kind", number % 17)
            ),
        )
    };
    (0..count).map(described).collect()
}

fn sync(index: &DiskIndex, skills: &[Skill]) -> SyncReport {
    let skills = skills.iter();
    index
        .sync(skills.map(|skill| (key(skill), || Some(document(skill)))))
        .unwrap()
}

fn found(index: &DiskIndex, skills: &[Skill], request: &str) -> Vec<String> {
    let place = |wanted| skills.iter().position(|skill| key(skill) == wanted);
    let answer = index.search(&Query::new(request), 10, place).unwrap();
    let names = answer.hits.iter().map(|hit| skills[hit.value].0.clone());
    names.collect()
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        files.push((name, fs::read(&path).unwrap()));
    }
    files.sort();
    files
}

#[test]
fn index_finds_its_documents_in_this_and_the_next_process() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("caches/search");
    let index = DiskIndex::open(&folder, "1");
    assert_eq!((index.documents(), index.damage()), (0, None));
    assert!(!folder.exists(), "opening writes nothing");

    let synced = sync(&index, &office());
    assert_eq!((synced.added, synced.kept, synced.removed), (3, 0, 0));
    assert_eq!((synced.writer, synced.rebuilt), (SyncWriter::This, None));
    assert_eq!(
        found(&index, &office(), "fill in a form"),
        ["pdf", "tables"]
    );
    let next = DiskIndex::open(&folder, "1");
    assert_eq!(next.documents(), 3);
    assert_eq!(found(&next, &office(), "letter"), ["mail"]);
    assert_eq!(found(&next, &office(), "weather"), [""; 0]);
    assert_eq!(found(&next, &office(), "the and of"), [""; 0]);
}

#[test]
fn sync_reads_and_writes_only_changed_documents() {
    let folder = tempfile::tempdir().unwrap();
    let index = DiskIndex::open(folder.path(), "1");
    let mut skills = many(500);
    sync(&index, &skills);
    let before = files(folder.path());

    skills[7] = skill("plumber", "Repairs pipes");
    let made = Cell::new(0);
    let given = skills.iter().map(|skill| {
        let counted = || {
            made.set(made.get() + 1);
            Some(document(skill))
        };
        (key(skill), counted)
    });
    let synced = index.sync(given).unwrap();
    assert_eq!((synced.kept, synced.added, synced.removed), (499, 1, 1));
    assert_eq!((made.get(), synced.rewritten, synced.missing), (1, 0, 0));
    assert_eq!(found(&index, &skills, "repair the pipes"), ["plumber"]);
    assert_eq!(found(&index, &skills, &word("skill", 7)), [""; 0]);
    let after = files(folder.path());
    let is_segment = |name: &str| name.len() > 32;
    for (name, bytes) in before.iter().filter(|(name, _)| is_segment(name)) {
        assert!(after.contains(&(name.clone(), bytes.clone())), "{name}");
    }
    let written = after
        .iter()
        .filter(|file| is_segment(&file.0) && !before.contains(file));
    assert!(written.map(|(_, bytes)| bytes.len()).sum::<usize>() < 4_000);
}

#[test]
fn incremental_index_equals_a_fresh_one() {
    let root = tempfile::tempdir().unwrap();
    let changed = DiskIndex::open(root.path().join("changed"), "1");
    let made = DiskIndex::open(root.path().join("made"), "1");
    let mut skills = many(300);
    sync(&changed, &skills);
    for round in 0..40 {
        skills.remove(round * 7 % skills.len());
        skills.push(skill(&word("neu", round), "Draws charts of letters"));
        let synced = sync(&changed, &skills);
        assert_eq!(synced.writer, SyncWriter::This);
        assert_eq!(
            (synced.kept, synced.added, synced.removed, synced.missing),
            (299, 1, 1, 0),
            "{round}"
        );
    }
    sync(&made, &skills);
    assert_eq!(changed.documents(), made.documents());
    for request in [
        "draw charts of letters",
        "weather",
        "neubx",
        "neux invoices",
    ] {
        assert_eq!(
            found(&changed, &skills, request),
            found(&made, &skills, request),
            "{request}"
        );
    }
    let again = sync(&changed, &skills);
    assert_eq!((again.kept, again.added, again.removed), (300, 0, 0));
}

#[test]
fn sync_without_changes_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let index = DiskIndex::open(folder.path(), "1");
    sync(&index, &office());
    let before = files(folder.path());
    let synced = sync(&index, &office());
    assert_eq!((synced.kept, synced.added, synced.removed), (3, 0, 0));
    assert_eq!(files(folder.path()), before);
}

#[test]
fn segments_and_files_do_not_accumulate() {
    let folder = tempfile::tempdir().unwrap();
    let index = DiskIndex::open(folder.path(), "1");
    let mut skills = many(40);
    sync(&index, &skills);
    for round in 0..40 {
        skills[round] = skill(&word("changed", round), "Repairs pipes");
        sync(&index, &skills);
    }
    assert_eq!(index.documents(), 40);
    assert_eq!(
        found(&index, &skills, &word("changed", 39))[0],
        word("changed", 39)
    );
    let count = files(folder.path()).len();
    assert!(count < 80, "{count} files");
}

#[test]
fn duplicate_key_is_indexed_once() {
    let folder = tempfile::tempdir().unwrap();
    let index = DiskIndex::open(folder.path(), "1");
    let twice = [office(), office()].concat();
    assert_eq!(sync(&index, &twice).added, 3);
    let synced = sync(&index, &twice);
    assert_eq!((synced.kept, synced.added, index.documents()), (3, 0, 3));
}

#[test]
fn failed_document_is_reported_and_retried() {
    let folder = tempfile::tempdir().unwrap();
    let index = DiskIndex::open(folder.path(), "1");
    let skills = office();
    let given = skills
        .iter()
        .map(|skill| (key(skill), || (skill.0 != "mail").then(|| document(skill))));
    let synced = index.sync(given).unwrap();
    assert_eq!((synced.added, synced.missing), (2, 1));
    assert_eq!(sync(&index, &skills).added, 1);
}

#[test]
fn all_documents_can_be_removed_and_added_again() {
    let folder = tempfile::tempdir().unwrap();
    let index = DiskIndex::open(folder.path(), "1");
    sync(&index, &office());
    assert_eq!(sync(&index, &[]).removed, 3);
    assert_eq!(found(&index, &office(), "forms"), [""; 0]);
    assert_eq!(sync(&index, &office()).added, 3);
    assert_eq!(found(&index, &office(), "forms"), ["pdf", "tables"]);
}

#[test]
fn filtered_documents_make_room_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let index = DiskIndex::open(folder.path(), "1");
    // Many that answer better, and few that may be seen.
    let mut skills: Vec<Skill> = (0..500)
        .map(|number| skill(&format!("form form{number}x"), "form"))
        .collect();
    skills.extend((0..5).map(|number| {
        skill(
            &format!("seen{number}x"),
            "A long description of much else that has a form somewhere in it",
        )
    }));
    sync(&index, &skills);
    let seen = |wanted| {
        let place = skills.iter().position(|skill| key(skill) == wanted)?;
        (place >= 500).then_some(place)
    };
    let answer = index.search(&Query::new("form"), 10, seen).unwrap();
    let places: Vec<usize> = answer.hits.iter().map(|hit| hit.value).collect();
    assert_eq!(places, [500, 501, 502, 503, 504]);
    assert_eq!(answer.documents, 505);
}

#[test]
fn panic_in_the_caller_propagates() {
    let folder = tempfile::tempdir().unwrap();
    let index = DiskIndex::open(folder.path(), "1");
    sync(&index, &office());
    let search = || {
        index.search(&Query::new("forms"), 10, |_| -> Option<u8> {
            panic!("mine")
        })
    };
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(search)).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
    assert_eq!(index.damage(), None);
}

#[test]
fn any_key_is_kept_verbatim() {
    let folder = tempfile::tempdir().unwrap();
    let index = DiskIndex::open(folder.path(), "1");
    let mut keys: Vec<DocumentKey> = [0, 1, 10, 0x7f, 0x80, 0xff]
        .map(|byte| DocumentKey::new([byte; 16]))
        .into();
    let near = |at: usize| {
        let mut bytes = [0; 16];
        bytes[at] = 1;
        DocumentKey::new(bytes)
    };
    keys.extend((0..16).map(near));
    let given = |keys: &[DocumentKey]| {
        let keys: Vec<DocumentKey> = keys.to_vec();
        let given = keys
            .into_iter()
            .map(|key| (key, || Some(document(&office()[0]))));
        index.sync(given).unwrap()
    };
    assert_eq!(given(&keys).added, keys.len());
    let listed = || {
        let mut listed = index.candidates(&Query::new("pdf"), Some).unwrap();
        listed.sort_unstable();
        listed
    };
    keys.sort_unstable();
    assert_eq!(listed(), keys);
    let gone = keys.remove(5);
    assert_eq!(given(&keys).removed, 1);
    assert_eq!(listed(), keys, "{gone:?} went, and no other");
}

#[cfg(unix)]
#[test]
fn folder_writable_by_others_is_not_used() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let index = DiskIndex::open(folder.path(), "1");
    sync(&index, &office());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let skills = office();
    let given = skills
        .iter()
        .map(|skill| (key(skill), || Some(document(skill))));
    assert_eq!(index.sync(given).unwrap_err().kind(), ErrorKind::Unwritable);
    assert!(DiskIndex::open(folder.path(), "1").damage().is_some());
}

/// Makes folders of indexes that were used so many days ago.
fn used(folder: &Path, days: &[u64]) {
    for day in days {
        let index = folder.join(format!("day-{day}"));
        fs::create_dir_all(&index).unwrap();
        fs::write(index.join("meta.json"), "{}").unwrap();
        let ago = Duration::from_secs(day * 24 * 60 * 60);
        let opened = fs::File::open(&index).unwrap();
        opened.set_modified(SystemTime::now() - ago).unwrap();
    }
}

#[test]
fn only_long_unused_indexes_are_deleted() {
    let root = tempfile::tempdir().unwrap();
    used(root.path(), &[1, 29, 31, 400]);
    fs::write(root.path().join("note"), "mine").unwrap();
    used(root.path(), &[90]);
    let mut deleted = delete_unused_indexes(root.path(), "day-90").unwrap();
    deleted.sort();
    assert_eq!(deleted, ["day-31", "day-400"]);
    // It was used now.
    assert_eq!(
        delete_unused_indexes(root.path(), "day-1").unwrap(),
        [""; 0]
    );
    assert!(root.path().join("day-90").is_dir());
    assert!(root.path().join("note").is_file());
}

#[test]
fn number_of_indexes_is_bounded() {
    let root = tempfile::tempdir().unwrap();
    let days: Vec<u64> = (1..=20).collect();
    used(root.path(), &days);
    let deleted = delete_unused_indexes(root.path(), "day-20").unwrap();
    assert_eq!(deleted, ["day-16", "day-17", "day-18", "day-19"]);
    assert_eq!(root.path().read_dir().unwrap().count(), 16);
}
