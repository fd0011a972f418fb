//! What the user has not accepted is held: people see it, models do not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillfold_core::catalog::{Status, Toggle, TrustedSkills};
use skillfold_core::{
    Catalog, CatalogOptions, ErrorKind, FsSource, LoadOptions, Loader, MemorySource, Refusal, Root,
    Scope,
};
use skillfold_testkit::{far_future, folder};

const TREE: &str = "
    //- mine/pdf/SKILL.md
    ---
    name: pdf
    description: Mine
    ---
    //- ours/pdf/SKILL.md
    ---
    name: pdf
    description: Ours
    ---
    //- ours/mail/SKILL.md
    ---
    name: mail
    description: Sends mail
    ---
";

fn roots(folder: &Path) -> Vec<Root> {
    let source = |name: &str| FsSource::open(folder.join(name)).unwrap();
    vec![
        Root::new(Scope::User, "mine", source("mine")),
        Root::new(Scope::Project, "ours", source("ours")),
    ]
}

/// Returns options that hold all skills but those in these folders.
fn accepting(folder: &Path, accepted: &[&str]) -> CatalogOptions {
    let folder = folder.canonicalize().unwrap();
    let accepted: BTreeSet<PathBuf> = accepted.iter().map(|path| folder.join(path)).collect();
    CatalogOptions::default().with_trusted_skills(TrustedSkills::Only(Arc::new(accepted)))
}

fn discover(folder: &Path, accepted: &[&str]) -> Catalog {
    Catalog::discover(roots(folder), accepting(folder, accepted), far_future())
}

/// Returns each skill with its status.
fn listed(catalog: &Catalog) -> String {
    let lines = catalog.entries().map(|entry| {
        let description = entry.manifest().description();
        format!("{} {}: {description}\n", entry.id(), entry.status())
    });
    lines.collect()
}

#[test]
fn held_skill_is_given_to_no_model_and_the_user_sees_why() {
    let folder = folder(TREE);
    let catalog = discover(folder.path(), &["mine/pdf", "ours/pdf"]);
    let ids: Vec<_> = catalog.visible().map(|entry| entry.id()).collect();
    assert_eq!(ids, ["pdf"]);
    let entry = catalog.get("mail").unwrap();
    assert_eq!(entry.status(), Status::Held);
    insta::assert_snapshot!(entry.notes()[0], @"info[SF606]: Skill `mail` is new, and held");
    // A model does not learn that there is something; a person learns why.
    let error = catalog.resolve_for_model("mail").unwrap_err();
    assert_eq!(error.to_string(), "There is no skill `mail`");
    assert!(error.nearest().is_empty());
    assert!(catalog.resolve_requires("mail").is_err());
    let error = catalog.resolve_for_user("mail").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.refusal(), Some(Refusal::Held));
    insta::assert_snapshot!(error.hint(), @"The skill is new and held until you trust it; review it with `skillfold trust --held`");
    let loader = Loader::new(LoadOptions::default(), far_future);
    let error = loader.load(&entry, "").unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::Held));
}

