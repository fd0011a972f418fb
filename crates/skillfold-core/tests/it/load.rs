//! Loading: the instructions as they stand in the file now, whole, with their arguments, or a clear error.

use std::sync::Arc;

use skillfold_core::catalog::{Toggle, Trust};
use skillfold_core::load::Strictness;
use skillfold_core::{
    Catalog, CatalogOptions, ErrorKind, FsSource, Instructions, Limits, LoadOptions, Loader,
    MemorySource, Root, Scope,
};
use skillfold_testkit::{far_future, files, folder, in_checkout, write};

const TREE: &str = "
    //- pdf/SKILL.md
    ---
    name: pdf
    description: Fills in forms
    requires: [fonts]
    ---

    # PDF
    Fill in $ARGUMENTS, then check $ARGUMENTS.
    //- plain/SKILL.md
    ---
    name: plain
    description: Has no place for arguments
    ---
    # Plain
    //- repaired/SKILL.md
    ---
    name: repaired
    description: Use when: something
    ---
    # Repaired
    //- broken/SKILL.md
    \0 is not text
";

fn catalog(root: Root) -> Catalog {
    Catalog::discover(vec![root], CatalogOptions::default(), far_future())
}

fn in_memory() -> Catalog {
    catalog(Root::new(
        Scope::User,
        "mine",
        MemorySource::new(files(TREE)),
    ))
}

fn loader() -> Loader {
    Loader::new(LoadOptions::default(), far_future)
}

fn load(catalog: &Catalog, id: &str, arguments: &str) -> Arc<Instructions> {
    let entry = catalog.resolve_or_suggest(id).unwrap();
    loader().load(&entry, arguments).unwrap()
}

/// Writes the file of the skill `plain`.
fn put(root: &tempfile::TempDir, file: &str) {
    write(
        root.path(),
        &[("plain/SKILL.md".to_owned(), file.to_owned())],
    );
}

#[test]
fn loaded_text_starts_with_the_folder_and_has_no_frontmatter() {
    let root = folder(TREE);
    let source = FsSource::open(root.path()).unwrap();
    let catalog = catalog(Root::new(Scope::User, "mine", source));
    let loaded = load(&catalog, "plain", "");
    let base_dir = root.path().join("plain");
    let base_dir = base_dir.to_str().unwrap();
    assert_eq!(loaded.base_dir(), Some(base_dir));
    let expected = format!("Base directory for this skill: {base_dir}\n\n# Plain\n");
    assert_eq!(loaded.text(), expected);
    assert_eq!(loaded.body(), "# Plain\n");
}

#[test]
fn file_paths_can_be_built_from_a_relative_root() {
    let root = folder(TREE);
    let working_folder = in_checkout("crates/skillfold-core");
    let up = "../".repeat(working_folder.components().count() - 1);
    let below = root.path().canonicalize().unwrap();
    let relative = format!("{up}{}", below.strip_prefix("/").unwrap().display());
    let source = FsSource::open(relative).unwrap();
    let catalog = catalog(Root::new(Scope::User, "mine", source));
    let loaded = load(&catalog, "plain", "");
    let base_dir = std::path::Path::new(loaded.base_dir().unwrap());
    assert!(base_dir.is_absolute());
    assert!(base_dir.join("SKILL.md").is_file());
}

#[test]
fn skill_in_memory_has_no_folder_line() {
    let loaded = load(&in_memory(), "plain", "");
    assert_eq!((loaded.text(), loaded.base_dir()), ("# Plain\n", None));
}

#[test]
fn loaded_skill_has_metadata_raw_text_and_final_text() {
    let loaded = load(&in_memory(), "pdf", "a.pdf");
    assert_eq!(loaded.manifest().description(), "Fills in forms");
    assert_eq!(
        loaded.raw(),
        "\n# PDF\nFill in $ARGUMENTS, then check $ARGUMENTS.\n"
    );
    assert_eq!(loaded.body(), "\n# PDF\nFill in a.pdf, then check a.pdf.\n");
    assert_eq!(loaded.tokens(), 10);
    assert_eq!(loaded.requires(), ["fonts".into()]);
    assert!(loaded.notes().is_empty());
    assert_eq!(load(&in_memory(), "plain", "").raw(), "# Plain\n");
}

