//! The files of a skill: listed in an order that helps, read whole or in part, and none outside.

use skillfold_core::catalog::Trust;
use skillfold_core::source::Cursor;
use skillfold_core::{
    Catalog, CatalogOptions, ErrorKind, FsSource, Limits, LoadOptions, Loader, MemorySource, Root,
    Scope, Source,
};
use skillfold_testkit::{far_future, files, folder};

use crate::log::Log;

const TREE: &str = "
    //- pdf/SKILL.md
    ---
    name: pdf
    description: Fills in forms
    ---
    Read [the forms](references/forms.md) first. Run `python ${CLAUDE_SKILL_DIR}/scripts/fill.py`,
    then `check.sh`. Never mind licences.
    //- pdf/LICENSE
    MIT
    //- pdf/assets/logo.png
    PNG
    //- pdf/references/annex.md
    Annex
    //- pdf/references/forms.md
    Forms: ä
    //- pdf/scripts/check.sh
    true
    //- pdf/scripts/fill.py
    print()
    //- pdf/data/fields.json
    {}
    //- pdf/model.bin
    01
";

fn catalog_of(source: impl Source + 'static, limits: Limits) -> Catalog {
    let mut rules = CatalogOptions::default();
    rules.read.walk.limits = limits;
    let roots = vec![Root::new(Scope::User, "mine", source)];
    Catalog::discover(roots, rules, far_future())
}

fn loader() -> Loader {
    Loader::new(LoadOptions::default(), far_future)
}

fn listed(catalog: &Catalog, cursor: Option<&Cursor>, limit: usize) -> (String, Option<Cursor>) {
    let entry = catalog.resolve_or_suggest("pdf").unwrap();
    let page = loader().files(&entry, cursor, limit).unwrap();
    let files = page.files.iter().map(|file| {
        let mark = if file.is_mentioned { "*" } else { "" };
        format!("{mark}{} {} {}\n", file.path, file.size, file.kind)
    });
    (files.collect(), page.next)
}

