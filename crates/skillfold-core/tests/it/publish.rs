//! Skills that go out to other hosts: what goes out, what does not and why, and what is read again.

use skillfold_core::catalog::Trust;
use skillfold_core::load::Digest;
use skillfold_core::read::raw_frontmatter;
use skillfold_core::{
    Catalog, CatalogOptions, Error, FsSource, Limits, LoadOptions, Loader, MemorySource, Root,
    Scope, Source,
};
use skillfold_testkit::far_future;
use skillfold_testkit::{files, folder, write};

fn catalog(source: impl Source + 'static) -> Catalog {
    let roots = vec![Root::new(Scope::User, "mine", source)];
    Catalog::discover(roots, CatalogOptions::default(), far_future())
}

fn loader() -> Loader {
    Loader::new(LoadOptions::default(), far_future)
}

#[test]
fn raw_frontmatter_is_verbatim_or_an_error() {
    let file = "---\nname: pdf\nName: odd\nlist: [1, {a: b}]\n---\nBody\n";
    let fields = raw_frontmatter(file.as_bytes(), &Limits::default()).unwrap();
    let names: Vec<_> = fields.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["name", "Name", "list"]);
    for (file, code) in [
        ("---\nname: pdf\ndescription: Use when: x\n---\n", "SF010"),
        ("---\nname: a\nname: b\n---\n", "SF015"),
        ("---\n---\n", "SF007"),
        ("# No frontmatter\n", "SF001"),
        ("---\nname: pdf\n", "SF109"),
    ] {
        let finding = raw_frontmatter(file.as_bytes(), &Limits::default()).unwrap_err();
        assert_eq!(finding.code.number(), code, "{file}");
    }
}

#[test]
fn unpublishable_skill_reports_the_reason() {
    let tree = "
        //- good/SKILL.md
        ---
        name: good
        description: Good
        ---
        //- loose/SKILL.md
        ---
        name: loose
        description: Use when: x
        ---
        //- Upper/SKILL.md
        ---
        name: Upper
        description: D
        ---
        //- unnamed/SKILL.md
        ---
        description: D
        ---
        //- person/SKILL.md
        ---
        name: person
        description: D
        disable-model-invocation: true
        ---
        //- spaced/SKILL.md
        ---
        name: ' spaced '
        description: D
        ---
        //- number/SKILL.md
        ---
        name: number
        description: 12
        ---
    ";
    let catalog = catalog(MemorySource::new(files(tree)));
    let loader = loader();
    let shown: Vec<_> = catalog
        .entries()
        .map(|entry| match loader.publish(&entry) {
            Ok(publication) => format!("{}: {} file", entry.id(), publication.files.len()),
            Err(error) => format!("{}: {}", entry.id(), error.hint()),
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    Upper: The name does not follow the specification
    good: 1 file
    loose: The frontmatter needs repair, and other clients would read it unrepaired
    number: The field `description` is not a string
    person: Only the user may start the skill
    spaced: The field `name` is not a string that is the skill's name
    unnamed: The frontmatter has no usable `name`
    ");
}

#[test]
fn skill_with_too_many_files_or_bytes_is_not_published() {
    let head = ("many/SKILL.md", "---\nname: many\ndescription: D\n---\n");
    let publish = |extra: Vec<(String, Vec<u8>)>| -> Result<usize, Error> {
        let first = (head.0.to_owned(), head.1.as_bytes().to_vec());
        let catalog = catalog(MemorySource::new([first].into_iter().chain(extra)));
        let published = loader().publish(&catalog.resolve_or_suggest("many")?)?;
        Ok(published.files.len())
    };
    let numbered = |count: usize| {
        let file = |number| (format!("many/{number}.txt"), b"x".to_vec());
        (0..count).map(file).collect::<Vec<_>>()
    };
    assert_eq!(publish(numbered(511)).unwrap(), 512);
    let many = publish(numbered(512)).unwrap_err();
    assert_eq!(many.hint(), "The skill has more than 512 files");
    let room = 16 * 1024 * 1024 - head.1.len();
    let sized = |bytes: usize| vec![("many/large.bin".to_owned(), vec![0; bytes])];
    assert_eq!(publish(sized(room)).unwrap(), 2);
    let large = publish(sized(room + 1)).unwrap_err();
    assert_eq!(large.hint(), "The skill's files have more than 16 MiB");
}

#[test]
fn skill_with_an_unlistable_file_is_not_published() {
    let tree =
        folder("//- pdf/SKILL.md\n---\nname: pdf\ndescription: D\n---\n//- pdf/z/aux.md\nx\n");
    // As many findings as are listed, and all before the one that matters.
    for number in 0..3 {
        std::os::unix::fs::symlink("/etc", tree.path().join(format!("pdf/{number}"))).unwrap();
    }
    let mut options = CatalogOptions::default();
    options.read.walk.limits.findings = 2;
    let roots = vec![Root::new(
        Scope::User,
        "mine",
        FsSource::open(tree.path()).unwrap(),
    )];
    let catalog = Catalog::discover(roots, options, far_future());
    let error = loader().publish(&catalog.resolve_or_suggest("pdf").unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        "Invalid `pdf`: Path names a Windows device: `z/aux.md`"
    );
}

#[test]
fn skill_of_an_untrusted_root_is_not_published() {
    let file = ("pdf/SKILL.md", "---\nname: pdf\ndescription: D\n---\n");
    let root =
        Root::new(Scope::Project, "ours", MemorySource::new([file])).with_trust(Trust::Untrusted);
    let catalog = Catalog::discover(vec![root], CatalogOptions::default(), far_future());
    let entry = catalog.resolve_or_suggest("pdf").unwrap();
    assert_eq!(
        entry.unpublishable_reason(),
        Some("The skill is not active")
    );
    assert!(loader().publish(&entry).is_err());
}

#[test]
fn digest_follows_the_content_of_a_file() {
    let tree = folder(
        "
        //- pdf/SKILL.md
        ---
        name: pdf
        description: D
        ---
        //- pdf/a.txt
        first
    ",
    );
    let loader = loader();
    // Sizes differ, as two writes within one tick of the clock may look alike; the clock of the loader takes all for old.
    for content in ["first\n", "another\n", "the longest\n"] {
        write(tree.path(), &[("pdf/a.txt".to_owned(), content.to_owned())]);
        // Twice: by reading, and from what is remembered.
        for _ in 0..2 {
            let catalog = catalog(FsSource::open(tree.path()).unwrap());
            let publication = loader
                .publish(&catalog.resolve_or_suggest("pdf").unwrap())
                .unwrap();
            let file = &publication.files[1];
            assert_eq!(file.path.as_str(), "a.txt");
            assert_eq!(file.size, content.len() as u64);
            assert_eq!(file.digest, Digest::sha256(content.as_bytes()));
        }
    }
}