#[test]
fn arguments_without_a_placeholder_go_to_the_end() {
    let loaded = load(&in_memory(), "plain", "data.csv");
    assert_eq!(loaded.text(), "# Plain\n\nARGUMENTS: data.csv\n");
}

#[test]
fn instructions_are_read_only_when_loaded() {
    let root = folder(TREE);
    let source = FsSource::open(root.path()).unwrap();
    let catalog = catalog(Root::new(Scope::User, "mine", source));
    let file = "---\nname: plain\ndescription: Has no place for arguments\n---\n# Newer\n";
    put(&root, file);
    let loaded = load(&catalog, "plain", "");
    assert_eq!(loaded.body(), "# Newer\n");
}

#[test]
fn file_changed_since_discovery_is_read_as_it_is_now_and_reported() {
    let root = folder(TREE);
    let source = FsSource::open(root.path()).unwrap();
    let catalog = catalog(Root::new(Scope::User, "mine", source));
    let file = "---\nname: plain\ndescription: Much longer frontmatter than before\nversion: 2.0.0\n---\n# Newer\n";
    put(&root, file);
    let loaded = load(&catalog, "plain", "");
    assert_eq!(loaded.body(), "# Newer\n");
    assert_eq!(loaded.manifest().version(), Some("2.0.0"));
    let notes: Vec<_> = loaded.notes().iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["info[SF801]: `plain` changed since it was found"]);

    put(&root, "# No frontmatter any more\n");
    let entry = catalog.resolve_or_suggest("plain").unwrap();
    let error = loader().load(&entry, "").unwrap_err();
    insta::assert_snapshot!(error, @"`plain` changed since it was found, and has no description any more");

    put(&root, "\0 is not text\n");
    let entry = catalog.resolve_or_suggest("plain").unwrap();
    let error = loader().load(&entry, "").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    insta::assert_snapshot!(error, @"`plain` changed since it was found, and is no longer a valid skill");
    insta::assert_snapshot!(error.diagnostics()[0], @"error[SF009]: File is not encoded as UTF-8");
}

#[test]
fn load_of_a_deleted_file_is_not_found() {
    let root = folder(TREE);
    let source = FsSource::open(root.path()).unwrap();
    let catalog = catalog(Root::new(Scope::User, "mine", source));
    let entry = catalog.resolve_or_suggest("plain").unwrap();
    let loader = loader();
    loader.load(&entry, "").unwrap();
    drop(root);
    assert_eq!(
        loader.load(&entry, "").unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(loader.stats().entries, 0);
}

#[test]
fn load_of_a_refused_folder_is_invalid_with_the_reason() {
    let catalog = in_memory();
    let error = catalog.resolve_or_suggest("broken").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    insta::assert_snapshot!(error, @"`broken` is not a valid skill");
    insta::assert_snapshot!(error.diagnostics()[0], @"error[SF009]: File is not encoded as UTF-8");
}

#[test]
fn unknown_id_is_an_error_that_names_the_nearest() {
    let error = in_memory().resolve_or_suggest("plian").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.nearest(), ["plain".into()]);
}

#[test]
fn repaired_skill_loads_and_strict_loading_refuses_it() {
    let catalog = in_memory();
    assert_eq!(load(&catalog, "repaired", "").body(), "# Repaired\n");
    let strict = LoadOptions::default().with_strictness(Strictness::Strict);
    let strict = Loader::new(strict, far_future);
    let load = |id| strict.load(&catalog.resolve_or_suggest(id).unwrap(), "");
    assert!(load("plain").is_ok());
    let error = load("repaired").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    insta::assert_snapshot!(error, @"`repaired` has errors, and loading is strict");
    let codes: Vec<_> = error
        .diagnostics()
        .iter()
        .map(|found| found.code.number())
        .collect();
    assert_eq!(codes, ["SF010", "SF101"]);
}

#[test]
fn invalid_utf8_is_replaced_and_reported() {
    let file = b"---\nname: a\ndescription: d\n---\nCaf\xe9\n".to_vec();
    let catalog = catalog(Root::new(
        Scope::User,
        "mine",
        MemorySource::new([("a/SKILL.md", file)]),
    ));
    let loaded = load(&catalog, "a", "");
    assert_eq!(loaded.body(), "Caf\u{fffd}\n");
    assert_eq!(loaded.notes()[0].code.number(), "SF802");
}