#[test]
fn files_mentioned_in_the_instructions_come_first() {
    let root = folder(TREE);
    let disk = catalog_of(FsSource::open(root.path()).unwrap(), Limits::default());
    let memory = catalog_of(MemorySource::new(files(TREE)), Limits::default());
    insta::assert_snapshot!(listed(&disk, None, 100).0, @"
    *references/forms.md 10 text
    *scripts/fill.py 8 script
    *scripts/check.sh 5 script
    LICENSE 4 text
    SKILL.md 179 instructions
    assets/logo.png 4 image
    data/fields.json 3 data
    model.bin 3 other
    references/annex.md 6 text
    ");
    assert_eq!(listed(&disk, None, 100), listed(&memory, None, 100));
}

#[test]
fn pages_concatenate_to_the_full_list() {
    let root = folder(TREE);
    let small = Limits::default().with_resources(2);
    let disk = FsSource::open(root.path()).unwrap();
    for catalog in [
        catalog_of(disk, Limits::default()),
        catalog_of(MemorySource::new(files(TREE)), small),
    ] {
        let (whole, end) = listed(&catalog, None, 100);
        assert_eq!(end, None);
        for size in 0..5 {
            let (mut parts, mut cursor) = (String::new(), None);
            loop {
                let (part, next) = listed(&catalog, cursor.as_ref(), size);
                assert!(part.lines().count() <= size.max(1));
                parts += &part;
                if next.is_none() {
                    break;
                }
                cursor = next;
            }
            assert_eq!(parts, whole);
        }
    }
}

#[test]
fn file_is_read_whole_or_in_part() {
    let root = folder(TREE);
    let disk = catalog_of(FsSource::open(root.path()).unwrap(), Limits::default());
    let memory = catalog_of(MemorySource::new(files(TREE)), Limits::default());
    for catalog in [disk, memory] {
        let entry = catalog.resolve_or_suggest("pdf").unwrap();
        let loader = loader();
        let whole = loader.read(&entry, "references/forms.md", ..).unwrap();
        assert_eq!((whole.text(), whole.size()), (Some("Forms: ä\n"), 10));
        assert_eq!((whole.range(), whole.next()), (0..10, None));
        let part = loader.read(&entry, "references/forms.md", 2..=4).unwrap();
        assert_eq!((part.text(), part.next()), (Some("rms"), Some(5)));
        let beyond = loader.read(&entry, "references/forms.md", 99..).unwrap();
        assert_eq!((beyond.text(), beyond.next()), (Some(""), None));
    }
}

#[test]
fn text_ranges_end_at_character_boundaries_and_lose_no_byte() {
    let memory = catalog_of(MemorySource::new(files(TREE)), Limits::default());
    let entry = memory.resolve_or_suggest("pdf").unwrap();
    let read = |range| loader().read(&entry, "references/forms.md", range).unwrap();
    // The letter takes the bytes 7 and 8.
    let before = read(0..8);
    assert_eq!((before.text(), before.next()), (Some("Forms: "), Some(7)));
    // What starts inside a character is no text, and nothing of it is left out.
    let after = read(8..10);
    assert_eq!(
        (after.text(), after.bytes(), after.range()),
        (None, &[0xa4, b'\n'][..], 8..10)
    );
    // A part shorter than a character is bytes, so that reading on gets past it.
    let half = read(7..8);
    assert_eq!(
        (half.text(), half.bytes(), half.next()),
        (None, &[0xc3][..], Some(8))
    );
}

#[test]
fn reading_in_parts_returns_the_bytes_of_the_file() {
    let bytes = [
        &[0xff; 10][..],
        &[0x80, 0x81],
        b"hello",
        &[0xc3],
        b"x",
        &[0xe2, 0x82],
    ]
    .concat();
    let tree = [
        (
            "a/SKILL.md",
            b"---\nname: a\ndescription: d\n---\n".to_vec(),
        ),
        ("a/x.bin", bytes.clone()),
    ];
    for size in 1..12 {
        let limits = Limits::default().with_read_bytes(size);
        let source = MemorySource::new(tree.clone());
        let roots = vec![Root::new(Scope::User, "mine", source)];
        let catalog = Catalog::discover(roots, CatalogOptions::default(), far_future());
        let entry = catalog.resolve_or_suggest("a").unwrap();
        let (mut read, mut start) = (Vec::new(), Some(0));
        while let Some(from) = start {
            let part = loader()
                .read(&entry, "x.bin", from..from + limits.read_bytes)
                .unwrap();
            read.extend_from_slice(part.bytes());
            start = part.next();
        }
        assert_eq!(read, bytes, "{size}");
    }
}

#[test]
fn offset_past_the_end_is_the_end() {
    let root = folder(TREE);
    let disk = catalog_of(FsSource::open(root.path()).unwrap(), Limits::default());
    let entry = disk.resolve_or_suggest("pdf").unwrap();
    for start in [10, 99, 1 << 40, i64::MAX as u64, u64::MAX - 1, u64::MAX] {
        let read = loader()
            .read(&entry, "references/forms.md", start..)
            .unwrap();
        assert_eq!((read.bytes(), read.next()), (&[][..], None), "{start}");
    }
}

#[test]
fn read_is_capped_and_reports_where_the_rest_starts() {
    let limits = Limits::default().with_read_bytes(4);
    let catalog = catalog_of(MemorySource::new(files(TREE)), limits);
    let entry = catalog.resolve_or_suggest("pdf").unwrap();
    let (mut text, mut start) = (String::new(), Some(0));
    while let Some(from) = start {
        let part = loader()
            .read(&entry, "references/forms.md", from..)
            .unwrap();
        assert!(part.bytes().len() <= 4);
        text += part.text().unwrap();
        start = part.next();
    }
    assert_eq!(text, "Forms: ä\n");
}

#[test]
fn binary_files_are_read_as_bytes() {
    let tree = [
        (
            "a/SKILL.md",
            b"---\nname: a\ndescription: d\n---\n".to_vec(),
        ),
        ("a/x.bin", b"\xff\x00\xfe".to_vec()),
        ("a/zero.txt", b"a\0b".to_vec()),
    ];
    let catalog = catalog_of(MemorySource::new(tree), Limits::default());
    let entry = catalog.resolve_or_suggest("a").unwrap();
    for (path, bytes) in [("x.bin", &b"\xff\x00\xfe"[..]), ("zero.txt", b"a\0b")] {
        let read = loader().read(&entry, path, ..).unwrap();
        assert_eq!((read.text(), read.bytes()), (None, bytes));
    }
}

#[test]
fn missing_file_is_not_found() {
    let root = folder(TREE);
    let disk = catalog_of(FsSource::open(root.path()).unwrap(), Limits::default());
    let error = loader()
        .read(
            &disk.resolve_or_suggest("pdf").unwrap(),
            "references/none.md",
            ..,
        )
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    insta::assert_snapshot!(error, @"Could not find `pdf/references/none.md`");
}

#[test]
fn files_of_an_untrusted_skill_are_refused() {
    let source = MemorySource::new(files(TREE));
    let root = Root::new(Scope::Project, "ours", source).with_trust(Trust::Untrusted);
    let catalog = Catalog::discover(vec![root], CatalogOptions::default(), far_future());
    let entry = catalog.resolve_or_suggest("pdf").unwrap();
    let read = loader().read(&entry, "LICENSE", ..).unwrap_err();
    let files = loader().files(&entry, None, 10).unwrap_err();
    assert_eq!([read.kind(), files.kind()], [ErrorKind::Refused; 2]);
}

#[test]
fn escaping_path_is_refused_with_the_rule_and_logged() {
    let root = folder(TREE);
    let disk = catalog_of(FsSource::open(root.path()).unwrap(), Limits::default());
    let log = Log::default();
    let error = tracing::subscriber::with_default(log.clone(), || {
        loader()
            .read(
                &disk.resolve_or_suggest("pdf").unwrap(),
                "../other/\u{1b}data.csv",
                ..,
            )
            .unwrap_err()
    });
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.hint(), "Path traversal detected");
    let lines = log.lines();
    insta::assert_snapshot!(lines, @r#"WARN message=refused to open a skill's path skill="pdf" path="../other/\\u{1b}data.csv" rule="Path traversal detected" "#);
}