#[test]
fn held_skill_wins_no_name() {
    let folder = folder(TREE);
    insta::assert_snapshot!(listed(&discover(folder.path(), &["mine/pdf"])), @r"
    mail held: Sends mail
    pdf active: Mine
    project:pdf held: Ours
    ");
    insta::assert_snapshot!(listed(&discover(folder.path(), &["mine/pdf", "ours/pdf"])), @r"
    mail held: Sends mail
    pdf active: Ours
    user:pdf shadowed: Mine
    ");
    insta::assert_snapshot!(listed(&discover(folder.path(), &[])), @r"
    mail held: Sends mail
    pdf held: Ours
    user:pdf held: Mine
    ");
}

#[test]
fn trust_covers_exactly_one_folder() {
    let folder = folder(TREE);
    for other in ["ours", "ours/mai", "ours/mail/SKILL.md", "mine/mail", ""] {
        let catalog = discover(folder.path(), &[other]);
        let status = catalog.get("mail").unwrap().status();
        assert_eq!(status, Status::Held, "{other}");
    }
}

#[test]
fn bundled_skills_are_not_held() {
    let folder = folder(TREE);
    let bundled = FsSource::open(folder.path().join("ours")).unwrap();
    let file = "---\nname: greet\ndescription: Says hello\n---\n";
    let in_memory = MemorySource::new([("greet/SKILL.md", file)]);
    let roots = vec![
        Root::new(Scope::Bundled, "built in", bundled),
        Root::new(Scope::User, "made", in_memory),
    ];
    let catalog = Catalog::discover(roots, accepting(folder.path(), &[]), far_future());
    insta::assert_snapshot!(listed(&catalog), @r"
    greet active: Says hello
    mail active: Sends mail
    pdf active: Ours
    ");
}

#[test]
fn trusting_a_skill_is_a_change_even_if_no_file_changed() {
    let folder = folder(TREE);
    let all = ["mine/pdf", "ours/pdf", "ours/mail"];
    let held = discover(folder.path(), &all[..2]);
    let options = accepting(folder.path(), &all);
    let accepted = held.refresh(roots(folder.path()), options, far_future());
    assert_eq!(accepted.changes.changed, ["mail".into()]);
    let mail = accepted.catalog.get("mail").unwrap();
    assert_eq!(mail.status(), Status::Active);
    let same = accepting(folder.path(), &all);
    let again = accepted
        .catalog
        .refresh(roots(folder.path()), same, far_future());
    assert!(again.changes.is_empty());
    // A skill that comes later is held, also where only its folder is looked at.
    skillfold_testkit::write(
        folder.path(),
        &[(
            "ours/late/SKILL.md".to_owned(),
            "---\nname: late\ndescription: Came later\n---\n".to_owned(),
        )],
    );
    let ours = again.catalog.roots().iter();
    let ours = ours.map(Root::label).position(|label| label == "ours");
    let late = again
        .catalog
        .refresh_folders(&[(ours.unwrap(), "late")], far_future())
        .unwrap();
    assert_eq!(late.changes.added, ["late".into()]);
    let late = late.catalog.get("late").unwrap().status();
    assert_eq!(late, Status::Held);
}

#[test]
fn held_and_disabled_skill_counts_as_held() {
    let folder = folder(TREE);
    let mut options = accepting(folder.path(), &[]);
    options.enablement.set("mail", Toggle::Off);
    let catalog = Catalog::discover(roots(folder.path()), options, far_future());
    let entry = catalog.get("mail").unwrap();
    assert_eq!(entry.status(), Status::Held);
    let codes: Vec<_> = entry
        .notes()
        .iter()
        .map(|note| note.code.number())
        .collect();
    assert_eq!(codes, ["SF606", "SF605"]);
}

#[cfg(unix)]
#[test]
fn link_is_trusted_like_its_target() {
    use std::os::unix::fs::symlink;

    let folder = folder(TREE);
    let path = |path: &str| folder.path().join(path);
    std::fs::create_dir(path("all")).unwrap();
    symlink(path("ours/mail"), path("all/post")).unwrap();
    symlink(path("mine"), path("linked")).unwrap();
    let statuses = |accepted: &[&str]| {
        let source = |name: &str| FsSource::open(path(name)).unwrap();
        let roots = vec![
            Root::new(Scope::User, "all", source("all")),
            Root::new(Scope::User, "linked", source("linked")),
        ];
        let options = accepting(folder.path(), accepted);
        listed(&Catalog::discover(roots, options, far_future()))
    };
    insta::assert_snapshot!(statuses(&["all/post", "linked/pdf"]), @r"
    mail held: Sends mail
    pdf held: Mine
    ");
    insta::assert_snapshot!(statuses(&["ours/mail", "mine/pdf"]), @r"
    mail active: Sends mail
    pdf active: Mine
    ");
    // A link that leads elsewhere now is another skill.
    std::fs::remove_file(path("all/post")).unwrap();
    symlink(path("ours/pdf"), path("all/post")).unwrap();
    insta::assert_snapshot!(statuses(&["ours/mail", "mine/pdf"]), @r"
    pdf active: Mine
    user:all/post held: Ours
    ");
}