#[cfg(target_os = "linux")]
#[test]
fn non_utf8_folder_path_is_left_out() {
    use std::os::unix::ffi::OsStrExt;
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path().join(std::ffi::OsStr::from_bytes(b"p\xff"));
    write(&root, &files(TREE));
    let catalog = catalog(Root::new(
        Scope::User,
        "mine",
        FsSource::open(root).unwrap(),
    ));
    let loaded = load(&catalog, "plain", "");
    assert_eq!((loaded.text(), loaded.base_dir()), ("# Plain\n", None));
    assert_eq!(loaded.notes()[0].code.number(), "SF806");
}

#[test]
fn instructions_over_the_limit_are_refused_not_truncated() {
    let mut rules = CatalogOptions::default();
    rules.read.walk.limits = Limits::default().with_read_bytes(60);
    let roots = vec![Root::new(
        Scope::User,
        "mine",
        MemorySource::new(files(TREE)),
    )];
    let catalog = Catalog::discover(roots, rules, far_future());
    let error = loader()
        .load(&catalog.resolve_or_suggest("plain").unwrap(), "")
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    insta::assert_snapshot!(error.hint(), @"The instructions are longer than the limit, and are never cut");
}

#[test]
fn disabled_or_untrusted_skill_is_refused() {
    let root = || Root::new(Scope::Project, "ours", MemorySource::new(files(TREE)));
    let untrusted = catalog(root().with_trust(Trust::Untrusted));
    let mut rules = CatalogOptions::default();
    rules.enablement.set("plain", Toggle::Off);
    let disabled = Catalog::discover(vec![root()], rules, far_future());
    for catalog in [untrusted, disabled] {
        let error = loader()
            .load(&catalog.resolve_or_suggest("plain").unwrap(), "")
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.hint().contains("trusted") || error.hint().contains("enable"));
    }
}

fn required(tree: &str, id: &str) -> String {
    let catalog = catalog(Root::new(
        Scope::User,
        "mine",
        MemorySource::new(files(tree)),
    ));
    let required = catalog.resolve_requires(id).unwrap();
    let ids: Vec<_> = required
        .skills
        .iter()
        .map(skillfold_core::Entry::id)
        .collect();
    let findings = required
        .findings
        .iter()
        .map(|finding| format!("\n{finding}"));
    ids.join(" ") + &findings.collect::<String>()
}

#[test]
fn required_skills_come_before_those_that_require_them() {
    let tree = "
        //- a/SKILL.md
        ---
        name: a
        description: d
        requires: [b, c]
        ---
        //- b/SKILL.md
        ---
        name: b
        description: d
        requires: [d, nothing]
        ---
        //- c/SKILL.md
        ---
        name: c
        description: d
        requires: [d]
        ---
        //- d/SKILL.md
        ---
        name: d
        description: d
        ---
    ";
    insta::assert_snapshot!(required(tree, "a"), @"
    d b c a
    warning[SF803]: `b` requires `nothing`, which does not exist
    ");
    assert_eq!(required(tree, "d"), "d");
}

#[test]
fn loading_a_skill_does_not_load_its_requirements() {
    let tree = "
        //- a/SKILL.md
        ---
        name: a
        description: d
        requires: [b]
        ---
        Do a.
        //- b/SKILL.md
        ---
        name: b
        description: d
        ---
        Do b.
    ";
    let source = MemorySource::new(files(tree));
    let catalog = catalog(Root::new(Scope::User, "mine", source));
    let loader = loader();
    let skill = loader.load(&catalog.get("a").unwrap(), "").unwrap();
    assert_eq!(skill.body(), "Do a.\n");
    assert_eq!(skill.requires(), ["b".into()]);
    assert_eq!(loader.stats().entries, 1);
}

#[test]
fn cyclic_requirements_are_reported_and_terminate() {
    let tree = "
        //- a/SKILL.md
        ---
        name: a
        description: d
        requires: [b]
        ---
        //- b/SKILL.md
        ---
        name: b
        description: d
        requires: [c]
        ---
        //- c/SKILL.md
        ---
        name: c
        description: d
        requires: [b, c]
        ---
    ";
    insta::assert_snapshot!(required(tree, "a"), @"
    c b a
    warning[SF804]: Skills require each other: `b` > `c` > `b`
    warning[SF804]: Skills require each other: `c` > `c`
    ");
}
